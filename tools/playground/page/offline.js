// Keeps the files of the page for visits without a network. With one, the files are those of the server.

const FILES = [
  "./", "index.html", "style.css", "ptx2spv.wasm", "support.md", "worker.js",
  ...["buffers", "editor", "elements", "engine", "examples", "highlight", "launch", "main", "outcome", "panels", "state", "support"].map((name) => `${name}.js`),
  ...["mandelbrot", "vector_add", "reduction", "mma", "race", "out_of_bounds", "uninitialised"].map((name) => `examples/${name}.ptx`),
];

const OWN = new Set(FILES.map((name) => new URL(name, location.href).href));

// The browser asks the server whether its own copy is still right: modules of two builds don't fit each other.
const fresh = { cache: "no-cache" };

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const [name] = request.url.split(/[?#]/);
  if (request.method === "GET" && OWN.has(name)) event.respondWith(reply(event, name));
});

async function reply(event, name) {
  try {
    const answer = await fetch(event.request, fresh);
    // Where there is no room, the page works without.
    if (answer.ok) event.waitUntil(keep(name, answer.clone()).catch(() => {}));
    return answer;
  } catch (error) {
    const found = await caches.match(name, { cacheName: "ptx2spv" });
    if (found) return found;
    throw error;
  }
}

async function keep(name, answer) {
  const kept = await caches.open("ptx2spv");
  await kept.put(name, answer);
}

// From the first visit on.
self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open("ptx2spv").then((kept) => kept.addAll(FILES.map((name) => new Request(name, fresh)))));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
