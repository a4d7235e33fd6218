//! Copies of linear memory in the directions that callers name, and memory fills.

use std::ffi::{c_int, c_uint};

use ptx2spv_runtime::MemoryRange;

use crate::abi::{Handle, INVALID_VALUE, In, Memory, Result, layouts};
use crate::cudart::error::{INVALID_MEMCPY_DIRECTION, INVALID_PITCH_VALUE};
use crate::cudart::types::{Extent, Pitched, Position};
use crate::cudart::{memory, registry};
use crate::memory::array::ArrayHandle;
use crate::memory::copy::{self, Copy3D, DEVICE, HOST, Linear, Part3D, UNIFIED};
use crate::memory::set::{self, Set};

/// `cudaMemcpyKind`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Direction {
    /// The kinds of memory read and written, as the driver numbers them.
    pub from: u32,
    pub to: u32,
}

impl Direction {
    pub fn new(kind: c_uint) -> Result<Self> {
        let (from, to) = match kind {
            0 => (HOST, HOST),
            1 => (HOST, DEVICE),
            2 => (DEVICE, HOST),
            3 => (DEVICE, DEVICE),
            4 => (UNIFIED, UNIFIED),
            _ => return Err(INVALID_MEMCPY_DIRECTION),
        };
        Ok(Self { from, to })
    }
}

pub(crate) fn linear(to: Memory, from: Memory, bytes: usize, kind: c_uint) -> Result<Linear> {
    Ok(match Direction::new(kind)? {
        Direction { from: HOST, to: DEVICE } => copy::to_device(to.address(), from, bytes),
        Direction { from: DEVICE, to: HOST } => copy::to_host(to, from.address(), bytes),
        Direction { from: DEVICE, to: DEVICE } => copy::within_device(to.address(), from.address(), bytes),
        _ => copy::any(to, from, bytes),
    })
}

/// The addresses tell the devices, so that both numbers are only checked.
pub(crate) fn peer(to: Memory, to_device: c_int, from: Memory, from_device: c_int, bytes: usize) -> Result<Linear> {
    memory::check_peer(to_device)?;
    memory::check_peer(from_device)?;
    Ok(copy::within_device(to.address(), from.address(), bytes))
}

/// One side of a copy, in linear memory.
pub(crate) fn part(memory: Memory, kind: u32, pitch: usize) -> Part3D {
    let device = if kind == HOST { 0 } else { memory.address() };
    let host = if kind == HOST { memory } else { Memory::NULL };
    Part3D { x: 0, y: 0, z: 0, level: 0, kind, host, device, array: Handle::NULL, context: 0, pitch, height: 0 }
}

/// A copy of contiguous bytes, as a value.
pub(crate) fn row(to: Memory, from: Memory, bytes: usize, kind: c_uint) -> Result<Copy3D> {
    let direction = Direction::new(kind)?;
    let (from, to) = (part(from, direction.from, 0), part(to, direction.to, 0));
    Ok(Copy3D { from, to, width: bytes, height: 1, depth: 1 })
}

/// One side of a copy of rows.
pub(crate) enum Side {
    /// Memory, and its pitch.
    Memory(Memory, usize),
    /// A position in an array: a byte offset into a row, and the row.
    Array(ArrayHandle, usize, usize),
}

