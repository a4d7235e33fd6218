// The table of what translates, docs/support.md, with a filter.

const strip = (text) => text.trim().replaceAll("\\|", "|");

// The rows of the tables with names: name, state, remarks.
function rows(markdown) {
  const lines = markdown.split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) => line.split(/(?<!\\)\|/).slice(1, 4).map(strip));
}

// Text with `code` in it.
function prose(cell, text) {
  text.split("`").forEach((part, index) => {
    if (index % 2 === 0) cell.append(part);
    else cell.append(Object.assign(document.createElement("code"), { textContent: part }));
  });
}

export class Support {
  #filter;
  #body;
  #loaded = false;

  constructor(root) {
    this.#filter = root.querySelector("input");
    this.#body = root.querySelector("tbody");
    this.#filter.addEventListener("input", () => this.#apply());
  }

  // Loads the table, once.
  async show() {
    if (this.#loaded) return;
    this.#loaded = true;
    const answer = await fetch(new URL("support.md", import.meta.url));
    for (const [name, state, remarks] of rows(await answer.text())) {
      const row = this.#body.insertRow();
      row.dataset.text = `${name} ${state} ${remarks}`.toLowerCase();
      row.className = state === "supported" ? "" : "lacking";
      for (const text of [name, state, remarks]) prose(row.insertCell(), text);
    }
    this.#apply();
  }

  #apply() {
    const words = this.#filter.value.toLowerCase().split(/\s+/);
    for (const row of this.#body.rows) row.hidden = !words.every((word) => row.dataset.text.includes(word));
  }
}
