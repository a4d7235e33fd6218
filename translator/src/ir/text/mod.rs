//! The text form of the intermediate representation, for people, for tests of passes and for `ptx2spv translate --emit ir`.
//!
//! [`Function`]'s `Display` prints it, with the marks of [`Stmt::At`](super::Stmt::At) if asked for by `{:#}`;
//! [`Function::parse`] reads it back. A function is its properties, one a line where they differ from nothing, its variables by
//! type, and its statements, one a line:
//!
//! ```text
//! shared_bytes 64
//! var i32: r0, r2..r4
//! v0: i64 = push_constant.40
//! v1: i32 = load.global.b32.acquire.device [v0]
//! r0 := v1
//! loop {
//!   v2: i32 = r0
//!   v3: i32 = 1
//!   v4: i32 = sub v2, v3
//!   r0 := v4
//!   v5: bool = equal v4, v3
//!   if v5 {
//!     break
//!   }
//! }
//! ```
//!
//! A mnemonic is a dotted word; [`names`](self::names) has the tables of its parts. What follows a `;` is a comment. Values that
//! nothing defines have no text: reading gives them the type `i32`.

mod line;
mod mnemonic;
mod names;
mod parse;
mod print;
#[cfg(test)]
mod tests;

pub(crate) use line::Line;
pub use line::ParseError;
pub(crate) use mnemonic::{Mnemonic, Modifier, Named, Parts, modifiers};
pub(crate) use parse::Lines;
pub(crate) use print::Printer;
