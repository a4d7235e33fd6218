//! Approximate functions of floats (PTX sections 9.7.3 and 9.7.4): their results at the ends of their ranges. Legalization sees to the
//! accuracy in between, and to all of the roots.
//!
//! Zeros, infinities and NaNs are treated as NVIDIA's compiler and hardware do.

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Binary, Root, Type, Unary, Value};
use crate::isa::word::Word;
use crate::lower::float::{each_lane, finished, float_of, floats, nan_of, or_nan};
use crate::lower::lowering::Lowering;
use crate::soft::{self, DOUBLE, SINGLE};

/// A function on floats, whose operands and result are flushed as the modifiers say; formats of 16 bits go through f32.
pub(crate) fn function<const N: usize>(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    function: impl Fn(&mut Lowering<'_, '_>, [Value; N]) -> Value,
) -> Result {
    each_lane(l, i, |l, format, operands| {
        let operands = floats(l, i, format, operands);
        let result = function(l, operands);
        let result = if format == SINGLE { or_nan(l, result, &operands) } else { result };
        finished(l, i, format, result)
    })
}

/// `div.approx`: the product with a reciprocal, which is zero for divisors above 2^126.
pub fn div(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    function(l, i, |l, [a, b]| {
        let quotient = l.b.binary(Binary::FDivApprox, a, b);
        let above = l.b.sub_const(l.b.magnitude(b), u64::from(2f32.powi(126).to_bits()) + 1);
        let is_huge = l.b.ult(above, l.b.i32(SINGLE.infinity() as u32 - 2f32.powi(126).to_bits() - 1));
        let zero = l.b.f32(0.0);
        l.b.select(is_huge, l.b.fmul(a, signed(l, zero, b)), quotient)
    })
}

/// A root of an f32.
pub(crate) fn root(l: &mut Lowering<'_, '_>, i: &Instruction, inverse: bool) -> Result {
    let flush = i.modifiers.has(Word::Ftz);
    each_lane(l, i, |l, format, [bits]| {
        let operand = float_of(l, format, bits);
        let root = l.b.unary(Unary::Root(Root { inverse, flush }), operand);
        let root = or_nan(l, root, &[operand]);
        // No root is subnormal.
        l.b.bits(root)
    })
}

/// A positive number with the sign of another number, on bits.
fn signed(l: &Lowering<'_, '_>, number: Value, sign: Value) -> Value {
    let sign = l.b.and_const(l.b.bits(sign), SINGLE.sign());
    l.b.bitcast(l.b.or(l.b.bits(number), sign), Type::F32)
}

pub fn lg2(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    function(l, i, |l, [a]| l.b.unary(Unary::Log2Approx, a))
}

pub fn ex2(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let flush = i.modifiers.has(Word::Ftz);
    each_lane(l, i, |l, format, [bits]| {
        if flush && format == SINGLE {
            let operand = float_of(l, format, bits);
            let power = or_nan(l, l.b.unary(Unary::Exp2Flushed, operand), &[operand]);
            return l.b.bits(power);
        }
        let operands = floats(l, i, format, [bits]);
        let power = l.b.unary(Unary::Exp2Approx, operands[0]);
        let power = if format == SINGLE { or_nan(l, power, &operands) } else { power };
        finished(l, i, format, power)
    })
}

/// A function of an angle, or with `.2pi` of a number of turns.
pub(crate) fn circular(l: &mut Lowering<'_, '_>, i: &Instruction, op: Unary) -> Result {
    let in_turns = i.modifiers.has(Word::TwoPi);
    function(l, i, |l, [a]| {
        let angle = if in_turns {
            // Whole turns change nothing. The difference is exact.
            l.b.fmul(l.b.fsub(a, l.b.unary(Unary::RoundEven, a)), l.b.f32(std::f32::consts::TAU))
        } else {
            a
        };
        l.b.unary(op, angle)
    })
}

/// The NaN of the functions on the upper words of doubles.
const UPPER_NAN: u64 = 0x7fff_ffff;

