//! Formats of texture elements: up to four channels of one type.

use ptx2spv_translator::interface::texture::Texel;

/// The error of an invalid element format.
///
/// ```
/// use ptx2spv_runtime::{ChannelFormat, FormatError, TexelFormat};
///
/// assert_eq!(TexelFormat::new(ChannelFormat::U8, 3), Err(FormatError::Channels(3)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// An invalid number of channels.
    #[error("elements have one, two or four channels, not {0}")]
    Channels(u32),
    /// A CUDA format of block compression, packed colours or video.
    #[error("elements of CUDA's format {0} are not supported")]
    Named(&'static str),
    /// A number without a CUDA format, or a format that doesn't exist with this number of channels.
    #[error("elements of CUDA's format {number:#x} with {channels} channels are not supported")]
    Unknown {
        /// CUDA's number (`CUarray_format`).
        number: u32,
        /// The number of channels.
        channels: u32,
    },
}

/// CUDA's formats whose elements aren't channels beside each other (`CUarray_format` without `CU_AD_FORMAT_`).
const FOREIGN: &[(u32, &str)] = &[
    (0x50, "UNORM_INT_101010_2"),
    (0x51, "UINT8_PACKED_422"),
    (0x52, "UINT8_PACKED_444"),
    (0x53, "UINT8_SEMIPLANAR_420"),
    (0x54, "UINT16_SEMIPLANAR_420"),
    (0x55, "UINT8_SEMIPLANAR_422"),
    (0x56, "UINT16_SEMIPLANAR_422"),
    (0x57, "UINT8_SEMIPLANAR_444"),
    (0x58, "UINT16_SEMIPLANAR_444"),
    (0x59, "UINT8_PLANAR_420"),
    (0x5a, "UINT16_PLANAR_420"),
    (0x5b, "UINT8_PLANAR_422"),
    (0x5c, "UINT16_PLANAR_422"),
    (0x5d, "UINT8_PLANAR_444"),
    (0x5e, "UINT16_PLANAR_444"),
    (0x91, "BC1_UNORM"),
    (0x92, "BC1_UNORM_SRGB"),
    (0x93, "BC2_UNORM"),
    (0x94, "BC2_UNORM_SRGB"),
    (0x95, "BC3_UNORM"),
    (0x96, "BC3_UNORM_SRGB"),
    (0x97, "BC4_UNORM"),
    (0x98, "BC4_SNORM"),
    (0x99, "BC5_UNORM"),
    (0x9a, "BC5_SNORM"),
    (0x9b, "BC6H_UF16"),
    (0x9c, "BC6H_SF16"),
    (0x9d, "BC7_UNORM"),
    (0x9e, "BC7_UNORM_SRGB"),
    (0x9f, "P010"),
    (0xa1, "P016"),
    (0xa2, "NV16"),
    (0xa3, "P210"),
    (0xa4, "P216"),
    (0xa5, "YUY2"),
    (0xa6, "Y210"),
    (0xa7, "Y216"),
    (0xa8, "AYUV"),
    (0xa9, "Y410"),
    (0xb0, "NV12"),
    (0xb1, "Y416"),
    (0xb2, "Y444_PLANAR8"),
    (0xb3, "Y444_PLANAR10"),
    (0xb4, "YUV444_8bit_SemiPlanar"),
    (0xb5, "YUV444_16bit_SemiPlanar"),
];

/// The type that elements are read as.
///
/// ```
/// use ptx2spv_runtime::{ReadMode, TextureDescriptor};
///
/// // Bytes are read as numbers from 0 to 1.
/// let descriptor = TextureDescriptor { read_mode: ReadMode::NormalizedFloat, ..TextureDescriptor::default() };
/// assert_ne!(descriptor, TextureDescriptor::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadMode {
    /// The element's own type. 16-bit floats become 32-bit floats.
    #[default]
    ElementType,
    /// Integers of 8 and 16 bits become floats from 0 to 1, or from -1 to 1 if they are signed. Other elements are read
    /// unchanged.
    NormalizedFloat,
}

