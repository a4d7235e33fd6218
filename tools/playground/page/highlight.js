// Colours of PTX, of the intermediate representation, and of SPIR-V.

const TOKEN = /(\/\/.*|\/\*.*?\*\/|^;.*)|(%[\w$.]+)|(\.[\w:]+)|(\b0[xXfFdDbB][0-9a-fA-F]+U?\b|\b\d[\w.]*\b)|(^\s*@?!?\b[\w$]+|\b(?:bra|ret|exit|call|if|else|loop|break|yield|Op\w+)\b)|("[^"]*")/g;
const CLASSES = ["comment", "register", "directive", "literal", "word", "literal"];

// Adds the parts of a line to an element. `marks` are ranges of columns, from 0, that get a class besides.
export function paint(element, line, marks = []) {
  const tokens = [];
  for (const match of line.matchAll(TOKEN)) {
    const kind = CLASSES[match.slice(1).findIndex((group) => group !== undefined)];
    tokens.push({ start: match.index, end: match.index + match[0].length, kind });
  }
  const edges = new Set([0, line.length]);
  for (const { start, end } of [...tokens, ...marks]) edges.add(Math.min(start, line.length)).add(Math.min(end, line.length));
  const sorted = [...edges].sort((a, b) => a - b);
  element.textContent = "";
  for (let i = 0; i + 1 < sorted.length; i++) {
    const text = line.slice(sorted[i], sorted[i + 1]);
    const covers = ({ start, end }) => start <= sorted[i] && sorted[i] < end;
    const kinds = [tokens.find(covers)?.kind, ...marks.filter(covers).map(({ kind }) => kind)].filter(Boolean);
    if (kinds.length === 0) {
      element.append(text);
      continue;
    }
    const span = document.createElement("span");
    span.className = kinds.join(" ");
    span.textContent = text;
    element.append(span);
  }
}

// Shows a text, line by line. `added` says which lines are new.
export function list(element, text, added = () => false) {
  element.replaceChildren(...text.trimEnd().split("\n").map((line) => {
    const row = document.createElement("div");
    paint(row, line);
    row.classList.toggle("added", added(line));
    return row;
  }));
}
