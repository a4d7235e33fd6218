//! The layout of the region that kernels allocate from: arenas, each with granules of one size and a bitmap of those in
//! use.

/// Granules of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arena {
    /// Base-2 logarithm of a granule's bytes.
    pub shift: u32,
    /// Words of the bitmap, each for 32 granules.
    pub words: u32,
    /// Offset of the bitmap in the region.
    pub bitmap: u64,
    /// Offset of the table of allocations in the region: for each granule a word, which is the size asked for plus one
    /// where an allocation begins, else zero.
    pub sizes: u64,
    /// Offset of the granules in the region.
    pub granules: u64,
}

/// Size of the heap in bytes, unless more is asked for: as much as CUDA has.
pub const BYTES: u64 = 8 << 20;
/// The most that the heap and its region can have.
pub const MAX_BYTES: u64 = 1 << 30;

/// Size of a heap of at least `bytes` bytes: a power of two, up to the maximum.
pub fn rounded(bytes: u64) -> u64 {
    bytes.clamp(BYTES, MAX_BYTES).next_power_of_two()
}

/// Size of the region of a heap: twice the heap, as far as there is so much.
pub fn region_bytes(heap: u64) -> u64 {
    (2 * rounded(heap)).min(MAX_BYTES)
}

/// Whether a region can have this size.
pub fn is_region(bytes: u64) -> bool {
    bytes.is_power_of_two() && (2 * BYTES..=MAX_BYTES).contains(&bytes)
}

/// The arenas of a region of a size that [`region_bytes`] gives.
///
/// The upper half is one arena, which a single allocation may take nearly all of. Of the lower half, other granules take seven
/// eighths, and all bitmaps and tables less than one. In the smallest region these are for allocations of less than 1 KiB, 32 KiB and
/// 1 MiB. A region that is *k* times as large has *k* times as many, but for a third of the place of the last, and in that
/// others, of less than *k* MiB.
pub fn arenas(bytes: u64) -> Vec<Arena> {
    let half = bytes / 2;
    let times = (half / BYTES).max(1);
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
    arenas.push(arena(18 + shift, 1, [0x2300, 0x48000, 8 << 20]));
    arenas
}
