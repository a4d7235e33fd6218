//! Arithmetic that doesn't round to nearest even, against rustc_apfloat (roots: against their squares, which the host
//! computes exactly). The interpreter plays devices whose own arithmetic is wrong where no fact vouches for it.

use super::device;
use super::exact::{OPERATIONS, Operation, cases, operands, reference};
use super::shape::Shape;
use super::support::{Random, target};
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Rounding, Type};
use ptx2spv_translator::target::Facts;

const ROUNDINGS: [Rounding; 4] = [Rounding::TowardZero, Rounding::Down, Rounding::Up, Rounding::Odd];

/// A device that applies an operation.
struct Device {
    operation: Operation,
    rounding: Rounding,
    ty: Type,
    device: device::Device,
}

impl Device {
    fn new(operation: Operation, rounding: Rounding, ty: Type, target: &Target) -> Self {
        Self::with_constants(operation, rounding, ty, target, [None; 3])
    }

    /// The same where some operands are constants.
    fn with_constants(
        operation: Operation,
        rounding: Rounding,
        ty: Type,
        target: &Target,
        constants: [Option<u64>; 3],
    ) -> Self {
        let from = if operation == Operation::Narrow { Type::F64 } else { ty };
        let device = device::Device::new(target, [from; 3], |b, operands| {
            let constants = constants.map(|bits| bits.map(|bits| b.constant(from, bits)));
            let operands = std::array::from_fn(|at| constants[at].unwrap_or(operands[at]));
            b.rounded(rounding, operation.of(operands))
        });
        Self { operation, rounding, ty, device }
    }

    fn check(&mut self, operands: [u64; 3]) {
        let Self { operation, rounding, ty, device } = self;
        let expected = reference(*operation, *rounding, *ty, operands);
        device.check(format_args!("{operation:?} {rounding:?} {ty:?}"), &operands, expected);
    }
}

fn check(operation: Operation, ty: Type, target: &Target, others: u32) {
    for rounding in ROUNDINGS {
        let mut device = Device::new(operation, rounding, ty, target);
        cases(Shape::of(ty), operation, 5, others).for_each(|operands| device.check(operands));
    }
}

#[test]
fn f32_through_f64() {
    for operation in OPERATIONS {
        check(operation, Type::F32, &Target::preset("lavapipe").expect("a preset"), 50_000);
        let flushing = Facts { div_f64_rounded: true, sqrt_f64_rounded: true, ..Facts::default() };
        check(operation, Type::F32, &target("flushing", true, flushing), 20_000);
    }
}

#[test]
fn f32_on_integers() {
    for operation in OPERATIONS {
        check(operation, Type::F32, &target("unknown, no F64", false, Facts::default()), 20_000);
        let flushing = Facts { normal_f32_exact: true, ..Facts::default() };
        check(operation, Type::F32, &target("flushing, no F64", false, flushing), 10_000);
    }
}

#[test]
fn f64_on_integers() {
    for operation in OPERATIONS {
        let others = if operation == Operation::Sqrt { 5_000 } else { 30_000 };
        check(operation, Type::F64, &target("unknown", true, Facts::default()), others);
    }
}

#[test]
fn f64_to_f32() {
    for (name, denormals_f32_kept) in [("keeping", true), ("flushing", false)] {
        let target = target(name, true, Facts { denormals_f32_kept, ..Facts::default() });
        for rounding in ROUNDINGS {
            let mut device = Device::new(Operation::Narrow, rounding, Type::F32, &target);
            let shape = Shape::of(Type::F64);
            shape.corners().into_iter().for_each(|x| device.check([x, 0, 0]));
            let mut random = Random::new(77);
            for _ in 0..50_000 {
                let fraction = shape.random(&mut random);
                device.check([fraction, 0, 0]);
                // Within `F32`'s exponents and just beyond them.
                let exponent = 1023 - 152 + random.below(282) as u64;
                let sign = fraction & (1 << 63);
                device.check([sign | (exponent << 52) | (fraction & ((1 << 52) - 1)), 0, 0]);
                // Few bits after `F32`'s last, or none.
                let single = Shape::of(Type::F32).random(&mut random);
                let wide = f64::from(f32::from_bits(single as u32)).to_bits();
                device.check([wide.wrapping_add(random.below(3) as u64).wrapping_sub(1), 0, 0]);
            }
        }
    }
}

/// The sum that libraries' `exp` rounds down to an integer: by an addend between 2^23 and 2^24.
#[test]
fn products_rounded_down_to_integers() {
    let fused = Facts { fma_f32_fused: true, denormals_f32_kept: true, ..Facts::default() };
    let targets = [
        target("flushing in Fma", true, fused.clone()),
        target("exact", true, Facts { fma_f32_denormals: true, ..fused }),
    ];
    let constants = [(252.0, 12_582_913.0), (1.0, 8_388_608.0), (3.0, 8_388_609.0), (4096.0, 16_777_215.0)];
    for target in &targets {
        for (factor, addend) in constants.map(|(factor, addend): (f32, f32)| (factor.to_bits(), addend.to_bits())) {
            let [factor, addend] = [factor, addend].map(u64::from);
            let known = [None, Some(factor), Some(addend)];
            let mut device = Device::with_constants(Operation::Fma, Rounding::Down, Type::F32, target, known);
            let shape = Shape::of(Type::F32);
            shape.corners().into_iter().for_each(|x| device.check([x, factor, addend]));
            let mut random = Random::new(78);
            for _ in 0..20_000 {
                let x = shape.random(&mut random);
                device.check([x, factor, addend]);
                // Near a whole number of parts, of either sign.
                let parts = random.below(5000) as f32 - 2500.0;
                let near = (parts / f32::from_bits(factor as u32)).to_bits();
                let near = near.wrapping_add(random.below(5) as u32).wrapping_sub(2);
                device.check([near.into(), factor, addend]);
            }
        }
    }
}

/// Roots made of inverse roots by `Fma`.
#[test]
fn f32_roots_refined() {
    let facts = Facts {
        fma_f32_fused: true,
        fma_f32_denormals: true,
        denormals_f32_kept: true,
        sqrt_f32_refined: true,
        roots_f32_close: true,
        ..Facts::default()
    };
    let target = target("refining", true, facts);
    let mut device = Device::new(Operation::Sqrt, Rounding::NearestEven, Type::F32, &target);
    let shape = Shape::of(Type::F32);
    shape.corners().into_iter().for_each(|x| device.check([x, 0, 0]));
    let mut random = Random::new(79);
    for _ in 0..50_000 {
        device.check(operands(shape, Operation::Sqrt, &mut random));
    }
}
