//! Integer arithmetic that needs more than one machine instruction, shifts, bit fields and positions of bits. Division by zero, amounts
//! beyond the width and the like have an arbitrary result, which [`super::domain`] marks as undefined.

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

#[inline]
pub fn shift_left(bits: u8, a: u64, amount: u64) -> u64 {
    // Amounts beyond 63 clear everything. Bits beyond a narrower width are masked out.
    if amount > 63 { 0 } else { (a << amount) & mask(bits) }
}

#[inline]
pub fn shift_right(a: u64, amount: u64) -> u64 {
    if amount > 63 { 0 } else { a >> amount }
}

#[inline]
pub fn shift_right_arithmetic(bits: u8, a: u64, amount: u64) -> u64 {
    (signed(a, bits) >> amount.min(63)) as u64 & mask(bits)
}

/// The bits in reverse order.
#[inline]
pub fn reverse(bits: u8, a: u64) -> u64 {
    a.reverse_bits().wrapping_shr(64_u32.wrapping_sub(bits.into()))
}

/// The number of the highest set bit, or all ones if there is none.
#[inline]
pub fn find_unsigned_msb(bits: u8, a: u64) -> u64 {
    if a == 0 { mask(bits) } else { (63 - a.leading_zeros()).into() }
}

/// The mask of a field. Empty where the field lies outside of the width.
#[inline]
pub fn field(bits: u8, offset: u64, count: u64) -> u64 {
    shift_left(bits, shift_right(u64::MAX, 64_u64.saturating_sub(count)), offset)
}

#[inline]
pub fn insert(bits: u8, base: u64, insert: u64, offset: u64, count: u64) -> u64 {
    let field = field(bits, offset, count);
    (base & !field) | (shift_left(bits, insert, offset) & field)
}

#[inline]
pub fn extract_unsigned(bits: u8, base: u64, offset: u64, count: u64) -> u64 {
    shift_right(base, offset) & field(bits, 0, count)
}

#[inline]
pub fn negate(bits: u8, a: u64) -> u64 {
    a.wrapping_neg() & mask(bits)
}

/// Rounded toward zero.
#[inline]
pub fn divide(bits: u8, a: u64, b: u64) -> u64 {
    match signed(b, bits) {
        0 => 0,
        b => signed(a, bits).wrapping_div(b) as u64 & mask(bits),
    }
}

/// The remainder with the sign of `b`.
#[inline]
pub fn modulo(bits: u8, a: u64, b: u64) -> u64 {
    match signed(b, bits) {
        0 => 0,
        b => {
            let remainder = signed(a, bits).wrapping_rem(b);
            let modulo = if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder };
            modulo as u64 & mask(bits)
        }
    }
}

#[inline]
pub fn min(bits: u8, a: u64, b: u64) -> u64 {
    if signed(b, bits) < signed(a, bits) { b } else { a }
}

#[inline]
pub fn max(bits: u8, a: u64, b: u64) -> u64 {
    if signed(a, bits) < signed(b, bits) { b } else { a }
}

/// Low and high half of the product.
#[inline]
pub fn multiply_unsigned(bits: u8, a: u64, b: u64) -> [u64; 2] {
    let product = u128::from(a) * u128::from(b);
    [product as u64 & mask(bits), (product >> bits) as u64 & mask(bits)]
}

/// Low and high half of the product.
#[inline]
pub fn multiply_signed(bits: u8, a: u64, b: u64) -> [u64; 2] {
    let product = i128::from(signed(a, bits)) * i128::from(signed(b, bits));
    [product as u64 & mask(bits), (product >> bits) as u64 & mask(bits)]
}
