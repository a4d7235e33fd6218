//! Textures, samplers and surfaces: the record of one in device memory, and the handle by which kernels know it.
//!
//! A texture or surface is an array in ordinary device memory and a [`Record`] that describes it, also in device memory.
//! Kernels read both by loads, so that they work on every device and see every earlier write.
//!
//! **Handles.** A handle is the record's device address, which is a multiple of 16 and below 2^56. That of a reference has a tag bit
//! besides ([`TEXTURE`], [`SURFACE`] or [`SAMPLER`]), by which `istypep` knows it; CUDA's objects have none either. Zero is no
//! texture. Handles come to a kernel like any other 64-bit value, in parameters or in memory.
//!
//! **References.** A module variable `.global .texref`, `.samplerref` or `.surfref`, or `.tex` of PTX 1.x, *is* a record:
//! [`crate::Interface::variables`] lists each with its [`crate::Variable::ty`] (`texref`, `samplerref`, `surfref`; a `.tex` variable is
//! a `texref`) and [`RECORD_BYTES`] bytes. The host binds a reference by writing the record there between launches.
//! The initial image has what the PTX initialises (address modes, filter, normalised coordinates) in an otherwise zero
//! record; a zero record is an unbound reference, where all texels are out of range. The variable's handle is its address with
//! the tag bit.
//!
//! **Parameters.** A kernel parameter `.param .texref`, `.samplerref` or `.surfref` has that [`crate::Param::ty`], 8 bytes,
//! and holds a handle.
//!
//! **Texels.** Row-major: texel (x, y, z) of layer l lies at `base + x * channels * channel size + y * pitch + (z or l) *
//! slice`. An array has depth or layers, never both. The faces of cube n are its layers 6 n to 6 n + 5. With mip maps each level
//! has a [`Level`] in a table; level 0 is the record's own as well. Where accesses of 4, 8 or 16 bytes touch memory, the
//! base, pitch and slice are multiples of these: 16 suits all.

mod codes;
mod specialize;

pub use codes::{AddressMode, Filter, Kind, Texel};
pub use specialize::{is_specializable, specialize};

/// Bytes of a [`Record`].
pub const RECORD_BYTES: u64 = 128;
/// Bytes of a [`Level`].
pub const LEVEL_BYTES: u64 = 32;
/// What addresses of records and of tables of levels are multiples of.
pub const RECORD_ALIGN: u32 = 16;

/// The bit of a reference's handle that says texture; NVIDIA's handles have the same.
pub const TEXTURE: u64 = 1 << 61;
/// The bit that says surface.
pub const SURFACE: u64 = 1 << 62;
/// The bit that says sampler.
pub const SAMPLER: u64 = 1 << 60;
/// The bits of a handle that are the record's address.
pub const ADDRESS: u64 = (1 << 56) - 1;

/// Byte offsets of a record's fields.
pub mod field {
    /// u64: address of texel (0, 0, 0) of layer 0 of level 0.
    pub const BASE: u32 = 0;
    /// u32: texels in a row.
    pub const WIDTH: u32 = 8;
    /// u32: rows, at least 1.
    pub const HEIGHT: u32 = 12;
    /// u32: slices of a 3D array, else 1.
    pub const DEPTH: u32 = 16;
    /// u32: layers of a layered array, six for each cube; else 1.
    pub const LAYERS: u32 = 20;
    /// u32: bytes from row to row.
    pub const PITCH: u32 = 24;
    /// u32: [`super::Texel`], how a fetch converts a channel.
    pub const TEXEL: u32 = 28;
    /// u64: bytes from slice to slice or from layer to layer.
    pub const SLICE: u32 = 32;
    /// u32: channels of a texel: 1, 2 or 4.
    pub const CHANNELS: u32 = 40;
    /// u32: [`super::flag`]s.
    pub const FLAGS: u32 = 44;
    /// u64: address of the table of levels; only read if there are several.
    pub const LEVEL_TABLE: u32 = 48;
    /// u32: levels of a mip-mapped array; 0 if it isn't one.
    pub const LEVELS: u32 = 56;
    /// u32: [`super::Kind`].
    pub const KIND: u32 = 60;
    /// 3 × u32: [`super::AddressMode`] in x, y and z.
    pub const ADDRESS_MODE: u32 = 64;
    /// u32: [`super::Filter`].
    pub const FILTER: u32 = 76;
    /// u32: [`super::Filter`] between levels.
    pub const MIP_FILTER: u32 = 80;
    /// f32: added to the level.
    pub const MIP_BIAS: u32 = 84;
    /// f32: the lowest level.
    pub const MIN_LEVEL: u32 = 88;
    /// f32: the highest level.
    pub const MAX_LEVEL: u32 = 92;
    /// 4 × f32: what out-of-range texels are, with [`super::AddressMode::Border`].
    pub const BORDER: u32 = 96;
    /// u32: the greatest anisotropy, 0 to 16.
    pub const ANISOTROPY: u32 = 112;
    /// u32: samples of each texel of a multi-sample texture; else 0.
    pub const SAMPLES: u32 = 116;
    /// u32: CUDA's number of the channels' format (`CUarray_format`).
    pub const FORMAT: u32 = 120;
    /// u32: where the device's tables of images have the texture, and whether simple loads read it ([`super::image`]); 0 if neither.
    pub const IMAGE: u32 = 124;
}

