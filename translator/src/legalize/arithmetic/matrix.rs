//! The steps of sums of products that matrix units compute, on integers: see [`MatrixStep`].

use crate::ir::{Accumulator, Binary, Builder, Compare, Factors, MatrixStep, Minifloat, Op, Type, Unary, Value};
use crate::policy::Policy;
use crate::soft::{self, E4M3, E5M2, Format, HALF, SINGLE};
use ptx2spv_target::Generation;

/// Bits that are kept below the largest exponent of floats of eight bits.
const SHORT_FRACTION: u32 = 13;
/// An f32 without the bits that are not kept.
const SHORT: Format = Format { bits: 22, precision: SHORT_FRACTION + 1, bias: SINGLE.bias, nan: 0x3f_ffff };
/// The bias of exponents in a scale.
const BIAS: u32 = 512;
/// Flags of a scale: infinities of each sign, then NaN.
const INFINITY: u32 = 1 << 16;
const NAN: u32 = 1 << 18;

/// Every step, by what the policy's generation of matrix units computes. Sums that are left to the device have no such steps but those of any
/// generation.
pub fn expand_matrix_step(b: &Builder<'_>, policy: &Policy, _: Type, op: Op) -> Option<Value> {
    let Op::Matrix(step, x, y, z) = op else { return None };
    let kept = fraction(policy.generation.unwrap_or_default());
    Some(match step {
        MatrixStep::Halves(format) => halves(b, format, x),
        MatrixStep::Start(accumulator) => start(b, accumulator, kept, x),
        MatrixStep::Scale(factors) => scale(b, factors, x, y, z),
        MatrixStep::Sum(factors) => sum(b, factors, kept, x, y, z),
        MatrixStep::Round(accumulator) => round(b, accumulator, kept, x, y, z),
        MatrixStep::Aligned => b.unary(Unary::FloatToSigned(Type::I32), b.fmul(product(b, x, y), float(b, z))),
        MatrixStep::Total(accumulator) => total(b, accumulator, [x, y], z),
    })
}

/// The parts of a float.
struct Parts {
    format: Format,
    /// All but the sign.
    magnitude: Value,
    /// The biased exponent, at least 1.
    exponent: Value,
    /// With the hidden bit.
    significand: Value,
    /// All ones if it is negative, else zero.
    sign: Value,
}

impl Parts {
    fn of(b: &Builder<'_>, format: Format, bits: Value) -> Parts {
        let magnitude = soft::magnitude(b, format, bits);
        let field = b.shr(magnitude, fraction_bits(format));
        let exponent = b.binary_const(Binary::MaxUnsigned, field, 1);
        let fraction = b.and_const(magnitude, format.hidden() - 1);
        let hidden = b.binary_const(Binary::MinUnsigned, field, 1);
        let significand = b.or(fraction, b.shl(hidden, fraction_bits(format)));
        let sign = b.sar(b.shl(bits, 32 - format.bits), 31);
        Parts { format, magnitude, exponent, significand, sign }
    }

    fn is_infinite(&self, b: &Builder<'_>) -> Value {
        if self.format == E4M3 {
            return b.bool(false);
        }
        b.compare_const(Compare::Equal, self.magnitude, self.format.infinity())
    }

    fn is_nan(&self, b: &Builder<'_>) -> Value {
        if self.format == E4M3 {
            return b.compare_const(Compare::Equal, self.magnitude, E4M3.nan);
        }
        soft::is_nan(b, self.format, self.magnitude)
    }
}

/// Bits of a significand that are a fraction.
fn fraction_bits(format: Format) -> u32 {
    format.precision - 1
}

/// Two floats of eight bits as f16.
fn halves(b: &Builder<'_>, format: Minifloat, word: Value) -> Value {
    let [low, high] = [0, 8].map(|position| {
        let bits = b.shr(word, position);
        match format {
            Minifloat::E4m3 => half_of_e4m3(b, bits),
            // The format is the upper half of f16.
            Minifloat::E5m2 => b.shl(b.and_const(bits, 0xff), HALF.bits - E5M2.bits),
        }
    });
    b.or(low, b.shl(high, HALF.bits))
}

