//! The weighted sums of texels in a filter. The weights are 256ths. Normalised integers are added as fractions of 16 bits, but signed 8-bit
//! ones as they are. Floats are aligned to the greatest of their exponents with four guard bits, and lower bits are cut off. The sum is
//! rounded to nearest, with ties away from zero (`docs/numerics.md`).

use super::texel::at_least_minus_one;
use crate::ir::{Builder, Compare, Type, Unary, Value, Var};

/// Guard bits of an aligned significand.
const GUARD: u32 = 4;

/// The exponent of the least sRGB intensities, which have eight bits.
const SRGB_EXPONENT: u32 = 120;
/// The intensities, in units of 2^-14, at which the exponent increases by one.
const SRGB_STEPS: [u32; 7] = [236, 484, 840, 1920, 4032, 7872, 15360];

/// How texels of a format are added.
#[derive(Clone, Copy)]
pub(super) struct Arithmetic {
    /// Whether they are added as integers.
    pub(super) fractions: Value,
    /// Whether the integers are signed.
    pub(super) signed: Value,
    /// Whether results are floats of 16 bits.
    pub(super) half: Value,
    /// How many more of the lowest bits of an aligned significand are cut off.
    pub(super) lost: Value,
    /// The least exponent that significands are aligned to.
    pub(super) least: Value,
    /// Whether a channel has 8 bits.
    pub(super) byte: Value,
    /// Whether texels are sRGB intensities.
    pub(super) srgb: Value,
}

/// One channel's sum over the texels of a slice, and over all slices before.
pub(super) struct Channel {
    /// The greatest exponent of texels with a nonzero weight.
    exponent: Var,
    /// The sum.
    sum: Var,
    /// The greatest exponent of the slices before, and their sum with a few more bits.
    total_exponent: Var,
    total: Var,
    /// Flags of what has been seen: a NaN, positive infinity, negative infinity, a number that isn't negative.
    seen: Var,
}

impl Channel {
    pub(super) fn new(b: &Builder<'_>) -> Channel {
        let [exponent, total_exponent, seen] = [Type::I32; 3].map(|ty| b.var(ty));
        let [sum, total] = [Type::I64; 2].map(|ty| b.var(ty));
        let channel = Channel { exponent, sum, total_exponent, total, seen };
        let zero = b.i32(0);
        let none = b.i64(0);
        for var in [exponent, total_exponent, seen] {
            b.set(var, zero);
        }
        for var in [sum, total] {
            b.set(var, none);
        }
        channel
    }

    /// Takes note of a texel's exponent and class before the texels of its slice are added.
    pub(super) fn look(&self, b: &Builder<'_>, arithmetic: Arithmetic, bits: Value, weight: Value) {
        let exponent = b.shr(bits, 23);
        let exponent = b.and_const(exponent, 255);
        let exponent = b.choose(arithmetic.srgb, |b| srgb_exponent(b, bits), |_| exponent);
        let zero = b.i32(0);
        let counts = b.is_nonzero(weight);
        // Fractions aren't aligned.
        let is_float = b.not(arithmetic.fractions);
        let counts = b.and(counts, is_float);
        let counted = b.select(counts, exponent, zero);
        let most = b.get(self.exponent);
        let is_more = b.ult(most, counted);
        let most = b.select(is_more, counted, most);
        b.set(self.exponent, most);
        let magnitude = b.and_const(bits, 0x7fff_ffff);
        let infinity = b.i32(0x7f80_0000);
        let is_nan = b.ult(infinity, magnitude);
        let is_infinite = b.eq(magnitude, infinity);
        let sign = b.shr(bits, 31);
        let [one, two] = [b.i32(1), b.i32(2)];
        let signed = b.shl_by(two, sign);
        let infinite = b.select(is_infinite, signed, zero);
        let nan = b.select(is_nan, one, zero);
        let positive = b.xor(sign, one);
        let positive = b.shl(positive, 3);
        let seen = b.get(self.seen);
        let seen = b.or(seen, infinite);
        let seen = b.or(seen, nan);
        let seen = b.or(seen, positive);
        b.set(self.seen, seen);
    }

