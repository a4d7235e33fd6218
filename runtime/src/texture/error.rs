//! The rules of CUDA that arrays, textures and surfaces keep.

use crate::texture::format::{ChannelFormat, FormatError, TexelFormat};
use crate::texture::reference_kind::ReferenceKind;
use crate::texture::shape::ArrayShape;

/// The rule that an array, a texture or a surface would break.
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
pub enum TextureError {
    /// A format that elements can't have.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A size of zero, or one beyond CUDA's limits.
    #[error("{what} must be 1 to {most}, not {given}, in {shape:?}")]
    ArraySize {
        /// The array's shape.
        shape: ArrayShape,
        /// Which of its sizes.
        what: &'static str,
        /// The size asked for.
        given: u64,
        /// The largest.
        most: u64,
    },
    /// A number of levels.
    #[error("an array of this size has 1 to {most} levels, not {given}")]
    Levels {
        /// How many were asked for.
        given: u32,
        /// The most: down to a level of one element.
        most: u32,
    },
    /// Gathering from an array that isn't 2D.
    #[error("only 2D arrays can be made for gathering")]
    Gather,
    /// No such level.
    #[error("there is no level {level}: the array has {levels}")]
    NoLevel {
        /// The level asked for.
        level: u32,
        /// How many there are.
        levels: u32,
    },
    /// A part that is not inside of an array.
    #[error("the part of {extent:?} elements at {origin:?} is not inside of the array of {size:?}")]
    OutsideArray {
        /// The part's first element in x, y and z, the last of which counts layers too.
        origin: [u64; 3],
        /// The part's size.
        extent: [u64; 3],
        /// The array's size.
        size: [u64; 3],
    },
    /// More or fewer bytes than elements take.
    #[error("{given} bytes are not the {expected} bytes of the elements")]
    ElementBytes {
        /// Bytes of the elements.
        expected: u64,
        /// How many there were.
        given: u64,
    },
    /// Linear memory of too many elements, or none.
    #[error("a texture on linear memory has 1 to {most} elements, not {given}")]
    LinearSize {
        /// The number asked for.
        given: u64,
        /// The largest.
        most: u64,
    },
    /// Pitched memory of a size that textures don't have.
    #[error("the {what} of a texture on pitched memory must be 1 to {most}, not {given}")]
    PitchedSize {
        /// Which size.
        what: &'static str,
        /// The one asked for.
        given: u64,
        /// The largest.
        most: u64,
    },
    /// A pitch that textures don't have.
    #[error(
        "a pitch of {pitch} bytes is no multiple of {multiple}, less than a row of {row} bytes or more than {most}"
    )]
    Pitch {
        /// The pitch.
        pitch: u64,
        /// Of what it must be a multiple.
        multiple: u64,
        /// Bytes of a row.
        row: u64,
        /// The largest.
        most: u64,
    },
    /// Linear filtering of what is read as integers.
    #[error("linear filtering needs elements that are read as floats: {0:?} is read as integers")]
    LinearFilterOfIntegers(ChannelFormat),
    /// Levels without normalised coordinates.
    #[error("textures with several levels need normalised coordinates")]
    LevelsNeedNormalizedCoordinates,
    /// Decoding of sRGB where there is none.
    #[error("sRGB is decoded from unsigned integers of 8 bits that are read as floats, not from {0:?} like this")]
    Srgb(ChannelFormat),
    /// A number that is none.
    #[error("the {0} is not a number")]
    NotANumber(&'static str),
    /// A surface on an array that wasn't made for them.
    #[error("the array was not made for surfaces (`ArrayDescriptor::surface`, CUDA_ARRAY3D_SURFACE_LDST)")]
    NotForSurfaces,
    /// A variable that is no reference.
    #[error("`{name}` is no reference of a texture, a surface or a sampler, but a variable of type {ty}")]
    NoReference {
        /// The variable.
        name: String,
        /// The type of its elements.
        ty: String,
    },
    /// A reference of another kind.
    #[error("`{name}` is a {}, not a {}", found.name(), expected.name())]
    ReferenceKind {
        /// The reference.
        name: String,
        /// What it is.
        found: ReferenceKind,
        /// What it should be.
        expected: ReferenceKind,
    },
    /// A view of memory that is no array.
    #[error("only arrays have views")]
    ViewOfMemory,
    /// A view whose elements are of another size.
    #[error("a view's elements have as many bytes as the array's: {view:?} does not suit {array:?}")]
    ViewFormat {
        /// The view's format.
        view: TexelFormat,
        /// The array's.
        array: TexelFormat,
    },
    /// A view of levels or layers that aren't there.
    #[error("a view of {what} {first} to {last} of an array that has {count}")]
    ViewRange {
        /// Levels or layers.
        what: &'static str,
        /// The first.
        first: u32,
        /// The last.
        last: u32,
        /// How many there are.
        count: u32,
    },
    /// A view of a part of a cube.
    #[error("a view of layers {first} to {last} has no whole cubes")]
    ViewOfPartOfCube {
        /// The first layer.
        first: u32,
        /// The last one.
        last: u32,
    },
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
