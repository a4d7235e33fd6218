//! What a thread learns of its place, and what it does together with others.

pub mod barriers;
pub(in crate::lower) mod cancel;
pub mod events;
pub mod matrix;
pub mod multiply;
pub mod special;
pub mod warp;
