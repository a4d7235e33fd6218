//! Multiply-adds and sums by integer operations alone.

use crate::ir::{Builder, Compare, Rounding, Value};
use crate::soft::{Format, Parts, leading_zeros, product_sign, round, stick, unless_nan, width};

/// A fused multiply-add of any format, by integer operations alone.
///
/// Product and addend are placed in a fixed-point number of twice the format's width, whose upper bits hold either significand without
/// loss. The one with the lower exponent is shifted right, with a sticky lowest bit for the bits lost. Subnormals need no normalisation:
/// bits that cancellation uncovers below them are far below the result's last place, or were not lost.
pub fn fused_on_integers(b: &Builder<'_>, rounding: Rounding, operands: [Value; 3]) -> Value {
    let [x, y, z] = operands.map(|operand| Parts::of(b, operand));
    let format = x.format;
    let is_zero_product = {
        let (x, y) = (x.is_zero(b), y.is_zero(b));
        b.or(x, y)
    };

    // Exponents of the upper half's bit `top`. A zero product must not shift the addend.
    let exponent = b.sub_const(b.add(x.exponent, y.exponent), format.bias.into());
    let zero = b.i32(0);
    let product_exponent = b.select(is_zero_product, zero, exponent);
    let product = Fixed::product(b, format, x.significand, y.significand);
    let addend = Fixed::addend(b, format, z.significand);
    let is_product_lower = b.sle(product_exponent, z.exponent);
    let upper = addend.select(b, is_product_lower, &product);
    let lower = product.select(b, is_product_lower, &addend);
    let exponent = b.select(is_product_lower, z.exponent, product_exponent);
    let lower_exponent = b.select(is_product_lower, product_exponent, z.exponent);
    let distance = b.sub(exponent, lower_exponent);
    let lower = lower.shift_right_sticking(b, distance);

    let product_sign = product_sign(b, &x, &y);
    let addend_sign = b.and_const(z.bits, format.sign());
    let differ = b.ne(product_sign, addend_sign);
    let sum = upper.add_or_subtract(b, &lower, differ);
    let (sum, was_negative) = sum.absolute(b);
    let sign = b.select(is_product_lower, addend_sign, product_sign);
    let sign = b.xor(sign, b.and_const(was_negative, format.sign()));

    let (significand, shift) = sum.normalised(b);
    let exponent = b.add_const(b.sub(exponent, shift), 2);
    let is_zero = b.is_zero(significand);
    let exponent = b.select(is_zero, zero, exponent);
    // Operands that cancel give plus zero, or minus zero when rounding down. Zeros of equal sign keep their sign.
    let zero_sign = match rounding {
        Rounding::Down => b.or(product_sign, addend_sign),
        _ => b.and(product_sign, addend_sign),
    };
    let sign = b.select(is_zero, zero_sign, sign);
    let finite = b.or(round(b, format, rounding, b.is_nonzero(sign), exponent, significand), sign);

    let [x_infinite, y_infinite, z_infinite] = [&x, &y, &z].map(|parts| parts.is_infinite(b));
    let is_infinite_product = b.or(x_infinite, y_infinite);
    let infinite_product = b.or(product_sign, b.constant_like(finite, format.infinity()));
    let result = b.select(z_infinite, z.bits, b.select(is_infinite_product, infinite_product, finite));
    let undefined_product = b.and(is_infinite_product, is_zero_product);
    let undefined_sum = b.and(b.and(is_infinite_product, z_infinite), differ);
    let undefined = b.or(undefined_product, undefined_sum);
    let is_nan = [&x, &y, &z].into_iter().fold(undefined, |any, parts| b.or(any, parts.is_nan(b)));
    unless_nan(b, format, is_nan, result)
}

/// An unsigned fixed-point number in two integers.
struct Fixed {
    high: Value,
    low: Value,
}

/// Bit of the upper half at which significands have their leading one; products may have it one higher.
fn top(format: Format) -> u32 {
    format.bits - 4
}

impl Fixed {
    fn product(b: &Builder<'_>, format: Format, x: Value, y: Value) -> Fixed {
        let shift = (format.bits + top(format) - 2 * (format.precision - 1)) / 2;
        let [x, y] = [x, y].map(|factor| b.shl(factor, shift));
        Fixed { high: b.mul_high_unsigned(x, y), low: b.mul(x, y) }
    }

    fn addend(b: &Builder<'_>, format: Format, significand: Value) -> Fixed {
        let high = b.shl(significand, top(format) + 1 - format.precision);
        Fixed { high, low: b.constant_like(significand, 0) }
    }

