//! Division where the device doesn't round it correctly: by Newton's method where `Fma` rounds once, else `F32` through `F64`
//! where `F64` divides correctly, else long division on integers. The device's own division is used where it fails only on denormals and no
//! denormals are involved. NaNs are NVIDIA's, except in the last case.

use rustc_hash::FxHashSet;

use crate::ir::{
    Binary, Block, Builder, Compare, Function, Op, Rewritten, Rounding, Stmt, Type, Unary, Value, for_each_stmt,
    rewrite,
};
use crate::legalize::arithmetic::bits::negative;
use crate::legalize::arithmetic::convert::{narrow, widen};
use crate::legalize::arithmetic::groups::reaches;
use crate::policy::Floats;
use crate::soft::{DOUBLE, Format, Parts, SINGLE, leading, negated, product_sign, quiet, round, stick, with_extremes};
use ptx2spv_target::Facts;

/// Replaces `FDiv` on types where the target's division is not correctly rounded. `avoided` says whether `F64` may not be divided by the
/// device under conditions in loops ([`Quirks::double_divisions_wrong`](ptx2spv_target::Quirks)).
pub fn expand_division(function: &mut Function, floats: &Floats, avoided: bool) {
    let facts = &floats.trusted;
    let avoids = avoids(floats, avoided);
    if facts.div_f32_rounded && facts.div_f64_rounded && !avoids {
        return;
    }
    let mut conditional = FxHashSet::default();
    if avoids {
        find_conditional(function, &mut conditional);
    }
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, Op::Binary(Binary::FDiv, x, y)) => match b.type_of(result) {
            Type::F32 if facts.div_f32_rounded => Rewritten::Kept,
            Type::F64 if conditional.contains(&result) => Rewritten::By(refined_as_by_device(b, facts, x, y)),
            Type::F64 if facts.div_f64_rounded => Rewritten::Kept,
            Type::F32 if facts.div_f32_normal => Rewritten::By(guarded(b, floats, x, y)),
            ty if refines(floats, ty) => Rewritten::By(refined(b, floats, x, y)),
            _ => Rewritten::By(divide(b, floats, Rounding::NearestEven, x, y)),
        },
        _ => Rewritten::Kept,
    });
}

/// The quotients on `F64` that [`expand_division`] leaves to a device whose division fails in other places: all of a
/// function, or none, since the values that the device gets wrong there are others.
pub fn divided_by_device(function: &Function, floats: &Floats, avoided: bool) -> FxHashSet<Value> {
    let mut quotients = FxHashSet::default();
    if !avoids(floats, avoided) {
        return quotients;
    }
    let mut conditional = FxHashSet::default();
    find_conditional(function, &mut conditional);
    if !conditional.is_empty() {
        return quotients;
    }
    for_each_stmt(&function.body, |stmt| {
        if let Stmt::Let(result, Op::Binary(Binary::FDiv, ..)) = stmt
            && function.type_of(*result) == Type::F64
        {
            quotients.insert(*result);
        }
    });
    quotients
}

/// Whether the device's division on `F64` is right but for places that are avoided.
fn avoids(floats: &Floats, avoided: bool) -> bool {
    avoided && floats.trusted.div_f64_rounded && floats.fma_f64_fused
}

/// Finds the quotients under conditions in loops, among them those after a conditional break.
fn find_conditional(function: &Function, found: &mut FxHashSet<Value>) {
    // A helper may be called anywhere.
    let is_helper = matches!(function.body.last(), Some(Stmt::Return(_)));
    find_conditional_in(&function.body, Place { is_conditional: is_helper, ..Place::default() }, found);
}

/// The place of a list of statements.
#[derive(Clone, Copy, Default)]
struct Place {
    in_loop: bool,
    /// Under a condition in the loop.
    is_conditional: bool,
}

