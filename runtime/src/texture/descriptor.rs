//! How a texture is read: what CUDA's `CUDA_TEXTURE_DESC` says.

use ptx2spv_translator::interface::texture::{AddressMode, Filter, Record, Texel, flag};

use crate::texture::error::TextureError;
use crate::texture::format::{ChannelFormat, ReadMode};

/// How a texture is read. The default is that of CUDA's runtime: all zero.
///
/// ```
/// use ptx2spv_runtime::{AddressMode, Filter, ReadMode, TextureDescriptor};
///
/// let smooth = TextureDescriptor {
///     address_mode: [AddressMode::Clamp; 3],
///     filter: Filter::Linear,
///     read_mode: ReadMode::NormalizedFloat,
///     ..TextureDescriptor::default()
/// };
/// assert!(!smooth.normalized_coordinates);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextureDescriptor {
    /// What becomes of coordinates out of range, in x, y and z. Without normalised coordinates, wrapping and mirroring become
    /// clamping.
    pub address_mode: [AddressMode; 3],
    /// How a value comes from the elements around it. Linear filtering needs what is read to be floats.
    pub filter: Filter,
    /// What reading an element gives.
    pub read_mode: ReadMode,
    /// Whether coordinates from 0 to 1 span the texture. Textures of several levels need that.
    pub normalized_coordinates: bool,
    /// Whether channels of 8 bits but the fourth are sRGB.
    pub srgb: bool,
    /// The greatest anisotropy, taken for 1 to 16. Filtering is isotropic all the same.
    pub max_anisotropy: u32,
    /// How a value comes from the levels around it.
    pub mip_filter: Filter,
    /// Added to the level.
    pub mip_bias: f32,
    /// The lowest level.
    pub min_mip_level: f32,
    /// The highest level.
    pub max_mip_level: f32,
    /// What elements out of range are, with [`AddressMode::Border`].
    pub border_color: [f32; 4],
    /// Whether filters go on beyond the edges of a cube's faces; then address modes don't matter.
    pub seamless_cube: bool,
    /// Whether no interpolation between levels is to be skipped. None ever is.
    pub no_trilinear_optimization: bool,
}

impl TextureDescriptor {
    /// Errors if elements of a format can't be read like this; `has_levels` if the memory is a mip-mapped array.
    pub(crate) fn check(&self, format: ChannelFormat, has_levels: bool) -> Result<(), TextureError> {
        self.check_numbers()?;
        let texel = format.texel(self.read_mode, self.srgb).ok_or(TextureError::Srgb(format))?;
        let is_linear = self.filter == Filter::Linear || (has_levels && self.mip_filter == Filter::Linear);
        if is_linear && is_integer(texel) {
            return Err(TextureError::LinearFilterOfIntegers(format));
        }
        if has_levels && !self.normalized_coordinates {
            return Err(TextureError::LevelsNeedNormalizedCoordinates);
        }
        Ok(())
    }

    pub(crate) fn check_numbers(&self) -> Result<(), TextureError> {
        let numbers =
            [("bias", self.mip_bias), ("lowest level", self.min_mip_level), ("highest level", self.max_mip_level)];
        match numbers.into_iter().find(|(_, number)| number.is_nan()) {
            Some((name, _)) => Err(TextureError::NotANumber(name)),
            None => Ok(()),
        }
    }

    /// What a record says of reading.
    pub(crate) fn record(&self) -> Record {
        let effective = |mode| match mode {
            AddressMode::Wrap | AddressMode::Mirror if !self.normalized_coordinates => AddressMode::Clamp,
            mode => mode,
        };
        let flags = [
            (self.read_mode == ReadMode::ElementType, flag::READ_AS_INTEGER),
            (self.normalized_coordinates, flag::NORMALIZED),
            (self.srgb, flag::SRGB),
            (self.no_trilinear_optimization, flag::NO_TRILINEAR_OPTIMIZATION),
            (self.seamless_cube, flag::SEAMLESS),
        ];
        Record {
            flags: flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag),
            address_mode: self.address_mode.map(effective),
            filter: self.filter,
            mip_filter: self.mip_filter,
            mip_bias: self.mip_bias,
            min_level: self.min_mip_level,
            max_level: self.max_mip_level,
            border: self.border_color,
            anisotropy: self.max_anisotropy.clamp(1, 16),
            ..Record::default()
        }
    }

    /// What a record says of reading, which a reference has from its declaration.
    pub(crate) fn of_record(record: &Record) -> Self {
        let has = |flag: u32| record.flags & flag != 0;
        let read_mode = if has(flag::READ_AS_INTEGER) { ReadMode::ElementType } else { ReadMode::NormalizedFloat };
        Self {
            address_mode: record.address_mode,
            filter: record.filter,
            read_mode,
            normalized_coordinates: has(flag::NORMALIZED),
            srgb: has(flag::SRGB),
            max_anisotropy: record.anisotropy,
            mip_filter: record.mip_filter,
            mip_bias: record.mip_bias,
            min_mip_level: record.min_level,
            max_mip_level: record.max_level,
            border_color: record.border,
            seamless_cube: has(flag::SEAMLESS),
            no_trilinear_optimization: has(flag::NO_TRILINEAR_OPTIMIZATION),
        }
    }
}

fn is_integer(texel: Texel) -> bool {
    matches!(texel, Texel::U8 | Texel::S8 | Texel::U16 | Texel::S16 | Texel::B32)
}
