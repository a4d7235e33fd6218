//! Sampling parameters of textures, like CUDA's `CUDA_TEXTURE_DESC`.

use ptx2spv_translator::interface::texture::{AddressMode, Filter, Record, Texel, flag};

use crate::texel::error::TextureError;
use crate::texel::format::{ChannelFormat, ReadMode};

/// Sampling parameters of a texture. The default is that of CUDA's runtime: all zero.
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
    /// The handling of coordinates out of range, in x, y and z. Without normalized coordinates, wrapping and mirroring
    /// turn into clamping.
    pub address_mode: [AddressMode; 3],
    /// The filter between elements. Linear filtering requires elements that are read as floats.
    pub filter: Filter,
    /// The type that elements are read as.
    pub read_mode: ReadMode,
    /// Whether coordinates from 0 to 1 span the texture. Required for textures with several levels.
    pub normalized_coordinates: bool,
    /// Whether unsigned 8-bit channels that are read as floats are sRGB: the first three of four channels, the first of two. Other formats
    /// ignore the flag.
    pub srgb: bool,
    /// Maximum anisotropy, clamped to 1 to 16. Filtering is always isotropic.
    pub max_anisotropy: u32,
    /// The filter between levels.
    pub mip_filter: Filter,
    /// Offset added to the level.
    pub mip_bias: f32,
    /// The lowest level.
    pub min_mip_level: f32,
    /// The highest level.
    pub max_mip_level: f32,
    /// The value of elements out of range, for [`AddressMode::Border`].
    pub border_color: [f32; 4],
    /// Whether filters cross the edges of a cube's faces. Address modes are ignored then.
    pub seamless_cube: bool,
    /// Whether interpolation between levels must not be simplified, which never happens.
    pub no_trilinear_optimization: bool,
}

impl TextureDescriptor {
    /// Fails if elements of this format can't be read like this. `has_levels` says whether the memory is a mip-mapped
    /// array.
    pub(crate) fn check(&self, format: ChannelFormat, has_levels: bool) -> Result<(), TextureError> {
        self.check_numbers()?;
        let texel = format.texel(self.read_mode, self.srgb);
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

    /// The fields of a record that describe how it is read.
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

    /// The descriptor of the initial record of a reference, which its declaration determines.
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