fn find_conditional_in(block: &Block, mut place: Place, found: &mut FxHashSet<Value>) {
    for stmt in block {
        match stmt {
            Stmt::Let(result, Op::Binary(Binary::FDiv, ..)) if place.is_conditional => {
                found.insert(*result);
            }
            Stmt::If { then, otherwise, .. } => {
                let inner = Place { is_conditional: place.is_conditional || place.in_loop, ..place };
                find_conditional_in(then, inner, found);
                find_conditional_in(otherwise, inner, found);
                place.is_conditional |= breaks(then) || breaks(otherwise);
            }
            Stmt::Loop(body) => find_conditional_in(body, Place { in_loop: true, ..place }, found),
            _ => {}
        }
    }
}

/// Whether a list may end the loop around it.
fn breaks(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Break => true,
        Stmt::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
        _ => false,
    })
}

/// The device's quotient where that is a normal number. A divisor that was flushed gives infinity or NaN, a dividend zero or NaN. No
/// quotient is rounded up to the least normal number: significands of 24 bits differ by at least one last place, so quotients are at least
/// as far from that number.
fn guarded(b: &Builder<'_>, floats: &Floats, x: Value, y: Value) -> Value {
    let quotient = b.fdiv(x, y);
    let above = b.sub_const(b.magnitude(quotient), SINGLE.hidden());
    let is_normal = b.ult(above, b.i32((SINGLE.infinity() - SINGLE.hidden()) as u32));
    b.choose(is_normal, |_| quotient, |b| divide(b, floats, Rounding::NearestEven, x, y))
}

/// Whether [`quotient_f32`] computes quotients on `F32` unless an operand is extreme.
pub fn is_refined(floats: &Floats) -> bool {
    let facts = &floats.trusted;
    !facts.div_f32_rounded && !facts.div_f32_normal && refines(floats, Type::F32)
}

/// Whether [`quotient`] is right on a type.
fn refines(floats: &Floats, ty: Type) -> bool {
    match ty {
        Type::F32 => floats.fma_f32_fused,
        _ => floats.doubles && floats.fma_f64_fused,
    }
}

/// The correctly rounded quotient, where [`refines`] says so: of ordinary operands by [`quotient`], of others by their significands.
fn refined(b: &Builder<'_>, floats: &Floats, x: Value, y: Value) -> Value {
    let quotient = quotient(b, &floats.trusted, reciprocal, x, y);
    unless_extreme(b, [x, y], quotient, |b| divide(b, floats, Rounding::NearestEven, x, y))
}

/// The same on `F64` without a division of the device, and with the NaNs of NVIDIA's, which other passes rely on: an operand's, the first's
/// before the second's.
fn refined_as_by_device(b: &Builder<'_>, facts: &Facts, x: Value, y: Value) -> Value {
    let quotient = quotient(b, facts, reciprocal_by_root, x, y);
    unless_extreme(b, [x, y], quotient, |b| {
        let quotient = by_significands(b, Rounding::NearestEven, x, y, |b, format, x, y| {
            significand_of_refined(b, facts, reciprocal_by_root, format, x, y)
        });
        let mut bits = b.bits(quotient);
        for parts in [y, x].map(|operand| Parts::of(b, operand)) {
            let is_nan = parts.is_nan(b);
            let quieted = quiet(b, DOUBLE, parts.bits);
            bits = b.select(is_nan, quieted, bits);
        }
        b.bitcast(bits, Type::F64)
    })
}

/// A quotient by Newton's method, which has normal numbers only if dividend and divisor are ordinary; of a divisor on `F64`, the reciprocal
/// is one on `F32` too. Others are divided in another way, in a branch that is hardly ever taken.
pub fn unless_extreme<'f>(
    b: &Builder<'f>,
    [x, y]: [Value; 2],
    quotient: Value,
    divide: impl FnOnce(&Builder<'f>) -> Value,
) -> Value {
    let has_extreme = if b.type_of(x) == Type::F32 {
        reaches(b, RANGE, [y, x].into_iter().filter_map(|operand| above_least(b, operand, b.known(operand))))
    } else {
        let [of_divisor, of_dividend] = [(y, 100), (x, 400)].map(|(operand, exponent)| {
            reaches(b, bounds(DOUBLE, exponent)[1], above_least_of(b, operand, b.known(operand), exponent))
        });
        b.or(of_dividend, of_divisor)
    };
    b.choose(has_extreme, divide, |_| quotient)
}

