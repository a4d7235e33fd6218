//! What the translator makes of small hand-written modules: which are refused, where and with what words, and what their
//! interface tells the host.
//!
//! In texts that must be refused, `¦` stands before each place that a diagnostic must point to, in source order.

mod barriers;
mod interface;
mod modules;
mod operands;
mod sizes;
mod support;
