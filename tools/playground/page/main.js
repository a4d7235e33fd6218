// The page: what is typed and chosen goes to the engine, what comes back to the panels.

import { Editor } from "./editor.js";
import { Engine, compile } from "./engine.js";
import { EXAMPLES, example } from "./examples.js";
import { list } from "./highlight.js";
import { Launch, isLaunch } from "./launch.js";
import { outcome, problems } from "./outcome.js";
import { Devices, Stages, summarize } from "./panels.js";
import { decode, encode } from "./state.js";
import { Support } from "./support.js";

const find = (id) => document.getElementById(id);
const TABS = ["run", "stages", "spirv", "devices", "support"];
const FIRST = "mandelbrot";

// What the address has: the text, or the name of the example that it is; the rest is chosen or typed.
const state = { example: FIRST, ptx: null, kernel: null, preset: "nvidia", tab: "run", stage: null };
let diagnostics = [];
let findings = [];

const module = await compile();
// Several, so that neither a translation nor a kernel that runs delays what is said of the text.
const [checker, translator, device] = [new Engine(module), new Engine(module), new Engine(module)];
const launch = new Launch(find("launch"), () => remember());
const editor = new Editor(document.querySelector(".editor"), () => {
  findings = [];
  check(performance.now());
  remember();
});
const stages = new Stages(find("stages"), (name) => {
  state.stage = name;
  remember();
});

const support = new Support(find("support"));

let noted = 0;
function note(text) {
  find("note").textContent = text;
  find("note").className = "shown";
  clearTimeout(noted);
  noted = setTimeout(() => (find("note").className = ""), 2500);
}

// The address follows, a little later.
let remembering = 0;
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(write, 300);
}

// One after another: the last one has the latest state.
let written = Promise.resolve();
function write() {
  written = written.catch(() => {}).then(writeNow);
  return written;
}

async function writeNow() {
  const isExample = state.example !== null && editor.text === texts.get(state.example);
  const kept = { ...state, example: isExample ? state.example : null, ptx: isExample ? null : editor.text, launch: launch.state };
  history.replaceState(null, "", `#${await encode(kept)}`);
}

// Shows another text, and nothing of the one before.
function replace(text) {
  device.stop("stopped");
  findings = [];
  find("outcome").replaceChildren();
  editor.text = text;
}

// The texts of the examples that were shown.
const texts = new Map();
// The text that was asked for is there.
let loaded = Promise.resolve();
// Of texts that take a while, the one that was asked for last is shown.
let lastAsked = 0;
async function load(name, number = ++lastAsked) {
  if (!texts.has(name)) texts.set(name, await example(name));
  if (number !== lastAsked) return;
  const { title, ...start } = EXAMPLES[name];
  Object.assign(state, { example: name, kernel: null });
  replace(texts.get(name));
  launch.set({ subgroup: "", ...start });
  shown = "";
}

// Shows what is wrong with the text. `typed` is the time of a keystroke.
let checked = Promise.resolve();
function check(typed) {
  checked = inspect(typed);
  return checked;
}

// Translates, which a launch waits for too.
function translateAnew() {
  checked = Promise.all([checked, translate()]);
}

async function inspect(typed) {
  const ptx = editor.text;
  const answer = await checker.latest({ ask: "check", ptx });
  // A text that has changed is being checked again: kernels and places are others there.
  if (!answer || ptx !== editor.text) return;
  mark(answer.error ? [] : answer.diagnostics);
  if (typed) performance.measure("diagnostics", { start: typed });
  if (answer.kernels) {
    const names = answer.kernels;
    if (!names.includes(state.kernel)) state.kernel = names[0] ?? null;
    find("kernel").replaceChildren(...names.map((name) => new Option(name, name, false, name === state.kernel)));
    await translate();
  } else {
    for (const id of ["stages", "spirv", "devices"]) find(id).classList.add("stale");
  }
}

function mark(list) {
  diagnostics = list;
  editor.errors = diagnostics;
  editor.findings = findings.flatMap(({ site, other }) => [site.line, other?.line]).filter(Boolean);
  problems(find("problems"), diagnostics, findings, (line, column) => editor.go(line, column));
}

// Fields for the parameters of the kernel, which stay as they are while other things are typed.
let shown = "";
function showParams(params) {
  const now = JSON.stringify([state.kernel, params]);
  if (now !== shown) launch.params(params);
  shown = now;
}

const asked = () => ({ ptx: editor.text, kernel: state.kernel, preset: state.preset });

async function translate() {
  if (state.kernel === null) {
    find("summary").textContent = "no kernel in the text";
    return;
  }
  const request = asked();
  const answer = await translator.latest({ ask: "translate", ...request });
  // Of what is there no longer, nothing is shown.
  if (!answer || JSON.stringify(request) !== JSON.stringify(asked())) return;
  const wrong = answer.error ?? null;
  mark(wrong ? [{ message: wrong, start: { line: 1, column: 1 }, end: { line: 1, column: 1 } }] : answer.diagnostics);
  for (const id of ["stages", "spirv", "devices"]) find(id).classList.toggle("stale", !answer.stages);
  if (!answer.stages) {
    find("summary").textContent = "";
    return;
  }
  showParams(answer.params);
  summarize(find("summary"), answer);
  stages.show(answer.stages);
  list(find("spirv").querySelector("pre"), answer.spirv);
  if (state.tab === "devices") await compare();
}

