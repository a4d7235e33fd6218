//! The instructions of random kernels.

mod contraction;
mod floats;
mod form;
mod integers;
mod video;

pub use contraction::{BETWEEN, TYPES};
pub use floats::FLOATS;
pub use form::Form;
pub use integers::INTEGERS;
pub use video::SIMD;
