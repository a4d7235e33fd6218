// The editor: a text area over its coloured copy, with line numbers and marks.

import { paint } from "./highlight.js";

// Offsets of characters, which the translator counts, in a line of JavaScript's units.
const units = (line, column) => Array.from(line).slice(0, column - 1).join("").length;

export class Editor {
  #area;
  #backdrop;
  #gutter;
  // The lines as they are shown, each with the text of its marks.
  #shown = [];
  #errors = new Map();
  #findings = new Set();

  constructor(root, changed) {
    this.#area = root.querySelector("textarea");
    this.#backdrop = root.querySelector(".backdrop");
    this.#gutter = root.querySelector(".gutter");
    this.#area.addEventListener("input", () => {
      // Findings are of the text that ran.
      this.#findings.clear();
      this.#show();
      changed();
    });
    this.#area.addEventListener("scroll", () => this.#scroll());
  }

  get text() {
    return this.#area.value;
  }

  set text(text) {
    this.#area.value = text;
    this.#errors.clear();
    this.#findings.clear();
    this.#area.scrollTo(0, 0);
    this.#show();
  }

  // Underlines the places of diagnostics.
  set errors(list) {
    const lines = this.#area.value.split("\n");
    this.#errors.clear();
    for (const { start, end } of list) {
      const line = lines[start.line - 1] ?? "";
      const from = Math.min(units(line, start.column), Math.max(0, line.length - 1));
      // Only the first line of those that span several.
      const to = end.line > start.line ? line.length : units(line, end.column);
      const marks = this.#errors.get(start.line) ?? [];
      this.#errors.set(start.line, [...marks, { start: from, end: Math.max(to, from + 1), kind: "error-mark" }]);
    }
    this.#show();
  }

  // Marks the lines of findings.
  set findings(lines) {
    this.#findings = new Set(lines);
    this.#show();
  }

  // Scrolls to a line.
  reveal(line) {
    const height = this.#area.scrollHeight / Math.max(1, this.#shown.length);
    this.#area.scrollTop = Math.max(0, (line - 1) * height - this.#area.clientHeight / 2);
  }

  // Selects a place.
  go(line, column = 1) {
    const lines = this.#area.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const at = before + units(lines[line - 1] ?? "", column);
    this.#area.focus();
    this.#area.setSelectionRange(at, before + (lines[line - 1] ?? "").length);
    this.reveal(line);
  }

  // Draws the lines that have changed.
  #show() {
    const lines = this.#area.value.split("\n");
    const marks = (number) => JSON.stringify([this.#errors.get(number) ?? [], this.#findings.has(number)]);
    const wanted = lines.map((text, index) => ({ text, marks: marks(index + 1) }));
    const same = (a, b) => a && b && a.text === b.text && a.marks === b.marks;
    const old = this.#shown;
    let head = 0;
    while (head < old.length && head < wanted.length && same(old[head], wanted[head])) head++;
    let tail = 0;
    while (tail < Math.min(old.length, wanted.length) - head && same(old.at(-1 - tail), wanted.at(-1 - tail))) tail++;
    const rows = this.#backdrop.children;
    const after = rows[old.length - tail] ?? null;
    for (let extra = old.length - tail - head; extra > 0; extra--) rows[head].remove();
    const made = document.createDocumentFragment();
    for (let index = head; index < wanted.length - tail; index++) {
      const row = document.createElement("div");
      paint(row, wanted[index].text, this.#errors.get(index + 1) ?? []);
      row.classList.toggle("finding-line", this.#findings.has(index + 1));
      made.append(row);
    }
    this.#backdrop.insertBefore(made, after);
    this.#shown = wanted;
    this.#number(lines.length);
    this.#scroll();
  }

  #number(count) {
    while (this.#gutter.childElementCount > count) this.#gutter.lastElementChild.remove();
    while (this.#gutter.childElementCount < count) {
      const row = document.createElement("div");
      row.textContent = this.#gutter.childElementCount + 1;
      this.#gutter.append(row);
    }
    for (const row of this.#gutter.querySelectorAll(".error, .finding")) row.className = "";
    for (const line of this.#findings) this.#gutter.children[line - 1]?.classList.add("finding");
    for (const line of this.#errors.keys()) this.#gutter.children[line - 1]?.classList.add("error");
  }

  #scroll() {
    const { scrollLeft, scrollTop } = this.#area;
    this.#backdrop.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    this.#gutter.scrollTop = scrollTop;
  }
}
