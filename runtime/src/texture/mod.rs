//! Textures and surfaces: arrays, how they are read, and the objects that kernels know by handles.

mod array;
mod descriptor;
mod error;
mod format;
/// The largest textures and surfaces.
pub mod limits;
mod object;
mod reference;
mod resource;

pub use array::{Array, ArrayDescriptor, ArrayRegion, ArrayShape, MipmappedArray};
pub use descriptor::{ReadMode, TextureDescriptor};
pub use error::TextureError;
pub use format::{ChannelFormat, TexelFormat};
pub use object::{Sampler, Surface, Texture};
pub use ptx2spv_translator::interface::texture::{AddressMode, Filter};
pub(crate) use reference::Bindings;
pub use reference::{Reference, ReferenceKind};
pub use resource::{Resource, ResourceView};
