//! Arithmetic that doesn't round to nearest even, against rustc_apfloat (roots: against their squares, which the host
//! computes exactly). The interpreter plays devices whose own arithmetic is wrong where no fact vouches for it.

use super::shape::Shape;
use super::support::{Random, access, target};
use crate::evaluator::Machine;
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Arithmetic, Builder, Function, Rounding, Space, Type, Value, Var, verify};
use ptx2spv_translator::internals::pipeline::legalize;
use ptx2spv_translator::target::Facts;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

const ROUNDINGS: [Rounding; 4] = [Rounding::TowardZero, Rounding::Down, Rounding::Up, Rounding::Odd];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Sqrt,
    Narrow,
}

impl Operation {
    fn of(self, [x, y, z]: [Value; 3]) -> Arithmetic {
        match self {
            Operation::Add => Arithmetic::Add(x, y),
            Operation::Sub => Arithmetic::Sub(x, y),
            Operation::Mul => Arithmetic::Mul(x, y),
            Operation::Div => Arithmetic::Div(x, y),
            Operation::Fma => Arithmetic::Fma(x, y, z),
            Operation::Sqrt => Arithmetic::Sqrt(x),
            Operation::Narrow => Arithmetic::Narrow(x),
        }
    }
}

/// The bits of a result and whether it is exact; `None` for NaN.
type Outcome = Option<(u64, bool)>;

fn outcome<F: Float>(result: StatusAnd<F>) -> Outcome {
    let bits = result.value.to_bits() as u64;
    (!result.value.is_nan()).then_some((bits, result.status & Status::INEXACT == Status::OK))
}

fn with_apfloat<F: Float>(operation: Operation, rounding: Round, [x, y, z]: [u64; 3]) -> Outcome {
    let [x, y, z] = [x, y, z].map(|bits| F::from_bits(bits.into()));
    outcome(match operation {
        Operation::Add => x.add_r(y, rounding),
        Operation::Sub => x.sub_r(y, rounding),
        Operation::Mul => x.mul_r(y, rounding),
        Operation::Div => x.div_r(y, rounding),
        _ => x.mul_add_r(y, z, rounding),
    })
}

/// A root, from the nearest one and the sign of what its square leaves.
fn root(ty: Type, rounding: Round, bits: u64) -> Outcome {
    let (nearest, rest) = if ty == Type::F32 {
        let x = f32::from_bits(bits as u32);
        let root = x.sqrt();
        let rest = f64::from(x) - f64::from(root) * f64::from(root);
        (u64::from(root.to_bits()), if root.is_finite() { rest } else { 0.0 })
    } else {
        let x = f64::from_bits(bits);
        let root = x.sqrt();
        // The rest of a tiny number would be subnormal.
        let scale = if x < 1e-150 { 2f64.powi(400) } else { 1.0 };
        let scaled = root * scale.sqrt();
        (root.to_bits(), if root.is_finite() { -scaled.mul_add(scaled, -(x * scale)) } else { 0.0 })
    };
    let is_nan =
        if ty == Type::F32 { f32::from_bits(nearest as u32).is_nan() } else { f64::from_bits(nearest).is_nan() };
    let bits = match rounding {
        Round::TowardPositive if rest > 0.0 => nearest + 1,
        Round::TowardNegative | Round::TowardZero if rest < 0.0 => nearest - 1,
        _ => nearest,
    };
    (!is_nan).then_some((bits, rest == 0.0))
}

/// The result that is right; NaN as NVIDIA's.
fn reference(operation: Operation, rounding: Rounding, ty: Type, operands: [u64; 3]) -> u64 {
    let round = match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::TowardZero | Rounding::Odd => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    };
    let found = match (operation, ty) {
        (Operation::Sqrt, _) => root(ty, round, operands[0]),
        (Operation::Narrow, _) => {
            let mut loses = false;
            outcome(FloatConvert::<Single>::convert_r(Double::from_bits(operands[0].into()), round, &mut loses))
        }
        (_, Type::F32) => with_apfloat::<Single>(operation, round, operands),
        _ => with_apfloat::<Double>(operation, round, operands),
    };
    match found {
        None if ty == Type::F32 => 0x7fff_ffff,
        None => 0xfff8_0000_0000_0000,
        Some((bits, exact)) => bits | u64::from(rounding == Rounding::Odd && !exact),
    }
}

/// A device that applies an operation as it was legalized for it.
struct Device<'t> {
    operation: Operation,
    rounding: Rounding,
    ty: Type,
    target: &'t Target,
    function: Function,
    machine: Machine,
}

impl<'t> Device<'t> {
    fn new(operation: Operation, rounding: Rounding, ty: Type, target: &'t Target) -> Self {
        Self::with_constants(operation, rounding, ty, target, [None; 3])
    }

