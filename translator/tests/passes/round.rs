//! Emulated roots and rounding to integers, against the host's double precision. The interpreter plays devices
//! that have no result where Vulkan has none, and that drop what Vulkan lets them drop.

use super::support::{Random, access};
use crate::evaluator::Machine;
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Builder, Function, Op, Space, Type, Unary, Value, verify};
use ptx2spv_translator::internals::pipeline::legalize;
use ptx2spv_translator::target::Facts;

/// An operation, and what it is to compute.
type Case = (fn(Value, Value) -> Op, fn(f64) -> f64);

/// A device of which nothing is known but perhaps that it keeps denormals, with a function of two numbers.
struct Device {
    ty: Type,
    function: Function,
    machine: Machine,
}

impl Device {
    fn new(ty: Type, denormals_f32_kept: bool, op: fn(Value, Value) -> Op) -> Self {
        let facts = Facts { denormals_f32_kept, denormals_f64_kept: true, ..Facts::default() };
        let mut function = Function::default();
        let bits = if ty == Type::F32 { Type::I32 } else { Type::I64 };
        let operands = [(); 2].map(|()| function.var(bits));
        let b = Builder::new(&mut function);
        let [x, y] = operands.map(|var| b.bitcast(b.get(var), ty));
        let result = b.bits(b.op(ty, op(x, y)));
        let address = b.i32(0);
        b.store(access(Space::Shared, if ty == Type::F32 { 4 } else { 8 }), address, vec![result]);
        b.finish();
        let target = Target { facts: facts.clone(), ..Target::preset("lavapipe").expect("a preset") };
        legalize(&mut function, &target).unwrap();
        assert_eq!(verify(&function), Ok(()), "{function}");
        Self { ty, function, machine: Machine { facts, shared: vec![0; 8], ..Machine::default() } }
    }

    /// The bits of its result.
    fn bits(&mut self, operands: [u64; 2]) -> u64 {
        self.machine.vars.clear();
        self.machine.vars.extend(operands);
        self.machine.steps = 100_000;
        self.machine.run(&self.function).unwrap_or_else(|fault| panic!("{operands:x?}: {fault}"));
        let bytes = if self.ty == Type::F32 { 4 } else { 8 };
        self.machine.shared[..bytes].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }

    /// Its result as a number; for `F32`.
    fn f32(&mut self, x: f32, y: f32) -> f32 {
        f32::from_bits(self.bits([x, y].map(|x| x.to_bits().into())) as u32)
    }
}

/// Devices that keep denormals in conversions and such that don't.
fn devices(op: fn(Value, Value) -> Op) -> [Device; 2] {
    [true, false].map(|kept| Device::new(Type::F32, kept, op))
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
fn check(op: fn(Value, Value) -> Op, reference: fn(f64) -> f64, bound: f64) {
    for mut device in devices(op) {
        let mut random = Random::new(7);
        let numbers = (0..50_000).map(|_| positive(&mut random)).filter(|x| x.is_normal());
        for x in [1.0, 2.0, 4.0, 0.5, f32::MAX, f32::MIN_POSITIVE].into_iter().chain(numbers) {
            let (result, expected) = (device.f32(x, 0.0), reference(x.into()));
            let close = (f64::from(result) - expected).abs() <= bound * expected.abs();
            assert!(close, "{x:e}: {result:e}, not {expected:e}");
        }
    }
}

/// Half an ulp, and 1 % for what happens before the last rounding.
const ROUNDED: f64 = 1.01 * f32::EPSILON as f64 / 2.0;

#[test]
fn roots() {
    check(|x, _| Op::Unary(Unary::SqrtApprox, x), f64::sqrt, ROUNDED);
    check(|x, _| Op::Unary(Unary::InverseSqrtApprox, x), |x| x.sqrt().recip(), ROUNDED);
}

#[test]
fn whole_numbers() {
    let cases: [Case; 4] = [
        (|x, _| Op::Unary(Unary::Trunc, x), f64::trunc),
        (|x, _| Op::Unary(Unary::RoundEven, x), f64::round_ties_even),
        (|x, _| Op::Unary(Unary::Floor, x), f64::floor),
        (|x, _| Op::Unary(Unary::Ceil, x), f64::ceil),
    ];
    let mut random = Random::new(7);
    let mut numbers: Vec<f64> =
        [0.5, 1.0, 1.5, 2.5, 0.499_999_97, 8_388_607.5, 8_388_608.0, 1e-40, f32::MAX.into()].into();
    numbers.extend([4_503_599_627_370_495.5, 4_503_599_627_370_496.0, 5e-324, f64::INFINITY, f64::NAN, 0.0]);
    numbers.extend((0..20_000).map(|_| f64::from(positive(&mut random))));
    numbers.extend((0..20_000).map(|_| (random.bits() as u32 as f64) / 16_777_216.0));
    for (op, reference) in cases {
        let mut double = Device::new(Type::F64, true, op);
        let [mut single, _] = devices(op);
        for &x in &numbers {
            for x in [x, -x] {
                let (result, expected) = (f64::from_bits(double.bits([x.to_bits(), 0])), reference(x));
                let same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
                assert!(same, "{x:e}: {result:e}, not {expected:e}");
                let x = x as f32;
                let (result, expected) = (single.f32(x, 0.0), reference(x.into()) as f32);
                assert!(is_same(result, expected), "{x:e}: {result:e}, not {expected:e}");
            }
        }
    }
}
