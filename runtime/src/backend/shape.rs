//! Shapes of copies: rows of bytes in slices, with pitches between rows and between slices on both sides.

use crate::backend::range::{MemoryRange, Rows};
use crate::error::{Error, Result};

/// The size of a copy: rows of bytes, in slices.
///
/// ```
/// use ptx2spv_runtime::Extent;
///
/// assert_eq!(Extent::bytes(64), Extent { width: 64, height: 1, depth: 1 });
/// assert_eq!(Extent::rows(64, 8), Extent { width: 64, height: 8, depth: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of a row.
    pub width: u64,
    /// Rows of a slice.
    pub height: u64,
    /// Number of slices.
    pub depth: u64,
}

impl Extent {
    /// A single row.
    pub fn bytes(width: u64) -> Self {
        Self { width, height: 1, depth: 1 }
    }

    /// A single slice.
    pub fn rows(width: u64, height: u64) -> Self {
        Self { width, height, depth: 1 }
    }

    fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

/// Bytes from one row to the next, and from one slice to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pitches {
    pub row: u64,
    pub slice: u64,
}

impl Pitches {
    /// The pitches of rows and slices without gaps.
    fn packed(extent: Extent) -> Self {
        // `Shape::new` has checked the products.
        Self { row: extent.width, slice: extent.width.saturating_mul(extent.height) }
    }
}

/// The shape of a copy of at least one byte, without its addresses. Rows that are contiguous on both sides are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    extent: Extent,
    pub from: Pitches,
    pub to: Pitches,
}

/// Consecutive bytes of a copy, by their offsets from the beginning of source and destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyRegion {
    pub from: u64,
    pub to: u64,
    pub size: u64,
}

impl Shape {
    /// Consecutive bytes, at least one.
    pub fn linear(bytes: u64) -> Self {
        let extent = Extent::bytes(bytes);
        Self { extent, from: Pitches::packed(extent), to: Pitches::packed(extent) }
    }

    /// The shape of a copy with these pitches, or `None` if it has no bytes. Pitches of a single row or slice are
    /// ignored.
    ///
    /// # Errors
    /// [`Error::Pitch`] if rows or slices of one side overlap or exceed the address space.
    pub fn new(extent: Extent, from: Pitches, to: Pitches) -> Result<Option<Self>> {
        if extent.is_empty() {
            return Ok(None);
        }
        let mut shape = Self { extent, from: check(extent, from)?, to: check(extent, to)? };
        shape.join();
        Ok(Some(shape))
    }

    /// Joins rows that are contiguous on both sides, and then slices.
    fn join(&mut self) {
        let Self { extent: Extent { width, height, depth }, from, to } = self;
        if [from.row, to.row] == [*width; 2] {
            (*width, *height) = (*width * *height, 1);
        }
        if *height == 1 {
            // The slices become rows.
            (from.row, to.row) = (from.slice, to.slice);
            (*height, *depth) = (*depth, 1);
            if [from.row, to.row] == [*width; 2] || *height == 1 {
                (*width, *height) = (*width * *height, 1);
            }
        }
    }

    /// The copy with the source's bytes contiguous.
    pub fn packed_from(self) -> Self {
        Self { from: Pitches::packed(self.extent), ..self }
    }

    /// The copy with the destination's bytes contiguous.
    pub fn packed_to(self) -> Self {
        Self { to: Pitches::packed(self.extent), ..self }
    }

    /// Bytes to copy.
    pub fn bytes(&self) -> u64 {
        self.extent.width * self.extent.height * self.extent.depth
    }

    /// The rows of the destination, for a shape with a single slice.
    pub fn rows(&self, address: u64) -> Rows {
        let first = MemoryRange { address, size: self.extent.width };
        Rows { first, count: self.extent.height, pitch: self.to.row }
    }

    /// Bytes from the first to the last byte of the source.
    pub fn source_span(&self) -> u64 {
        self.span(self.from)
    }

    /// Bytes from the first to the last byte of the destination.
    pub fn target_span(&self) -> u64 {
        self.span(self.to)
    }

    fn span(&self, pitches: Pitches) -> u64 {
        let Extent { width, height, depth } = self.extent;
        (depth - 1) * pitches.slice + (height - 1) * pitches.row + width
    }

    /// Whether all bytes are contiguous on both sides.
    pub fn is_linear(&self) -> bool {
        self.extent.height == 1 && self.extent.depth == 1
    }

    /// The rows in ascending order.
    pub fn regions(self) -> impl Iterator<Item = CopyRegion> {
        let Self { extent: Extent { width, height, depth }, from, to } = self;
        (0..depth).flat_map(move |slice| {
            (0..height).map(move |row| CopyRegion {
                from: slice * from.slice + row * from.row,
                to: slice * to.slice + row * to.row,
                size: width,
            })
        })
    }

