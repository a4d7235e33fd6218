// Keeps the files of the page for visits without a network. With one, the files are those of the server.

const FILES = [
  "./", "style.css", "ptx2spv.wasm", "support.md", "worker.js",
  ...["buffers", "editor", "elements", "engine", "examples", "highlight", "launch", "main", "outcome", "panels", "state", "support"].map((name) => `${name}.js`),
  ...["mandelbrot", "vector_add", "reduction", "mma", "race", "out_of_bounds", "uninitialised"].map((name) => `examples/${name}.ptx`),
];

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  event.respondWith((async () => {
    const kept = await caches.open("ptx2spv");
    try {
      const answer = await fetch(request);
      if (answer.ok) await kept.put(request, answer.clone());
      return answer;
    } catch (error) {
      const found = await kept.match(request, { ignoreSearch: true });
      if (found) return found;
      throw error;
    }
  })());
});
// From the first visit on.
self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open("ptx2spv").then((kept) => kept.addAll(FILES)));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
