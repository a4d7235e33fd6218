//! Copies to and from arrays.

use std::ffi::c_uint;

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::Memory;
use crate::cudart::copy::{Direction, element, part};
use crate::cudart::error::INVALID_PITCH_VALUE;
use crate::memory::array::ArrayHandle;
use crate::memory::copy::{self, Copy3D, HOST, Part3D};

/// A position in an array: a byte offset into a row, and the row.
fn place(array: ArrayHandle, x: usize, y: usize) -> Part3D {
    Part3D { x, y, array, kind: copy::ARRAY, ..part(Memory::NULL, HOST, 0) }
}

/// Bytes of a row of the array.
fn row_bytes(array: ArrayHandle) -> Result<usize, Code> {
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

/// The pieces of a range that begins at a position in an array, and the number of bytes of a row.
fn pieces_of(array: ArrayHandle, x: usize, y: usize, bytes: usize) -> Result<(Vec<Piece>, usize), Code> {
    let row = row_bytes(array)?;
    let rows = array.get()?.array.size()[1].max(1) as usize;
    let is_inside = x < row && y < rows && bytes <= (rows - y).saturating_mul(row) - x;
    if is_inside { Ok((pieces(row, x, y, bytes), row)) } else { Err(INVALID_VALUE) }
}

pub(crate) fn to_array(
    array: ArrayHandle,
    x: usize,
    y: usize,
    from: Memory,
    bytes: usize,
    kind: c_uint,
) -> Result<Vec<Copy3D>, Code> {
    let direction = Direction::new(kind)?;
    let (pieces, row) = pieces_of(array, x, y, bytes)?;
    let copy = |Piece { x, y, width, height, offset }| {
        let from = part(from.offset(offset as u64), direction.from, row);
        Copy3D { from, to: place(array, x, y), width, height, depth: 1 }
    };
    Ok(pieces.into_iter().map(copy).collect())
}

pub(crate) fn from_array(
    to: Memory,
    array: ArrayHandle,
    x: usize,
    y: usize,
    bytes: usize,
    kind: c_uint,
) -> Result<Vec<Copy3D>, Code> {
    let direction = Direction::new(kind)?;
    let (pieces, row) = pieces_of(array, x, y, bytes)?;
    let copy = |Piece { x, y, width, height, offset }| {
        let to = part(to.offset(offset as u64), direction.to, row);
        Copy3D { from: place(array, x, y), to, width, height, depth: 1 }
    };
    Ok(pieces.into_iter().map(copy).collect())
}

/// The copy of rows to a position in an array.
#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn rows_to_array(
    array: ArrayHandle,
    x: usize,
    y: usize,
    from: Memory,
    pitch: usize,
    width: usize,
    height: usize,
    kind: c_uint,
) -> Result<Copy3D, Code> {
    let direction = Direction::new(kind)?;
    check_pitch(pitch, width, height)?;
    Ok(Copy3D { from: part(from, direction.from, pitch), to: place(array, x, y), width, height, depth: 1 })
}

/// The copy of rows from a position in an array.
#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn rows_from_array(
    to: Memory,
    pitch: usize,
    array: ArrayHandle,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    kind: c_uint,
) -> Result<Copy3D, Code> {
    let direction = Direction::new(kind)?;
    check_pitch(pitch, width, height)?;
    Ok(Copy3D { from: place(array, x, y), to: part(to, direction.to, pitch), width, height, depth: 1 })
}

fn check_pitch(pitch: usize, width: usize, height: usize) -> Result<(), Code> {
    if height > 0 && width > pitch { Err(INVALID_PITCH_VALUE) } else { Ok(()) }
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn rows_of_arrays(
    to: ArrayHandle,
    to_x: usize,
    to_y: usize,
    from: ArrayHandle,
    from_x: usize,
    from_y: usize,
    width: usize,
    height: usize,
    kind: c_uint,
) -> Result<Copy3D, Code> {
    Direction::new(kind)?;
    Ok(Copy3D { from: place(from, from_x, from_y), to: place(to, to_x, to_y), width, height, depth: 1 })
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