/// Operands on `F32` are ordinary from one over two to the power of this on.
const EXPONENT: u64 = 40;

/// The distance of an operand of a quotient on `F32` from the least ordinary number, in a measure in which those from
/// [`RANGE`] on are extreme; `None` of a constant, such as the dividend of a reciprocal, that is known to be ordinary.
pub fn above_least(b: &Builder<'_>, operand: Value, known: Option<u64>) -> Option<Value> {
    above_least_of(b, operand, known, EXPONENT)
}

/// See [`above_least`].
pub const RANGE: u64 = bounds(SINGLE, EXPONENT)[1];

/// The same on both types. The bounds are powers of two, so that the upper halves of numbers on `F64` suffice. The sign is shifted out, which
/// many devices do with the subtraction.
fn above_least_of(b: &Builder<'_>, operand: Value, known: Option<u64>, exponent: u64) -> Option<Value> {
    let format = Format::of(b.type_of(operand));
    let [least, range] = bounds(format, exponent);
    let upper = |bits: u64| ((bits << 1) >> (format.bits - u32::BITS)) as u32;
    if known.is_some_and(|bits| u64::from(upper(bits).wrapping_sub(least as u32)) < range) {
        return None;
    }
    let bits = b.bits(operand);
    let word = if format == SINGLE { bits } else { b.halves(bits).1 };
    Some(b.sub_const(b.shl(word, 1), least))
}

/// The bits of two to the power of minus an exponent, and how many are below those of two to the power of the exponent: of floats' upper words
/// without the sign, shifted left by one place.
const fn bounds(format: Format, exponent: u64) -> [u64; 2] {
    let place = format.precision - (format.bits - u32::BITS);
    [(format.bias as u64 - exponent) << place, (2 * exponent) << place]
}