    /// `condition ? self : other`.
    fn select(&self, b: &Builder<'_>, condition: Value, other: &Fixed) -> Fixed {
        let high = b.select(condition, self.high, other.high);
        Fixed { high, low: b.select(condition, self.low, other.low) }
    }

    /// Shifts right by any amount that isn't negative; the lowest bit is sticky for the bits lost.
    fn shift_right_sticking(&self, b: &Builder<'_>, amount: Value) -> Fixed {
        let width = width(b.type_of(self.high));
        let amount = b.minimum(Compare::LessUnsigned, amount, b.i32(2 * width - 1));
        // First by a whole half if the amount is that large, then by the rest.
        let half = b.i32(width);
        let zero = b.constant_like(self.high, 0);
        let is_near = b.ult(amount, half);
        let high = b.select(is_near, self.high, zero);
        let middle = b.select(is_near, self.low, self.high);
        let lost_half = b.select(is_near, zero, self.low);
        let amount = b.and_const(amount, u64::from(width - 1));
        let shifted = b.shr_by(middle, amount);
        let back = b.shl_by(shifted, amount);
        let lost = b.or(b.sub(middle, back), lost_half);
        let from_high = shift_across(b, high, amount, true);
        let low = b.or(shifted, from_high);
        Fixed { high: b.shr_by(high, amount), low: stick(b, low, lost) }
    }

    /// The sum, or the difference in two's complement.
    fn add_or_subtract(&self, b: &Builder<'_>, other: &Fixed, subtract: Value) -> Fixed {
        let ty = b.type_of(self.high);
        let [ones, zero] = [u64::MAX, 0].map(|bits| b.constant(ty, bits));
        let flip = b.select(subtract, ones, zero);
        let one = b.and_const(flip, 1);
        let high = b.add(self.high, b.xor(other.high, flip));
        let flipped = b.xor(other.low, flip);
        let partial = b.add(self.low, flipped);
        let sum = b.add(partial, one);
        // Both additions together carry at most once.
        let carries = [b.ult(partial, self.low), b.ult(sum, one)];
        let carry = b.bool_to(ty, b.or(carries[0], carries[1]));
        Fixed { high: b.add(high, carry), low: sum }
    }

    /// The absolute value of a two's complement number, and all ones if the number was negative, else zero.
    fn absolute(&self, b: &Builder<'_>) -> (Fixed, Value) {
        let top = width(b.type_of(self.high)) - 1;
        let negative = b.sar(self.high, top);
        let high = b.xor(self.high, negative);
        let low = b.sub(b.xor(self.low, negative), negative);
        let carry = b.select(b.is_zero(low), negative, b.constant_like(low, 0));
        (Fixed { high: b.sub(high, carry), low }, negative)
    }

    /// The upper half (the lower one in its lowest bit) after a shift to the left that brings the leading one to its place
    /// for rounding, and by how much; zero stays zero.
    fn normalised(&self, b: &Builder<'_>) -> (Value, Value) {
        let width = width(b.type_of(self.high));
        let is_high_zero = b.is_zero(self.high);
        let first = b.select(is_high_zero, self.low, self.high);
        let zeros = leading_zeros(b, first);
        let [half, none] = [b.i32(width), b.i32(0)];
        let skipped = b.select(is_high_zero, half, none);
        let shift = b.sub_const(b.add(zeros, skipped), 1);
        let is_near = b.ult(shift, half);
        let zero = b.constant_like(self.high, 0);
        let high = b.select(is_near, self.high, self.low);
        let low = b.select(is_near, self.low, zero);
        let amount = b.and_const(shift, u64::from(width - 1));
        let high = b.shl_by(high, amount);
        let from_low = shift_across(b, low, amount, false);
        let high = b.or(high, from_low);
        let lost = b.shl_by(low, amount);
        (stick(b, high, lost), shift)
    }
}

/// The bits that a right (or left) shift by less than the width moves from one half into the other.
fn shift_across(b: &Builder<'_>, half: Value, amount: Value, right: bool) -> Value {
    let limit = width(b.type_of(half)) - 1;
    let rest = b.sub(b.i32(limit), amount);
    if right { b.shl_by(b.shl(half, 1), rest) } else { b.shr_by(b.shr(half, 1), rest) }
}

/// A sum of any format, by integer operations alone.
pub fn sum_on_integers(b: &Builder<'_>, rounding: Rounding, x: Value, y: Value) -> Value {
    fused_on_integers(b, rounding, [x, b.constant_like(x, Format::of(b.type_of(x)).one()), y])
}
