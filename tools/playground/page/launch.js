// The form of a launch: sizes, and an argument for each parameter of the kernel.

import { BUFFER_TYPES, FILLS, elementBytes, filled, isCount, isFloat, parse, toBase64 } from "./elements.js";

const NAMES = ["grid0", "grid1", "grid2", "block0", "block1", "block2", "shared"];

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const choose = (label, values, chosen, changed) => {
  const options = Object.entries(values).map(([value, text]) => make("option", { value, textContent: text, selected: value === chosen }));
  return make("select", { ariaLabel: label, onchange: (event) => changed(event.target.value) }, ...options);
};

const isSize = (number, least) => Number.isInteger(number) && number >= least && number <= 0x7fffffff;
const isText = (text) => typeof text === "string";

function isArgument(arg) {
  if (arg?.kind === "value") return isText(arg.text);
  return arg?.kind === "buffer" && BUFFER_TYPES.includes(arg.type) && isCount(arg.type, arg.count)
    && isText(arg.fill) && Object.hasOwn(FILLS, arg.fill) && isText(arg.text ?? "") && isSize(arg.width ?? 1, 1);
}

// Whether this is the state of a launch, as a link may have anything.
export function isLaunch(state) {
  const { grid, block, shared, args, check, subgroup } = state ?? {};
  return [grid, block].every((sizes) => Array.isArray(sizes) && sizes.length === 3 && sizes.every((size) => isSize(size, 1)))
    && isSize(shared, 0) && Array.isArray(args) && args.every(isArgument) && typeof check === "boolean"
    && ["", "4", "8", "16", "32", "64"].includes(subgroup);
}

// Whether a parameter may be a pointer.
const canPoint = (param) => param.size === 8 && !param.array && !isFloat(param.type);

// What a parameter begins with.
function initial(param) {
  if (param.pointer) return { kind: "buffer", type: "f32", count: 1024, fill: "iota" };
  return { kind: "value", text: Array(param.size / elementBytes(param.type)).fill(0).join(", ") };
}

export class Launch {
  #form;
  #changed;
  #params = [];
  state = { grid: [1, 1, 1], block: [32, 1, 1], shared: 0, args: [], check: true, subgroup: "" };

  constructor(form, changed) {
    this.#form = form;
    this.#changed = changed;
    form.addEventListener("input", ({ target }) => {
      if (target.name) this.#read(target);
      changed();
    });
  }

  // Takes over what another visit or an example has. The arguments show with `params`.
  set(state) {
    this.state = { ...this.state, ...structuredClone(state) };
    const { grid, block, shared, check, subgroup } = this.state;
    const numbers = [...grid, ...block, shared];
    NAMES.forEach((name, index) => {
      this.#form.elements[name].value = numbers[index];
      this.#form.elements[name].setCustomValidity("");
    });
    this.#form.elements.check.checked = check;
    this.#form.elements.subgroup.value = subgroup;
  }

  #read(field) {
    if (field.name === "check") this.state.check = field.checked;
    else if (field.name === "subgroup") this.state.subgroup = field.value;
    else {
      const number = /^\d+$/.test(field.value.trim()) ? Number(field.value) : NaN;
      const isRight = isSize(number, field.name === "shared" ? 0 : 1);
      field.setCustomValidity(isRight ? "" : "a whole number");
      if (!isRight) return;
      if (field.name === "shared") this.state.shared = number;
      else this.state[field.name.slice(0, -1)][Number(field.name.at(-1))] = number;
    }
  }

  // Shows fields for the parameters of a kernel.
  params(params) {
    this.#params = params;
    const { args } = this.state;
    params.forEach((param, index) => {
      const suits = args[index] && (args[index].kind === "value" || canPoint(param));
      if (!suits) args[index] = initial(param);
    });
    args.length = params.length;
    this.#form.querySelector(".arguments").replaceChildren(...params.map((param, index) => this.#row(param, index)));
  }

  #row(param, index) {
    const arg = this.state.args[index];
    const label = `argument ${param.name}`;
    const set = (key) => (value) => {
      arg[key] = value;
      this.#changed();
      if (key !== "text") this.params(this.#params);
    };
    const row = make("li", { className: arg.kind === "buffer" ? "buffer-argument" : "" }, make("span", { className: "name", textContent: param.name }), make("span", { className: "type", textContent: `${param.type}${param.array ? `[${param.size}]` : ""}` }));
    if (canPoint(param)) {
      row.append(choose(`${label}: kind`, { buffer: "buffer", value: "value" }, arg.kind, (kind) => {
        this.state.args[index] = initial({ ...param, pointer: kind === "buffer" });
        this.#changed();
        this.params(this.#params);
      }));
    }
    const text = (title) => {
      const field = make("input", { className: "values", value: arg.text ?? "", ariaLabel: `${label}: ${title}`, placeholder: title });
      const type = arg.kind === "buffer" ? arg.type : param.type;
      field.oninput = () => {
        try {
          const bytes = parse(type, field.value);
          const isWhole = arg.kind === "buffer" || bytes.length === param.size;
          field.setCustomValidity(isWhole ? "" : `${param.size / elementBytes(type)} numbers are needed`);
        } catch (error) {
          field.setCustomValidity(error.message);
        }
        arg.text = field.value;
      };
      field.oninput();
      return field;
    };
    if (arg.kind === "value") {
      row.append(text("value"));
      return row;
    }
    const count = make("input", { value: arg.count, ariaLabel: `${label}: number of elements`, inputMode: "numeric" });
    count.oninput = () => {
      const number = /^\d+$/.test(count.value.trim()) ? Number(count.value) : NaN;
      const isRight = isCount(arg.type, number);
      count.setCustomValidity(isRight ? "" : "a whole number, and at most 64 MiB");
      if (isRight) arg.count = number;
    };
    // Another type may need more bytes.
    count.oninput();
    const types = Object.fromEntries(BUFFER_TYPES.map((name) => [name, name]));
    row.append(choose(`${label}: type of elements`, types, arg.type, set("type")), "×", count, choose(`${label}: contents`, FILLS, arg.fill, set("fill")));
    if (arg.fill === "values") row.append(text("numbers"));
    return row;
  }

  // What the module is asked to run. Throws where a field is wrong.
  request(device) {
    if (!this.#form.reportValidity()) throw new Error("a field of the launch is not right");
    const { grid, block, shared, args, check, subgroup } = this.state;
    const options = [`target=${device}`];
    if (subgroup) options.push(`subgroup=${subgroup}`);
    if (check) options.push("check");
    const encode = (arg, index) => {
      if (arg.kind === "value") return { value: toBase64(parse(this.#params[index].type, arg.text)) };
      const bytes = filled(arg);
      return bytes ? { buffer: toBase64(bytes) } : { uninitialised: arg.count * elementBytes(arg.type) };
    };
    return { ask: "run", grid, block, shared, args: args.map(encode), device: options.join(",") };
  }

  // The name of a parameter.
  name(index) {
    return this.#params[index]?.name ?? `argument ${index}`;
  }
}