/// The reciprocal of an ordinary number on `F32`, with at least 21 bits that are right, from which quotients on `F64` start.
type Reciprocal = fn(&Builder<'_>, Value) -> Value;

/// The device's, which Vulkan has within 2.5 units in the last place.
fn reciprocal(b: &Builder<'_>, divisor: Value) -> Value {
    b.binary(Binary::FDivApprox, b.f32(1.0), divisor)
}

/// The same without a division, which on `F32` makes NVIDIA's driver fail as on `F64`: the square of the reciprocal root, which Vulkan has
/// within two units.
fn reciprocal_by_root(b: &Builder<'_>, divisor: Value) -> Value {
    let root = b.unary(Unary::InverseSqrtApprox, b.bitcast(b.magnitude(divisor), Type::F32));
    let square = b.fmul(root, root);
    let bits = b.bits(square);
    let sign = b.and_const(b.bits(divisor), SINGLE.sign());
    b.bitcast(b.or(bits, sign), Type::F32)
}

/// The correctly rounded quotient of ordinary numbers, by Newton's method.
fn quotient(b: &Builder<'_>, facts: &Facts, reciprocal: Reciprocal, x: Value, y: Value) -> Value {
    match b.type_of(y) {
        Type::F32 => quotient_f32(b, facts, x, y),
        _ => quotient_f64(b, x, y, reciprocal(b, b.narrow(y))),
    }
}

/// The bits of a float less those of an ordinary number are near the bits of its reciprocal, with the same sign: the product of the two is
/// within 5.1 % of a number near 1, whose reciprocal is near a square and a constant.
const RECIPROCAL: u32 = 0x7ef2_0000;
/// The root of that square is this number, less the product.
const RECIPROCAL_ROOT: f32 = 1.501;
/// The constant.
const RECIPROCAL_REST: f32 = 0.749_05;

/// The reciprocal from the divisor's bits, in two steps, and a step for the quotient. A device's reciprocal would save one step, but where
/// subnormals are kept, AMD's compiler scales its operand, which takes longer.
///
/// The first step ends within 2^-13 of the reciprocal, the second within half a unit and 2^-11 of one. All divisors were tried with all dividends
/// whose quotients could come near the middle of two numbers. Without the square in the second step, 500 quotients would be wrong.
pub fn quotient_f32(b: &Builder<'_>, facts: &Facts, x: Value, y: Value) -> Value {
    let [one, root, rest] = [1.0, RECIPROCAL_ROOT, RECIPROCAL_REST].map(|number| b.f32(number));
    let negative = negative(b, facts, y);
    let guess = b.bitcast(b.sub(b.i32(RECIPROCAL), b.bits(y)), Type::F32);
    let error = b.fma(negative, guess, root);
    let reciprocal = b.fmul(guess, b.fma(error, error, rest));
    let error = b.fma(negative, reciprocal, one);
    let reciprocal = b.fma(b.fma(error, error, error), reciprocal, reciprocal);
    corrected(b, x, negative, reciprocal, b.fmul(x, reciprocal))
}

/// A quotient after a step by its exact remainder, with the divisor's negative and its reciprocal.
pub fn corrected(b: &Builder<'_>, x: Value, negative: Value, reciprocal: Value, quotient: Value) -> Value {
    b.fma(b.fma(negative, quotient, x), reciprocal, quotient)
}

/// A step from within one unit of the reciprocal gives the correctly rounded one, except where all bits of the divisor's significand are
/// ones. A correctly rounded reciprocal and a quotient within one unit, whose remainder is exact, make the correctly rounded quotient
/// (Markstein, "Computation of Elementary Functions on the IBM RISC System/6000", 1990).
fn quotient_f64(b: &Builder<'_>, x: Value, y: Value, reciprocal: Value) -> Value {
    let one = b.f64(1.0);
    let negative = negated(b, y);
    let mut reciprocal = b.widen(reciprocal);
    // Each step doubles the number of bits that are right, from 21.
    for _ in 0..3 {
        let error = b.fma(negative, reciprocal, one);
        reciprocal = b.fma(error, reciprocal, reciprocal);
    }
    let reciprocal = above_tie(b, y, reciprocal);
    let mut quotient = b.fmul(x, reciprocal);
    for _ in 0..2 {
        quotient = corrected(b, x, negative, reciprocal, quotient);
    }
    quotient
}

/// The reciprocal of a divisor on `F64` whose significand is all ones: just above the middle between a power of two and the next number, so
/// that Newton's method may end at the former.
fn above_tie(b: &Builder<'_>, divisor: Value, reciprocal: Value) -> Value {
    let fraction = b.and_const(b.bits(divisor), DOUBLE.hidden() - 1);
    let is_all_ones = b.compare_const(Compare::Equal, fraction, DOUBLE.hidden() - 1);
    let last = b.bool_to(Type::I64, is_all_ones);
    b.bitcast(b.or(b.bits(reciprocal), last), Type::F64)
}

/// A quotient without the device's division on its type.
pub fn divide(b: &Builder<'_>, floats: &Floats, rounding: Rounding, x: Value, y: Value) -> Value {
    let has_double = floats.doubles && floats.trusted.div_f64_rounded;
    match b.type_of(x) {
        Type::F32 if has_double => through_double(b, &floats.trusted, rounding, x, y),
        ty if refines(floats, ty) => by_significands(b, rounding, x, y, |b, format, x, y| {
            significand_of_refined(b, &floats.trusted, reciprocal, format, x, y)
        }),
        _ => by_significands(b, rounding, x, y, long_division),
    }
}

/// A quotient of 24-bit significands that is neither a 24-bit number nor halfway between two of them is farther from these than the error
/// of `F64`'s rounding (53 bits are more than twice 24). This holds for subnormal results too.
fn through_double(b: &Builder<'_>, facts: &Facts, rounding: Rounding, x: Value, y: Value) -> Value {
    narrow(b, facts, rounding, b.fdiv(widen(b, facts, x), widen(b, facts, y)))
}

/// A quotient by that of the significands, whose first bit is one. `divide_significands` returns the quotient with the place of its first bit
/// at the top of the integer or one below, rounded to odd, and whether the dividend was the smaller one, for which the quotient is given doubled.
fn by_significands<'f>(
    b: &Builder<'f>,
    rounding: Rounding,
    x: Value,
    y: Value,
    divide_significands: impl FnOnce(&Builder<'f>, Format, Value, Value) -> (Value, Value),
) -> Value {
    let x = Parts::of(b, x).normalised(b);
    let y = Parts::of(b, y).normalised(b);
    let format = x.format;
    // Only zero lacks this bit. Its quotient is not used, but a division by zero must not happen.
    let [dividend, divisor] = [&x, &y].map(|parts| b.or_const(parts.significand, format.hidden()));
    let (significand, is_less) = divide_significands(b, format, dividend, divisor);
    let exponent = b.sub(x.exponent, y.exponent);
    let exponent = b.sub(b.add_const(exponent, format.bias.into()), b.bool_to(Type::I32, is_less));
    let sign = product_sign(b, &x, &y);
    let magnitude = round(b, format, rounding, b.is_nonzero(sign), exponent, significand);

    let [x_zero, y_zero] = [&x, &y].map(|parts| parts.is_zero(b));
    let [x_infinite, y_infinite] = [&x, &y].map(|parts| parts.is_infinite(b));
    let is_zero = b.or(x_zero, y_infinite);
    let is_infinite = b.or(x_infinite, y_zero);
    with_extremes(b, [&x, &y], magnitude, is_zero, is_infinite)
}

/// By [`quotient`] of the significands as numbers from 1 to 2, and the sign of the remainder, which says on which side of that the exact
/// quotient lies.
fn significand_of_refined(
    b: &Builder<'_>,
    facts: &Facts,
    reciprocal: Reciprocal,
    format: Format,
    dividend: Value,
    divisor: Value,
) -> (Value, Value) {
    let is_less = b.ult(dividend, divisor);
    let one = (format.bias as u64) << (format.precision - 1);
    let float = if format == SINGLE { Type::F32 } else { Type::F64 };
    let [x, y] = [dividend, divisor].map(|significand| {
        let bits = b.or_const(b.and_const(significand, format.hidden() - 1), one);
        b.bitcast(bits, float)
    });
    let nearest = quotient(b, facts, reciprocal, x, y);
    let remainder = b.fma(negative(b, facts, y), nearest, x);
    let significand = b.or_const(b.and_const(b.bits(nearest), format.hidden() - 1), format.hidden());
    let place = leading(b.type_of(significand));
    let significand = b.shl(significand, place + 1 - format.precision);
    // One less where the exact quotient is less, one more where it is more.
    let rest = b.bits(remainder);
    let is_exact = b.is_zero(rest);
    let [zero, more, less] = [0, 1, u64::MAX].map(|step| b.constant_like(significand, step));
    let is_below = b.slt(rest, zero);
    let step = b.select(is_exact, zero, b.select(is_below, less, more));
    (b.add(significand, step), is_less)
}

fn long_division(b: &Builder<'_>, format: Format, significand: Value, divisor: Value) -> (Value, Value) {
    // The first bit of the quotient is one.
    let is_less = b.ult(significand, divisor);
    let dividend = b.select(is_less, b.shl(significand, 1), significand);
    let mut remainder = b.sub(dividend, divisor);
    let mut quotient = b.constant_like(divisor, 1);
    // Each step gives as many bits as the shifted remainder leaves room for, until there is one more than the precision. The remainder
    // stands for all later bits.
    let bits = format.bits - format.precision;
    let steps = format.precision.div_ceil(bits);
    for _ in 0..steps {
        remainder = b.shl(remainder, bits);
        let digit = b.div_unsigned(remainder, divisor);
        remainder = b.sub(remainder, b.mul(digit, divisor));
        quotient = b.shl(quotient, bits);
        quotient = b.or(quotient, digit);
    }
    let place = leading(b.type_of(quotient));
    (stick(b, b.shl(quotient, place - bits * steps), remainder), is_less)
}
