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

/// The way to add texels of a format.
#[derive(Clone, Copy)]
pub(super) struct Arithmetic {
    /// Whether texels are added as integers.
    pub(super) fractions: Value,
    /// Whether the integers are signed.
    pub(super) signed: Value,
    /// Whether results are floats of 16 bits.
    pub(super) half: Value,
    /// The number of further lowest bits of an aligned significand that are cut off.
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
    sum: Var,
    /// The greatest exponent of the slices before, and their sum with a few more bits.
    total_exponent: Var,
    total: Var,
    /// Flags of texels that have been seen: a NaN, positive infinity, negative infinity, a number that isn't negative.
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
        let exponent = b.and_const(b.shr(bits, 23), 255);
        let exponent = b.choose(arithmetic.srgb, |b| srgb_exponent(b, bits), |_| exponent);
        let zero = b.i32(0);
        let counts = b.is_nonzero(weight);
        // Fractions aren't aligned.
        let counted = b.select(b.and(counts, b.not(arithmetic.fractions)), exponent, zero);
        b.set(self.exponent, b.maximum(Compare::LessUnsigned, b.get(self.exponent), counted));
        let magnitude = b.and_const(bits, 0x7fff_ffff);
        let infinity = b.i32(0x7f80_0000);
        let is_nan = b.ult(infinity, magnitude);
        let is_infinite = b.eq(magnitude, infinity);
        let sign = b.shr(bits, 31);
        let [one, two] = [b.i32(1), b.i32(2)];
        let signed = b.shl_by(two, sign);
        let infinite = b.select(is_infinite, signed, zero);
        let nan = b.select(is_nan, one, zero);
        let positive = b.shl(b.xor(sign, one), 3);
        let seen = b.or(b.or(b.get(self.seen), infinite), nan);
        b.set(self.seen, b.or(seen, positive));
    }

    /// Adds a texel of floats.
    pub(super) fn add_float(&self, b: &Builder<'_>, arithmetic: Arithmetic, bits: Value, weight: Value) {
        let exponent = b.and_const(b.shr(bits, 23), 255);
        let significand = b.or_const(b.and_const(bits, 0x7f_ffff), 0x80_0000);
        let zero = b.i32(0);
        let significand = b.select(b.is_nonzero(exponent), significand, zero);
        let most = self.greatest(b, arithmetic);
        let distance = b.sub(most, exponent);
        let limit = b.i32(31);
        let distance = b.add(distance, arithmetic.lost);
        let is_near = b.ule(distance, limit);
        let shift = b.select(is_near, distance, limit);
        let aligned = b.select(is_near, b.shr_by(b.shl(significand, GUARD), shift), zero);
        let is_negative = b.slt(bits, zero);
        let aligned = b.select(is_negative, b.neg(aligned), aligned);
        let aligned = b.choose(
            arithmetic.srgb,
            |b| {
                let above = b.sub_const(most, SRGB_EXPONENT.into());
                b.shr_by(intensity(b, bits), above)
            },
            |_| aligned,
        );
        self.add_product(b, aligned, weight);
    }

    /// Adds an integer times its weight: a normalised integer, or an aligned significand.
    pub(super) fn add_product(&self, b: &Builder<'_>, number: Value, weight: Value) {
        let product = b.join(b.mul(number, weight), b.mul_high_signed(number, weight));
        b.set(self.sum, b.add(b.get(self.sum), product));
    }

    /// The greatest exponent, or the least that significands are aligned to.
    fn greatest(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Value {
        b.maximum(Compare::LessUnsigned, b.get(self.exponent), arithmetic.least)
    }

    /// Adds a slice to those before.
    pub(super) fn end_slice(&self, b: &Builder<'_>, arithmetic: Arithmetic) {
        let own = self.greatest(b, arithmetic);
        let before = b.get(self.total_exponent);
        let exponent = b.maximum(Compare::LessUnsigned, before, own);
        let sum = b.shl(b.get(self.sum), GUARD);
        let total = b.get(self.total);
        let [total, sum] = [(total, before), (sum, own)].map(|(sum, own)| {
            let distance = b.sub(exponent, own);
            b.sar_by(sum, b.minimum(Compare::LessUnsigned, b.i32(63), distance))
        });
        b.set(self.total, b.add(total, sum));
        b.set(self.total_exponent, exponent);
        b.set(self.sum, b.i64(0));
        b.set(self.exponent, b.i32(0));
    }

    /// The bits of the result.
    pub(super) fn result(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Value {
        b.choose(arithmetic.fractions, |b| self.fraction(b, arithmetic), |b| self.float(b, arithmetic))
    }

    fn fraction(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Value {
        let sum = b.truncate(b.sar(b.get(self.total), GUARD));
        let short = b.sar(b.add_const(sum, 128), 8);
        // Here 127 with a weight of 256 becomes 32767.
        let part = b.shl(b.sar(sum, 12), 4);
        let more = b.sar(b.add(b.add_const(sum, 64), part), 7);
        let byte = b.add(sum, more);
        let is_signed_byte = b.and(arithmetic.signed, arithmetic.byte);
        let number = b.unary(Unary::SignedToFloat(Type::F32), b.select(is_signed_byte, byte, short));
        let [signed, unsigned] = [b.f32(32767.0), b.f32(65535.0)];
        let largest = b.select(arithmetic.signed, signed, unsigned);
        at_least_minus_one(b, arithmetic.signed, b.bits(b.fdiv(number, largest)))
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
        let nan = b.select(arithmetic.half, b.i32(0x7fff_e000), nan);
        let other = b.select(is_infinite, infinity, b.select(is_negative, negative, nan));
        // A sum of negative zeros is a negative zero.
        let minus = b.and(b.is_zero(b.and_const(rounded, 0x7fff_ffff)), b.is_zero(seen));
        b.select(is_special, other, b.select(minus, b.i32(0x8000_0000), rounded))
    }
}

fn srgb_exponent(b: &Builder<'_>, bits: Value) -> Value {
    let number = intensity(b, bits);
    let mut exponent = b.i32(SRGB_EXPONENT);
    for step in SRGB_STEPS {
        let reaches = b.bool_to(Type::I32, b.ule(b.i32(step), number));
        exponent = b.add(exponent, reaches);
    }
    exponent
}

/// An sRGB intensity in units of 2^-14.
fn intensity(b: &Builder<'_>, bits: Value) -> Value {
    let number = b.fmul(b.bitcast(bits, Type::F32), b.f32(16384.0));
    b.unary(Unary::FloatToSigned(Type::I32), number)
}

/// The float nearest to a sum in units of 2^(exponent + lost - 166), with ties away from zero.
fn round(b: &Builder<'_>, arithmetic: Arithmetic, sum: Value, exponent: Value) -> Value {
    let (_, top) = b.halves(sum);
    let zero = b.i32(0);
    let is_negative = b.slt(top, zero);
    let magnitude = b.select(is_negative, b.neg(sum), sum);
    let (low, high) = b.halves(magnitude);
    let high_bit = b.find_high_bit(high);
    let low_bit = b.find_high_bit(low);
    let top_bit = b.select(b.is_nonzero(high), b.add_const(high_bit, 32), low_bit);
    // Bits to cut off.
    let [single, short] = [b.i32(23), b.i32(10)];
    let precision = b.select(arithmetic.half, short, single);
    let goes = b.sub(top_bit, precision);
    let scale = b.add(b.sub_const(exponent, 166), arithmetic.lost);
    // Halves have no bits below 2^-24.
    let least = b.sub(b.i32(24u32.wrapping_neg()), scale);
    let is_less = b.and(b.slt(goes, least), arithmetic.half);
    let goes = b.maximum(Compare::LessSigned, b.select(is_less, least, goes), zero);
    let goes = b.minimum(Compare::LessUnsigned, b.i32(62), goes);
    let unit = b.shl_by(b.i64(1), goes);
    let more = b.add(magnitude, b.shr(unit, 1));
    let kept = b.truncate(b.shr_by(more, goes));
    let bits = b.bits(b.unary(Unary::UnsignedToFloat(Type::F32), kept));
    let scale = b.add(scale, goes);
    let whole = b.add(b.shr(bits, 23), scale);
    let scaled = b.add(bits, b.shl(scale, 23));
    let is_none = b.is_zero(kept);
    let is_low = b.slt(whole, b.i32(1));
    let is_none = b.or(is_none, is_low);
    let [most, short_most] = [b.i32(255), b.i32(143)];
    let is_high = b.sle(b.select(arithmetic.half, short_most, most), whole);
    let result = b.select(is_none, zero, b.select(is_high, b.i32(0x7f80_0000), scaled));
    let sign = b.select(is_negative, b.i32(0x8000_0000), zero);
    b.or(result, sign)
}

/// The weights of two slices, from the second slice's share in 256ths. Their sum is `whole`.
pub(super) fn depths(b: &Builder<'_>, z: Value, whole: Value) -> [Value; 2] {
    let near = rounded(b, b.mul(b.sub(b.i32(256), z), whole));
    let far = b.sub(whole, near);
    [near, far]
}

/// The weights of a slice's four texels, x faster than y, from the upper texels' shares in 256ths.
pub(super) fn weights(b: &Builder<'_>, [x, y]: [Value; 2], whole: Value) -> [Value; 4] {
    let right = rounded(b, b.mul(x, whole));
    let left = b.sub(whole, right);
    let above = b.sub(b.i32(256), y);
    let first = rounded(b, b.mul(left, above));
    let last = rounded(b, b.mul(right, y));
    let second = b.sub(right, last);
    let third = b.sub(left, first);
    [first, second, third, last]
}

/// A product of two weights, rounded to 256ths.
fn rounded(b: &Builder<'_>, product: Value) -> Value {
    b.shr(b.add_const(product, 128), 8)
}
