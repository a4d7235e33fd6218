//! Integers of a given width in 64 bits.

/// The mask of all bits of a width.
#[inline(always)]
pub fn mask(bits: u8) -> u64 {
    u64::MAX.wrapping_shr(64_u32.wrapping_sub(bits.into()))
}

/// The value of a signed integer of the given width.
#[inline(always)]
pub fn signed(a: u64, bits: u8) -> i64 {
    let unused = 64_u32.wrapping_sub(bits.into());
    (a.wrapping_shl(unused) as i64).wrapping_shr(unused)
}
