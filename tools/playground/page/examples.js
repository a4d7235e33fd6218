// The examples, with the launches that they start with.

const buffer = (type, count, fill, more = {}) => ({ kind: "buffer", type, count, fill, ...more });
const value = (text) => ({ kind: "value", text: String(text) });
const launch = (grid, block, args, more = {}) => ({ grid, block, shared: 0, args, check: true, ...more });

export const EXAMPLES = {
  mandelbrot: {
    title: "Mandelbrot set",
    ...launch([12, 18, 1], [16, 8, 1], [
      buffer("u32", 192 * 144, "uninitialised", { view: "picture", width: 192 }),
      value(192), value(144), value(-2.2), value(1.15), value(0.016), value(32),
    ], { check: false }),
  },
  vector_add: {
    title: "Sum of two vectors",
    ...launch([4, 1, 1], [256, 1, 1], [
      buffer("f32", 1000, "iota", { view: "curve" }),
      buffer("f32", 1000, "random", { view: "curve" }),
      buffer("f32", 1000, "uninitialised", { view: "curve" }),
      value(1000),
    ]),
  },
  reduction: {
    title: "Reduction with shuffles",
    ...launch([8, 1, 1], [128, 1, 1], [
      buffer("f32", 1000, "iota"),
      buffer("f32", 8, "uninitialised"),
      value(1000),
    ]),
  },
  mma: {
    title: "Product of matrices (mma)",
    ...launch([1, 1, 1], [32, 1, 1], [
      buffer("f16", 256, "random", { view: "picture", width: 16 }),
      buffer("f16", 128, "random", { view: "picture", width: 16 }),
      buffer("f32", 128, "uninitialised", { view: "picture", width: 8 }),
    ]),
  },
  race: {
    title: "Fault: a data race",
    ...launch([1, 1, 1], [64, 1, 1], [
      buffer("u32", 64, "random"),
      buffer("u32", 16, "zeros"),
    ]),
  },
  out_of_bounds: {
    title: "Fault: an access out of bounds",
    ...launch([4, 1, 1], [256, 1, 1], [
      buffer("f32", 1000, "iota"),
      buffer("f32", 1000, "zeros", { view: "curve" }),
    ]),
  },
  uninitialised: {
    title: "Fault: uninitialised memory",
    ...launch([1, 1, 1], [32, 1, 1], [
      buffer("u32", 32, "uninitialised"),
      buffer("u32", 32, "random"),
      buffer("u32", 32, "zeros"),
    ]),
  },
};

// The text of an example.
export async function example(name) {
  const answer = await fetch(new URL(`examples/${name}.ptx`, import.meta.url));
  if (!answer.ok) throw new Error(`no example ${name}`);
  return answer.text();
}
