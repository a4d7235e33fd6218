//! Entry points of the fuzzers: parser, translator, loading of modules and binaries, launch cases. Each function
//! returns for any bytes: a panic, a hang or a gigabyte of memory is a bug.
//!
//! The programs in `fuzz/` mutate inputs. A small corpus and inputs that failed once are in `tests/fuzzed`, and a test
//! runs these.

mod draw;
mod launch;
mod load;
pub mod text;
mod translate;

pub use launch::launch;
pub use load::{binary, load};
pub use translate::{parse, translate};

/// The two parts of an input: up to the first zero byte, and after that byte.
pub fn parts(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    (&data[..end], data.get(end + 1..).unwrap_or_default())
}

/// The seed for a text's options: sixteen hexadecimal digits in a comment at the start, or 0.
pub fn seed(text: &str) -> u64 {
    let digits = text.strip_prefix("// ").and_then(|rest| rest.get(..16));
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}
