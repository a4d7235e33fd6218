//! What fuzzers call with any bytes: parser, translator, loading of modules and binaries, launch cases. Each function
//! returns, whatever the bytes are; one that panics, hangs or takes a gigabyte has found something.
//!
//! The programs in `fuzz/` mutate inputs. A small corpus and what they have found lie in `tests/fuzzed`, and a test
//! runs these.

mod draw;
mod launch;
mod load;
pub mod text;
mod translate;

pub use launch::launch;
pub use load::{binary, load};
pub use translate::{parse, translate};

/// Parts of an input that has two: up to the first zero byte, and after that.
pub fn parts(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    (&data[..end], data.get(end + 1..).unwrap_or_default())
}

/// What a text says that its options are drawn from: sixteen hexadecimal digits in a comment at its start. 0 without them.
pub fn seed(text: &str) -> u64 {
    let digits = text.strip_prefix("// ").and_then(|rest| rest.get(..16));
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}