    /// Whether source and destination, which begin at these addresses, share bytes.
    pub fn overlaps(&self, from: u64, to: u64) -> bool {
        if from.saturating_add(self.source_span()) <= to || to.saturating_add(self.target_span()) <= from {
            return false;
        }
        let mut sources = self.regions().map(|region| from + region.from).peekable();
        let mut targets = self.regions().map(|region| to + region.to).peekable();
        while let (Some(source), Some(target)) = (sources.peek(), targets.peek()) {
            if source.abs_diff(*target) < self.extent.width {
                return true;
            }
            if source < target {
                sources.next()
            } else {
                targets.next()
            };
        }
        false
    }
}

/// Checks that rows and slices with these pitches don't overlap.
fn check(extent: Extent, pitches: Pitches) -> Result<Pitches> {
    let Extent { width, height, depth } = extent;
    let Pitches { row, slice } = pitches;
    let too_small = |pitch, least| Err(Error::Pitch { pitch, least });
    if height > 1 && row < width {
        return too_small(row, width);
    }
    let row = if height > 1 { row } else { width };
    let rows = (height - 1).checked_mul(row).and_then(|rows| rows.checked_add(width));
    let Some(rows) = rows else { return too_small(row, width) };
    if depth > 1 && slice < rows {
        return too_small(slice, rows);
    }
    let slice = if depth > 1 { slice } else { rows };
    match (depth - 1).checked_mul(slice).and_then(|slices| slices.checked_add(rows)) {
        Some(_) => Ok(Pitches { row, slice }),
        None => too_small(slice, rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(extent: [u64; 3], from: [u64; 2], to: [u64; 2]) -> Result<Option<Shape>> {
        let [width, height, depth] = extent;
        let pitches = |[row, slice]: [u64; 2]| Pitches { row, slice };
        Shape::new(Extent { width, height, depth }, pitches(from), pitches(to))
    }

    /// The offsets of each byte, independent of joined rows.
    fn bytes(shape: Shape) -> Vec<(u64, u64)> {
        shape.regions().flat_map(|region| (0..region.size).map(move |i| (region.from + i, region.to + i))).collect()
    }

    #[test]
    fn joined_rows_are_the_same_bytes() {
        let (mut linear, mut others) = (0, 0);
        for extent @ [width, height, depth] in [[3, 1, 1], [3, 2, 1], [3, 1, 4], [3, 2, 4], [1, 5, 2]] {
            for [a, b, c, d] in (0..16).map(|bits| [0, 1, 2, 3].map(|bit| bits >> bit & 1)) {
                let (from, to) = (width + a, width + 2 * b);
                let (from, to) = ([from, from * height + c], [to, to * height + 2 * d]);
                let found = shape(extent, from, to).unwrap().unwrap();
                let expected =
                    (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (x, y, z))));
                let place = |(x, y, z), [row, slice]: [u64; 2]| x + row * y + slice * z;
                let expected: Vec<_> = expected.map(|at| (place(at, from), place(at, to))).collect();
                assert_eq!(bytes(found), expected, "{extent:?} {from:?} {to:?}");
                assert_eq!(found.bytes(), expected.len() as u64);
                let last = expected.last().unwrap();
                assert_eq!((found.source_span(), found.target_span()), (last.0 + 1, last.1 + 1));
                *(if found.is_linear() { &mut linear } else { &mut others }) += 1;
                // On the packed side, offsets count up.
                let counted: Vec<_> = (0..).zip(&expected).map(|(i, at)| (i, at.1)).collect();
                assert_eq!(bytes(found.packed_from()), counted);
            }
        }
        assert!(linear > 16 && others > 16, "{linear} {others}");
    }

    #[test]
    fn pitches_that_do_not_fit() {
        assert_eq!(shape([0, 2, 2], [0; 2], [0; 2]).unwrap(), None);
        assert_eq!(shape([2, 2, 0], [0; 2], [0; 2]).unwrap(), None);
        assert_eq!(shape([5, 1, 1], [0; 2], [0; 2]).unwrap(), Some(Shape::linear(5)));
        let refused = |extent, from| match shape(extent, from, [8, 80]) {
            Err(Error::Pitch { pitch, least }) => (pitch, least),
            other => panic!("{other:?}"),
        };
        assert_eq!(refused([5, 2, 1], [4, 0]), (4, 5));
        assert_eq!(refused([5, 3, 2], [8, 20]), (20, 21));
        assert_eq!(refused([5, 3, 2], [u64::MAX, 20]), (u64::MAX, 5));
        assert_eq!(refused([5, 3, u64::MAX], [8, 24]), (24, 21));
    }

    #[test]
    fn columns_that_lie_between_each_other() {
        // Two columns of the same table.
        let columns = shape([4, 3, 1], [16, 0], [16, 0]).unwrap().unwrap();
        let overlapping: Vec<u64> = (0..64).filter(|to| columns.overlaps(16, *to)).collect();
        let expected = |to: u64| (0..3).any(|a: u64| (0..3).any(|b: u64| (16 + 16 * a).abs_diff(to + 16 * b) < 4));
        assert_eq!(overlapping, (0..64).filter(|to| expected(*to)).collect::<Vec<_>>());
        assert!(Shape::linear(8).overlaps(100, 107) && !Shape::linear(8).overlaps(100, 108));
    }
}
