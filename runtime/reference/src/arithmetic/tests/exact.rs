//! Plain float arithmetic and conversions, compared with `rustc_apfloat`.

use rustc_apfloat::FloatConvert;
use rustc_apfloat::ieee::Quad;

use super::super::format::{Arithmetic, Direction, Format};
use super::*;

for_all_formats! {
    operations_are_rounded_to_nearest_even: interface;
    integers_become_floats: to_floats;
    floats_become_integers: to_integers;
    whole_parts_are_exact: integral;
    floats_compare: comparisons;
}

const DIRECTIONS: [Direction; 4] = [Direction::NearestEven, Direction::Zero, Direction::Up, Direction::Down];

fn arithmetic<F: Format, R: Reference + FloatConvert<Quad>>(count: usize) {
    let mut sample = samples::<R>(1);
    for _ in 0..count {
        let operands = [sample(), sample(), sample()];
        let [a, b, c] = operands.map(R::of);
        for direction in DIRECTIONS {
            let round = direction.into();
            let check = |op: Arithmetic, expected: R| {
                let bits = F::directed(op, operands, direction);
                assert!(
                    same(expected, bits),
                    "{op:?} {direction:?} {operands:x?}: {bits:x}, not {:x}",
                    expected.bits()
                );
                if direction == Direction::NearestEven {
                    assert!(same(expected, F::nearest(op, operands)), "{op:?} {operands:x?}");
                }
            };
            check(Arithmetic::Add, a.add_r(b, round).value);
            check(Arithmetic::Sub, a.sub_r(b, round).value);
            check(Arithmetic::Mul, a.mul_r(b, round).value);
            check(Arithmetic::Div, a.div_r(b, round).value);
            check(Arithmetic::Fma, a.mul_add_r(b, c, round).value);
            let root = F::directed(Arithmetic::Sqrt, operands, direction);
            assert!(is_root(a, R::of(root), direction), "sqrt {direction:?} {:x}: {root:x}", operands[0]);
        }
    }
}

/// Whether a square root is rounded correctly. Squares of midpoints are exact in quadruple precision.
fn is_root<R: Reference + FloatConvert<Quad>>(a: R, root: R, direction: Direction) -> bool {
    if a.is_nan() || (a.is_negative() && !a.is_zero()) {
        return root.is_nan();
    }
    if a.is_zero() || a.is_infinite() {
        return a.bits() == root.bits();
    }
    let quad = |value: R| -> Quad { value.convert(&mut false).value };
    let (lower, upper) = (quad(R::of(root.bits() - 1)), quad(R::of(root.bits() + 1)));
    let (x, root) = (quad(a), quad(root));
    let halfway = |other: Quad| (root + other).value.scalbn(-1);
    let square = |value: Quad| (value * value).value;
    match direction {
        Direction::NearestEven => square(halfway(lower)) < x && x < square(halfway(upper)),
        Direction::Up => square(lower) < x && x <= square(root),
        Direction::Down | Direction::Zero => square(root) <= x && x < square(upper),
    }
}

#[test]
fn arithmetic_is_rounded_once() {
    arithmetic::<format::F16, Half>(60_000);
    arithmetic::<format::F32, Single>(60_000);
    arithmetic::<format::F64, Double>(40_000);
}

/// Tests through the interface.
fn interface<R: Reference>() {
    use Binary as B;
    let mut sample = samples::<R>(2);
    for _ in 0..20_000 {
        let operands @ [a, b, c] = [sample(), sample(), sample()];
        let [x, y, z] = operands.map(R::of);
        for (op, expected) in [(B::FAdd, x + y), (B::FSub, x - y), (B::FMul, x * y), (B::FDiv, x / y)] {
            let bits = binary(op, R::WIDTH, a, b, &BOUND, &mut Plain);
            assert!(same(expected.value, bits), "{op:?} {a:x} {b:x}: {bits:x}");
        }
        let bits = ternary(Ternary::Fma, R::WIDTH, operands, &BOUND, &mut Plain);
        assert!(same(x.mul_add(y, z).value, bits), "fma {a:x} {b:x} {c:x}: {bits:x}");
    }
}

#[test]
fn nans_are_the_first_operand_quieted() {
    let add = |a, b| binary(Binary::FAdd, 32, a, b, &FREE, &mut Plain);
    assert_eq!(add(0x7f80_0001, 0x7fc0_0002), 0x7fc0_0001);
    assert_eq!(add(0x3f80_0000, 0xffc0_0002), 0xffc0_0002);
    assert_eq!(add(0x7f80_0000, 0xff80_0000), 0x7fc0_0000);
    assert_eq!(binary(Binary::FMul, 64, 0x7ff0_0000_0000_0000, 0, &FREE, &mut Plain), 0x7ff8_0000_0000_0000);
    assert_eq!(ternary(Ternary::Fma, 16, [0, 0, 0x7c01], &FREE, &mut Plain), 0x7e01);
    assert_eq!(convert(Conversion::FConvert, 32, 16, 0x7fa0_2000, &FREE, &mut Plain), 0x7f01);
}

fn to_floats<R: Reference>() {
    let mut random = Seeded::new(3);
    for index in 0..30_000 {
        let width = [8, 16, 32, 64][random.pick(4) as usize];
        // Integers of all lengths.
        let integer = (random.bits() >> random.pick(64)).wrapping_neg() ^ if index % 2 == 0 { u64::MAX } else { 0 };
        let integer = integer & mask(width);
        let unsigned = convert(Conversion::ConvertUToF, width, R::WIDTH, integer, &BOUND, &mut Plain);
        assert_eq!(unsigned, R::from_u128(integer.into()).value.bits(), "{width} {integer:x}");
        let value = ((integer << (64 - width)) as i64) >> (64 - width);
        let signed = convert(Conversion::ConvertSToF, width, R::WIDTH, integer, &BOUND, &mut Plain);
        assert_eq!(signed, R::from_i128(value.into()).value.bits(), "{width} {value}");
    }
}

