//! Division where the device doesn't round it correctly: `F32` through `F64` where `F64` divides correctly, else long division on integers.
//! The device's own division is used where it fails only on denormals and no denormals are involved. NaNs are NVIDIA's, except in the last
//! case.

use rustc_hash::FxHashSet;

use super::convert::{narrow, widen};
use super::quotient;
use crate::ir::{Binary, Block, Builder, Function, Op, Rounding, Stmt, Type, Value};
use crate::opt::{Rewritten, rewrite};
use crate::policy::Floats;
use crate::soft::{Parts, SINGLE, leading, product_sign, round, stick, with_extremes};
use crate::target::Facts;

/// Replaces `FDiv` on types where the target's division is not correctly rounded. `avoided` says whether `F64` may not be divided by the
/// device under conditions in loops ([`Quirks::double_divisions_wrong`](crate::target::Quirks)).
pub fn expand_division(function: &mut Function, floats: &Floats, avoided: bool) {
    let facts = &floats.trusted;
    let avoids = avoided && facts.div_f64_rounded && facts.fma_f64_fused;
    if facts.div_f32_rounded && facts.div_f64_rounded && !avoids {
        return;
    }
    let mut conditional = FxHashSet::default();
    if avoids {
        // A helper may be called anywhere.
        let is_helper = matches!(function.body.last(), Some(Stmt::Return(_)));
        find_conditional(&function.body, Place { is_conditional: is_helper, ..Place::default() }, &mut conditional);
    }
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, Op::Binary(Binary::FDiv, x, y)) => match b.type_of(result) {
            Type::F32 if facts.div_f32_rounded => Rewritten::Kept,
            Type::F64 if conditional.contains(&result) => Rewritten::By(quotient::by_fma(b, x, y)),
            Type::F64 if facts.div_f64_rounded => Rewritten::Kept,
            Type::F32 if facts.div_f32_normal => Rewritten::By(guarded(b, floats, x, y)),
            _ => Rewritten::By(divide(b, floats, Rounding::NearestEven, x, y)),
        },
        _ => Rewritten::Kept,
    });
}

/// Where a list of statements stands.
#[derive(Clone, Copy, Default)]
struct Place {
    in_loop: bool,
    /// Under a condition in the loop.
    is_conditional: bool,
}

/// Finds the quotients under conditions in loops, among them those after a conditional break.
fn find_conditional(block: &Block, mut place: Place, found: &mut FxHashSet<Value>) {
    for stmt in block {
        match stmt {
            Stmt::Let(result, Op::Binary(Binary::FDiv, ..)) if place.is_conditional => {
                found.insert(*result);
            }
            Stmt::If { then, otherwise, .. } => {
                let inner = Place { is_conditional: place.is_conditional || place.in_loop, ..place };
                find_conditional(then, inner, found);
                find_conditional(otherwise, inner, found);
                place.is_conditional |= breaks(then) || breaks(otherwise);
            }
            Stmt::Loop(body) => find_conditional(body, Place { in_loop: true, ..place }, found),
            _ => {}
        }
    }
}

/// Whether a list may end the loop around.
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
fn guarded(b: &mut Builder<'_>, floats: &Floats, x: Value, y: Value) -> Value {
    let quotient = b.fdiv(x, y);
    let magnitude = b.magnitude(quotient);
    let above = b.sub_const(magnitude, SINGLE.hidden());
    let normals = b.i32((SINGLE.infinity() - SINGLE.hidden()) as u32);
    let is_normal = b.ult(above, normals);
    b.choose(is_normal, |_| quotient, |b| divide(b, floats, Rounding::NearestEven, x, y))
}

/// A quotient without the device's division on its type.
pub fn divide(b: &mut Builder<'_>, floats: &Floats, rounding: Rounding, x: Value, y: Value) -> Value {
    let has_double = floats.doubles && floats.trusted.div_f64_rounded;
    match b.type_of(x) {
        Type::F32 if has_double => through_double(b, &floats.trusted, rounding, x, y),
        _ => on_integers(b, rounding, x, y),
    }
}

/// A quotient of 24-bit significands that is neither a 24-bit number nor halfway between two of them is farther from these than the error
/// of `F64`'s rounding (53 bits are more than twice 24). This holds for subnormal results too.
fn through_double(b: &mut Builder<'_>, facts: &Facts, rounding: Rounding, x: Value, y: Value) -> Value {
    let x = widen(b, facts, x);
    let y = widen(b, facts, y);
    let quotient = b.fdiv(x, y);
    narrow(b, facts, rounding, quotient)
}

fn on_integers(b: &mut Builder<'_>, rounding: Rounding, x: Value, y: Value) -> Value {
    let x = Parts::of(b, x).normalised(b);
    let y = Parts::of(b, y).normalised(b);
    let format = x.format;
    // Only zero lacks this bit. Its quotient is not used, but a division by zero must not happen.
    let divisor = b.or_const(y.significand, format.hidden());

    // The first bit of the quotient is one.
    let is_less = b.ult(x.significand, divisor);
    let twice = b.shl(x.significand, 1);
    let dividend = b.select(is_less, twice, x.significand);
    let mut remainder = b.sub(dividend, divisor);
    let mut quotient = b.constant_like(divisor, 1);
    // Each step gives as many bits as the shifted remainder leaves room for, until there is one more than the precision. The remainder
    // stands for all later bits.
    let bits = format.bits - format.precision;
    let steps = format.precision.div_ceil(bits);
    for _ in 0..steps {
        remainder = b.shl(remainder, bits);
        let digit = b.div_unsigned(remainder, divisor);
        let product = b.mul(digit, divisor);
        remainder = b.sub(remainder, product);
        quotient = b.shl(quotient, bits);
        quotient = b.or(quotient, digit);
    }
    let place = leading(b.type_of(quotient));
    let significand = b.shl(quotient, place - bits * steps);
    let significand = stick(b, significand, remainder);
    let exponent = b.sub(x.exponent, y.exponent);
    let exponent = b.add_const(exponent, format.bias.into());
    let borrowed = b.bool_to(Type::I32, is_less);
    let exponent = b.sub(exponent, borrowed);
    let sign = product_sign(b, &x, &y);
    let negative = b.is_nonzero(sign);
    let magnitude = round(b, format, rounding, negative, exponent, significand);

    let [x_zero, y_zero] = [&x, &y].map(|parts| parts.is_zero(b));
    let [x_infinite, y_infinite] = [&x, &y].map(|parts| parts.is_infinite(b));
    let is_zero = b.or(x_zero, y_infinite);
    let is_infinite = b.or(x_infinite, y_zero);
    with_extremes(b, [&x, &y], magnitude, is_zero, is_infinite)
}