const compare = () => devices.show((preset) => translator.ask({ ask: "size", ...asked(), preset }));

function show(tab) {
  state.tab = TABS.includes(tab) ? tab : "run";
  for (const name of TABS) {
    const isShown = name === state.tab;
    find(name).hidden = !isShown;
    find(`tab-${name}`).ariaSelected = isShown;
    find(`tab-${name}`).tabIndex = isShown ? 0 : -1;
  }
  if (state.tab === "support") support.show();
}

function choosePreset(name) {
  state.preset = name;
  find("preset").value = name;
  devices.choose(name);
  remember();
  translateAnew();
}

async function run() {
  if (find("start").disabled) return;
  find("start").disabled = true;
  try {
    // The launch is that of the text as it is now or of the example that is chosen now, not of one that is opened meanwhile.
    const number = lastAsked;
    await Promise.allSettled([loaded]);
    if (number !== lastAsked) return;
    const text = editor.text;
    await checked;
    if (editor.text === text) await runChecked();
  } finally {
    find("start").disabled = false;
    find("stop").disabled = true;
  }
}

async function runChecked() {
  let request;
  if (state.kernel === null) {
    note("There is no kernel in the text.");
    return;
  }
  try {
    request = { ...launch.request(state.preset), ptx: editor.text, kernel: state.kernel };
  } catch (error) {
    note(error.message);
    return;
  }
  show("run");
  find("stop").disabled = false;
  const args = structuredClone(launch.state.args);
  const names = args.map((_, index) => launch.name(index));
  const begin = performance.now();
  const nothing = { diagnostics: [], findings: [], buffers: [], output: "" };
  const answer = { ...nothing, ...await device.ask(request) };
  const milliseconds = performance.now() - begin;
  if (request.ptx !== editor.text || request.kernel !== state.kernel) {
    if (!answer.error) note("The text has changed since the kernel was started: its results are not shown.");
    return;
  }
  // Views that are chosen here are kept.
  const changed = () => {
    args.forEach(({ view, width }, index) => Object.assign(launch.state.args[index] ?? {}, view && { view }, width && { width }));
    remember();
  };
  findings = answer.findings;
  mark(answer.diagnostics.length ? answer.diagnostics : diagnostics);
  const [first] = findings.map(({ site }) => site.line).filter(Boolean);
  if (first) editor.reveal(first);
  outcome(find("outcome"), { answer, milliseconds, args, name: (index) => names[index], changed });
  find("outcome").scrollIntoView({ block: "nearest" });
}

const presets = await translator.ask({ ask: "presets" });
const devices = new Devices(find("devices").querySelector("tbody"), presets, choosePreset);
find("preset").append(...presets.map(({ name, device }) => Object.assign(new Option(name, name), { title: device })));
find("example").append(...Object.entries(EXAMPLES).map(([name, { title }]) => new Option(title, name)));

find("example").onchange = async ({ target }) => {
  // At once: the example may be run before its text is there.
  device.stop("stopped");
  loaded = load(target.value).catch(() => note("The example can't be loaded."));
  checked = loaded.then(() => inspect());
  await checked;
  remember();
};
find("kernel").onchange = ({ target }) => {
  state.kernel = target.value;
  remember();
  translateAnew();
};
find("preset").onchange = ({ target }) => choosePreset(target.value);
find("launch").onsubmit = (event) => {
  event.preventDefault();
  run();
};
find("stop").onclick = () => device.stop("stopped");
find("share").onclick = async () => {
  await write();
  try {
    await navigator.clipboard.writeText(location.href);
    note("The link is in the clipboard.");
  } catch {
    note("The link is in the address bar.");
  }
};
for (const name of TABS) {
  find(`tab-${name}`).onclick = () => {
    show(name);
    remember();
    if (name === "devices" && state.kernel !== null) compare();
  };
}
document.querySelector(".tabs").addEventListener("keydown", ({ key }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step) return;
  const next = find(`tab-${TABS[(TABS.indexOf(state.tab) + step + TABS.length) % TABS.length]}`);
  next.click();
  next.focus();
});
addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
  }
});
addEventListener("hashchange", ({ newURL }) => {
  loaded = open(new URL(newURL).hash).then(remember, () => note("The link can't be opened."));
});

// Shows what the address says, or the first example.
async function open(hash) {
  const number = ++lastAsked;
  const { launch: started, ptx, ...kept } = await decode(hash.slice(1));
  if (number !== lastAsked) return;
  Object.assign(state, kept);
  if (!presets.some(({ name }) => name === state.preset)) state.preset = "nvidia";
  const { kernel } = state;
  find("preset").value = state.preset;
  devices.choose(state.preset);
  show(state.tab);
  stages.wanted = state.stage;
  const name = Object.hasOwn(EXAMPLES, state.example ?? "") ? state.example : FIRST;
  find("example").value = name;
  if (typeof ptx === "string") {
    state.example = null;
    find("example").selectedIndex = -1;
    replace(ptx);
  } else {
    await load(name, number);
    if (number !== lastAsked) return;
  }
  if (isLaunch(started)) launch.set(started);
  state.kernel = kernel;
  shown = "";
  await check();
}

loaded = open(location.hash);
await loaded;
document.documentElement.dataset.ready = "";
if ("serviceWorker" in navigator) navigator.serviceWorker.register("offline.js");
