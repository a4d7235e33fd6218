//! Undefined bits: no assignment of them changes a bit that is called defined, and bits that should be defined are.

use super::super::undefined as mask_of;
use super::*;
use crate::code::Family;

/// All states of `bits` bits, each of which is 0, 1 or undefined: value and mask. The value of undefined bits varies.
fn states(bits: u8) -> Vec<(u64, u64)> {
    let mut filler = Seeded::new(7);
    let all = 0..1_u64 << bits;
    all.clone()
        .flat_map(|u| all.clone().filter(move |a| a & u == 0).map(move |a| (a, u)))
        .map(|(a, u)| (a | (filler.bits() & u), u))
        .collect()
}

/// All values that a state may stand for.
fn assignments((a, u): (u64, u64)) -> impl Iterator<Item = u64> + Clone {
    // Counts through the submasks of `u`.
    let mut next = Some(0_u64);
    std::iter::from_fn(move || {
        let current = next?;
        next = (current != u).then(|| current.wrapping_sub(u) & u);
        Some((a & !u) | current)
    })
}

/// Checks a mask against the results of all assignments. `None` is an undefined result.
fn check(undefined: u64, bits: u8, results: impl Iterator<Item = Option<u64>>, context: impl Fn() -> String) {
    assert!(undefined <= mask(bits), "{}: mask {undefined:x} beyond the width", context());
    let mut first = None;
    for result in results {
        match result {
            None => assert_eq!(undefined, mask(bits), "{}: undefined result", context()),
            Some(result) => {
                let first = *first.get_or_insert(result);
                assert_eq!(
                    (result ^ first) & !undefined,
                    0,
                    "{}: {result:x} or {first:x}, mask {undefined:x}",
                    context()
                );
            }
        }
    }
}

/// All pairs of values that two states may stand for.
fn pairs(x: (u64, u64), y: (u64, u64)) -> impl Iterator<Item = (u64, u64)> + Clone {
    assignments(x).flat_map(move |a| assignments(y).map(move |b| (a, b)))
}

#[test]
fn unary_masks_are_sound() {
    for &op in Unary::ALL.iter().filter(|op| op.family() != Family::Float) {
        let widths: &[u8] = if op.family() == Family::Bool { &[1] } else { &[1, 5, 8] };
        for &bits in widths {
            for state in states(bits) {
                let results = assignments(state).map(|a| Some(unary(op, bits, a, &FREE, &mut Plain)));
                check(mask_of::unary(op, bits, state.0, state.1), bits, results, || {
                    format!("{op:?} {bits} {state:x?}")
                });
            }
        }
    }
}

#[test]
fn binary_masks_are_sound() {
    for &op in Binary::ALL.iter().filter(|op| op.family() != Family::Float) {
        let widths: &[u8] = if op.family() == Family::Bool { &[1] } else { &[1, 4] };
        for &bits in widths {
            let states = states(bits);
            for (&x, &y) in states.iter().flat_map(|x| states.iter().map(move |y| (x, y))) {
                let defined =
                    |(a, b)| (!domain::binary(op, bits, a, b)).then(|| binary(op, bits, a, b, &FREE, &mut Plain));
                let undefined = mask_of::binary(op, bits, [x.0, y.0], [x.1, y.1]);
                check(undefined, op.result_bits(bits), pairs(x, y).map(defined), || {
                    format!("{op:?} {bits} {x:x?} {y:x?}")
                });
            }
        }
    }
}

#[test]
fn ternary_masks_are_sound() {
    let bits = 3;
    let of_three = states(bits);
    for &op in Ternary::ALL.iter().filter(|op| op.family() != Family::Float) {
        let first = if op == Ternary::Select { states(1) } else { of_three.clone() };
        for &x in &first {
            for (&y, &z) in of_three.iter().flat_map(|y| of_three.iter().map(move |z| (y, z))) {
                let results = assignments(x)
                    .flat_map(|a| pairs(y, z).map(move |(b, c)| [a, b, c]))
                    .map(|all| (!domain::ternary(op, bits, all)).then(|| ternary(op, bits, all, &FREE, &mut Plain)));
                let undefined = mask_of::ternary(op, bits, [x.0, y.0, z.0], [x.1, y.1, z.1]);
                check(undefined, bits, results, || format!("{op:?} {x:x?} {y:x?} {z:x?}"));
            }
        }
    }
}

#[test]
fn wide_masks_are_sound() {
    let bits = 4;
    let states = states(bits);
    for &op in Wide::ALL {
        for (&x, &y) in states.iter().flat_map(|x| states.iter().map(move |y| (x, y))) {
            for (index, undefined) in mask_of::wide(bits, [x.1, y.1]).into_iter().enumerate() {
                let results = pairs(x, y).map(|(a, b)| Some(wide(op, bits, a, b)[index]));
                check(undefined, bits, results, || format!("{op:?} {x:x?} {y:x?}"));
            }
        }
    }
}

