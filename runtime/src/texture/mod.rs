//! Textures and surfaces: arrays, how they are read, and objects with handles for kernels.

pub(crate) mod tensor_map;

mod array;
mod bindings;
mod descriptor;
mod error;
mod format;
mod image;
/// Maximum sizes of textures and surfaces.
pub mod limits;
mod object;
mod reference;
mod reference_kind;
mod resource;
mod shape;

pub use array::{Array, ArrayDescriptor, ArrayRegion, MipmappedArray};
pub(crate) use bindings::Bindings;
pub use descriptor::TextureDescriptor;
pub use error::TextureError;
pub use format::{ChannelFormat, FormatError, ReadMode, TexelFormat};
pub(crate) use image::{Counted, TextureBits, is_exact};
pub use object::{Sampler, Surface, Texture};
pub use ptx2spv_translator::interface::texture::{AddressMode, Filter};
pub use reference::Reference;
pub use reference_kind::ReferenceKind;
pub use resource::{Resource, ResourceView};
pub use shape::ArrayShape;
