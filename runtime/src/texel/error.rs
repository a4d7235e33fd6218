//! CUDA's rules for arrays, textures and surfaces.

use crate::texel::format::{ChannelFormat, FormatError, TexelFormat};
use crate::texel::reference_kind::ReferenceKind;
use crate::texel::shape::ArrayShape;

/// The violated rule of an array, a texture or a surface.
///
/// ```
/// use ptx2spv_runtime::{ArrayDescriptor, ArrayShape, ChannelFormat, Config, Device, Error, TextureError};
///
/// let device = Device::reference(Config::default());
/// let refused = device.array(&ArrayDescriptor::new(ChannelFormat::F32, ArrayShape::OneD { width: 0 }));
/// assert!(matches!(refused, Err(Error::Texture(TextureError::ArraySize { given: 0, .. }))));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "messages say what the members without a comment are")]
pub enum TextureError {
    /// An invalid element format.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A size of zero, or beyond CUDA's limits.
    #[error("{what} must be 1 to {most}, not {given}, in {shape:?}")]
    ArraySize { shape: ArrayShape, what: &'static str, given: u64, most: u64 },
    /// An invalid number of levels.
    #[error("an array of this size has 1 to {most} levels, not {given}")]
    Levels {
        given: u32,
        /// The maximum: down to a level with one element.
        most: u32,
    },
    /// Gathering from an array that isn't 2D.
    #[error("only 2D arrays can be made for gathering")]
    Gather,
    /// A level that doesn't exist.
    #[error("there is no level {level}: the array has {levels}")]
    NoLevel { level: u32, levels: u32 },
    /// A part that exceeds the array.
    #[error("the part of {extent:?} elements at {origin:?} is not inside of the array of {size:?}")]
    OutsideArray {
        /// The part's first element in x, y and z. The third dimension counts layers if there are layers.
        origin: [u64; 3],
        extent: [u64; 3],
        size: [u64; 3],
    },
    /// A number of bytes that differs from the elements' size.
    #[error("{given} bytes are not the {expected} bytes of the elements")]
    ElementBytes { expected: u64, given: u64 },
    /// Linear memory with too many elements, or none.
    #[error("a texture on linear memory has 1 to {most} elements, not {given}")]
    LinearSize { given: u64, most: u64 },
    /// Pitched memory with an invalid size.
    #[error("the {what} of a texture on pitched memory must be 1 to {most}, not {given}")]
    PitchedSize { what: &'static str, given: u64, most: u64 },
    /// An invalid pitch.
    #[error(
        "a pitch of {pitch} bytes is invalid: it must be a multiple of {multiple}, from a row of {row} bytes to {most} bytes"
    )]
    Pitch {
        pitch: u64,
        /// The required alignment.
        multiple: u64,
        /// Bytes of a row.
        row: u64,
        most: u64,
    },
    /// Linear filtering of elements that are read as integers.
    #[error("linear filtering needs elements that are read as floats: {0:?} is read as integers")]
    LinearFilterOfIntegers(ChannelFormat),
    /// Several levels without normalized coordinates.
    #[error("textures with several levels need normalized coordinates")]
    LevelsNeedNormalizedCoordinates,
    /// A NaN.
    #[error("the {0} is not a number")]
    NotANumber(&'static str),
    /// A surface on an array that was not made for surfaces.
    #[error("the array was not made for surfaces (`ArrayDescriptor::surface`, CUDA_ARRAY3D_SURFACE_LDST)")]
    NotForSurfaces,
    /// A variable that is not a reference.
    #[error("`{name}` is a variable of type {ty}, not a texture, surface or sampler reference")]
    NoReference { name: String, ty: String },
    /// A reference of the wrong kind.
    #[error("`{name}` is a {}, not a {}", found.name(), expected.name())]
    ReferenceKind { name: String, found: ReferenceKind, expected: ReferenceKind },
    /// A view of memory that is not an array.
    #[error("only arrays can have views")]
    ViewOfMemory,
    /// A view whose elements differ in size.
    #[error("a view's elements have as many bytes as the array's: {view:?} does not suit {array:?}")]
    ViewFormat { view: TexelFormat, array: TexelFormat },
    /// A view of levels or layers that don't exist.
    #[error("a view of {what} {first} to {last} of an array that has {count}")]
    ViewRange {
        /// Levels or layers.
        what: &'static str,
        first: u32,
        last: u32,
        count: u32,
    },
    /// A view of a part of a cube.
    #[error("a view of layers {first} to {last} doesn't consist of whole cubes")]
    ViewOfPartOfCube { first: u32, last: u32 },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let shape = ArrayShape::OneDLayered { width: 4, layers: 4096 };
        let size = TextureError::ArraySize { shape, what: "the number of layers", given: 4096, most: 2048 };
        let expected = "the number of layers must be 1 to 2048, not 4096, in OneDLayered { width: 4, layers: 4096 }";
        assert_eq!(size.to_string(), expected);
    }
}