#[test]
fn insertion_masks_are_sound() {
    let bits = 3;
    let of_two = states(2);
    let twos = || of_two.iter().flat_map(|x| of_two.iter().map(move |y| (*x, *y)));
    for base in states(bits) {
        for &insert in &of_two {
            for (offset, count) in twos() {
                let results = pairs(base, insert)
                    .flat_map(|(a, b)| pairs(offset, count).map(move |(c, d)| (a, b, c, d)))
                    .map(|(a, b, c, d)| {
                        (!domain::bit_field(bits, c, d)).then(|| insert_bits(bits, a, b, c, d, &mut Plain))
                    });
                let (values, masks) = ([base.0, insert.0, offset.0, count.0], [base.1, insert.1, offset.1, count.1]);
                let undefined = mask_of::insert_bits(bits, values, masks);
                check(undefined, bits, results, || format!("{values:x?} {masks:x?}"));
            }
        }
    }
}

#[test]
fn conversion_masks_are_sound() {
    for (op, from, to) in [
        (Conversion::UConvert, 3, 6),
        (Conversion::UConvert, 6, 3),
        (Conversion::SConvert, 3, 6),
        (Conversion::SConvert, 6, 3),
        (Conversion::ConvertUToF, 6, 32),
        (Conversion::ConvertSToF, 6, 16),
    ] {
        for state in states(from) {
            let results = assignments(state).map(|a| Some(convert(op, from, to, a, &FREE, &mut Plain)));
            check(mask_of::convert(op, from, to, state.0, state.1), to, results, || format!("{op:?} {state:x?}"));
        }
    }
}

#[test]
fn what_is_decided_is_defined() {
    use Binary as B;
    let of = |op, a, b, ua, ub| mask_of::binary(op, 32, [a, b], [ua, ub]);
    // A byte that is masked out, a byte of an uninitialized word that is set, and a byte that is shifted out.
    assert_eq!(of(B::BitwiseAnd, 0x12, 0xff, 0xff00, 0), 0);
    assert_eq!(of(B::BitwiseOr, 0x12, 0xff00, 0xff00, 0), 0);
    assert_eq!(of(B::ShiftRightLogical, 0x1234, 8, 0xff, 0), 0);
    assert_eq!(of(B::ShiftLeftLogical, 0x1234, 8, 0xff, 0), 0xff00);
    assert_eq!(of(B::ShiftRightArithmetic, 0, 4, 0x8000_0000, 0), 0xf800_0000);
    // Carries propagate upwards.
    assert_eq!(of(B::IAdd, 0, 1, 0x100, 0), 0xffff_ff00);
    assert_eq!(of(B::IMul, 3, 5, 0, 0x10), 0xffff_fff0);
    // A defined bit that differs decides the comparison.
    assert_eq!(of(B::IEqual, 1, 2, 0xff00, 0), 0);
    assert_eq!(of(B::ULessThan, 1, 0x1_0000, 0xff00, 0), 0);
    assert_eq!(of(B::ULessThan, 5, 4, 0, 1), 0);
    assert_eq!(of(B::SLessThan, 0x8000_0000, 0, 0xff00, 0), 0);
    assert_eq!(of(B::UMin, 1, 0x1_0000, 0, 0xff00), 0);
    // All bits of a quotient or a float become undefined.
    assert_eq!(of(B::UDiv, 100, 3, 1, 0), 0xffff_ffff);
    assert_eq!(of(B::FAdd, 0, 0, 1, 0), 0xffff_ffff);
    assert_eq!(of(B::FOrdEqual, 0, 0, 1, 0), 1);
    assert_eq!(mask_of::convert(Conversion::FConvert, 32, 16, 0, 1), 0xffff);
    // Selections.
    assert_eq!(mask_of::ternary(Ternary::Select, 32, [1, 5, 6], [0, 0, 0xff]), 0);
    assert_eq!(mask_of::ternary(Ternary::Select, 32, [0, 5, 6], [0, 0, 0xf0]), 0xf0);
    assert_eq!(mask_of::ternary(Ternary::Select, 32, [1, 5, 6], [1, 0, 0]), 3);
    assert_eq!(mask_of::insert_bits(32, [0, 0, 8, 8], [0xffff_ffff, 0, 0, 0]), 0xffff_00ff);
    assert_eq!(mask_of::unary(Unary::BitCount, 32, 0, 1), 63);
}

#[test]
fn undefined_operations_are_undefined() {
    let quotient = [1_f32, 0.0].map(|value| value.to_bits().into());
    assert_eq!(mask_of::binary(Binary::FDiv, 32, quotient, [0, 0]), 0);
    let of = |op, a: f32| mask_of::unary(op, 32, a.to_bits().into(), 0) != 0;
    assert!(of(Unary::Sqrt, -1.0) && !of(Unary::Sqrt, -0.0) && of(Unary::InverseSqrt, 0.0) && of(Unary::Log2, 0.0));
    let clamp = |low: f32, high: f32| {
        let operands = [0.0, low, high].map(|value| value.to_bits().into());
        mask_of::ternary(Ternary::NClamp, 32, operands, [0; 3]) != 0
    };
    assert!(clamp(1.0, 0.0) && !clamp(1.0, 1.0));
    assert_eq!(mask_of::binary(Binary::SDiv, 8, [0x80, 0xff], [0, 0]), 0xff);
    assert_eq!(mask_of::binary(Binary::ShiftLeftLogical, 8, [1, 8], [0, 0]), 0xff);
    assert_eq!(mask_of::convert(Conversion::ConvertFToU, 32, 8, 256_f32.to_bits().into(), 0), 0xff);
    assert_eq!(mask_of::convert(Conversion::ConvertFToU, 32, 8, (-0.5_f32).to_bits().into(), 0), 0);
}