/// The type of a channel, like `CUarray_format`.
///
/// ```
/// use ptx2spv_runtime::{ChannelFormat, TexelFormat};
///
/// // Four channels of a byte.
/// assert_eq!(TexelFormat::new(ChannelFormat::U8, 4)?.bytes(), 4);
/// # Ok::<(), ptx2spv_runtime::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelFormat {
    /// Unsigned integers of 8 bits.
    U8,
    /// Unsigned integers of 16 bits.
    U16,
    /// Unsigned integers of 32 bits.
    U32,
    /// Signed integers of 8 bits.
    S8,
    /// Signed integers of 16 bits.
    S16,
    /// Signed integers of 32 bits.
    S32,
    /// Floats of 16 bits.
    F16,
    /// Floats of 32 bits.
    F32,
    /// Unsigned integers of 8 bits that textures always read as floats from 0 to 1.
    Unorm8,
    /// Unsigned integers of 16 bits that textures always read as floats from 0 to 1.
    Unorm16,
    /// Signed integers of 8 bits that textures always read as floats from -1 to 1.
    Snorm8,
    /// Signed integers of 16 bits that textures always read as floats from -1 to 1.
    Snorm16,
}

impl ChannelFormat {
    /// All formats.
    pub const ALL: [Self; 12] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::S8,
        Self::S16,
        Self::S32,
        Self::F16,
        Self::F32,
        Self::Unorm8,
        Self::Unorm16,
        Self::Snorm8,
        Self::Snorm16,
    ];

    /// Bytes of a channel.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::U8 | Self::S8 | Self::Unorm8 | Self::Snorm8 => 1,
            Self::U16 | Self::S16 | Self::F16 | Self::Unorm16 | Self::Snorm16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
        }
    }

    /// The format's name in launch cases: PTX's name of the type, if it has one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::S8 => "s8",
            Self::S16 => "s16",
            Self::S32 => "s32",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::Unorm8 => "unorm8",
            Self::Unorm16 => "unorm16",
            Self::Snorm8 => "snorm8",
            Self::Snorm16 => "snorm16",
        }
    }

    /// Whether the channels are integers that textures always read as floats.
    pub const fn is_normalized(self) -> bool {
        matches!(self, Self::Unorm8 | Self::Unorm16 | Self::Snorm8 | Self::Snorm16)
    }

    /// The kind of texel that a texture reads. Only unsigned bytes that are read as floats can be sRGB.
    pub(crate) fn texel(self, read: ReadMode, srgb: bool) -> Texel {
        let is_promoted = read == ReadMode::NormalizedFloat;
        match self {
            Self::U8 if is_promoted && srgb => Texel::Srgb8,
            Self::Unorm8 if srgb => Texel::Srgb8,
            Self::U8 if is_promoted => Texel::Unorm8,
            Self::S8 if is_promoted => Texel::Snorm8,
            Self::U16 if is_promoted => Texel::Unorm16,
            Self::S16 if is_promoted => Texel::Snorm16,
            Self::Unorm8 => Texel::Unorm8,
            Self::Unorm16 => Texel::Unorm16,
            Self::Snorm8 => Texel::Snorm8,
            Self::Snorm16 => Texel::Snorm16,
            Self::U8 => Texel::U8,
            Self::S8 => Texel::S8,
            Self::U16 => Texel::U16,
            Self::S16 => Texel::S16,
            // Integers of 32 bits are never converted to floats.
            Self::U32 | Self::S32 => Texel::B32,
            Self::F16 => Texel::F16,
            Self::F32 => Texel::F32,
        }
    }
}

