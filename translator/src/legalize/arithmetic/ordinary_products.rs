//! Sums of products as matrix units compute them, where factors are ordinary: by `F32` arithmetic, which is exact there, and integers of 32 bits.
//!
//! A product of two factors is exact as an `F32`. The exponents in their bits add up to what the model calls the product's (docs/numerics.md); a power of
//! two scales all products so that what a unit keeps is an integer, to which conversions cut them off.
//!
//! Zeros, subnormals and small numbers are left to what the device makes of them where the largest exponent is so large that none of them
//! counts. A second look says whether there are other reasons why they don't count. All lanes of a warp take the same way, since
//! those with uncommon factors need what the others have.

use super::turns::{Lines, Means, Turns, set, variables};
use crate::ir::{
    Accumulator, Binary, Builder, Compare, Factors, Fragments, MatrixStep, Op, Rounding, Stmt, Type, Value, Vote, Warp,
    WarpOp,
};
use crate::soft::{self, HALF, Overflow, SINGLE};

/// A kind of sums.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The factors: no floats of eight bits.
    pub factors: Factors,
    /// The addend and the sum.
    pub accumulator: Accumulator,
    /// Bits that are kept below the largest exponent.
    pub kept: u32,
}

/// Largest exponents are at least this one where sums are `F32`. A scale and its reciprocal are normal numbers then.
const FLOOR: i32 = -100;
/// Largest exponents above this one are uncommon. Sums and scales are normal numbers up to there.
const CEILING: i32 = 100;
/// The exponent from which on bf16 and tf32 are uncommon: its upper two bits are set.
const WIDE: i32 = 65;
/// The same of f16.
const NARROW: i32 = 9;
/// The exponent from which on bf16 and tf32 aren't small: those of two such numbers are above that of a zero and a number below [`WIDE`].
const SMALL: i32 = -31;
/// Above the exponent of a zero and a number below [`WIDE`].
const ABOVE_ZERO: i32 = -62;
/// The bias of the exponents of `F32`, and the position of an exponent's lowest bit.
const BIAS: i32 = SINGLE.bias.cast_signed();
const PLACE: u32 = SINGLE.precision - 1;

/// The bits of a power of two as an `F32`.
fn power(exponent: i32) -> u64 {
    u64::from((exponent + BIAS).cast_unsigned()) << PLACE
}

/// The exponent of a product, which has the sum of the bits of both factors': that of a zero is -127 with that of the other one.
fn of_product(exponent: i32) -> u64 {
    power(exponent + BIAS)
}

impl Kind {
    fn are_halves(self) -> bool {
        self.factors == Factors::F16
    }

    fn has_half_sums(self) -> bool {
        matches!(self.accumulator, Accumulator::F16 | Accumulator::ShortF16)
    }

    /// The exponent that the largest one is at least. For sums of f16 that is the model's least one.
    fn floor(self) -> i32 {
        if self.has_half_sums() { 4 - self.kept.cast_signed() } else { FLOOR }
    }

    /// Whatever a factor below [`WIDE`] or [`NARROW`] is multiplied with, products with subnormals and those that underflow don't count if the largest
    /// exponent is at least this one. Subnormal f16 are computed with as they are, but their exponents count as the least normal one.
    fn common(self) -> i32 {
        let (least, bound) = if self.are_halves() { (-14, NARROW) } else { (-126, WIDE) };
        let product = least + bound;
        // Below the last kept bit.
        if self.are_halves() { product } else { product + self.kept.cast_signed() + 1 }
    }

    /// The numbers of factors in a word, without bits that don't count.
    fn masked(self, b: &Builder<'_>, word: Value) -> Value {
        if self.factors == Factors::Tf32 { b.and_const(word, 0xffff_e000) } else { word }
    }

    /// The numbers in a word, as the bits of `F32`.
    fn numbers(self, b: &Builder<'_>, word: Value) -> Vec<Value> {
        match self.factors {
            Factors::Tf32 => vec![word],
            Factors::Bf16 => vec![b.shl(word, 16), b.and_const(word, 0xffff_0000)],
            _ => soft::numbers(b, HALF, word).into_iter().map(|number| b.bits(number)).collect(),
        }
    }

