//! What lies in the region that kernels allocate from: arenas, each with granules of one size and a bitmap of those in use.

/// Granules of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arena {
    /// Base-2 logarithm of a granule's bytes.
    pub shift: u32,
    /// Words of the bitmap, each for 32 granules.
    pub words: u32,
    /// Where the bitmap begins in the region.
    pub bitmap: u64,
    /// Where the table of allocations begins in the region: for each granule a word, which is the size asked for plus one
    /// where an allocation begins, else zero.
    pub sizes: u64,
    /// Where the granules begin in the region.
    pub granules: u64,
}

/// Size of the region in bytes, unless more is asked for: as much as CUDA has.
pub const BYTES: u64 = 8 << 20;
/// The most that it can have.
pub const MAX_BYTES: u64 = 1 << 30;

/// Size of a region of at least so many bytes, as far as there can be one: a power of two.
pub fn region_bytes(bytes: u64) -> u64 {
    bytes.clamp(BYTES, MAX_BYTES).next_power_of_two()
}

/// The arenas of a region of a size that [`region_bytes`] gives. Their granules take seven eighths of it, their bitmaps and tables
/// less than one.
///
/// The smallest has allocations of less than 1 KiB, 32 KiB and 1 MiB. One that is *k* times as large has *k* times as many,
/// but for a third of the place of the last, and in that others, of less than *k* MiB.
pub fn arenas(bytes: u64) -> Vec<Arena> {
    let times = region_bytes(bytes) / BYTES;
    // Both are small.
    let (factor, shift) = (u32::try_from(times).unwrap_or(1), times.trailing_zeros());
    let arena = |shift, words, [bitmap, sizes, granules]: [u64; 3]| {
        let [bitmap, sizes, granules] = [bitmap, sizes, granules].map(|offset| offset * times);
        Arena { shift, words, bitmap, sizes, granules }
    };
    let last = if times == 1 { 3 } else { factor };
    let mut arenas = vec![
        arena(5, 2048 * factor, [0, 0x4000, 1 << 20]),
        arena(10, 64 * factor, [0x2000, 0x44000, 3 << 20]),
        arena(15, last, [0x2100, 0x46000, 5 << 20]),
    ];
    if times > 1 {
        arenas.push(arena(15 + shift, 2, [0x2200, 0x47000, 6 << 20]));
    }
    arenas
}