impl TexelFormat {
    /// CUDA's number of the format (`CUarray_format`).
    pub fn cuda_number(self) -> u32 {
        // Normalized formats have a number each for one, two and four channels.
        let channels = self.channels.ilog2();
        match self.channel {
            ChannelFormat::U8 => 1,
            ChannelFormat::U16 => 2,
            ChannelFormat::U32 => 3,
            ChannelFormat::S8 => 8,
            ChannelFormat::S16 => 9,
            ChannelFormat::S32 => 10,
            ChannelFormat::F16 => 0x10,
            ChannelFormat::F32 => 0x20,
            ChannelFormat::Unorm8 => 0xc0 + channels,
            ChannelFormat::Unorm16 => 0xc3 + channels,
            ChannelFormat::Snorm8 => 0xc6 + channels,
            ChannelFormat::Snorm16 => 0xc9 + channels,
        }
    }

    /// The format with CUDA's number (`CUarray_format`) and a number of channels.
    ///
    /// # Errors
    /// [`FormatError::Channels`]; [`FormatError::Named`] for unsupported formats, such as block compression or video;
    /// [`FormatError::Unknown`] for other numbers.
    pub fn from_cuda_number(number: u32, channels: u32) -> Result<Self, FormatError> {
        if let Some((_, name)) = FOREIGN.iter().find(|(foreign, _)| *foreign == number) {
            return Err(FormatError::Named(name));
        }
        let found = ChannelFormat::ALL.into_iter().map(|channel| Self::new(channel, channels));
        for format in found {
            if format.as_ref().is_ok_and(|format| format.cuda_number() == number) || format.is_err() {
                return format;
            }
        }
        Err(FormatError::Unknown { number, channels })
    }
}

/// The format of an element (texel): one, two or four channels of a type.
///
/// ```
/// use ptx2spv_runtime::{ChannelFormat, TexelFormat};
///
/// let rgba = TexelFormat::new(ChannelFormat::U8, 4)?;
/// assert_eq!(rgba.bytes(), 4);
/// assert!(TexelFormat::new(ChannelFormat::U8, 3).is_err());
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelFormat {
    channel: ChannelFormat,
    channels: u32,
}

impl TexelFormat {
    /// A format with a number of channels.
    ///
    /// # Errors
    /// [`FormatError::Channels`] unless there are one, two or four.
    pub fn new(channel: ChannelFormat, channels: u32) -> Result<Self, FormatError> {
        match channels {
            1 | 2 | 4 => Ok(Self { channel, channels }),
            _ => Err(FormatError::Channels(channels)),
        }
    }

    /// The format of each channel.
    pub const fn channel(self) -> ChannelFormat {
        self.channel
    }

    /// The number of channels.
    pub const fn channels(self) -> u32 {
        self.channels
    }

    /// Bytes of an element.
    pub const fn bytes(self) -> u64 {
        self.channel.bytes() * self.channels as u64
    }
}

impl From<ChannelFormat> for TexelFormat {
    /// A single channel.
    fn from(channel: ChannelFormat) -> Self {
        Self { channel, channels: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cudas() {
        for channel in ChannelFormat::ALL {
            for channels in [1, 2, 4] {
                let format = TexelFormat::new(channel, channels).unwrap();
                assert_eq!(TexelFormat::from_cuda_number(format.cuda_number(), channels).unwrap(), format);
            }
        }
        let number = |channel, channels| TexelFormat::new(channel, channels).unwrap().cuda_number();
        // CU_AD_FORMAT_SIGNED_INT32, _FLOAT, _UNORM_INT8X4, _SNORM_INT16X1.
        assert_eq!(number(ChannelFormat::S32, 2), 0xa);
        assert_eq!(number(ChannelFormat::F32, 4), 0x20);
        assert_eq!(number(ChannelFormat::Unorm8, 4), 0xc2);
        assert_eq!(number(ChannelFormat::Snorm16, 1), 0xc9);
        let refused = |number, channels| TexelFormat::from_cuda_number(number, channels).unwrap_err().to_string();
        assert!(refused(0x91, 4).contains("BC1_UNORM ") && refused(0xb0, 3).contains("NV12"));
        assert!(
            refused(0xc2, 1).contains("0xc2") && refused(0x77, 1).contains("0x77") && refused(1, 3).contains("not 3")
        );
    }
}