    /// The same where some operands are constants.
    fn with_constants(
        operation: Operation,
        rounding: Rounding,
        ty: Type,
        target: &'t Target,
        constants: [Option<u64>; 3],
    ) -> Self {
        let from = if operation == Operation::Narrow { Type::F64 } else { ty };
        let bits = |ty| if ty == Type::F32 { Type::I32 } else { Type::I64 };
        let mut function = Function::default();
        let operands = [(); 3].map(|()| function.var(bits(from)));
        let b = Builder::new(&mut function);
        let mut constants = constants.into_iter();
        let operands = operands.map(|var: Var| match constants.next().flatten() {
            Some(bits) => b.constant(from, bits),
            None => b.bitcast(b.get(var), from),
        });
        let result = b.bits(b.rounded(rounding, operation.of(operands)));
        let address = b.i32(0);
        b.store(access(Space::Shared, if ty == Type::F32 { 4 } else { 8 }), address, vec![result]);
        b.finish();
        assert_eq!(verify(&function), Ok(()), "{function}");
        legalize(&mut function, target).unwrap();
        assert_eq!(verify(&function), Ok(()), "{function}");
        let machine = Machine { facts: target.facts.clone(), shared: vec![0; 8], ..Machine::default() };
        Self { operation, rounding, ty, target, function, machine }
    }

    fn check(&mut self, operands: [u64; 3]) {
        let Self { operation, rounding, ty, target, function, machine } = self;
        machine.vars.clear();
        machine.vars.extend(operands);
        machine.steps = 100_000;
        machine.run(function).unwrap_or_else(|fault| panic!("{operation:?} {operands:x?}: {fault}"));
        let result = machine.shared.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        let expected = reference(*operation, *rounding, *ty, operands);
        assert_eq!(
            result, expected,
            "{operation:?} {rounding:?} {ty:?} {}: {operands:#x?}, {expected:#x}",
            target.name
        );
    }
}

/// Operands of which half leave something interesting.
fn operands(shape: Shape, operation: Operation, random: &mut Random) -> [u64; 3] {
    let (x, y, z) = (shape.random(random), shape.random(random), shape.random(random));
    if random.below(2) == 0 {
        return [x, y, z];
    }
    let product = shape.compute(x, y, |x, y| x * y, |x, y| x * y);
    match operation {
        Operation::Add | Operation::Sub => [x, shape.near(x, random), z],
        Operation::Fma => [x, y, shape.near(product, random)],
        Operation::Div => [shape.near(product, random), y, z],
        Operation::Sqrt => [shape.near(shape.compute(x, x, |x, y| x * y, |x, y| x * y), random), y, z],
        Operation::Mul | Operation::Narrow => [x, y, z],
    }
}

fn check(operation: Operation, ty: Type, target: &Target, cases: u32) {
    for rounding in ROUNDINGS {
        let mut device = Device::new(operation, rounding, ty, target);
        let shape = Shape::of(ty);
        let corners = shape.corners();
        for &x in &corners {
            for &y in &corners[..if operation == Operation::Sqrt { 1 } else { corners.len() }] {
                device.check([x, y, 0]);
                if operation == Operation::Fma {
                    // Some of them: all would be millions.
                    let some = corners.iter().skip((x as usize ^ y as usize) % 31).step_by(31);
                    some.for_each(|&z| device.check([x, y, z]));
                }
            }
        }
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
        for _ in 0..cases {
            device.check(operands(shape, operation, &mut random));
        }
    }
}

const SOME: [Operation; 5] = [Operation::Add, Operation::Sub, Operation::Mul, Operation::Div, Operation::Fma];

#[test]
fn f32_through_f64() {
    for operation in SOME.into_iter().chain([Operation::Sqrt]) {
        check(operation, Type::F32, &Target::preset("lavapipe").expect("a preset"), 50_000);
        let flushing = Facts { div_f64_rounded: true, sqrt_f64_rounded: true, ..Facts::default() };
        check(operation, Type::F32, &target("flushing", true, flushing), 20_000);
    }
}

#[test]
fn f32_on_integers() {
    for operation in SOME.into_iter().chain([Operation::Sqrt]) {
        check(operation, Type::F32, &target("unknown, no F64", false, Facts::default()), 20_000);
        let flushing = Facts { normal_f32_exact: true, ..Facts::default() };
        check(operation, Type::F32, &target("flushing, no F64", false, flushing), 10_000);
    }
}

#[test]
fn f64_on_integers() {
    for operation in SOME {
        check(operation, Type::F64, &target("unknown", true, Facts::default()), 30_000);
    }
    check(Operation::Sqrt, Type::F64, &target("unknown", true, Facts::default()), 5_000);
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
