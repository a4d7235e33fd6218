//! Images of launch cases, and their textures, surfaces and samplers, in the form of a JSON file.

use ptx2spv_runtime::{AddressMode, Filter, ReadMode};
use serde::{Deserialize, Serialize};

use super::contents_spec::with_contents;

with_contents! {
    /// Memory for textures and surfaces. The elements have the same forms as those of a buffer, and are zeros by default.
    /// Their order is: channels of an element, elements of a row, rows, slices or layers, levels.
    pub struct ImageSpec {
        /// Format of a channel: u8, s8, u16, s16, u32, s32, f16, f32, unorm8, unorm16, snorm8, snorm16.
        pub format: String,
        /// Channels of an element: 1, 2 or 4.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        pub channels: u32,
        /// The dimensions.
        pub shape: Shape,
        /// Width, height, and depth, layers or cubes, in elements; as many numbers as the shape has dimensions.
        pub size: Vec<u32>,
        /// Levels of a mip-mapped array.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub levels: Option<u32>,
        /// Bytes from one row to the next, for the shape `pitched`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pitch: Option<u32>,
        /// Whether surfaces can be made on the array.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub surface: bool,
        ..
    }
}

/// The dimensions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[allow(missing_docs, reason = "named as CUDA names them")]
pub enum Shape {
    #[serde(rename = "1d")]
    OneD,
    #[serde(rename = "2d")]
    TwoD,
    #[serde(rename = "3d")]
    ThreeD,
    #[serde(rename = "1d_layered")]
    OneDLayered,
    #[serde(rename = "2d_layered")]
    TwoDLayered,
    #[serde(rename = "cube")]
    Cube,
    #[serde(rename = "cube_layered")]
    CubeLayered,
    #[serde(rename = "linear")]
    Linear,
    #[serde(rename = "pitched")]
    Pitched,
}

/// A texture, a surface or a sampler, exactly one of them.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ObjectSpec {
    /// A texture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureSpec>,
    /// A surface: the name of its image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    /// A sampler: how textures are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampler: Option<TextureSpec>,
}

/// An image, and how it is read. Missing properties are zero, as in CUDA's runtime.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextureSpec {
    /// The image; none for a sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Address modes in x, y and z. The last one is repeated for missing ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub address: Vec<AddressName>,
    /// The filter between elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<FilterName>,
    /// The type that elements are read as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadName>,
    /// Whether coordinates from 0 to 1 span the texture.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub normalized: bool,
    /// Whether the channels except the fourth are sRGB.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub srgb: bool,
    /// Maximum anisotropy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_anisotropy: Option<u32>,
    /// The filter between levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mip_filter: Option<FilterName>,
    /// Offset added to the level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mip_bias: Option<f32>,
    /// The lowest and the highest level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mip_levels: Option<[f32; 2]>,
    /// The value of elements out of range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border: Option<[f32; 4]>,
    /// Whether filters cross the edges of a cube's faces.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub seamless: bool,
    /// A part of an array, or an array with elements of another format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewSpec>,
}

/// A part of an array, or an array with elements of another format.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ViewSpec {
    /// Format of a channel, if it differs from the array's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Channels of an element, if the format differs.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub channels: u32,
    /// The first and the last level.
    #[serde(default)]
    pub levels: [u32; 2],
    /// The first and the last layer. A cube has six layers.
    #[serde(default)]
    pub layers: [u32; 2],
}

/// An address mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named as CUDA names them")]
pub enum AddressName {
    Wrap,
    Clamp,
    Mirror,
    Border,
}

impl From<AddressName> for AddressMode {
    fn from(name: AddressName) -> Self {
        match name {
            AddressName::Wrap => Self::Wrap,
            AddressName::Clamp => Self::Clamp,
            AddressName::Mirror => Self::Mirror,
            AddressName::Border => Self::Border,
        }
    }
}

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named as CUDA names them")]
pub enum FilterName {
    Point,
    Linear,
}

impl From<FilterName> for Filter {
    fn from(name: FilterName) -> Self {
        match name {
            FilterName::Point => Self::Point,
            FilterName::Linear => Self::Linear,
        }
    }
}

/// The type that elements are read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadName {
    /// The element's own type.
    Element,
    /// Floats from 0 to 1, or -1 to 1.
    Normalized,
}

impl From<ReadName> for ReadMode {
    fn from(name: ReadName) -> Self {
        match name {
            ReadName::Element => Self::ElementType,
            ReadName::Normalized => Self::NormalizedFloat,
        }
    }
}

fn one() -> u32 {
    1
}

fn is_one(value: &u32) -> bool {
    *value == 1
}