/// The e4m3 in the lowest bits as f16, which has all of its numbers as normal ones.
fn half_of_e4m3(b: &Builder<'_>, bits: Value) -> Value {
    let magnitude = b.and_const(bits, E4M3.sign() - 1);
    let rebias = HALF.bias - E4M3.bias;
    // A subnormal number with this many bits, or a normal one with all: the highest is the implied bit.
    let mut with_bits = |count: u32| {
        let fraction = b.shl(magnitude, HALF.precision - count);
        let missing = E4M3.precision - count;
        b.add_const(fraction, u64::from(rebias - missing) << fraction_bits(HALF))
    };
    let [mut half, three, two, one] = [4, 3, 2, 1].map(&mut with_bits);
    for (shorter, count) in [(three, 3), (two, 2), (one, 1)] {
        let is_shorter = b.compare_const(Compare::LessUnsigned, magnitude, 1 << count);
        half = b.select(is_shorter, shorter, half);
    }
    let nan = b.constant(Type::I32, HALF.nan);
    let is_nan = b.compare_const(Compare::Equal, magnitude, E4M3.nan);
    half = b.select(is_nan, nan, half);
    let zero = b.i32(0);
    half = b.select(b.is_zero(magnitude), zero, half);
    let sign = b.shl(b.and_const(bits, E4M3.sign()), HALF.bits - E4M3.bits);
    b.or(half, sign)
}

/// The factors in a word of each matrix, in pairs.
fn factors(b: &Builder<'_>, factors: Factors, x: Value, y: Value) -> Vec<(Parts, Parts)> {
    let [first, second] = soft::formats(factors);
    parts(b, first, x).into_iter().zip(parts(b, second, y)).collect()
}

fn parts(b: &Builder<'_>, format: Format, word: Value) -> Vec<Parts> {
    let bits = match format.bits {
        8 => [0, 8, 16, 24].map(|position| b.shr(word, position)).to_vec(),
        16 => vec![word, b.shr(word, 16)],
        // The lowest bits of a tf32 don't count.
        _ => vec![b.shr(word, 13)],
    };
    bits.into_iter().map(|bits| Parts::of(b, format, bits)).collect()
}

fn addend(accumulator: Accumulator) -> Format {
    match accumulator {
        Accumulator::F32 | Accumulator::ShortF32 => SINGLE,
        Accumulator::F16 | Accumulator::ShortF16 => HALF,
    }
}

/// Bits that are kept below the largest exponent.
pub(super) fn fraction(generation: Generation) -> u32 {
    match generation {
        Generation::Volta => 23,
        Generation::Turing | Generation::Ampere | Generation::Ada => 24,
        Generation::Hopper => 25,
    }
}

/// Bits that are kept of a sum's terms below the largest exponent, of which there are so many of most formats.
fn kept(accumulator: Accumulator, most: u32) -> u32 {
    match accumulator {
        Accumulator::F32 | Accumulator::F16 => most,
        Accumulator::ShortF32 | Accumulator::ShortF16 => SHORT_FRACTION,
    }
}

/// An exponent that takes no part if something is zero.
fn unless_zero(b: &Builder<'_>, exponent: Value, magnitude: Value) -> Value {
    let zero = b.i32(0);
    b.select(b.is_zero(magnitude), zero, exponent)
}

/// The flag of an infinity or a NaN.
fn flag(b: &Builder<'_>, is_nan: Value, is_infinite: Value, sign: Value) -> Value {
    let [nan, zero] = [NAN, 0].map(|bits| b.i32(bits));
    let infinity = b.add_const(b.and_const(sign, INFINITY.into()), INFINITY.into());
    b.select(is_nan, nan, b.select(is_infinite, infinity, zero))
}

/// The least exponent that numbers are aligned to, whatever they are, in a scale.
fn least_exponent(accumulator: Accumulator, kept: u32) -> Option<u32> {
    match accumulator {
        Accumulator::F32 => Some(BIAS - 108 - kept),
        Accumulator::F16 => Some(BIAS + 4 - kept),
        Accumulator::ShortF32 | Accumulator::ShortF16 => None,
    }
}

fn start(b: &Builder<'_>, accumulator: Accumulator, kept: u32, bits: Value) -> Value {
    let format = addend(accumulator);
    let c = Parts::of(b, format, bits);
    let exponent = unless_zero(b, b.add_const(c.exponent, (BIAS - format.bias).into()), c.magnitude);
    let least = least_exponent(accumulator, kept);
    let exponent = least.map_or(exponent, |least| b.binary_const(Binary::MaxUnsigned, exponent, least.into()));
    let (is_nan, is_infinite) = (c.is_nan(b), c.is_infinite(b));
    b.or(exponent, flag(b, is_nan, is_infinite, c.sign))
}