/// The tables of images, from which those kernels read that ask for them ([`crate::Entry::samples`]). An image is another form of a
/// texture's level 0, for textures of floats or fractions with one level and no layers. Its sampler reads as the record says; with
/// coordinates that count texels, only images of two dimensions do.
pub mod image {
    /// The descriptor set with the tables: arrays of combined image samplers.
    pub const SET: u32 = 0;
    /// The binding of images of two dimensions. Those of one have one row.
    pub const PLANES: u32 = 0;
    /// The binding of images of three dimensions.
    pub const VOLUMES: u32 = 1;
    /// Images of each table.
    pub const COUNT: u32 = 1 << 12;
    /// The bits of [`super::field::IMAGE`] that are the number in the table.
    pub const NUMBER: u32 = COUNT - 1;
    /// Says that the texture's own memory is read by simple loads, image or not: channels have 32 bits, there are no levels and no filter,
    /// coordinates count texels, and are clamped.
    pub const IS_PLAIN: u32 = 1 << 28;
    /// Says that the sampler reads the image as NVIDIA's hardware reads the texture for CUDA, bit for bit.
    pub const IS_EXACT: u32 = 1 << 29;
    /// Says that it is among images of two dimensions.
    pub const IS_PLANE: u32 = 1 << 30;
    /// Says that it is among images of three dimensions.
    pub const IS_VOLUME: u32 = 1 << 31;
}

/// Byte offsets of the fields of a level in the table.
pub mod level_field {
    /// u64: address of its texel (0, 0, 0) of layer 0.
    pub const BASE: u32 = 0;
    /// u64: bytes from slice to slice or from layer to layer.
    pub const SLICE: u32 = 8;
    /// u32: texels in a row.
    pub const WIDTH: u32 = 16;
    /// u32: rows.
    pub const HEIGHT: u32 = 20;
    /// u32: slices of a 3D array, else 1.
    pub const DEPTH: u32 = 24;
    /// u32: bytes from row to row.
    pub const PITCH: u32 = 28;
}

/// Bits of [`Record::flags`]; those that CUDA has too (`CU_TRSF_…`) are CUDA's.
pub mod flag {
    /// Integers stay integers. Said by [`super::Texel`] too, which is what fetches go by.
    pub const READ_AS_INTEGER: u32 = 1;
    /// Coordinates from 0 to 1 span the texture.
    pub const NORMALIZED: u32 = 2;
    /// 8-bit channels but the fourth are sRGB. Said by [`super::Texel`] too.
    pub const SRGB: u32 = 0x10;
    /// No interpolation between levels is to be skipped; without effect.
    pub const NO_TRILINEAR_OPTIMIZATION: u32 = 0x20;
    /// Of a sampler beside a texture: coordinates count texels whatever the texture says.
    pub const FORCE_UNNORMALIZED: u32 = 0x1_0000;
    /// Filters go on after the edges of a cube's faces.
    pub const SEAMLESS: u32 = 0x40;
}

