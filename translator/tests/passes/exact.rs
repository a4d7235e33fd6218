//! Float arithmetic that is right: by rustc_apfloat, and roots by their squares, which the host computes exactly.

use super::shape::Shape;
use super::support::Random;
use ptx2spv_translator::internals::ir::{Arithmetic, Rounding, Type, Value};
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

/// The rounding modes of PTX, with the reference's names for them.
pub const ROUNDINGS: [(Rounding, Round); 4] = [
    (Rounding::NearestEven, Round::NearestTiesToEven),
    (Rounding::TowardZero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

/// The kinds of [`Arithmetic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Sqrt,
    Narrow,
}

/// The operations within one format.
pub const OPERATIONS: [Operation; 6] =
    [Operation::Add, Operation::Sub, Operation::Mul, Operation::Div, Operation::Fma, Operation::Sqrt];

impl Operation {
    pub fn of(self, [x, y, z]: [Value; 3]) -> Arithmetic {
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

    /// An operation by its kind and its operands; the last one stands for those that it doesn't have.
    pub fn taken(arithmetic: Arithmetic) -> (Operation, [Value; 3]) {
        match arithmetic {
            Arithmetic::Add(x, y) => (Operation::Add, [x, y, y]),
            Arithmetic::Sub(x, y) => (Operation::Sub, [x, y, y]),
            Arithmetic::Mul(x, y) => (Operation::Mul, [x, y, y]),
            Arithmetic::Div(x, y) => (Operation::Div, [x, y, y]),
            Arithmetic::Fma(x, y, z) => (Operation::Fma, [x, y, z]),
            Arithmetic::Sqrt(x) => (Operation::Sqrt, [x; 3]),
            Arithmetic::Narrow(x) => (Operation::Narrow, [x; 3]),
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

/// A root, from the nearest one and the sign of its square's remainder.
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

/// NVIDIA's NaN of an invalid operation.
pub fn nan(ty: Type) -> u64 {
    if ty == Type::F32 { 0x7fff_ffff } else { 0xfff8_0000_0000_0000 }
}

/// The bits of the result on a type; of NaN, NVIDIA's.
pub fn reference(operation: Operation, rounding: Rounding, ty: Type, operands: [u64; 3]) -> u64 {
    let round = match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::TowardZero | Rounding::Odd => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    };
    let found = match (operation, ty) {
        (Operation::Sqrt, _) => root(ty, round, operands[0]),
        (Operation::Narrow, _) => {
            outcome(FloatConvert::<Single>::convert_r(Double::from_bits(operands[0].into()), round, &mut false))
        }
        (_, Type::F32) => with_apfloat::<Single>(operation, round, operands),
        _ => with_apfloat::<Double>(operation, round, operands),
    };
    found.map_or(nan(ty), |(bits, exact)| bits | u64::from(rounding == Rounding::Odd && !exact))
}

/// The bits of a sum, difference, product or `Fma` on f16, rounded once to nearest even; of NaN, NVIDIA's.
pub fn half(operation: Operation, operands: [u64; 3]) -> u64 {
    let found = with_apfloat::<Half>(operation, Round::NearestTiesToEven, operands.map(|bits| bits & 0xffff));
    found.map_or(0x7fff, |(bits, _)| bits)
}

/// Operands of which half leave something interesting.
pub fn operands(shape: Shape, operation: Operation, random: &mut Random) -> [u64; 3] {
    let (x, y, z) = (shape.random(random), shape.random(random), shape.random(random));
    if random.below(2) == 0 {
        return [x, y, z];
    }
    let product = |x, y| shape.compute(x, y, |x, y| x * y, |x, y| x * y);
    match operation {
        Operation::Add | Operation::Sub => [x, shape.near(x, random), z],
        Operation::Fma => [x, y, shape.near(product(x, y), random)],
        Operation::Div => [shape.near(product(x, y), random), y, z],
        Operation::Sqrt => [shape.near(product(x, x), random), y, z],
        // Products near where numbers begin and end.
        Operation::Mul => {
            let bias = shape.top_exponent / 2;
            let above = [0, 1, 2, shape.fraction_bits.into(), bias, bias + 1, 2 * bias - 1, 2 * bias];
            let exponents = bias + random.pick(&above);
            let other = (exponents - shape.exponent(x).min(exponents)).min(2 * bias);
            [x, (y & !(shape.top_exponent << shape.fraction_bits)) | other << shape.fraction_bits, z]
        }
        Operation::Narrow => [x, y, z],
    }
}

/// All pairs of corners, a fused product's with some addends each, and a number of other operands.
pub fn cases(shape: Shape, operation: Operation, addends: usize, others: u32) -> impl Iterator<Item = [u64; 3]> {
    let corners = shape.corners();
    let seconds = if operation == Operation::Sqrt { corners[..1].to_vec() } else { corners.clone() };
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let pairs = corners.clone().into_iter().flat_map(move |x| seconds.clone().into_iter().map(move |y| (x, y)));
    let addends = if operation == Operation::Fma { addends } else { 0 };
    let mut adds = Random::new(3);
    let at_corners = pairs.flat_map(move |(x, y)| {
        let some: Vec<u64> = (0..addends).map(|_| adds.pick(&corners)).collect();
        [0].into_iter().chain(some).map(move |z| [x, y, z])
    });
    at_corners.chain((0..others).map(move |_| operands(shape, operation, &mut random)))
}
