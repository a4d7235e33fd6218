//! Textures and surfaces: arrays, how they are read, and objects with handles for kernels.

pub(crate) mod array;
pub(crate) mod descriptor;
pub(crate) mod object;
pub(crate) mod resource;
pub(crate) mod tensor_map;

pub(crate) use crate::texture::resource::Bindings;
pub use array::{Array, ArrayDescriptor, ArrayRegion, MipmappedArray};
pub use descriptor::TextureDescriptor;
pub use object::{Sampler, Surface, Texture};
pub use ptx2spv_translator::interface::texture::{AddressMode, Filter};
pub use resource::{Resource, ResourceView};