pub(crate) fn rows(to: Side, from: Side, width: usize, height: usize, kind: c_uint) -> Result<Copy3D> {
    let direction = Direction::new(kind)?;
    let part = |side, kind| match side {
        Side::Memory(_, pitch) if height > 0 && width > pitch => Err(INVALID_PITCH_VALUE),
        Side::Memory(memory, pitch) => Ok(part(memory, kind, pitch)),
        Side::Array(array, x, y) => Ok(place(array, x, y)),
    };
    Ok(Copy3D { from: part(from, direction.from)?, to: part(to, direction.to)?, width, height, depth: 1 })
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Slices {
    from_array: ArrayHandle,
    from_position: Position,
    from: Pitched,
    to_array: ArrayHandle,
    to_position: Position,
    to: Pitched,
    extent: Extent,
    kind: c_uint,
}

/// One side of a three-dimensional copy.
fn side(array: ArrayHandle, position: Position, pitched: Pitched, kind: u32) -> Result<Part3D> {
    if array.is_null() == pitched.pointer.is_null() {
        return Err(INVALID_VALUE.because("exactly one of array and pointer must be given"));
    }
    let Position { x, y, z } = position;
    if array.is_null() {
        let part = part(pitched.pointer, kind, pitched.pitch);
        return Ok(Part3D { x, y, z, height: pitched.height, ..part });
    }
    let x = x.checked_mul(element(array)?).ok_or(INVALID_VALUE)?;
    Ok(Part3D { x, y, z, array, kind: copy::ARRAY, ..part(Memory::NULL, HOST, 0) })
}

/// Bytes of an element of the array.
pub(crate) fn element(array: ArrayHandle) -> Result<usize> {
    Ok(array.get()?.array.descriptor().format.bytes() as usize)
}

impl Slices {
    /// The copy, with sizes in bytes.
    pub fn copy(self) -> Result<Copy3D> {
        let direction = Direction::new(self.kind)?;
        let from = side(self.from_array, self.from_position, self.from, direction.from)?;
        let to = side(self.to_array, self.to_position, self.to, direction.to)?;
        // With an array, sizes are in elements of the array.
        let element = match (self.from_array.is_null(), self.to_array.is_null()) {
            (true, true) => 1,
            (false, true) => element(self.from_array)?,
            (true, false) => element(self.to_array)?,
            (false, false) => {
                let (a, b) = (element(self.from_array)?, element(self.to_array)?);
                if a == b { a } else { return Err(INVALID_VALUE.because("arrays with elements of different sizes")) }
            }
        };
        let Extent { width, height, depth } = self.extent;
        Ok(Copy3D { from, to, width: width.checked_mul(element).ok_or(INVALID_VALUE)?, height, depth })
    }
}

impl Slices {
    /// A copy in the runtime API's form.
    pub fn of(copy: &Copy3D) -> Result<Self> {
        // With an array, sizes are in elements of the array.
        let element = match (copy.from.kind, copy.to.kind) {
            (copy::ARRAY, _) => element(copy.from.array)?,
            (_, copy::ARRAY) => element(copy.to.array)?,
            _ => 1,
        };
        let side = |part: &Part3D| {
            let Part3D { x, y, z, kind, host, device, array, pitch, height, .. } = *part;
            if kind == copy::ARRAY {
                let pitched = Pitched { pointer: Memory::NULL, pitch: 0, width: 0, height: 0 };
                return (array, Position { x: x / element, y, z }, pitched);
            }
            let pointer = if kind == HOST { host } else { Memory::from_address(device) };
            (Handle::NULL, Position { x, y, z }, Pitched { pointer, pitch, width: pitch, height })
        };
        let ((from_array, from_position, from), (to_array, to_position, to)) = (side(&copy.from), side(&copy.to));
        let kind = match (copy.from.kind == HOST, copy.to.kind == HOST) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) if [copy.from.kind, copy.to.kind].contains(&UNIFIED) => 4,
            (false, false) => 3,
        };
        let extent = Extent { width: copy.width / element, height: copy.height, depth: copy.depth };
        Ok(Self { from_array, from_position, from, to_array, to_position, to, extent, kind })
    }
}

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PeerSlices {
    from_array: ArrayHandle,
    from_position: Position,
    from: Pitched,
    from_device: c_int,
    to_array: ArrayHandle,
    to_position: Position,
    to: Pitched,
    to_device: c_int,
    extent: Extent,
}

impl PeerSlices {
    /// The copy, whose addresses tell the devices.
    fn copy(self) -> Result<Copy3D> {
        let Self { from_array, from_position, from, from_device, to_array, to_position, to, to_device, extent } = self;
        memory::check_peer(from_device)?;
        memory::check_peer(to_device)?;
        Slices { from_array, from_position, from, to_array, to_position, to, extent, kind: 3 }.copy()
    }
}

pub(crate) fn peer_slices(slices: In<PeerSlices>) -> Result<Copy3D> {
    slices.get()?.copy()
}

pub(crate) fn slices(slices: In<Slices>) -> Result<Copy3D> {
    slices.get()?.copy()
}

/// The addresses of the slices of a pitched region.
fn slices_of(pitched: Pitched, extent: Extent) -> Result<Vec<u64>> {
    let slice = pitched.pitch.checked_mul(pitched.height).ok_or(INVALID_VALUE)?;
    let address = |number: usize| {
        let offset = slice.checked_mul(number).ok_or(INVALID_VALUE)?;
        pitched.pointer.address().checked_add(offset as u64).ok_or(INVALID_VALUE)
    };
    if extent.width == 0 || extent.height == 0 {
        return Ok(Vec::new());
    }
    if extent.width > pitched.pitch || extent.height > pitched.height {
        return Err(INVALID_VALUE);
    }
    // The region has to end within the address space.
    address(extent.depth)?;
    (0..extent.depth).map(address).collect()
}

/// Fills memory with the lowest byte of `value`.
pub(crate) fn set_slices(pitched: Pitched, value: c_int, extent: Extent) -> Result<Vec<Set>> {
    let set = |slice| set::rows(slice, pitched.pitch, value as u8, extent.width, extent.height);
    Ok(slices_of(pitched, extent)?.into_iter().map(set).collect())
}

// Copies to and from arrays.