    /// Adds a texel of floats.
    pub(super) fn add_float(&self, b: &Builder<'_>, arithmetic: Arithmetic, bits: Value, weight: Value) {
        let exponent = b.shr(bits, 23);
        let exponent = b.and_const(exponent, 255);
        let fraction = b.and_const(bits, 0x7f_ffff);
        let significand = b.or_const(fraction, 0x80_0000);
        let zero = b.i32(0);
        let is_number = b.is_nonzero(exponent);
        let significand = b.select(is_number, significand, zero);
        let most = self.greatest(b, arithmetic);
        let distance = b.sub(most, exponent);
        let limit = b.i32(31);
        let distance = b.add(distance, arithmetic.lost);
        let is_near = b.ule(distance, limit);
        let shift = b.select(is_near, distance, limit);
        let wide = b.shl(significand, GUARD);
        let aligned = b.shr_by(wide, shift);
        let aligned = b.select(is_near, aligned, zero);
        let is_negative = b.slt(bits, zero);
        let negated = b.neg(aligned);
        let aligned = b.select(is_negative, negated, aligned);
        let aligned = b.choose(
            arithmetic.srgb,
            |b| {
                let above = b.sub_const(most, SRGB_EXPONENT.into());
                let number = intensity(b, bits);
                b.shr_by(number, above)
            },
            |_| aligned,
        );
        self.add_product(b, aligned, weight);
    }

    /// Adds an integer times its weight: a normalised integer, or an aligned significand.
    pub(super) fn add_product(&self, b: &Builder<'_>, number: Value, weight: Value) {
        let low = b.mul(number, weight);
        let high = b.mul_high_signed(number, weight);
        let product = b.join(low, high);
        let sum = b.get(self.sum);
        let sum = b.add(sum, product);
        b.set(self.sum, sum);
    }

