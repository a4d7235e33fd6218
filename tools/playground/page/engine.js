// Asks the WebAssembly module, in a worker.

// The module, compiled once for all workers.
export async function compile() {
  const answer = fetch(new URL("ptx2spv.wasm", import.meta.url));
  try {
    return await WebAssembly.compileStreaming(answer);
  } catch {
    // The server doesn't say that it is WebAssembly.
    const again = await fetch(new URL("ptx2spv.wasm", import.meta.url));
    return WebAssembly.compile(await again.arrayBuffer());
  }
}

export class Engine {
  #module;
  #worker = null;
  #asked = new Map();
  #last = 0;
  #waiting = new Map();
  #busy = new Set();

  constructor(module) {
    this.#module = module;
  }

  #start() {
    const worker = new Worker(new URL("worker.js", import.meta.url));
    this.#worker = worker;
    worker.onmessage = ({ data: { id, answer, crash } }) => {
      // It was stopped when this was on its way.
      if (worker !== this.#worker) return;
      if (crash) {
        this.stop(crash);
        return;
      }
      const { resolve } = this.#asked.get(id);
      this.#asked.delete(id);
      resolve(answer);
    };
    worker.onerror = (event) => this.stop(event.message);
    worker.postMessage({ module: this.#module });
  }

  // The answer to a request.
  ask(request) {
    return new Promise((resolve) => {
      if (!this.#worker) this.#start();
      const id = ++this.#last;
      this.#asked.set(id, { resolve });
      this.#worker.postMessage({ id, request });
    });
  }

  // The same, but null if another request of this kind comes before the worker has time for this one.
  async latest(request) {
    const kind = request.ask;
    this.#waiting.get(kind)?.(false);
    this.#waiting.delete(kind);
    if (this.#busy.has(kind)) {
      const goOn = await new Promise((resolve) => this.#waiting.set(kind, resolve));
      if (!goOn) return null;
    }
    this.#busy.add(kind);
    const answer = await this.ask(request);
    this.#busy.delete(kind);
    const next = this.#waiting.get(kind);
    this.#waiting.delete(kind);
    next?.(true);
    return answer;
  }

  // Ends what runs: all requests get this as their error.
  stop(reason) {
    this.#worker?.terminate();
    this.#worker = null;
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    for (const { resolve } of asked) resolve({ error: reason });
  }
}