/// A texture, sampler or surface, as kernels find it in memory. Fields that a sampler or surface has no use for are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Record {
    /// See [`field::BASE`].
    pub base: u64,
    /// Texels in a row.
    pub width: u32,
    /// Rows, at least 1.
    pub height: u32,
    /// Slices of a 3D array, else 1.
    pub depth: u32,
    /// Layers of a layered array, six for each cube; else 1.
    pub layers: u32,
    /// Bytes from row to row.
    pub pitch: u32,
    /// How a fetch converts a channel. For surfaces the channels' format, never normalised.
    pub texel: Texel,
    /// Bytes from slice to slice or from layer to layer.
    pub slice: u64,
    /// Channels: 1, 2 or 4.
    pub channels: u32,
    /// See [`flag`].
    pub flags: u32,
    /// Address of the table of levels.
    pub level_table: u64,
    /// Levels of a mip-mapped array; 0 if it isn't one.
    pub levels: u32,
    /// What memory it is made of.
    pub kind: Kind,
    /// In x, y and z; as CUDA applies them: without normalised coordinates there are only `Clamp` and `Border`.
    pub address_mode: [AddressMode; 3],
    /// Within a level.
    pub filter: Filter,
    /// Between levels.
    pub mip_filter: Filter,
    /// Added to the level.
    pub mip_bias: f32,
    /// The lowest level.
    pub min_level: f32,
    /// The highest level.
    pub max_level: f32,
    /// What out-of-range texels are, with [`AddressMode::Border`].
    pub border: [f32; 4],
    /// The greatest anisotropy, which is 1 for kernels whatever it is.
    pub anisotropy: u32,
    /// Samples of each texel of a multi-sample texture; else 0.
    pub samples: u32,
    /// CUDA's number of the channels' format (`CUarray_format`).
    pub format: u32,
    /// See [`field::IMAGE`].
    pub image: u32,
}

impl Record {
    /// The record as it lies in memory.
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES as usize] {
        let [low, high] = words(self.base);
        let [slice_low, slice_high] = words(self.slice);
        let [table_low, table_high] = words(self.level_table);
        let [mode_x, mode_y, mode_z] = self.address_mode.map(AddressMode::code);
        let [red, green, blue, alpha] = self.border.map(f32::to_bits);
        bytes([
            low,
            high,
            self.width,
            self.height,
            self.depth,
            self.layers,
            self.pitch,
            self.texel.code(),
            slice_low,
            slice_high,
            self.channels,
            self.flags,
            table_low,
            table_high,
            self.levels,
            self.kind.code(),
            mode_x,
            mode_y,
            mode_z,
            self.filter.code(),
            self.mip_filter.code(),
            self.mip_bias.to_bits(),
            self.min_level.to_bits(),
            self.max_level.to_bits(),
            red,
            green,
            blue,
            alpha,
            self.anisotropy,
            self.samples,
            self.format,
            self.image,
        ])
    }

    /// Reads a record, such as the initial one of a reference; `None` if a number in it stands for nothing.
    pub fn from_bytes(bytes: &[u8; RECORD_BYTES as usize]) -> Option<Record> {
        let mut words = [0; RECORD_BYTES as usize / 4];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes(bytes.try_into().ok()?);
        }
        let word = |offset: u32| words.get(offset as usize / 4).copied();
        let long = |offset: u32| Some(u64::from(word(offset)?) | u64::from(word(offset + 4)?) << 32);
        let float = |offset: u32| word(offset).map(f32::from_bits);
        let mode = |dimension: u32| AddressMode::from_code(word(field::ADDRESS_MODE + 4 * dimension)?);
        let border = |channel: u32| float(field::BORDER + 4 * channel);
        Some(Record {
            base: long(field::BASE)?,
            width: word(field::WIDTH)?,
            height: word(field::HEIGHT)?,
            depth: word(field::DEPTH)?,
            layers: word(field::LAYERS)?,
            pitch: word(field::PITCH)?,
            texel: Texel::from_code(word(field::TEXEL)?)?,
            slice: long(field::SLICE)?,
            channels: word(field::CHANNELS)?,
            flags: word(field::FLAGS)?,
            level_table: long(field::LEVEL_TABLE)?,
            levels: word(field::LEVELS)?,
            kind: Kind::from_code(word(field::KIND)?)?,
            address_mode: [mode(0)?, mode(1)?, mode(2)?],
            filter: Filter::from_code(word(field::FILTER)?)?,
            mip_filter: Filter::from_code(word(field::MIP_FILTER)?)?,
            mip_bias: float(field::MIP_BIAS)?,
            min_level: float(field::MIN_LEVEL)?,
            max_level: float(field::MAX_LEVEL)?,
            border: [border(0)?, border(1)?, border(2)?, border(3)?],
            anisotropy: word(field::ANISOTROPY)?,
            samples: word(field::SAMPLES)?,
            format: word(field::FORMAT)?,
            image: word(field::IMAGE)?,
        })
    }
}

