//! 64-bit floats on targets that have none, against rustc_apfloat and the host's own arithmetic (which is IEEE 754's).

use super::shape::Shape;
use super::support::{Random, access};
use crate::evaluator::Machine;
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{
    Arithmetic, Atomic, AtomicOp, Binary, Builder, Compare, Function, Op, Rounding, Space, Stmt, Type, Unary, Value,
    bits_type, verify,
};
use ptx2spv_translator::internals::pipeline::legalize;
use ptx2spv_translator::target::{Facts, Feature};
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

/// The NaN of an invalid operation.
const NAN: u64 = 0xfff8_0000_0000_0000;

const ROUNDINGS: [Rounding; 5] =
    [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up, Rounding::Odd];

fn without_doubles() -> Target {
    let mut target = Target::preset("lavapipe").expect("a preset");
    target.facts = Facts::default();
    target.features.remove(&Feature::ShaderFloat64);
    target
}

/// A device without 64-bit floats that applies a function of them.
struct Device {
    function: Function,
    machine: Machine,
}

impl Device {
    /// Operands come by their bits; results are seen by theirs, `Bool` ones as 0 or 1.
    fn new(operands: &[Type], compute: impl FnOnce(&Builder<'_>, &[Value]) -> Value) -> Device {
        let mut function = Function::default();
        let vars: Vec<_> = operands.iter().map(|ty| function.var(bits_type(*ty))).collect();
        let b = Builder::new(&mut function);
        let mut operand = |(var, ty): (_, &Type)| {
            let value = b.get(var);
            b.bitcast(value, *ty)
        };
        let operands: Vec<Value> = vars.into_iter().zip(operands).map(&mut operand).collect();
        let result = compute(&b, &operands);
        let result = if b.type_of(result) == Type::Bool { b.bool_to(Type::I32, result) } else { b.bits(result) };
        let bytes = if b.type_of(result) == Type::I64 { 8 } else { 4 };
        b.store(access(Space::Shared, bytes), b.i32(0), vec![result]);
        b.finish();
        Device::of(function)
    }

    fn of(mut function: Function) -> Device {
        assert_eq!(verify(&function), Ok(()), "{function}");
        legalize(&mut function, &without_doubles()).unwrap();
        assert_eq!(verify(&function), Ok(()), "{function}");
        let text = function.to_string();
        assert!(!text.contains("f64"), "{text}");
        Device { function, machine: Machine { shared: vec![0; 8], ..Machine::default() } }
    }

    fn apply(&mut self, operands: &[u64]) -> u64 {
        self.machine.vars.clear();
        self.machine.vars.extend(operands);
        self.machine.steps = 100_000;
        self.machine.shared.fill(0);
        self.machine.run(&self.function).unwrap_or_else(|fault| panic!("{operands:x?}: {fault}"));
        self.machine.shared.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Sqrt,
}

impl Operation {
    fn of(self, operands: &[Value]) -> Arithmetic {
        let [x, y, z] = operands.try_into().expect("three operands");
        match self {
            Operation::Add => Arithmetic::Add(x, y),
            Operation::Sub => Arithmetic::Sub(x, y),
            Operation::Mul => Arithmetic::Mul(x, y),
            Operation::Div => Arithmetic::Div(x, y),
            Operation::Fma => Arithmetic::Fma(x, y, z),
            Operation::Sqrt => Arithmetic::Sqrt(x),
        }
    }
}

/// The reference's rounding, from whose result the odd one is made.
fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::TowardZero | Rounding::Odd => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

fn bits<F: Float>(rounding: Rounding, nan: u64, result: StatusAnd<F>) -> u64 {
    let is_exact = result.status & Status::INEXACT == Status::OK;
    if result.value.is_nan() {
        return nan;
    }
    result.value.to_bits() as u64 | u64::from(rounding == Rounding::Odd && !is_exact)
}

fn reference(operation: Operation, rounding: Rounding, operands: [u64; 3]) -> u64 {
    let [x, y, z] = operands.map(|bits| Double::from_bits(bits.into()));
    let round = round(rounding);
    let result = match operation {
        Operation::Add => x.add_r(y, round),
        Operation::Sub => x.sub_r(y, round),
        Operation::Mul => x.mul_r(y, round),
        Operation::Div => x.div_r(y, round),
        Operation::Fma => x.mul_add_r(y, z, round),
        Operation::Sqrt => return root(rounding, operands[0]),
    };
    bits(rounding, NAN, result)
}

/// A root, from the nearest one and the sign of what its square leaves.
fn root(rounding: Rounding, bits: u64) -> u64 {
    let x = f64::from_bits(bits);
    let root = x.sqrt();
    if root.is_nan() {
        return NAN;
    }
    // The rest of a tiny number would be subnormal.
    let scale = if x < 1e-150 { 2f64.powi(400) } else { 1.0 };
    let scaled = root * scale.sqrt();
    let rest = if root.is_finite() { -scaled.mul_add(scaled, -(x * scale)) } else { 0.0 };
    let nearest = root.to_bits();
    match rounding {
        Rounding::Up if rest > 0.0 => nearest + 1,
        Rounding::Down | Rounding::TowardZero if rest < 0.0 => nearest - 1,
        Rounding::Odd if rest != 0.0 => (nearest - u64::from(rest < 0.0)) | 1,
        _ => nearest,
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
        // Products near where numbers begin and end.
        Operation::Mul => {
            let exponents = 1023 + random.pick(&[0, 1, 2, 52, 1023, 1024, 2045, 2046]);
            let other = (exponents - shape.exponent(x).min(exponents)).min(2046);
            [x, (y & !(0x7ff << 52)) | other << 52, z]
        }
    }
}

fn check_arithmetic(operation: Operation, cases: u32) {
    let shape = Shape::of(Type::F64);
    let corners = shape.corners();
    let others = if operation == Operation::Sqrt { &corners[..1] } else { &corners };
    for rounding in ROUNDINGS {
        let mut device = Device::new(&[Type::F64; 3], |b, operands| {
            let arithmetic = operation.of(operands);
            b.rounded(rounding, arithmetic)
        });
        let mut check = |operands: [u64; 3]| {
            let result = device.apply(&operands);
            let expected = reference(operation, rounding, operands);
            assert_eq!(result, expected, "{operation:?} {rounding:?} {operands:#x?}: {result:#x}, not {expected:#x}");
        };
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
        for &x in &corners {
            for &y in others {
                check([x, y, random.pick(&corners)]);
            }
        }
        for _ in 0..cases {
            check(operands(shape, operation, &mut random));
        }
    }
}

#[test]
fn sums() {
    check_arithmetic(Operation::Add, 20_000);
}

#[test]
fn differences() {
    check_arithmetic(Operation::Sub, 10_000);
}

#[test]
fn products() {
    check_arithmetic(Operation::Mul, 20_000);
}

#[test]
fn fused_products() {
    check_arithmetic(Operation::Fma, 30_000);
}

#[test]
fn quotients() {
    check_arithmetic(Operation::Div, 30_000);
}

#[test]
fn roots() {
    check_arithmetic(Operation::Sqrt, 40_000);
}

/// Numbers for operations of one operand.
fn numbers(count: u32) -> Vec<u64> {
    let shape = Shape::of(Type::F64);
    let mut random = Random::new(5);
    let mut numbers = shape.corners();
    for _ in 0..count {
        numbers.push(shape.random(&mut random));
        // Near integers and halves of them.
        let integer = (random.bits() >> random.below(64)) as f64;
        let half = integer + random.pick(&[0.0, 0.5, -0.5]);
        let sign = random.bits() & (1 << 63);
        numbers.push((half.to_bits().wrapping_add(random.below(3) as u64).wrapping_sub(1)) ^ sign);
    }
    numbers
}

/// Whether two floats are the same, or both NaN.
fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

#[test]
fn integral_values() {
    type Host = fn(f64) -> f64;
    let roundings: [(Unary, Host); 4] = [
        (Unary::Trunc, f64::trunc),
        (Unary::RoundEven, f64::round_ties_even),
        (Unary::Floor, f64::floor),
        (Unary::Ceil, f64::ceil),
    ];
    for (op, host) in roundings {
        let mut device = Device::new(&[Type::F64], |b, x| b.unary(op, x[0]));
        for bits in numbers(20_000) {
            let (found, expected) = (f64::from_bits(device.apply(&[bits])), host(f64::from_bits(bits)));
            assert!(same(found, expected), "{op:?} {bits:#x}: {found:e}, not {expected:e}");
        }
    }
}

#[test]
fn integers_from_doubles() {
    for (op, low, high) in [
        (Unary::FloatToSigned(Type::I32), -2147483649.0, 2147483648.0),
        (Unary::FloatToUnsigned(Type::I32), -1.0, 4294967296.0),
        (Unary::FloatToSigned(Type::I64), -9223372036854777856.0, 9223372036854775808.0),
        (Unary::FloatToUnsigned(Type::I64), -1.0, 18446744073709551616.0),
    ] {
        let mut device = Device::new(&[Type::F64], |b, x| b.unary(op, x[0]));
        let in_range = |x: &f64| *x > low && *x < high;
        for x in numbers(40_000).into_iter().map(f64::from_bits).filter(in_range) {
            let expected = match op {
                Unary::FloatToSigned(Type::I32) => u64::from(x as i32 as u32),
                Unary::FloatToUnsigned(Type::I32) => u64::from(x as u32),
                Unary::FloatToSigned(_) => x as i64 as u64,
                _ => x as u64,
            };
            assert_eq!(device.apply(&[x.to_bits()]), expected, "{op:?} {x:e}");
        }
    }
}

#[test]
fn doubles_from_integers() {
    let mut random = Random::new(9);
    for ty in [Type::I32, Type::I64] {
        for signed in [true, false] {
            let op = if signed { Unary::SignedToFloat(Type::F64) } else { Unary::UnsignedToFloat(Type::F64) };
            let mut device = Device::new(&[ty], |b, x| b.unary(op, x[0]));
            for case in 0..20_000u64 {
                let noise = random.bits() >> random.below(64);
                let integer = match case % 4 {
                    0 => noise,
                    1 => (1 << random.below(64)) | (1 << random.below(64)),
                    2 => !noise,
                    _ => case.wrapping_sub(10_000),
                };
                let integer = if ty == Type::I32 { integer & 0xffff_ffff } else { integer };
                let expected = match (ty, signed) {
                    (_, false) => integer as f64,
                    (Type::I32, true) => f64::from(integer as u32 as i32),
                    (_, true) => integer as i64 as f64,
                };
                assert_eq!(device.apply(&[integer]), expected.to_bits(), "{op:?} {ty:?} {integer:#x}");
            }
        }
    }
}

#[test]
fn single_precision() {
    let mut random = Random::new(21);
    let mut widen = Device::new(&[Type::F32], |b, x| b.widen(x[0]));
    let shape = Shape::of(Type::F32);
    let singles: Vec<u64> = (0..30_000).map(|_| shape.random(&mut random)).chain(shape.corners()).collect();
    for &bits in &singles {
        let (found, expected) = (f64::from_bits(widen.apply(&[bits])), f64::from(f32::from_bits(bits as u32)));
        assert!(same(found, expected), "{bits:#x}: {found:e}, not {expected:e}");
    }
    for rounding in ROUNDINGS {
        let mut narrow = Device::new(&[Type::F64], |b, x| b.rounded(rounding, Arithmetic::Narrow(x[0])));
        let mut check = |x: u64| {
            let mut loses = false;
            let exact: StatusAnd<Single> = Double::from_bits(x.into()).convert_r(round(rounding), &mut loses);
            let expected = bits(rounding, 0x7fff_ffff, exact);
            assert_eq!(narrow.apply(&[x]), expected, "{rounding:?} {x:#x}");
        };
        numbers(10_000).into_iter().for_each(&mut check);
        for &single in &singles {
            // The number itself, halfway to the next, and beside these.
            let wide = f64::from(f32::from_bits(single as u32)).to_bits();
            let half = 1 << 28;
            let step = random.pick(&[0, 1, half - 1, half, half + 1, 2 * half - 1]);
            check(wide.wrapping_add(step));
        }
    }
}

#[test]
fn comparisons() {
    type Host = fn(&f64, &f64) -> bool;
    let comparisons: [(Compare, Host); 4] = [
        (Compare::FEqual, f64::eq),
        (Compare::FNotEqual, f64::ne),
        (Compare::FLess, f64::lt),
        (Compare::FLessEqual, f64::le),
    ];
    let shape = Shape::of(Type::F64);
    for (op, host) in comparisons {
        let mut device = Device::new(&[Type::F64; 2], |b, x| b.compare(op, x[0], x[1]));
        let mut check = |x: u64, y: u64| {
            let expected = host(&f64::from_bits(x), &f64::from_bits(y));
            assert_eq!(device.apply(&[x, y]), u64::from(expected), "{op:?} {x:#x} {y:#x}");
        };
        for x in shape.corners() {
            shape.corners().into_iter().for_each(|y| check(x, y));
        }
        let mut random = Random::new(33);
        for _ in 0..10_000 {
            let x = shape.random(&mut random);
            check(x, shape.random(&mut random));
            check(x, shape.near(x, &mut random));
            check(x, x);
        }
    }
}

/// Which NaN a result is shows where memory gets to see it; values that are only moved keep theirs.
#[test]
fn nans_and_moves() {
    let nan = 0x7ff8_0000_1234_5678;
    let [one, two, three] = [1f64, 2.0, 3.0].map(f64::to_bits);
    let mut sum = Device::new(&[Type::F64; 2], |b, x| b.or_nan(b.fadd(x[0], x[1]), x[1]));
    assert_eq!(sum.apply(&[one, nan]), nan);
    assert_eq!(sum.apply(&[one, two]), three);
    let mut chosen = Device::new(&[Type::F64; 2], |b, x| {
        let is_less = b.flt(x[0], x[1]);
        b.select(is_less, x[0], x[1])
    });
    assert_eq!(chosen.apply(&[two, nan]), nan);
    assert_eq!(chosen.apply(&[two, three]), two);
    let mut constant = Device::new(&[Type::F64], |b, x| b.binary(Binary::FMul, b.f64(1.5), x[0]));
    assert_eq!(constant.apply(&[two]), three);
}

#[test]
fn atomic_sums() {
    let mut function = Function::default();
    let operand = function.var(Type::I64);
    let b = Builder::new(&mut function);
    let operand = b.get(operand);
    let address = b.i32(0);
    let initial = b.i64(1.5f64.to_bits());
    let access = access(Space::Shared, 8);
    b.store(access, address, vec![initial]);
    let old = b.value(Type::I64);
    b.atomic(Atomic { result: Some(old), op: AtomicOp::FAdd, access, address, operand, compare: None });
    // The old content is seen as well.
    let new = b.load_one(access, address);
    let both = b.value(Type::I64);
    b.push(Stmt::Let(both, Op::Binary(Binary::Xor, old, new)));
    b.store(access, address, vec![both]);
    b.finish();
    let mut device = Device::of(function);
    for x in [0.25, -1.5, 1e300, f64::MIN_POSITIVE / 4.0] {
        assert_eq!(device.apply(&[x.to_bits()]), 1.5f64.to_bits() ^ (1.5 + x).to_bits(), "{x:e}");
    }
}