fn scale(b: &Builder<'_>, kind: Factors, x: Value, y: Value, scale: Value) -> Value {
    let mut flags = b.and_const(scale, 0xffff_0000);
    let mut largest = b.and_const(scale, 0xffff);
    for (x, y) in factors(b, kind, x, y) {
        let exponent = b.add(x.exponent, y.exponent);
        let biased = b.add_const(exponent, (BIAS - x.format.bias - y.format.bias).into());
        let least = b.binary(Binary::MinUnsigned, x.magnitude, y.magnitude);
        let exponent = unless_zero(b, biased, least);
        largest = b.binary(Binary::MaxUnsigned, largest, exponent);
        let [x_infinite, y_infinite] = [&x, &y].map(|parts| parts.is_infinite(b));
        let [x_nan, y_nan] = [&x, &y].map(|parts| parts.is_nan(b));
        let is_infinite = b.or(x_infinite, y_infinite);
        let is_undefined = b.and(is_infinite, b.is_zero(least));
        let is_nan = b.or(b.or(x_nan, y_nan), is_undefined);
        let own = flag(b, is_nan, is_infinite, b.xor(x.sign, y.sign));
        flags = b.or(flags, own);
    }
    b.or(flags, largest)
}

fn sum(b: &Builder<'_>, kind: Factors, kept: u32, x: Value, y: Value, scale: Value) -> Value {
    let largest = b.and_const(scale, 0xffff);
    let is_short = soft::formats(kind)[0].bits == 8;
    let kept = if is_short { SHORT_FRACTION } else { kept };
    let mut sum = b.i32(0);
    for (x, y) in factors(b, kind, x, y) {
        let product = b.mul(x.significand, y.significand);
        let exponent = b.add(x.exponent, y.exponent);
        let exponent = b.add_const(exponent, (BIAS - x.format.bias - y.format.bias).into());
        let sign = b.xor(x.sign, y.sign);
        let fraction = fraction_bits(x.format) + fraction_bits(y.format);
        let term = aligned(b, (product, fraction, kept), exponent, largest, sign);
        sum = b.add(sum, term);
    }
    sum
}

/// A number, given by its significand, the bits of that which are a fraction, and those that are kept, in units of the last of these.
fn aligned(
    b: &Builder<'_>,
    (significand, fraction, kept): (Value, u32, u32),
    exponent: Value,
    largest: Value,
    sign: Value,
) -> Value {
    let significand = b.shl(significand, kept.saturating_sub(fraction));
    let surplus = fraction.saturating_sub(kept);
    let distance = b.binary_const(Binary::MinUnsigned, b.sub(largest, exponent), (31 - surplus).into());
    let distance = if surplus > 0 { b.add_const(distance, surplus.into()) } else { distance };
    let kept = b.shr_by(significand, distance);
    b.sub(b.xor(kept, sign), sign)
}