/// A level of a mip-mapped array, as the table has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Address of its texel (0, 0, 0) of layer 0.
    pub base: u64,
    /// Bytes from slice to slice or from layer to layer.
    pub slice: u64,
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slices of a 3D array, else 1.
    pub depth: u32,
    /// Bytes from row to row.
    pub pitch: u32,
}

impl Level {
    /// The level as it lies in the table.
    pub fn to_bytes(&self) -> [u8; LEVEL_BYTES as usize] {
        let [low, high] = words(self.base);
        let [slice_low, slice_high] = words(self.slice);
        bytes([low, high, slice_low, slice_high, self.width, self.height, self.depth, self.pitch])
    }
}

/// A long's words, the lower first.
fn words(long: u64) -> [u32; 2] {
    [long as u32, (long >> 32) as u32]
}

/// Words in little endian.
fn bytes<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_at_their_offsets() {
        let record = Record {
            base: 0x1_0000_0002,
            width: 3,
            height: 4,
            depth: 5,
            layers: 6,
            pitch: 7,
            texel: Texel::Snorm16,
            slice: 0x9_0000_000a,
            channels: 2,
            flags: flag::NORMALIZED | flag::SEAMLESS,
            level_table: 0xb_0000_000c,
            levels: 13,
            kind: Kind::Cube,
            address_mode: [AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border],
            filter: Filter::Linear,
            mip_filter: Filter::Linear,
            mip_bias: 0.5,
            min_level: 1.5,
            max_level: 2.5,
            border: [3.5, 4.5, 5.5, 6.5],
            anisotropy: 14,
            samples: 15,
            format: 16,
            image: 17,
        };
        let bytes = record.to_bytes();
        let word = |offset: u32| {
            let bytes = bytes.get(offset as usize..offset as usize + 4).expect("a word of the record");
            u32::from_le_bytes(bytes.try_into().expect("four bytes"))
        };
        let expected = [
            (field::BASE, 2),
            (field::BASE + 4, 1),
            (field::WIDTH, 3),
            (field::HEIGHT, 4),
            (field::DEPTH, 5),
            (field::LAYERS, 6),
            (field::PITCH, 7),
            (field::TEXEL, 11),
            (field::SLICE, 10),
            (field::SLICE + 4, 9),
            (field::CHANNELS, 2),
            (field::FLAGS, 0x42),
            (field::LEVEL_TABLE, 12),
            (field::LEVEL_TABLE + 4, 11),
            (field::LEVELS, 13),
            (field::KIND, 8),
            (field::ADDRESS_MODE, 1),
            (field::ADDRESS_MODE + 4, 2),
            (field::ADDRESS_MODE + 8, 3),
            (field::FILTER, 1),
            (field::MIP_FILTER, 1),
            (field::MIP_BIAS, 0.5f32.to_bits()),
            (field::MIN_LEVEL, 1.5f32.to_bits()),
            (field::MAX_LEVEL, 2.5f32.to_bits()),
            (field::BORDER, 3.5f32.to_bits()),
            (field::BORDER + 12, 6.5f32.to_bits()),
            (field::ANISOTROPY, 14),
            (field::SAMPLES, 15),
            (field::FORMAT, 16),
            (field::IMAGE, 17),
        ];
        for (offset, value) in expected {
            assert_eq!(word(offset), value, "at {offset}");
        }
        assert_eq!(Record::from_bytes(&bytes), Some(record));
    }

    #[test]
    fn levels_lie_at_their_offsets() {
        let level = Level { base: 1, slice: 2, width: 3, height: 4, depth: 5, pitch: 6 };
        let bytes = level.to_bytes();
        let fields = [
            (level_field::BASE, 1),
            (level_field::SLICE, 2),
            (level_field::WIDTH, 3),
            (level_field::HEIGHT, 4),
            (level_field::DEPTH, 5),
            (level_field::PITCH, 6),
        ];
        for (offset, value) in fields {
            assert_eq!(bytes.get(offset as usize), Some(&value), "at {offset}");
        }
    }

    #[test]
    fn a_zero_record_is_an_unbound_reference() {
        assert_eq!(Record::from_bytes(&[0; RECORD_BYTES as usize]), Some(Record::default()));
        assert_eq!(Record::default().kind, Kind::None);
    }
}
