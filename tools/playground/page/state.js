// The state of the page in the fragment of its address: JSON, compressed, in base64 for addresses.

const pipe = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

export async function encode(state) {
  const bytes = await pipe(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// What was encoded, of which all but the launch is text or null; nothing for anything else.
export async function decode(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(await pipe(bytes, new DecompressionStream("deflate-raw"))));
    const texts = ["example", "ptx", "kernel", "preset", "tab", "stage"].filter((key) => state[key] === null || typeof state[key] === "string");
    return Object.fromEntries([...texts, "launch"].map((key) => [key, state[key]]));
  } catch {
    return {};
  }
}
