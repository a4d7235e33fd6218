//! Functions of `GLSL.std.450`, compared with known values.

use std::f64::consts;

use super::*;

fn single(value: f32) -> u64 {
    value.to_bits().into()
}

fn one(op: Unary, a: f32) -> f32 {
    f32::from_bits(unary(op, 32, single(a), &FREE, &mut Plain) as u32)
}

fn two(op: Binary, a: f32, b: f32) -> f32 {
    f32::from_bits(binary(op, 32, single(a), single(b), &FREE, &mut Plain) as u32)
}

fn three(op: Ternary, operands: [f32; 3]) -> f32 {
    f32::from_bits(ternary(op, 32, operands.map(single), &FREE, &mut Plain) as u32)
}

#[test]
fn functions_have_their_known_values() {
    // From tables, with more digits than single precision.
    let known = [
        (Unary::Exp, 1.0, consts::E),
        (Unary::Exp, -10.0, 4.539_992_976_248_485e-5),
        (Unary::Exp2, 0.5, consts::SQRT_2),
        (Unary::Log, 2.0, consts::LN_2),
        (Unary::Log2, 10.0, consts::LOG2_10),
        (Unary::Sin, 1.0, 0.841_470_984_807_896_5),
        (Unary::Cos, 1.0, 0.540_302_305_868_139_8),
        (Unary::Tanh, 1.0, 0.761_594_155_955_764_9),
        (Unary::InverseSqrt, 2.0, consts::FRAC_1_SQRT_2),
        (Unary::Sqrt, 2.0, consts::SQRT_2),
        (Unary::FAbs, -3.0, 3.0),
        (Unary::FNegate, 3.0, -3.0),
        (Unary::InverseSqrt, 0.0, f64::INFINITY),
        (Unary::Log, 0.0, f64::NEG_INFINITY),
    ];
    for (op, a, expected) in known {
        assert_eq!(one(op, a), expected as f32, "{op:?} {a}");
    }
    assert_eq!(two(Binary::FMin, f32::NAN, 2.0), 2.0);
    assert_eq!(two(Binary::FMax, 2.0, f32::NAN), 2.0);
    assert_eq!(three(Ternary::NClamp, [f32::NAN, 1.0, 3.0]), 1.0);
    // 0.5 in half precision: its square root, and e^0.5.
    assert_eq!(unary(Unary::Sqrt, 16, 0x3800, &FREE, &mut Plain), 0x39a8);
    assert_eq!(unary(Unary::Exp, 16, 0x3800, &FREE, &mut Plain), 0x3e98);
}