    /// The addend as the bits of an `F32`.
    fn addend(self, b: &Builder<'_>, bits: Value) -> Value {
        b.bits(soft::plain_addend(b, self.accumulator, bits))
    }
}

/// The exponent in the bits of an `F32`.
fn exponent(b: &Builder<'_>, number: Value) -> Value {
    b.and_const(number, SINGLE.infinity())
}

/// Whether the condition holds in a lane of the warp.
fn any(b: &Builder<'_>, is: Value) -> Value {
    let result = b.value(Type::Bool);
    let members = Some(b.i32(u32::MAX));
    b.push(Stmt::Warp(Warp { results: vec![result], op: WarpOp::Vote(Vote::Any, is), members }));
    result
}

/// The sums of a product. Those that aren't ordinary are left to `careful`.
pub fn ordinary_sums(
    b: &Builder<'_>,
    kind: Kind,
    means: Means,
    fragments: &Fragments,
    careful: impl FnOnce(&Builder<'_>) -> [Value; 4],
) -> [Value; 4] {
    let words = Fragments {
        a: fragments.a.map(|word| kind.masked(b, word)),
        b: fragments.b.map(|word| kind.masked(b, word)),
        c: fragments.c,
    };
    let turns = Turns::of(b, means, &words);
    let addends = fragments.c.map(|addend| kind.addend(b, addend));
    // As if each were a factor by one.
    let own = addends.map(|addend| b.add_const(exponent(b, addend), power(0)));
    let first = own.map(|own| b.binary_const(Binary::MaxUnsigned, own, of_product(kind.floor())));
    let largest = turns.fold(b, first, |b, lines, largest| {
        let exponents = |word| kind.numbers(b, word).into_iter().map(|number| exponent(b, number)).collect();
        each(&lines.map(exponents, exponents), largest, |_, x, y, largest| {
            b.binary(Binary::MaxUnsigned, b.add(x, y), largest)
        })
    });

    let is_careful = b.var(Type::Bool);
    b.set(is_careful, b.bool(false));
    let is_uncommon = any(b, are_uncommon(b, kind, &words, largest));
    b.if_(is_uncommon, |b| b.set(is_careful, any(b, are_exceptional(b, kind, &words, addends, largest))));
    let sums = variables(b, fragments.c);
    b.if_else(
        b.get(is_careful),
        |b| set(b, sums, careful(b)),
        |b| set(b, sums, totals(b, kind, &turns, addends, largest)),
    );
    sums.map(|sum| b.get(sum))
}

fn step(b: &Builder<'_>, step: MatrixStep, x: Value, y: Value, z: Value) -> Value {
    b.op(Type::I32, Op::Matrix(step, x, y, z))
}

/// The values that `add` makes of each element's value and all pairs of numbers of the element's row and column.
fn each(lines: &Lines, mut values: [Value; 4], add: impl Fn(usize, Value, Value, Value) -> Value) -> [Value; 4] {
    for (element, ([row, column], value)) in lines.places().into_iter().zip(&mut values).enumerate() {
        for (&x, &y) in row.iter().zip(column) {
            *value = add(element, x, y, *value);
        }
    }
    values
}

/// The words of factors that aren't zero everywhere.
fn used<'a>(b: &'a Builder<'_>, words: &'a Fragments) -> impl Iterator<Item = Value> + 'a {
    words.a.iter().chain(&words.b).copied().filter(|word| b.known(*word) != Some(0))
}

/// The values joined by an operation; `otherwise` if there are none.
fn join(b: &Builder<'_>, op: Binary, values: impl IntoIterator<Item = Value>, otherwise: Value) -> Value {
    values.into_iter().reduce(|one, other| b.binary(op, one, other)).unwrap_or(otherwise)
}

