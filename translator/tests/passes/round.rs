//! Emulated roots and rounding to integers, against the host's double precision. The interpreter plays devices
//! that have no result where Vulkan has none, and that drop what Vulkan lets them drop.

use super::device::Device;
use super::support::{Random, target};
use ptx2spv_translator::internals::ir::{Op, Type, Unary, Value};
use ptx2spv_translator::target::Facts;

/// An operation, and its exact result.
type Case = (fn(Value) -> Op, fn(f64) -> f64);

/// A device of which nothing is known but perhaps that it keeps denormals, with a function of a number.
fn device(ty: Type, denormals_f32_kept: bool, op: fn(Value) -> Op) -> Device {
    let target = target("unknown", true, Facts { denormals_f32_kept, ..Facts::default() });
    Device::new(&target, [ty], |b, [x]| b.op(ty, op(x)))
}

/// Devices that keep denormals in conversions and such that don't.
fn devices(op: fn(Value) -> Op) -> [Device; 2] {
    [true, false].map(|kept| device(Type::F32, kept, op))
}

fn is_same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Numbers of all magnitudes, denormal ones included.
fn positive(random: &mut Random) -> f32 {
    f32::from_bits(random.bits() as u32 % 0x7f80_0000)
}

/// Checks a function of one normal number: within `bound` of the reference, relative to it.
#[track_caller]
fn check(op: fn(Value) -> Op, reference: fn(f64) -> f64, bound: f64) {
    for mut device in devices(op) {
        let mut random = Random::new(7);
        let numbers = (0..50_000).map(|_| positive(&mut random)).filter(|x| x.is_normal());
        for x in [1.0, 2.0, 4.0, 0.5, f32::MAX, f32::MIN_POSITIVE].into_iter().chain(numbers) {
            let (result, expected) = (device.apply_f32([x]), reference(x.into()));
            let close = (f64::from(result) - expected).abs() <= bound * expected.abs();
            assert!(close, "{x:e}: {result:e}, not {expected:e}");
        }
    }
}

/// Half an ulp, and 1 % for errors before the last rounding.
const ROUNDED: f64 = 1.01 * f32::EPSILON as f64 / 2.0;

#[test]
fn roots() {
    check(|x| Op::Unary(Unary::SqrtApprox, x), f64::sqrt, ROUNDED);
    check(|x| Op::Unary(Unary::InverseSqrtApprox, x), |x| x.sqrt().recip(), ROUNDED);
}

#[test]
fn whole_numbers() {
    let cases: [Case; 4] = [
        (|x| Op::Unary(Unary::Trunc, x), f64::trunc),
        (|x| Op::Unary(Unary::RoundEven, x), f64::round_ties_even),
        (|x| Op::Unary(Unary::Floor, x), f64::floor),
        (|x| Op::Unary(Unary::Ceil, x), f64::ceil),
    ];
    let mut random = Random::new(7);
    let mut numbers: Vec<f64> =
        [0.5, 1.0, 1.5, 2.5, 0.499_999_97, 8_388_607.5, 8_388_608.0, 1e-40, f32::MAX.into()].into();
    numbers.extend([4_503_599_627_370_495.5, 4_503_599_627_370_496.0, 5e-324, f64::INFINITY, f64::NAN, 0.0]);
    numbers.extend((0..20_000).map(|_| f64::from(positive(&mut random))));
    numbers.extend((0..20_000).map(|_| (random.bits() as u32 as f64) / 16_777_216.0));
    for (op, reference) in cases {
        let mut double = device(Type::F64, true, op);
        let [mut single, _] = devices(op);
        for &x in &numbers {
            for x in [x, -x] {
                let (result, expected) = (f64::from_bits(double.apply(&[x.to_bits()])), reference(x));
                let same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
                assert!(same, "{x:e}: {result:e}, not {expected:e}");
                let x = x as f32;
                let (result, expected) = (single.apply_f32([x]), reference(x.into()) as f32);
                assert!(is_same(result, expected), "{x:e}: {result:e}, not {expected:e}");
            }
        }
    }
}
