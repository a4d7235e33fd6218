//! The words for textures that need no device: formats, shapes, limits, and CUDA's rules about them.

pub(crate) mod error;
pub(crate) mod format;
/// Maximum sizes of textures and surfaces.
pub mod limits;
pub(crate) mod reference_kind;
pub(crate) mod shape;