/// A quick look: whether there are large factors, infinities or NaNs, or largest exponents that aren't common.
fn are_uncommon(b: &Builder<'_>, kind: Kind, words: &Fragments, largest: [Value; 4]) -> Value {
    let both = if kind.factors == Factors::Tf32 { 0x4000_0000 } else { 0x4000_4000 };
    let twice = used(b, words).map(|word| b.and(word, b.shl(word, 1)));
    let is_large = b.is_nonzero(b.and_const(join(b, Binary::Or, twice, b.i32(0)), both));
    let low = b.constant(Type::I32, of_product(kind.common()));
    let least = join(b, Binary::MinUnsigned, largest, low);
    let is_low = b.ult(least, low);
    b.or(b.or(is_large, is_low), are_high(b, largest))
}

/// Whether a largest exponent is above the ceiling.
fn are_high(b: &Builder<'_>, largest: [Value; 4]) -> Value {
    let high = b.constant(Type::I32, of_product(CEILING));
    b.ult(high, join(b, Binary::MaxUnsigned, largest, high))
}

/// A second look: whether there are factors that `F32` arithmetic is not right about, or sums without an exponent that is large enough.
fn are_exceptional(b: &Builder<'_>, kind: Kind, words: &Fragments, addends: [Value; 4], largest: [Value; 4]) -> Value {
    // Biased exponents of numbers that are right, in numbers of so many bits.
    let (from, to, bits) = match kind.factors {
        Factors::Tf32 => (power(SMALL), power(WIDE), 32),
        Factors::Bf16 => (power(SMALL) >> 16, power(WIDE) >> 16, 16),
        _ => (HALF.hidden(), HALF.infinity(), 16),
    };
    let is_odd = |number: Value| {
        let magnitude = b.and_const(number, (1 << (bits - 1)) - 1);
        let is_inside = b.compare_const(Compare::LessUnsigned, b.sub_const(magnitude, from), to - from);
        b.and(b.not(is_inside), b.is_nonzero(magnitude))
    };
    let mut odd = vec![are_high(b, largest)];
    for word in used(b, words) {
        odd.push(is_odd(word));
        if bits == 16 {
            odd.push(is_odd(b.shr(word, 16)));
        }
    }
    if kind.has_half_sums() {
        odd.extend(words.c.map(is_odd));
    } else {
        // Factors are right, so that a lower exponent is that of zeros, or of an addend alone.
        for (addend, largest) in addends.into_iter().zip(largest) {
            let is_low = b.compare_const(Compare::LessUnsigned, largest, of_product(ABOVE_ZERO));
            odd.push(b.and(is_low, b.is_nonzero(b.shl(addend, 1))));
        }
    }
    join(b, Binary::Or, odd, b.bool(false))
}

/// The sums, given the largest powers of two among each one's products and addend.
fn totals(b: &Builder<'_>, kind: Kind, turns: &Turns<'_>, addends: [Value; 4], largest: [Value; 4]) -> [Value; 4] {
    // The reciprocal of a power of two with the largest exponent, by the bits that are kept.
    let one = b.constant(Type::I32, of_product(BIAS + kind.kept.cast_signed()));
    let scales = largest.map(|largest| b.sub(one, largest));
    let zero = b.i32(0);
    let sums = turns.fold(b, [zero; 4], |b, lines, sums| {
        let numbers = lines.map(|word| kind.numbers(b, word), |word| kind.numbers(b, word));
        // There are as many scales as elements.
        each(&numbers, sums, |element, x, y, sum| b.add(sum, step(b, MatrixStep::Aligned, x, y, scales[element])))
    });
    let one = b.constant(Type::I32, power(0));
    std::array::from_fn(|element| {
        // There are four of each.
        let addend = step(b, MatrixStep::Aligned, addends[element], one, scales[element]);
        let unit = b.sub_const(largest[element], power(kind.kept.cast_signed()));
        let total = step(b, MatrixStep::Total(kind.accumulator), sums[element], addend, unit);
        if !kind.has_half_sums() {
            return total;
        }
        let half = soft::narrow(b, HALF, Rounding::NearestEven, Overflow::Rounded, b.bitcast(total, Type::F32));
        // What rounds to zero has no sign.
        let is_zero = b.is_zero(b.and_const(half, HALF.sign() - 1));
        b.select(is_zero, zero, half)
    })
}
