//! The description of a Vulkan device that the translator compiles for.
//!
//! A [`Target`] comes from a live device (the runtime fills it), from a named preset, or from a JSON file
//! that `ptx2spv devices --json` wrote on another machine. Nothing in the translator asks a driver.

#![forbid(unsafe_code)]
// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]

mod facts;
mod fault;
mod features;
mod float_controls;
mod mapping;
pub mod marks;
mod math;
mod matrix;
mod options;
mod presets;
mod quirks;
mod target;

pub use facts::Facts;
pub use fault::{CheckedAccess, CheckedSpace, Fault};
pub use features::Feature;
pub use float_controls::FloatControls;
pub use mapping::{Cluster, Packing, Scratch, shared_bytes, workgroup};
pub use math::{Generation, Math, MathError, Topic};
pub use matrix::{MatrixTypes, UnitTypes};
pub use presets::Preset;
pub use quirks::Quirks;
pub use target::{Limits, Subgroups, Target, Version};