/// The upper word of a double, in the manual's "1.11.20 format".
struct Upper {
    sign: Value,
    /// Without the sign.
    magnitude: Value,
    exponent: Value,
    /// The fraction as that of an `F32`.
    fraction: Value,
}

impl Upper {
    fn of(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<Upper> {
        let bits = l.int(i, 1, i.ty(0)?)?;
        Ok(Self::of_word(l, l.b.shr(bits, 32)))
    }

    fn of_word(l: &Lowering<'_, '_>, high: Value) -> Upper {
        let word = l.b.truncate(high);
        let sign = l.b.and_const(word, 1 << 31);
        let magnitude = l.b.xor(word, sign);
        let exponent = l.b.shr(magnitude, 20);
        let fraction = l.b.and_const(word, (1 << 20) - 1);
        Upper { sign, magnitude, exponent, fraction: l.b.shl(fraction, 3) }
    }

    /// Whether the number is zero or subnormal, whether it is infinite, and whether it is NaN.
    fn kinds(&self, l: &mut Lowering<'_, '_>) -> [Value; 3] {
        let is_tiny = l.b.is_zero(self.exponent);
        let infinity = l.b.i32(0x7ff0_0000);
        [is_tiny, l.b.eq(self.magnitude, infinity), l.b.ult(infinity, self.magnitude)]
    }
}

/// Puts the upper word of a double together, with the lower one zero, and writes it.
fn set_upper(l: &mut Lowering<'_, '_>, i: &Instruction, word: Value) -> Result {
    let result = l.b.shl(l.b.zero_extend(word), 32);
    l.set(i, 0, i.ty(0)?, result)
}

/// `rcp.approx.ftz.f64`: computes the upper word of the result from the operand's upper word, by a reciprocal on f32.
pub fn rcp_upper(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let a = Upper::of(l, i)?;
    let number = l.b.bitcast(l.b.or_const(a.fraction, 1f32.to_bits().into()), Type::F32);
    let reciprocal = l.b.binary(Binary::FDivApprox, l.b.f32(1.0), number);
    // The exponent is that of f32's 1.0 or one less, and the fraction has three bits too many.
    let bits = l.b.shr(l.b.add_const(l.b.bits(reciprocal), 1 << 2), 3);
    let bits = l.b.sub_const(bits, u64::from(SINGLE.bias) << 20);
    let exponent = l.b.shl(l.b.sub(l.b.i32(2 * DOUBLE.bias), a.exponent), 20);
    let magnitude = l.b.add(bits, exponent);
    // Subnormal results are flushed; exponents can be slightly below zero.
    let is_flushed = l.b.slt(magnitude, l.b.i32(1 << 20));
    let [zero, infinity] = [l.b.i32(0), l.b.i32(0x7ff0_0000)];
    let magnitude = l.b.select(is_flushed, zero, magnitude);
    let [is_tiny, is_infinite, is_nan] = a.kinds(l);
    let word = l.b.or(l.b.select(is_infinite, zero, l.b.select(is_tiny, infinity, magnitude)), a.sign);
    let word = l.b.select(is_nan, l.b.i32(UPPER_NAN as u32), word);
    set_upper(l, i, word)
}

/// The upper word's number with an even exponent, as an `F32` from 1.0 to 4.0, and half that exponent.
fn even(l: &mut Lowering<'_, '_>, a: &Upper) -> (Value, Value) {
    let exponent = l.b.sub_const(a.exponent, DOUBLE.bias.into());
    let odd = l.b.and_const(exponent, 1);
    let half = l.b.sar(exponent, 1);
    let top = l.b.shl(l.b.add_const(odd, SINGLE.bias.into()), 23);
    (l.b.bitcast(l.b.or(a.fraction, top), Type::F32), half)
}

/// `rsqrt.approx.ftz.f64`, in the same way.
pub fn rsqrt_upper(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let a = Upper::of(l, i)?;
    let (number, half) = even(l, &a);
    let root = l.b.unary(Unary::InverseSqrtApprox, number);
    let bits = l.b.shr(l.b.add_const(l.b.bits(root), 1 << 2), 3);
    let bits = l.b.add(bits, l.b.i32((DOUBLE.bias - SINGLE.bias) << 20));
    let word = special_roots(l, &a, l.b.sub(bits, l.b.shl(half, 20)));
    set_upper(l, i, word)
}

/// The upper word of the reciprocal root of an operand that isn't positive and normal; `word` for other operands.
fn special_roots(l: &mut Lowering<'_, '_>, a: &Upper, word: Value) -> Value {
    let [is_tiny, is_infinite, is_nan] = a.kinds(l);
    let [zero, nan] = [l.b.i32(0), l.b.i32(UPPER_NAN as u32)];
    let word = l.b.select(is_infinite, zero, word);
    let is_invalid = l.b.or(l.b.is_nonzero(a.sign), is_nan);
    let word = l.b.select(is_invalid, nan, word);
    l.b.select(is_tiny, l.b.or_const(a.sign, 0x7ff0_0000), word)
}

/// `rsqrt.approx.f64`: an approximation on f32, and a step of third order on f64, which leaves an error of 2 ulp at most.
pub fn rsqrt_double(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let operand = l.int(i, 1, i.ty(0)?)?;
    // A subnormal is scaled up through its bits as an integer.
    let magnitude = l.b.magnitude(operand);
    let is_tiny = l.b.ult(magnitude, l.b.i64(DOUBLE.hidden()));
    let units = l.b.bits(l.b.unary(Unary::UnsignedToFloat(Type::F64), magnitude));
    let scaled = l.b.or(units, l.b.and_const(operand, DOUBLE.sign()));
    let bits = l.b.select(is_tiny, scaled, operand);

    let a = Upper::of_word(l, l.b.shr(bits, 32));
    let (number, half) = even(l, &a);
    let root = l.b.widen(l.b.unary(Unary::InverseSqrtApprox, number));
    // The same number with its whole fraction.
    let odd = l.b.and_const(l.b.sub_const(a.exponent, DOUBLE.bias.into()), 1);
    let top = l.b.shl(l.b.zero_extend(l.b.add_const(odd, DOUBLE.bias.into())), 52);
    let number = l.b.bitcast(l.b.or(l.b.and_const(bits, DOUBLE.hidden() - 1), top), Type::F64);

    // The square is exact. With e = 1 - number * root^2, the result is root * (1 + e / 2 + 3 e^2 / 8 + ...).
    let square = l.b.fmul(root, root);
    let product = l.b.fmul(number, square);
    let [one, half_, part] = [l.b.f64(1.0), l.b.f64(0.5), l.b.f64(0.375)];
    let error = l.b.fsub(one, product);
    let series = l.b.fadd(l.b.fmul(error, part), half_);
    let root = l.b.fadd(root, l.b.fmul(l.b.fmul(root, error), series));

    // The unit of subnormals is 2^-1074, whose root is 2^-537.
    let units_half = l.b.i32(537);
    let none = l.b.i32(0);
    let units_half = l.b.select(is_tiny, units_half, none);
    let scale = l.b.shl(l.b.unary(Unary::SignExtend, l.b.sub(units_half, half)), 52);
    let root = l.b.add(l.b.bits(root), scale);
    let root_high = l.b.truncate(l.b.shr(root, 32));
    let root_low = l.b.truncate(root);
    let word = special_roots(l, &a, root_high);
    let result = l.b.join(l.b.select(l.b.ne(word, root_high), none, root_low), word);
    // Unlike the other functions, this one gives f64's NaNs.
    let operand = l.b.bitcast(operand, Type::F64);
    let nan = l.b.bits(nan_of(l, operand, &[operand]));
    let [was_nan, is_nan] = [bits, result].map(|bits| soft::is_nan(&l.b, DOUBLE, bits));
    let result = l.b.select(l.b.or(was_nan, is_nan), nan, result);
    l.set(i, 0, i.ty(0)?, result)
}
