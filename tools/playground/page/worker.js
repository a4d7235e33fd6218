// Hands requests to the WebAssembly module: see src/lib.rs. Its places and lengths come as numbers with a sign.

let wasm = null;

function reply(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const place = wasm.request(bytes.length) >>> 0;
  new Uint8Array(wasm.memory.buffer).set(bytes, place);
  const length = wasm.answer() >>> 0;
  return JSON.parse(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.answer_place() >>> 0, length)));
}

onmessage = ({ data: { module, id, request } }) => {
  try {
    if (module) {
      wasm = new WebAssembly.Instance(module, {}).exports;
    } else {
      postMessage({ id, answer: reply(request) });
    }
  } catch (error) {
    postMessage({ crash: `the module has failed: ${error.message}` });
  }
};
