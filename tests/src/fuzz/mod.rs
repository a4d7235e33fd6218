//! Entry points of the fuzzers: parser, translator, loading of modules and binaries, launch cases. Each function
//! returns for any bytes: a panic, a hang or a gigabyte of memory is a bug.
//!
//! The programs in `fuzz/` mutate inputs. A small corpus and inputs that failed once are in `tests/fuzzed`, and a test
//! runs these.

mod draw;
mod input;
mod launch;
mod load;
pub mod text;
mod translate;

pub use input::{parts, seed};
pub use launch::launch;
pub use load::{binary, load};
pub use translate::{parse, translate};
