//! 64-bit floats on targets that have none, against rustc_apfloat and the host's own arithmetic (which is IEEE 754's).

use super::device::{self, start};
use super::exact::{self, Operation, cases};
use super::shape::Shape;
use super::support::{Random, access, target};
use ptx2spv_translator::internals::ir::{
    Arithmetic, Atomic, AtomicOp, Binary, Builder, Compare, Op, Rounding, Space, Stmt, Type, Unary, Value,
};
use ptx2spv_translator::target::Facts;

const ROUNDINGS: [Rounding; 5] =
    [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up, Rounding::Odd];

/// A device without 64-bit floats that applies a function of them.
fn device<const N: usize>(types: [Type; N], compute: impl FnOnce(&Builder<'_>, [Value; N]) -> Value) -> device::Device {
    let device = device::Device::new(&target("no F64", false, Facts::default()), types, compute);
    let text = device.function.to_string();
    assert!(!text.contains("f64"), "{text}");
    device
}

fn check_arithmetic(operation: Operation, others: u32) {
    for rounding in ROUNDINGS {
        let mut device = device([Type::F64; 3], |b, operands| b.rounded(rounding, operation.of(operands)));
        for operands in cases(Shape::of(Type::F64), operation, 1, others) {
            let expected = exact::reference(operation, rounding, Type::F64, operands);
            device.check(format_args!("{operation:?} {rounding:?}"), &operands, expected);
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
        let mut device = device([Type::F64], |b, [x]| b.unary(op, x));
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
        let mut device = device([Type::F64], |b, [x]| b.unary(op, x));
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
            let mut device = device([ty], |b, [x]| b.unary(op, x));
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
    let mut widen = device([Type::F32], |b, [x]| b.widen(x));
    let shape = Shape::of(Type::F32);
    let singles: Vec<u64> = (0..30_000).map(|_| shape.random(&mut random)).chain(shape.corners()).collect();
    for &bits in &singles {
        let (found, expected) = (f64::from_bits(widen.apply(&[bits])), f64::from(f32::from_bits(bits as u32)));
        assert!(same(found, expected), "{bits:#x}: {found:e}, not {expected:e}");
    }
    for rounding in ROUNDINGS {
        let mut narrow = device([Type::F64], |b, [x]| b.rounded(rounding, Arithmetic::Narrow(x)));
        let mut check = |x: u64| {
            let expected = exact::reference(Operation::Narrow, rounding, Type::F32, [x, 0, 0]);
            narrow.check(format_args!("narrowing {rounding:?}"), &[x], expected);
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
        let mut device = device([Type::F64; 2], |b, [x, y]| b.compare(op, x, y));
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

/// The choice of a result's NaN shows where it gets to memory; values that are only moved keep theirs.
#[test]
fn nans_and_moves() {
    let nan = 0x7ff8_0000_1234_5678;
    let [one, two, three] = [1f64, 2.0, 3.0].map(f64::to_bits);
    let mut sum = device([Type::F64; 2], |b, [x, y]| b.or_nan(b.fadd(x, y), y));
    assert_eq!(sum.apply(&[one, nan]), nan);
    assert_eq!(sum.apply(&[one, two]), three);
    let mut chosen = device([Type::F64; 2], |b, x| {
        let is_less = b.flt(x[0], x[1]);
        b.select(is_less, x[0], x[1])
    });
    assert_eq!(chosen.apply(&[two, nan]), nan);
    assert_eq!(chosen.apply(&[two, three]), two);
    let mut constant = device([Type::F64], |b, [x]| b.binary(Binary::FMul, b.f64(1.5), x));
    assert_eq!(constant.apply(&[two]), three);
}

#[test]
fn atomic_sums() {
    let mut device = device([Type::I64], |b, [operand]| {
        let (address, access) = (start(b, Space::Shared), access(Space::Shared, 8));
        b.store(access, address, vec![b.i64(1.5f64.to_bits())]);
        let old = b.value(Type::I64);
        b.atomic(Atomic { result: Some(old), op: AtomicOp::FAdd, access, address, operand, compare: None });
        // The old content is seen as well.
        let both = b.value(Type::I64);
        b.push(Stmt::Let(both, Op::Binary(Binary::Xor, old, b.load_one(access, address))));
        both
    });
    for x in [0.25, -1.5, 1e300, f64::MIN_POSITIVE / 4.0] {
        assert_eq!(device.apply(&[x.to_bits()]), 1.5f64.to_bits() ^ (1.5 + x).to_bits(), "{x:e}");
    }
}
