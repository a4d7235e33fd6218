//! The description that travels with a SPIR-V module: all that a host program must know to bind and launch it.
//!
//! It is a Rust type and, through serde, the `.json` file beside the `.spv`.

#![forbid(unsafe_code)]
// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]

pub mod allocations;
mod assumptions;
mod bundle;
mod contents;
mod entry;
mod header;
pub mod heap;
mod interface;
pub mod launches;
pub mod output;
pub mod push_constant;
mod services;
pub mod spec_id;
pub mod texture;
mod variables;
pub mod workspace;

pub use assumptions::Assumptions;
pub use bundle::{Bundle, Variant};
pub use contents::Contents;
pub use entry::{
    BlockSize, Cooperative, Declaration, Entry, LoopSuspension, Param, ParamLocation, Shared, SourceLocation,
};
pub use interface::Interface;
pub use launches::Launches;
pub use services::{Counters, MemoryRegion, ServiceSizes, Status};
pub use variables::{ImageRun, Relocation, Variable, Variables};
