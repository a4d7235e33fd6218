// Element types of buffers, and their bytes.

// Numbers of a half, by its bits.
function half(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

// The bits of the nearest half, ties to even.
function halfBits(number) {
  const sign = Object.is(number, -0) || number < 0 ? 0x8000 : 0;
  const size = Math.abs(number);
  if (Number.isNaN(size)) return 0x7e00;
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
  const scaled = size * 2 ** (10 - exponent);
  const down = Math.floor(scaled);
  const rest = scaled - down;
  const rounded = down + (rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? 1 : 0);
  // A fraction that overflows counts the exponent up.
  const bits = rounded + (exponent + 14) * 1024;
  return sign | (bits >= 0x7c00 ? 0x7c00 : bits);
}

const whole = (convert) => (number) => convert(Math.trunc(Number.isFinite(number) ? number : 0));
const element = (bytes, get, set) => ({ bytes, get, set });

const TYPES = {
  f32: element(4, (view, at) => view.getFloat32(at, true), (view, at, n) => view.setFloat32(at, n, true)),
  f64: element(8, (view, at) => view.getFloat64(at, true), (view, at, n) => view.setFloat64(at, n, true)),
  f16: element(2, (view, at) => half(view.getUint16(at, true)), (view, at, n) => view.setUint16(at, halfBits(n), true)),
  u32: element(4, (view, at) => view.getUint32(at, true), (view, at, n) => view.setUint32(at, whole(Number)(n), true)),
  s32: element(4, (view, at) => view.getInt32(at, true), (view, at, n) => view.setInt32(at, whole(Number)(n), true)),
  u64: element(8, (view, at) => view.getBigUint64(at, true), (view, at, n) => view.setBigUint64(at, whole(BigInt)(n), true)),
  s64: element(8, (view, at) => view.getBigInt64(at, true), (view, at, n) => view.setBigInt64(at, whole(BigInt)(n), true)),
  u16: element(2, (view, at) => view.getUint16(at, true), (view, at, n) => view.setUint16(at, whole(Number)(n), true)),
  s16: element(2, (view, at) => view.getInt16(at, true), (view, at, n) => view.setInt16(at, whole(Number)(n), true)),
  u8: element(1, (view, at) => view.getUint8(at), (view, at, n) => view.setUint8(at, whole(Number)(n))),
  s8: element(1, (view, at) => view.getInt8(at), (view, at, n) => view.setInt8(at, whole(Number)(n))),
};
// Those without a sign are bits.
Object.assign(TYPES, { b8: TYPES.u8, b16: TYPES.u16, b32: TYPES.u32, b64: TYPES.u64 });

export const BUFFER_TYPES = Object.keys(TYPES).filter((name) => !name.startsWith("b"));
export const FILLS = { uninitialised: "uninitialised", zeros: "zeros", iota: "0, 1, 2, …", random: "random", values: "values" };
// As much as the page has room for.
export const MAX_BYTES = 64 << 20;

// What has no type of its own, such as a texture, is bytes.
const typed = (type) => TYPES[type] ?? TYPES.u8;

export const elementBytes = (type) => typed(type).bytes;
export const isFloat = (type) => type.startsWith("f");

// The elements of some bytes.
export function elements(type, bytes) {
  const { bytes: size, get } = typed(type);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => get(view, index * size));
}

// Numbers separated by commas or spaces; hexadecimal ones are bits. Throws the text that is none.
export function parse(type, text) {
  const { bytes: size, set } = typed(type);
  const words = text.split(/[\s,]+/).filter(Boolean);
  const bytes = new Uint8Array(words.length * size);
  const view = new DataView(bytes.buffer);
  words.forEach((word, index) => {
    const at = index * size;
    if (/^-?(0x[0-9a-f]+|\d+)$/i.test(word) && (!isFloat(type) || /x/i.test(word))) {
      const bits = word.startsWith("-") ? -BigInt(word.slice(1)) : BigInt(word);
      const fits = BigInt.asUintN(8 * size, bits) === bits || BigInt.asIntN(8 * size, bits) === bits;
      if (!fits) throw new Error(`${word} doesn't fit ${type}`);
      for (let byte = 0; byte < size; byte++) view.setUint8(at + byte, Number(BigInt.asUintN(8, bits >> BigInt(8 * byte))));
    } else {
      const number = /^[-+]?(nan|inf)/i.test(word) ? { nan: NaN, inf: Infinity }[word.replace(/^[-+]/, "").slice(0, 3).toLowerCase()] : Number(word);
      if ((Number.isNaN(number) && !/nan/i.test(word)) || (!isFloat(type) && !Number.isInteger(number))) throw new Error(`${word} is no ${type}`);
      set(view, at, /^-inf/i.test(word) ? -Infinity : number);
    }
  });
  return bytes;
}

// The first bytes of a buffer; null for an uninitialised one.
export function filled({ type, count, fill, text }) {
  const { bytes: size, set } = typed(type);
  if (fill === "uninitialised") return null;
  const bytes = new Uint8Array(count * size);
  if (fill === "values") {
    bytes.set(parse(type, text ?? "").subarray(0, bytes.length));
    return bytes;
  }
  const view = new DataView(bytes.buffer);
  // The same numbers each time: a linear congruential generator.
  let seed = 12345;
  const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let index = 0; index < count && fill !== "zeros"; index++) {
    set(view, index * size, fill === "iota" ? index : isFloat(type) ? random() : Math.floor(random() * 100));
  }
  return bytes;
}

export function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

export const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
