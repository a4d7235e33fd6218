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
  if (size === Infinity) return sign | 0x7c00;
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
  const scaled = size * 2 ** (10 - exponent);
  const down = Math.floor(scaled);
  const rest = scaled - down;
  const rounded = down + (rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? 1 : 0);
  // A fraction that overflows counts the exponent up.
  const bits = rounded + (exponent + 14) * 1024;
  return sign | (bits >= 0x7c00 ? 0x7c00 : bits);
}

const element = (bytes, get, set) => ({ bytes, get, set });

const TYPES = {
  f32: element(4, (view, at) => view.getFloat32(at, true), (view, at, n) => view.setFloat32(at, n, true)),
  f64: element(8, (view, at) => view.getFloat64(at, true), (view, at, n) => view.setFloat64(at, n, true)),
  f16: element(2, (view, at) => half(view.getUint16(at, true)), (view, at, n) => view.setUint16(at, halfBits(n), true)),
  u32: element(4, (view, at) => view.getUint32(at, true), (view, at, n) => view.setUint32(at, n, true)),
  s32: element(4, (view, at) => view.getInt32(at, true), (view, at, n) => view.setInt32(at, n, true)),
  u64: element(8, (view, at) => view.getBigUint64(at, true), (view, at, n) => view.setBigUint64(at, BigInt(n), true)),
  s64: element(8, (view, at) => view.getBigInt64(at, true), (view, at, n) => view.setBigInt64(at, BigInt(n), true)),
  u16: element(2, (view, at) => view.getUint16(at, true), (view, at, n) => view.setUint16(at, n, true)),
  s16: element(2, (view, at) => view.getInt16(at, true), (view, at, n) => view.setInt16(at, n, true)),
  u8: element(1, (view, at) => view.getUint8(at), (view, at, n) => view.setUint8(at, n)),
  s8: element(1, (view, at) => view.getInt8(at), (view, at, n) => view.setInt8(at, n)),
};
// Those without a sign are bits.
Object.assign(TYPES, { b8: TYPES.u8, b16: TYPES.u16, b32: TYPES.u32, b64: TYPES.u64 });

export const BUFFER_TYPES = Object.keys(TYPES).filter((name) => !name.startsWith("b"));
export const FILLS = { uninitialised: "uninitialised", zeros: "zeros", iota: "0, 1, 2, …", random: "random", values: "values" };
// As much as the page has room for.
const MAX_BYTES = 64 << 20;

// What has no type of its own, such as a texture, is bytes.
const typed = (type) => TYPES[type] ?? TYPES.u8;

export const elementBytes = (type) => typed(type).bytes;
export const isFloat = (type) => ["f16", "f32", "f64"].includes(type);

// The elements of some bytes.
export function elements(type, bytes) {
  const { bytes: size, get } = typed(type);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => get(view, index * size));
}

// Whether a buffer of this many elements has room.
export const isCount = (type, count) => Number.isInteger(count) && count >= 1 && count * elementBytes(type) <= MAX_BYTES;

// The whole number that a decimal one is, exactly; null for others.
function decimal(word) {
  const [, digits, fraction = "", exponent = "0"] = /^([-+]?\d+)(?:\.(\d*))?(?:e([-+]?\d+))?$/i.exec(word) ?? [];
  if (digits === undefined) return null;
  // No type has numbers of more than 20 digits, and no number ends in more zeros than it has digits.
  const places = Math.min(Math.max(Number(exponent) - fraction.length, -word.length), 20);
  const number = BigInt(digits + fraction);
  const scale = 10n ** BigInt(Math.abs(places));
  if (places >= 0) return number * scale;
  return number % scale === 0n ? number / scale : null;
}

// The bits of a word: hexadecimal, or a whole number. Null for other words.
function integer(type, word) {
  if (/^-?0x[0-9a-f]+$/i.test(word)) return word.startsWith("-") ? -BigInt(word.slice(1)) : BigInt(word);
  return isFloat(type) ? null : decimal(word);
}

// The number of a word; null for other words.
function float(word) {
  const [, sign, name] = /^([-+]?)(nan|inf|infinity)$/i.exec(word) ?? [];
  if (name) return (sign === "-" ? -1 : 1) * (/nan/i.test(name) ? NaN : Infinity);
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(word) ? Number(word) : null;
}

// Numbers separated by commas or spaces; hexadecimal ones are bits. Throws the text that is none.
export function parse(type, text) {
  const { bytes: size, set } = typed(type);
  const words = text.split(/[\s,]+/).filter(Boolean);
  const bytes = new Uint8Array(words.length * size);
  const view = new DataView(bytes.buffer);
  words.forEach((word, index) => {
    const at = index * size;
    const bits = integer(type, word);
    const number = bits === null && isFloat(type) ? float(word) : null;
    if (bits !== null) {
      // Compilers declare an `int` as `.u32`, so types without a sign take numbers with one.
      const isSigned = type.startsWith("s") && !/x/i.test(word);
      const fits = BigInt.asIntN(8 * size, bits) === bits || (!isSigned && BigInt.asUintN(8 * size, bits) === bits);
      if (!fits) throw new Error(`${word} doesn't fit ${type}`);
      for (let byte = 0; byte < size; byte++) view.setUint8(at + byte, Number(BigInt.asUintN(8, bits >> BigInt(8 * byte))));
    } else if (number !== null) {
      set(view, at, number);
    } else {
      throw new Error(`${word} is no ${type}`);
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
