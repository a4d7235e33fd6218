//! Special registers of a thread, and operations together with other threads.

pub mod barriers;
pub(in crate::lower) mod cancel;
pub(in crate::lower) mod common;
mod descriptor;
pub mod events;
pub mod fragments;
pub mod matrix;
pub mod multiply;
mod quads;
mod sparse;
pub mod special;
mod sums;
mod tiles;
pub mod warp;
pub mod warpgroup;
