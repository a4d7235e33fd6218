//! What fuzzers call with any bytes: parser, translator, loading of modules and binaries, launch cases. Each function
//! returns, whatever the bytes are; one that panics, hangs or takes a gigabyte has found something.
//!
//! The programs in `fuzz/` mutate inputs. A small corpus and what they have found lie in `tests/fuzzed`, and a test
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
