// What a translation shows: the kernel after each stage, SPIR-V, what each device needs.

import { list } from "./highlight.js";

const size = (bytes) => (bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KB`);

// One line about a translation.
export function summarize(output, { bytes, version, features }) {
  output.replaceChildren(
    Object.assign(document.createElement("b"), { textContent: size(bytes) }),
    ` of SPIR-V ${version}, needs ${features.length} feature${features.length === 1 ? "" : "s"}`,
  );
  output.title = features.join(", ");
}

export class Stages {
  #choice;
  #text;
  #stages = [];
  // The name of the stage to show.
  wanted;

  constructor(root, changed) {
    this.#choice = root.querySelector("select");
    this.#text = root.querySelector("pre");
    this.#choice.addEventListener("change", () => {
      this.wanted = this.#stages[this.#choice.value].name;
      this.#draw();
      changed(this.wanted);
    });
  }

  show(stages) {
    this.#stages = stages;
    this.#choice.replaceChildren(...stages.map(({ name, size }, index) => {
      const by = index > 0 ? size - stages[index - 1].size : 0;
      const change = by ? ` (${by > 0 ? "+" : "−"}${Math.abs(by)})` : "";
      const words = `${name.replaceAll("_", " ")} · ${size} statement${size === 1 ? "" : "s"}${change}`;
      return Object.assign(document.createElement("option"), { value: index, textContent: words });
    }));
    const found = stages.findIndex(({ name }) => name === this.wanted);
    this.#choice.value = found >= 0 ? found : stages.length - 1;
    this.#draw();
  }

  // Marks the lines that the stage before doesn't have.
  #draw() {
    const index = Number(this.#choice.value);
    const known = new Set((this.#stages[index - 1]?.text ?? this.#stages[index].text).split("\n"));
    list(this.#text, this.#stages[index].text, (line) => !known.has(line));
  }
}

// The table of devices. `ask` gives the size for one; the rows fill one after another.
export class Devices {
  #rows = new Map();
  #round = 0;

  constructor(body, presets, choose) {
    for (const { name, device } of presets) {
      const row = body.insertRow();
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name, onclick: () => choose(name) });
      const about = Object.assign(document.createElement("small"), { textContent: device });
      row.insertCell().append(button, document.createElement("br"), about);
      row.insertCell().className = "number";
      row.insertCell();
      row.insertCell();
      this.#rows.set(name, row);
    }
  }

  choose(name) {
    for (const [other, row] of this.#rows) row.ariaSelected = other === name;
  }

  async show(ask) {
    const round = ++this.#round;
    for (const [name, row] of this.#rows) {
      const answer = await ask(name);
      // The text has changed in the meantime.
      if (round !== this.#round) return;
      const [, bytes, version, features] = row.cells;
      bytes.textContent = answer.bytes ?? "";
      version.textContent = answer.version ?? "";
      const words = answer.features ?? [answer.error ?? answer.diagnostics[0].message];
      features.replaceChildren(...words.map((word) => Object.assign(document.createElement("span"), { className: answer.features ? "feature" : "", textContent: word })));
    }
  }
}
