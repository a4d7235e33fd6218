//! Arrays, with formats in the runtime API's description.

use std::ffi::{c_int, c_uint};

use crate::abi::{INVALID_VALUE, In, Out, Result};
use crate::context::device;
use crate::cudart::error::INVALID_CHANNEL_DESCRIPTOR;
use crate::cudart::types::{ChannelFormat, Extent};
use crate::memory::array::{self, ArrayHandle, Description3D, MipmappedHandle};

/// Kinds of channels: signed, unsigned, float, then the normalized ones, where each number of channels is a kind of its
/// own.
const SIGNED: c_uint = 0;
const UNSIGNED: c_uint = 1;
const FLOAT: c_uint = 2;
const FIRST_NORMALIZED: c_uint = 5;
const LAST_NORMALIZED: c_uint = 16;

/// `CU_AD_FORMAT_UNORM_INT8X1`. The formats after it are in the order of the kinds above.
const NORMALIZED: c_uint = 0xc0;

impl ChannelFormat {
    /// The driver's format and number of channels.
    pub fn driver(self) -> Result<(c_uint, c_uint)> {
        let [first, ..] = self.bits;
        let channels = self.bits.iter().take_while(|&&bits| bits == first && bits != 0).count();
        if channels == 0 || self.bits.iter().skip(channels).any(|&bits| bits != 0) {
            return Err(INVALID_CHANNEL_DESCRIPTOR);
        }
        let format = match (self.kind, first) {
            (UNSIGNED, 8) => 1,
            (UNSIGNED, 16) => 2,
            (UNSIGNED, 32) => 3,
            (SIGNED, 8) => 8,
            (SIGNED, 16) => 9,
            (SIGNED, 32) => 10,
            (FLOAT, 16) => 0x10,
            (FLOAT, 32) => 0x20,
            (kind @ FIRST_NORMALIZED..=LAST_NORMALIZED, _) => NORMALIZED + (kind - FIRST_NORMALIZED),
            _ => return Err(INVALID_CHANNEL_DESCRIPTOR),
        };
        Ok((format, channels as c_uint))
    }

    /// The description of one of the driver's formats.
    pub fn of(format: c_uint, channels: c_uint) -> Result<Self> {
        let (kind, width) = match format {
            1 => (UNSIGNED, 8),
            2 => (UNSIGNED, 16),
            3 => (UNSIGNED, 32),
            8 => (SIGNED, 8),
            9 => (SIGNED, 16),
            10 => (SIGNED, 32),
            0x10 => (FLOAT, 16),
            0x20 => (FLOAT, 32),
            // The normalized formats: three each for unsigned and signed channels of 8 and 16 bits.
            format @ NORMALIZED..=0xcb => (
                FIRST_NORMALIZED + (format - NORMALIZED),
                if ((format - NORMALIZED) / 3).is_multiple_of(2) { 8 } else { 16 },
            ),
            _ => return Err(INVALID_VALUE),
        };
        let mut bits = [0; 4];
        bits.iter_mut().take(channels as usize).for_each(|place| *place = width);
        Ok(Self { bits, kind })
    }
}

pub(crate) fn channel_format(x: c_int, y: c_int, z: c_int, w: c_int, kind: c_uint) -> ChannelFormat {
    ChannelFormat { bits: [x, y, z, w], kind }
}

fn description(format: In<ChannelFormat>, extent: Extent, flags: c_uint) -> Result<Description3D> {
    let (format, channels) = format.get()?.driver()?;
    let Extent { width, height, depth } = extent;
    Ok(Description3D { width, height, depth, format, channels, flags })
}

pub(crate) fn allocate(format: In<ChannelFormat>, width: usize, height: usize, flags: c_uint) -> Result<ArrayHandle> {
    allocate_3d(format, Extent { width, height, depth: 0 }, flags)
}

pub(crate) fn allocate_3d(format: In<ChannelFormat>, extent: Extent, flags: c_uint) -> Result<ArrayHandle> {
    array::create_3d(In::from(&description(format, extent, flags)?))
}

pub(crate) fn allocate_mipmapped(
    format: In<ChannelFormat>,
    extent: Extent,
    levels: c_uint,
    flags: c_uint,
) -> Result<MipmappedHandle> {
    array::create_mipmapped(In::from(&description(format, extent, flags)?), levels)
}

/// NULL is allowed and has no effect.
pub(crate) fn free(array: ArrayHandle) -> Result {
    if array.is_null() { Ok(()) } else { array::destroy(array) }
}

pub(crate) fn free_mipmapped(array: MipmappedHandle) -> Result {
    if array.is_null() { Ok(()) } else { array::destroy_mipmapped(array) }
}

pub(crate) fn info(format: Out<ChannelFormat>, extent: Out<Extent>, flags: Out<c_uint>, array: ArrayHandle) -> Result {
    let known = array.get()?.description;
    format.set_if_any(ChannelFormat::of(known.format, known.channels)?);
    extent.set_if_any(Extent { width: known.width, height: known.height, depth: known.depth });
    flags.set_if_any(known.flags);
    Ok(())
}

pub(crate) fn format(array: ArrayHandle) -> Result<ChannelFormat> {
    let known = array.get()?.description;
    ChannelFormat::of(known.format, known.channels)
}

pub(crate) fn linear_texture_width(format: In<ChannelFormat>, device: c_int) -> Result<usize> {
    let (format, channels) = format.get()?.driver()?;
    device::linear_texture_width(format, channels, device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_there_and_back() {
        for (bits, kind, expected) in [
            ([8, 0, 0, 0], UNSIGNED, (1, 1)),
            ([16, 16, 0, 0], SIGNED, (9, 2)),
            ([32, 32, 32, 32], FLOAT, (0x20, 4)),
            // cudaChannelFormatKindSignedNormalized16X4.
            ([16, 16, 16, 16], 16, (0xcb, 4)),
        ] {
            let format = ChannelFormat { bits, kind };
            assert_eq!(format.driver(), Ok(expected));
            assert_eq!(ChannelFormat::of(expected.0, expected.1), Ok(format));
        }
        for (bits, kind) in [([0; 4], FLOAT), ([8, 0, 8, 0], UNSIGNED), ([8, 16, 0, 0], UNSIGNED), ([8, 0, 0, 0], 3)] {
            assert_eq!(ChannelFormat { bits, kind }.driver(), Err(INVALID_CHANNEL_DESCRIPTOR));
        }
    }
}