fn to_integers<R: Reference>() {
    let mut sample = samples::<R>(4);
    for _ in 0..30_000 {
        let bits = sample();
        let value = R::of(bits);
        for width in [8, 16, 32, 64] {
            // Out of range, the interface promises saturation, and 0 for NaNs. `domain` calls these results undefined.
            let unsigned = value.to_u128_r(width.into(), Round::TowardZero, &mut false);
            let invalid = unsigned.status.contains(rustc_apfloat::Status::INVALID_OP);
            let found = convert(Conversion::ConvertFToU, R::WIDTH, width, bits, &FREE, &mut Plain);
            assert_eq!(found, unsigned.value as u64, "{bits:x} to u{width}");
            assert_eq!(
                domain::convert(Conversion::ConvertFToU, R::WIDTH, width, bits),
                invalid,
                "{bits:x} to u{width}"
            );
            let signed = value.to_i128_r(width.into(), Round::TowardZero, &mut false);
            let invalid = signed.status.contains(rustc_apfloat::Status::INVALID_OP);
            let found = convert(Conversion::ConvertFToS, R::WIDTH, width, bits, &FREE, &mut Plain);
            assert_eq!(found, signed.value as u64 & mask(width), "{bits:x} to i{width}");
            assert_eq!(
                domain::convert(Conversion::ConvertFToS, R::WIDTH, width, bits),
                invalid,
                "{bits:x} to i{width}"
            );
        }
    }
}

fn between<A: Reference + FloatConvert<B>, B: Reference>() {
    let mut sample = samples::<A>(5);
    for _ in 0..60_000 {
        // Half of the samples have an exponent within the narrower format's range.
        let bits = sample();
        let expected: B = A::of(bits).convert(&mut false).value;
        let found = convert(Conversion::FConvert, A::WIDTH, B::WIDTH, bits, &FREE, &mut Plain);
        assert!(same(expected, found), "{bits:x}");
    }
}

#[test]
fn floats_change_width() {
    between::<Half, Single>();
    between::<Half, Double>();
    between::<Single, Half>();
    between::<Single, Double>();
    between::<Double, Half>();
    between::<Double, Single>();
}

#[test]
fn doubles_are_rounded_to_halves_once() {
    // 1 + 2^-11 + 2^-40: rounding to single precision first would give the tie 1 + 2^-11, and then 1.
    let value = (1.0 + 2_f64.powi(-11) + 2_f64.powi(-40)).to_bits();
    assert_eq!(convert(Conversion::FConvert, 64, 16, value, &FREE, &mut Plain), 0x3c01);
}

fn integral<R: Reference>() {
    let mut sample = samples::<R>(6);
    let rounds = [
        (Unary::RoundEven, Round::NearestTiesToEven),
        (Unary::Trunc, Round::TowardZero),
        (Unary::Floor, Round::TowardNegative),
        (Unary::Ceil, Round::TowardPositive),
    ];
    for _ in 0..20_000 {
        let bits = sample();
        for (op, round) in rounds {
            let found = unary(op, R::WIDTH, bits, &FREE, &mut Plain);
            assert!(same(R::of(bits).round_to_integral(round).value, found), "{op:?} {bits:x}: {found:x}");
        }
    }
}

fn comparisons<R: Reference>() {
    use Binary as B;
    use std::cmp::Ordering::{Equal, Greater, Less};
    let ops: [(B, &[std::cmp::Ordering]); 5] = [
        (B::FOrdEqual, &[Equal]),
        (B::FOrdLessThan, &[Less]),
        (B::FOrdLessThanEqual, &[Less, Equal]),
        (B::FOrdGreaterThan, &[Greater]),
        (B::FOrdGreaterThanEqual, &[Greater, Equal]),
    ];
    let edges = edges::<R>();
    for a in &edges {
        for b in &edges {
            let order = R::of(*a).partial_cmp(&R::of(*b));
            let of = |op| binary(op, R::WIDTH, *a, *b, &FREE, &mut Plain) != 0;
            for (op, holds) in ops {
                assert_eq!(of(op), order.is_some_and(|order| holds.contains(&order)), "{op:?} {a:x} {b:x}");
            }
            assert_eq!(of(B::FUnordNotEqual), order != Some(Equal), "{a:x} {b:x}");
            let (x, y) = (R::of(*a), R::of(*b));
            for (op, expected) in [(B::NMin, least(x, y)), (B::NMax, greatest(x, y))] {
                let found = binary(op, R::WIDTH, *a, *b, &FREE, &mut Plain);
                // For two zeros, which are equal, either is correct.
                let zeros = x.is_zero() && y.is_zero() && R::of(found).is_zero();
                assert!(zeros || same(expected, found), "{op:?} {a:x} {b:x}: {found:x}");
            }
        }
    }
}

/// The lesser operand, or the one that is not a NaN.
fn least<R: Reference>(x: R, y: R) -> R {
    if x.is_nan() || y < x { y } else { x }
}

/// The greater operand, or the one that is not a NaN.
fn greatest<R: Reference>(x: R, y: R) -> R {
    if x.is_nan() || y > x { y } else { x }
}