fn round(b: &Builder<'_>, accumulator: Accumulator, kept: u32, c: Value, scale: Value, sum: Value) -> Value {
    let format = addend(accumulator);
    let largest = b.and_const(scale, 0xffff);
    let c = Parts::of(b, format, c);
    let exponent = b.add_const(c.exponent, (BIAS - format.bias).into());
    let kept = self::kept(accumulator, kept);
    let term = aligned(b, (c.significand, fraction_bits(format), kept), exponent, largest, c.sign);
    let sum = b.add(sum, b.unary(Unary::SignExtend, term));
    let is_negative = b.slt(sum, b.i64(0));
    let magnitude = b.select(is_negative, b.neg(sum), sum);
    // The exponent of the highest bit, in which the last kept bit has that of the scale less the kept fraction.
    let zeros = soft::leading_zeros(b, magnitude);
    let last = b.i32(63);
    let highest = b.sub(last, zeros);
    let unit = b.sub_const(largest, (BIAS + kept).into());
    let top = b.add(highest, unit);
    // Bits that the result has not.
    let whole = format;
    let format = if accumulator == Accumulator::ShortF32 { SHORT } else { whole };
    let fraction = fraction_bits(format);
    let least = 1 - format.bias.cast_signed() - fraction.cast_signed();
    let normal = b.sub_const(highest, fraction.into());
    let subnormal = b.sub(b.i32(least.cast_unsigned()), unit);
    let dropped = b.binary(Binary::MaxSigned, normal, subnormal);
    let nothing = b.i32(0);
    let left = b.binary(Binary::MaxSigned, b.neg(dropped), nothing);
    let right = b.binary_const(Binary::MinSigned, b.binary(Binary::MaxSigned, dropped, nothing), 63);
    let rounded = match accumulator {
        Accumulator::F32 | Accumulator::ShortF32 => magnitude,
        Accumulator::F16 | Accumulator::ShortF16 => {
            // To nearest even: half a unit less one, and one more if the last bit is set.
            let unit = b.shl_by(b.i64(1), right);
            let half = b.shr(unit, 1);
            let more = b.add(half, b.and_const(b.shr_by(magnitude, right), 1));
            let is_exact = b.is_zero(half);
            let more = b.sub_const(more, 1);
            b.add(magnitude, b.select(is_exact, b.i64(0), more))
        }
    };
    let significand = b.truncate(b.shl_by(b.shr_by(rounded, right), left));
    let field = b.binary(Binary::MaxSigned, b.add_const(top, (format.bias - 1).into()), nothing);
    // Beyond all exponents it is infinite.
    let infinity = b.constant(Type::I32, format.infinity());
    let field = b.binary_const(Binary::MinSigned, field, format.top_exponent().into());
    let bits = b.binary(Binary::MinUnsigned, b.add(b.shl(field, fraction), significand), infinity);
    let sign = b.bool_to(Type::I32, is_negative);
    let signed = b.or(bits, b.shl(sign, format.bits - 1));
    // What rounds to zero has no sign.
    let is_nothing = b.is_zero(significand);
    let finite = b.select(is_nothing, nothing, signed);
    let lacking = whole.bits - format.bits;
    let finite = if lacking > 0 { b.shl(finite, lacking) } else { finite };
    special(b, whole, scale, finite)
}

fn float(b: &Builder<'_>, bits: Value) -> Value {
    b.bitcast(bits, Type::F32)
}

/// The product of two `F32` by their bits, which the device computes.
fn product(b: &Builder<'_>, x: Value, y: Value) -> Value {
    b.fmul(float(b, x), float(b, y))
}

fn total(b: &Builder<'_>, accumulator: Accumulator, [x, y]: [Value; 2], unit: Value) -> Value {
    let sum = b.add(x, y);
    // The sum has 33 bits. Its sign is that of both, or that of 32 bits if theirs differ.
    let differing = b.and(b.xor(x, y), sum);
    let sign = b.and_const(b.or(b.and(x, y), differing), SINGLE.sign());
    let all = b.sar(sign, 31);
    let magnitude = b.sub(b.xor(sum, all), all);
    let surplus = b.sub_const(b.find_high_bit(magnitude), fraction_bits(SINGLE).into());
    let surplus = b.binary_const(Binary::MaxSigned, surplus, 0);
    let whole = b.shl_by(b.shr_by(magnitude, surplus), surplus);
    let significand = match accumulator {
        Accumulator::F32 | Accumulator::ShortF32 => whole,
        Accumulator::F16 | Accumulator::ShortF16 => {
            let odd = b.or(whole, b.shl_by(b.i32(1), surplus));
            b.select(b.compare(Compare::Equal, whole, magnitude), whole, odd)
        }
    };
    let number = b.unary(Unary::UnsignedToFloat(Type::F32), significand);
    // A zero has no sign here.
    b.bits(b.fmul(number, float(b, b.or(unit, sign))))
}

/// The result, unless there are infinities or NaNs.
fn special(b: &Builder<'_>, format: Format, scale: Value, finite: Value) -> Value {
    let flags = b.shr(scale, 16);
    let is_finite = b.is_zero(flags);
    let infinite = b.or_const(b.shl(b.shr(flags, 1), format.bits - 1), format.infinity());
    // A NaN, or infinities of both signs.
    let is_nan = b.ult(b.i32(2), flags);
    let special = b.select(is_nan, b.constant(Type::I32, format.nan), infinite);
    b.select(is_finite, finite, special)
}
