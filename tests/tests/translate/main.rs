//! Translations of small hand-written modules: refused ones with their messages and places, and the interface for the
//! host.
//!
//! In texts that must be refused, `¦` marks each place of a diagnostic, in source order.

mod barriers;
mod interface;
mod modules;
mod operands;
mod sizes;
mod support;
mod textures;