/// A position in an array: a byte offset into a row, and the row.
fn place(array: ArrayHandle, x: usize, y: usize) -> Part3D {
    Part3D { x, y, array, kind: copy::ARRAY, ..part(Memory::NULL, HOST, 0) }
}

fn row_bytes(array: ArrayHandle) -> Result<usize> {
    let width = array.get()?.array.size()[0] as usize;
    width.checked_mul(element(array)?).ok_or(INVALID_VALUE)
}

/// A rectangle of an array that holds a part of a range of contiguous bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    /// Offset of the piece in the contiguous bytes.
    offset: usize,
}

/// Splits `bytes` contiguous bytes into rectangles of an array, from position (`x`, `y`) on. `row` is the number of
/// bytes of a row.
fn pieces(row: usize, mut x: usize, mut y: usize, bytes: usize) -> Vec<Piece> {
    let mut list = Vec::new();
    let mut offset = 0;
    while offset < bytes && x < row {
        let rest = bytes - offset;
        let (width, height) = if x == 0 && rest >= row { (row, rest / row) } else { (rest.min(row - x), 1) };
        list.push(Piece { x, y, width, height, offset });
        offset += width * height;
        x = 0;
        y += height;
    }
    list
}

/// The copies of a range that begins at a position in an array, of which `copy` makes one from a place in the array, an
/// offset in contiguous bytes and the number of bytes of a row.
fn pieces_of(
    array: ArrayHandle,
    (x, y): (usize, usize),
    bytes: usize,
    copy: impl Fn(Part3D, u64, usize) -> (Part3D, Part3D),
) -> Result<Vec<Copy3D>> {
    let row = row_bytes(array)?;
    let rows = array.get()?.array.size()[1].max(1) as usize;
    if x >= row || y >= rows || bytes > (rows - y).saturating_mul(row) - x {
        return Err(INVALID_VALUE);
    }
    let copy = |Piece { x, y, width, height, offset }| {
        let (from, to) = copy(place(array, x, y), offset as u64, row);
        Copy3D { from, to, width, height, depth: 1 }
    };
    Ok(pieces(row, x, y, bytes).into_iter().map(copy).collect())
}

pub(crate) fn to_array(
    array: ArrayHandle,
    x: usize,
    y: usize,
    from: Memory,
    bytes: usize,
    kind: c_uint,
) -> Result<Vec<Copy3D>> {
    let kind = Direction::new(kind)?.from;
    pieces_of(array, (x, y), bytes, |place, offset, row| (part(from.offset(offset), kind, row), place))
}

pub(crate) fn from_array(
    to: Memory,
    array: ArrayHandle,
    x: usize,
    y: usize,
    bytes: usize,
    kind: c_uint,
) -> Result<Vec<Copy3D>> {
    let kind = Direction::new(kind)?.to;
    pieces_of(array, (x, y), bytes, |place, offset, row| (place, part(to.offset(offset), kind, row)))
}

// Device variables of programs, found by their host shadows.

/// The address of `bytes` bytes of a variable.
fn symbol_part(symbol: Memory, bytes: usize, offset: usize) -> Result<Memory> {
    let MemoryRange { address, size } = registry::variable(symbol)?;
    let end = (offset as u64).checked_add(bytes as u64).ok_or(INVALID_VALUE)?;
    if end > size {
        return Err(INVALID_VALUE.because("a range past the end of the variable"));
    }
    Ok(Memory::from_address(address + offset as u64))
}

/// A variable as the destination of a copy.
pub(crate) fn written_symbol(symbol: Memory, bytes: usize, offset: usize, kind: c_uint) -> Result<Memory> {
    match Direction::new(kind)?.to {
        DEVICE | UNIFIED => symbol_part(symbol, bytes, offset),
        _ => Err(INVALID_MEMCPY_DIRECTION),
    }
}

/// A variable as the source of a copy.
pub(crate) fn read_symbol(symbol: Memory, bytes: usize, offset: usize, kind: c_uint) -> Result<Memory> {
    match Direction::new(kind)?.from {
        DEVICE | UNIFIED => symbol_part(symbol, bytes, offset),
        _ => Err(INVALID_MEMCPY_DIRECTION),
    }
}

layouts! {
    Slices = 160, kind at 152;
    PeerSlices = 168, extent at 144;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_rows() {
        let list = |x, y, bytes| -> Vec<_> {
            let list = pieces(8, x, y, bytes).into_iter();
            list.map(|piece| (piece.x, piece.y, piece.width, piece.height, piece.offset)).collect()
        };
        assert_eq!(list(0, 0, 8), [(0, 0, 8, 1, 0)]);
        assert_eq!(list(4, 1, 24), [(4, 1, 4, 1, 0), (0, 2, 8, 2, 4), (0, 4, 4, 1, 20)]);
        assert_eq!(list(0, 0, 0), []);
        assert_eq!(list(8, 0, 4), []);
    }
}