    /// The greatest exponent, or the least that significands are aligned to.
    fn greatest(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Value {
        let most = b.get(self.exponent);
        let is_less = b.ult(most, arithmetic.least);
        b.select(is_less, arithmetic.least, most)
    }

    /// Adds a slice to those before.
    pub(super) fn end_slice(&self, b: &Builder<'_>, arithmetic: Arithmetic) {
        let own = self.greatest(b, arithmetic);
        let before = b.get(self.total_exponent);
        let is_more = b.ult(before, own);
        let exponent = b.select(is_more, own, before);
        let sum = b.get(self.sum);
        let sum = b.shl(sum, GUARD);
        let total = b.get(self.total);
        let [total, sum] = [(total, before), (sum, own)].map(|(sum, own)| {
            let distance = b.sub(exponent, own);
            let limit = b.i32(63);
            let is_far = b.ult(limit, distance);
            let distance = b.select(is_far, limit, distance);
            b.sar_by(sum, distance)
        });
        let total = b.add(total, sum);
        b.set(self.total, total);
        b.set(self.total_exponent, exponent);
        let none = b.i64(0);
        b.set(self.sum, none);
        let zero = b.i32(0);
        b.set(self.exponent, zero);
    }

    /// The bits of the result.
    pub(super) fn result(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Value {
        b.choose(arithmetic.fractions, |b| self.fraction(b, arithmetic), |b| self.float(b, arithmetic))
    }

    fn fraction(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Value {
        let sum = b.get(self.total);
        let sum = b.sar(sum, GUARD);
        let sum = b.truncate(sum);
        let short = b.add_const(sum, 128);
        let short = b.sar(short, 8);
        // Here 127 with a weight of 256 becomes 32767.
        let part = b.sar(sum, 12);
        let part = b.shl(part, 4);
        let more = b.add_const(sum, 64);
        let more = b.add(more, part);
        let more = b.sar(more, 7);
        let byte = b.add(sum, more);
        let is_signed_byte = b.and(arithmetic.signed, arithmetic.byte);
        let number = b.select(is_signed_byte, byte, short);
        let number = b.unary(Unary::SignedToFloat(Type::F32), number);
        let [signed, unsigned] = [b.f32(32767.0), b.f32(65535.0)];
        let largest = b.select(arithmetic.signed, signed, unsigned);
        let fraction = b.fdiv(number, largest);
        let bits = b.bits(fraction);
        at_least_minus_one(b, arithmetic.signed, bits)
    }

    fn float(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Value {
        let [sum, exponent] = [self.total, self.total_exponent].map(|var| b.get(var));
        let rounded = round(b, arithmetic, sum, exponent);
        let seen = b.get(self.seen);
        let special = b.and_const(seen, 7);
        let is_special = b.is_nonzero(special);
        let is_infinite = b.compare_const(Compare::Equal, special, 2);
        let is_negative = b.compare_const(Compare::Equal, special, 4);
        let [infinity, negative, nan] = [b.i32(0x7f80_0000), b.i32(0xff80_0000), b.i32(0x7fff_ffff)];
        // A half has no more bits for a NaN.
        let half_nan = b.i32(0x7fff_e000);
        let nan = b.select(arithmetic.half, half_nan, nan);
        let other = b.select(is_negative, negative, nan);
        let other = b.select(is_infinite, infinity, other);
        // A sum of negative zeros is a negative zero.
        let magnitude = b.and_const(rounded, 0x7fff_ffff);
        let is_zero = b.is_zero(magnitude);
        let all_negative = b.is_zero(seen);
        let minus = b.and(is_zero, all_negative);
        let minus_zero = b.i32(0x8000_0000);
        let rounded = b.select(minus, minus_zero, rounded);
        b.select(is_special, other, rounded)
    }
}

/// The exponent of an sRGB intensity.
fn srgb_exponent(b: &Builder<'_>, bits: Value) -> Value {
    let number = intensity(b, bits);
    let mut exponent = b.i32(SRGB_EXPONENT);
    for step in SRGB_STEPS {
        let step = b.i32(step);
        let reaches = b.ule(step, number);
        let reaches = b.bool_to(Type::I32, reaches);
        exponent = b.add(exponent, reaches);
    }
    exponent
}

/// An sRGB intensity in units of 2^-14.
fn intensity(b: &Builder<'_>, bits: Value) -> Value {
    let value = b.bitcast(bits, Type::F32);
    let unit = b.f32(16384.0);
    let number = b.fmul(value, unit);
    b.unary(Unary::FloatToSigned(Type::I32), number)
}

/// The float nearest to a sum in units of 2^(exponent + lost - 166), with ties away from zero.
fn round(b: &Builder<'_>, arithmetic: Arithmetic, sum: Value, exponent: Value) -> Value {
    let (_, top) = b.halves(sum);
    let zero = b.i32(0);
    let is_negative = b.slt(top, zero);
    let negated = b.neg(sum);
    let magnitude = b.select(is_negative, negated, sum);
    let (low, high) = b.halves(magnitude);
    let high_bit = b.find_high_bit(high);
    let low_bit = b.find_high_bit(low);
    let has_high = b.is_nonzero(high);
    let high_bit = b.add_const(high_bit, 32);
    let top_bit = b.select(has_high, high_bit, low_bit);
    // Bits to cut off.
    let [single, short] = [b.i32(23), b.i32(10)];
    let precision = b.select(arithmetic.half, short, single);
    let goes = b.sub(top_bit, precision);
    let scale = b.sub_const(exponent, 166);
    let scale = b.add(scale, arithmetic.lost);
    // Halves have no bits below 2^-24.
    let least = b.i32(24u32.wrapping_neg());
    let least = b.sub(least, scale);
    let is_less = b.slt(goes, least);
    let is_less = b.and(is_less, arithmetic.half);
    let goes = b.select(is_less, least, goes);
    let is_short = b.slt(goes, zero);
    let goes = b.select(is_short, zero, goes);
    let limit = b.i32(62);
    let is_far = b.ult(limit, goes);
    let goes = b.select(is_far, limit, goes);
    let one = b.i64(1);
    let unit = b.shl_by(one, goes);
    let half = b.shr(unit, 1);
    let more = b.add(magnitude, half);
    let kept = b.shr_by(more, goes);
    let kept = b.truncate(kept);
    let float = b.unary(Unary::UnsignedToFloat(Type::F32), kept);
    let bits = b.bits(float);
    let scale = b.add(scale, goes);
    let own = b.shr(bits, 23);
    let whole = b.add(own, scale);
    let shifted = b.shl(scale, 23);
    let scaled = b.add(bits, shifted);
    let is_none = b.is_zero(kept);
    let one = b.i32(1);
    let is_low = b.slt(whole, one);
    let is_none = b.or(is_none, is_low);
    let [most, short_most] = [b.i32(255), b.i32(143)];
    let most = b.select(arithmetic.half, short_most, most);
    let is_high = b.sle(most, whole);
    let infinity = b.i32(0x7f80_0000);
    let result = b.select(is_high, infinity, scaled);
    let result = b.select(is_none, zero, result);
    let minus = b.i32(0x8000_0000);
    let sign = b.select(is_negative, minus, zero);
    b.or(result, sign)
}

/// The weights of two slices, from the second slice's share in 256ths. Their sum is `whole`.
pub(super) fn depths(b: &Builder<'_>, z: Value, whole: Value) -> [Value; 2] {
    let most = b.i32(256);
    let near = b.sub(most, z);
    let near = b.mul(near, whole);
    let near = rounded(b, near);
    let far = b.sub(whole, near);
    [near, far]
}

/// The weights of a slice's four texels, x faster than y, from the upper texels' shares in 256ths.
pub(super) fn weights(b: &Builder<'_>, [x, y]: [Value; 2], whole: Value) -> [Value; 4] {
    let right = b.mul(x, whole);
    let right = rounded(b, right);
    let left = b.sub(whole, right);
    let most = b.i32(256);
    let above = b.sub(most, y);
    let first = b.mul(left, above);
    let first = rounded(b, first);
    let last = b.mul(right, y);
    let last = rounded(b, last);
    let second = b.sub(right, last);
    let third = b.sub(left, first);
    [first, second, third, last]
}

/// A product of two weights, rounded to 256ths.
fn rounded(b: &Builder<'_>, product: Value) -> Value {
    let product = b.add_const(product, 128);
    b.shr(product, 8)
}
