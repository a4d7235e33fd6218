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
mod layout;
mod specialize;

pub use codes::{AddressMode, Filter, Kind, Texel};
pub use specialize::{is_specializable, specialize};

use layout::record;

/// Bytes of a [`Record`].
pub const RECORD_BYTES: u64 = 128;
/// Bytes of a [`Level`].
pub const LEVEL_BYTES: u64 = 32;
/// Alignment of the addresses of records and of tables of levels.
pub const RECORD_ALIGN: u32 = 16;

/// The bit of a reference's handle that says texture; NVIDIA's handles have the same.
pub const TEXTURE: u64 = 1 << 61;
/// The bit that says surface.
pub const SURFACE: u64 = 1 << 62;
/// The bit that says sampler.
pub const SAMPLER: u64 = 1 << 60;
/// The bits of a handle that are the record's address.
pub const ADDRESS: u64 = (1 << 56) - 1;

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

/// Bits of [`Record::flags`]; those that CUDA has too (`CU_TRSF_…`) are CUDA's.
pub mod flag {
    /// Integers stay integers. [`super::Texel`] says so too, and is what fetches go by.
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

record! {
    /// A texture, sampler or surface, as kernels find it in memory. Fields that a sampler or surface has no use for are zero.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    Record of RECORD_BYTES;
    /// Byte offsets of a record's fields.
    field {
        /// Address of texel (0, 0, 0) of layer 0 of level 0.
        base: u64 = BASE 0,
        /// Texels in a row.
        width: u32 = WIDTH 8,
        /// Rows, at least 1.
        height: u32 = HEIGHT 12,
        /// Slices of a 3D array, else 1.
        depth: u32 = DEPTH 16,
        /// Layers of a layered array, six for each cube; else 1.
        layers: u32 = LAYERS 20,
        /// Bytes from row to row.
        pitch: u32 = PITCH 24,
        /// The conversion of a channel by a fetch. For surfaces the channels' format, never normalised.
        texel: Texel = TEXEL 28,
        /// Bytes from slice to slice or from layer to layer.
        slice: u64 = SLICE 32,
        /// Channels of a texel: 1, 2 or 4.
        channels: u32 = CHANNELS 40,
        /// See `texture::flag`.
        flags: u32 = FLAGS 44,
        /// Address of the table of levels; only read if there are several.
        level_table: u64 = LEVEL_TABLE 48,
        /// Levels of a mip-mapped array; 0 if it isn't one.
        levels: u32 = LEVELS 56,
        /// The kind of the texture's memory.
        kind: Kind = KIND 60,
        /// In x, y and z; as CUDA applies them: without normalised coordinates there are only `Clamp` and `Border`.
        address_mode: [AddressMode; 3] = ADDRESS_MODE 64,
        /// Within a level.
        filter: Filter = FILTER 76,
        /// Between levels.
        mip_filter: Filter = MIP_FILTER 80,
        /// Added to the level.
        mip_bias: f32 = MIP_BIAS 84,
        /// The lowest level.
        min_level: f32 = MIN_LEVEL 88,
        /// The highest level.
        max_level: f32 = MAX_LEVEL 92,
        /// The value of out-of-range texels, with `AddressMode::Border`.
        border: [f32; 4] = BORDER 96,
        /// The greatest anisotropy, 0 to 16, which is 1 for kernels whatever it is.
        anisotropy: u32 = ANISOTROPY 112,
        /// Samples of each texel of a multi-sample texture; else 0.
        samples: u32 = SAMPLES 116,
        /// CUDA's number of the channels' format (`CUarray_format`).
        format: u32 = FORMAT 120,
        /// The texture's place in the device's tables of images, and whether simple loads read it (`texture::image`); 0
        /// if neither.
        image: u32 = IMAGE 124,
    }
}

record! {
    /// A level of a mip-mapped array, as the table has it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    Level of LEVEL_BYTES;
    /// Byte offsets of the fields of a level in the table.
    level_field {
        /// Address of its texel (0, 0, 0) of layer 0.
        base: u64 = BASE 0,
        /// Bytes from slice to slice or from layer to layer.
        slice: u64 = SLICE 8,
        /// Texels in a row.
        width: u32 = WIDTH 16,
        /// Rows.
        height: u32 = HEIGHT 20,
        /// Slices of a 3D array, else 1.
        depth: u32 = DEPTH 24,
        /// Bytes from row to row.
        pitch: u32 = PITCH 28,
    }
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
        assert_eq!(Level::from_bytes(&bytes), Some(level));
    }

    #[test]
    fn a_zero_record_is_an_unbound_reference() {
        assert_eq!(Record::from_bytes(&[0; RECORD_BYTES as usize]), Some(Record::default()));
        assert_eq!(Record::default().kind, Kind::None);
    }
}
