// What a launch has done: a verdict, the kernel's output, its buffers.

import { show } from "./buffers.js";

const add = (parent, tag, className, ...children) => {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  parent.append(element);
  return element;
};

export function outcome(root, { answer, milliseconds, args, name, changed }) {
  root.replaceChildren();
  const { findings, diagnostics, error } = answer;
  const steps = answer.steps ? `, ${answer.steps.toLocaleString("en")} instructions` : "";
  const time = ` ${Math.round(milliseconds).toLocaleString("en")} ms${steps}`;
  const count = `${findings.length} finding${findings.length === 1 ? "" : "s"}`;
  const [kind, words] =
    error ? ["bad", error]
    : diagnostics.length ? ["bad", "The kernel can't be translated."]
    : findings.some(({ stops }) => stops) ? ["bad", `Stopped: ${count}, at the lines marked in the text.`]
    : findings.length ? ["warned", `Ran to its end, with ${count}.`]
    : ["good", "Ran to its end, nothing found."];
  add(root, "p", `verdict ${kind}`, words, add(root, "small", "", time));
  if (answer.output) add(root, "pre", "printed", answer.output);
  args.forEach((arg, index) => {
    const bytes = answer.buffers[index];
    if (arg.kind === "buffer" && typeof bytes === "string") root.append(show(name(index), arg, bytes, changed));
  });
}

const triple = (numbers) => `(${numbers.join(", ")})`;

function by({ thread, block }) {
  const parts = [thread && `thread ${triple(thread)}`, block && `block ${triple(block)}`].filter(Boolean);
  return parts.length ? ` by ${parts.join(" of ")}` : "";
}

// The lines of the list of problems: `go` shows a place.
export function problems(root, diagnostics, findings, go) {
  root.replaceChildren();
  const entry = (className, title, message, details, line, column) => {
    const button = add(root, "button", `problem ${className}`, add(root, "b", "", `${title}: `), message);
    button.type = "button";
    for (const detail of details.filter(Boolean)) add(button, "small", "", detail);
    button.disabled = !line;
    button.onclick = () => go(line, column);
  };
  for (const { message, start, function: where, help, related } of diagnostics) {
    const also = related && `${related.message}, at line ${related.start.line}`;
    entry("error", `line ${start.line}`, message, [where && `in ${where}`, also, help], start.line, start.column);
  }
  for (const { kind, message, site, other, repeated } of findings) {
    const role = kind === "data race" || kind.startsWith("barrier") ? "against" : "the value comes from";
    const against = other && `${role} ${other.line ? `line ${other.line}` : "elsewhere"}${by(other)}`;
    const title = site.line ? `line ${site.line}: ${kind}` : kind;
    entry("finding", title, message, [by(site).trim(), against, repeated && `and ${repeated} more times`], site.line, 1);
  }
}
