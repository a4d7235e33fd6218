//! Structures of the runtime API that are passed by value.

use std::ffi::{c_int, c_uint};

use crate::abi::{INVALID_VALUE, Memory, OUT_OF_MEMORY, Result, layouts};

/// `dim3`: the size of a grid or a block.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

impl Dim3 {
    pub fn list(self) -> [c_uint; 3] {
        [self.x, self.y, self.z]
    }
}

/// `cudaExtent`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

impl Extent {
    /// Rows of all slices together.
    pub fn rows(self) -> Result<usize> {
        self.height.checked_mul(self.depth).ok_or(OUT_OF_MEMORY)
    }
}

/// `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pitched {
    pub pointer: Memory,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `cudaMemLocation`, passed in one register.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub kind: c_int,
    pub id: c_int,
}

impl Location {
    /// The number that the driver's older functions take for the location: a device's, or −1 for the host.
    pub fn device(self) -> Result<c_int> {
        const HOST: c_int = -1;
        match self.kind {
            1 => Ok(self.id),
            // The host, a NUMA node of the host, and the calling thread's node.
            2..=4 => Ok(HOST),
            _ => Err(INVALID_VALUE),
        }
    }
}

/// `cudaChannelFormatDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChannelFormat {
    /// Bits of each channel, zero for channels that are absent.
    pub bits: [c_int; 4],
    pub kind: c_uint,
}

layouts! {
    Dim3 = 12;
    Extent = 24;
    Pitched = 32;
    ChannelFormat = 20;
    Location = 8;
}
