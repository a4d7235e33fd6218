// Shows the buffers of a launch: as numbers, as a curve, as a picture.

import { elements, filled, fromBase64, isFloat } from "./elements.js";

const MOST = 1024;
const VIEWS = ["numbers", "curve", "picture"];

function write(number, type) {
  if (typeof number === "bigint" || !isFloat(type)) return String(number);
  if (!Number.isFinite(number)) return String(number);
  return String(Number(number.toPrecision(type === "f64" ? 10 : 6)));
}

// Least and greatest of the finite ones.
function range(numbers) {
  let [least, greatest] = [Infinity, -Infinity];
  for (const number of numbers) {
    if (!Number.isFinite(number)) continue;
    least = Math.min(least, number);
    greatest = Math.max(greatest, number);
  }
  return least <= greatest ? [least, greatest] : [0, 0];
}

function showNumbers(values, before, type) {
  const box = document.createElement("div");
  box.className = "numbers";
  box.tabIndex = 0;
  values.slice(0, MOST).forEach((value, index) => {
    const cell = document.createElement("span");
    cell.textContent = write(value, type);
    cell.classList.toggle("changed", before !== null && !Object.is(before[index], value));
    box.append(cell);
  });
  if (values.length > MOST) {
    const rest = document.createElement("span");
    rest.className = "rest";
    rest.textContent = `… and ${values.length - MOST} more`;
    box.append(rest);
  }
  return [box];
}

function scale(...texts) {
  const box = document.createElement("div");
  box.className = "scale";
  for (const text of texts) box.append(Object.assign(document.createElement("span"), { textContent: text }));
  return box;
}

function showCurve(values, type) {
  const [width, height, margin] = [1200, 260, 12];
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const numbers = values.map(Number);
  const [least, greatest] = range(numbers);
  const [x, y] = [
    (index) => margin + (index * (width - 2 * margin)) / Math.max(1, numbers.length - 1),
    (number) => height - margin - ((number - least) * (height - 2 * margin)) / (greatest - least || 1),
  ];
  const context = canvas.getContext("2d");
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  context.lineWidth = 2.5;
  context.lineJoin = "round";
  context.beginPath();
  let drawn = false;
  numbers.forEach((number, index) => {
    if (!Number.isFinite(number)) drawn = false;
    else {
      if (drawn) context.lineTo(x(index), y(number));
      else context.moveTo(x(index), y(number));
      // A single point is a short line.
      if (!drawn) context.lineTo(x(index) + 1, y(number));
      drawn = true;
    }
  });
  context.stroke();
  canvas.role = "img";
  canvas.ariaLabel = `curve of ${numbers.length} numbers from ${write(least, type)} to ${write(greatest, type)}`;
  return [canvas, scale(`0 … ${numbers.length - 1}`, `${write(least, type)} … ${write(greatest, type)}`)];
}

// A colour map that also those tell apart who see no red or green: dark blue, teal, yellow.
function colour(t) {
  const stops = [[20, 11, 52], [43, 68, 124], [31, 120, 137], [46, 170, 117], [157, 212, 76], [250, 231, 85]];
  const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return stops[low].map((channel, index) => channel + (stops[low + 1][index] - channel) * (at - low));
}

function showPicture(values, width, type) {
  const columns = Math.max(1, Math.min(width, values.length));
  const rows = Math.max(1, Math.ceil(values.length / columns));
  const canvas = Object.assign(document.createElement("canvas"), { width: columns, height: rows, className: "picture" });
  const numbers = values.map(Number);
  const [least, greatest] = range(numbers);
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  numbers.forEach((number, index) => {
    const shade = Number.isFinite(number) ? colour((number - least) / (greatest - least || 1)) : [200, 0, 60];
    image.data.set([...shade, 255], 4 * index);
  });
  context.putImageData(image, 0, 0);
  canvas.role = "img";
  canvas.ariaLabel = `picture of ${columns} × ${rows} numbers from ${write(least, type)} to ${write(greatest, type)}`;
  return [canvas, scale(`${columns} × ${rows}`, `${write(least, type)} … ${write(greatest, type)}`)];
}

// A box for the buffer of an argument. `changed` is called when the view has changed.
export function show(name, arg, encoded, changed) {
  const box = Object.assign(document.createElement("section"), { className: "buffer" });
  const values = elements(arg.type, fromBase64(encoded));
  const first = filled(arg);
  const before = first && elements(arg.type, first);
  const head = document.createElement("header");
  const title = Object.assign(document.createElement("h3"), { textContent: `${name}: ${arg.type}[${values.length}]` });
  const views = Object.assign(document.createElement("div"), { className: "views" });
  const width = Object.assign(document.createElement("input"), { value: arg.width ?? Math.ceil(Math.sqrt(values.length)), ariaLabel: "Width of the picture", inputMode: "numeric", title: "Width of the picture" });
  const draw = () => {
    const view = arg.view ?? "numbers";
    for (const button of views.children) button.ariaPressed = button.textContent === view;
    width.hidden = view !== "picture";
    const drawn = view === "numbers" ? showNumbers(values, before, arg.type) : view === "curve" ? showCurve(values, arg.type) : showPicture(values, Number(width.value) || 1, arg.type);
    box.replaceChildren(head, ...drawn);
  };
  for (const view of VIEWS) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: view });
    button.onclick = () => {
      arg.view = view;
      draw();
      changed();
    };
    views.append(button);
  }
  width.onchange = () => {
    width.value = arg.width = Math.max(1, Math.trunc(Number(width.value)) || 1);
    draw();
    changed();
  };
  head.append(title, width, views);
  draw();
  return box;
}
