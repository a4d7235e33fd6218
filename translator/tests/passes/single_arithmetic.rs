//! `F32` to nearest on devices that flush denormals, round badly or have no `F64`, against the host's arithmetic. The
//! interpreter plays such devices: they flush now and then, and what no fact vouches for is wrong.

use super::device::{Device, start};
use super::exact::nan;
use super::shape::Shape;
use super::support::{Random, access, target};
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{
    Arithmetic, Atomic, AtomicOp, Builder, Compare, Rounding, Space, Stmt, Type, Unary, Value, mask,
};
use ptx2spv_translator::target::Facts;

/// A device that applies a function of floats, with NVIDIA's NaN.
fn of_floats<const N: usize>(target: &Target, apply: impl FnOnce(&Builder<'_>, [Value; N]) -> Value) -> Device {
    Device::new(target, [Type::F32; N], |b, operands| {
        let result = apply(b, operands);
        b.or_nan(result, b.constant(Type::F32, nan(Type::F32)))
    })
}

/// Bits of a result, NVIDIA's of NaN.
fn bits(result: f32) -> u64 {
    if result.is_nan() { nan(Type::F32) } else { result.to_bits().into() }
}

/// A device whose compiler makes nothing wrong of operands that it knows.
fn known_operands_right() -> Facts {
    Facts {
        known_specials_f32_right: true,
        known_constants_f32_right: true,
        known_factors_f32_right: true,
        known_specials_f64_right: true,
        known_constants_f64_right: true,
        ..Facts::default()
    }
}

/// Devices without `F64`, but for the last.
fn targets() -> [Target; 4] {
    let flushing = Facts { normal_f32_exact: true, ..known_operands_right() };
    let good = Facts {
        fma_f32_fused: true,
        div_f32_normal: true,
        sqrt_f32_normal: true,
        rounding_exact: true,
        convert_f32_exact: true,
        ..flushing.clone()
    };
    let doubles = Facts {
        denormals_f64_kept: true,
        fma_f64_fused: true,
        div_f64_rounded: true,
        sqrt_f64_rounded: true,
        ..flushing.clone()
    };
    [("flushing", flushing), ("flushing, else right", good), ("untrusted", Facts::default()), ("with F64", doubles)]
        .map(|(name, facts)| target(name, name == "with F64", facts))
}

/// Numbers at the thresholds between ways of computing, and their neighbours.
fn corners() -> Vec<u32> {
    let exponents = [0, 1, 2, 24, 25, 26, 27, 28, 29, 30, 31, 40, 50, 66, 67, 68, 102, 103, 104, 126, 127, 128, 150];
    let exponents = exponents.into_iter().chain([151, 175, 190, 215, 230, 253, 254]);
    let mut list: Vec<u32> =
        exponents.flat_map(|exponent| [0, 1, 0x40_0001, 0x7f_fffe, 0x7f_ffff].map(|f| exponent << 23 | f)).collect();
    list.extend([2, 3, 0x20_0000, 0x40_0000, 0x7f80_0000, 0x7fc0_0001, 0x7fff_ffff]);
    list.extend(list.clone().into_iter().map(|bits| bits | 1 << 31));
    list
}

/// Pairs of corners, and random operands: many of them tiny, many with results that cancel, or of which little is left.
fn operands(cases: u32) -> impl Iterator<Item = [u32; 3]> {
    let corners = corners();
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut list = Vec::new();
    for &x in &corners {
        for &y in &corners {
            list.push([x, y, random.pick(&corners)]);
        }
    }
    let shape = Shape::of(Type::F32);
    for case in 0..cases {
        let mut any = || {
            let bits = shape.random(&mut random) as u32;
            // Tiny ones, and such whose product is.
            match random.below(4) {
                0 => bits & 0x80ff_ffff | (random.below(4) as u32) << 23,
                1 => bits & 0x807f_ffff | (58 + random.below(12) as u32) << 23,
                _ => bits,
            }
        };
        let [x, y, z] = [any(), any(), any()];
        let product = (f32::from_bits(x) * f32::from_bits(y)).to_bits().into();
        list.push(match case % 4 {
            0 => [x, y, z],
            1 => [x, shape.near(x.into(), &mut random) as u32, z],
            2 => [x, y, shape.near(product, &mut random) as u32],
            _ => [shape.near(product, &mut random) as u32, x, y],
        });
    }
    list.into_iter()
}

fn words(operands: [u32; 3]) -> [u64; 3] {
    operands.map(u64::from)
}

fn check(cases: u32, apply: fn(Value, Value, Value) -> Arithmetic, right: fn(f32, f32, f32) -> f32) {
    for target in &targets() {
        let what = format!("{:?}", apply(Value(0), Value(1), Value(2)));
        let mut device = of_floats(target, |b, [x, y, z]| b.rounded(Rounding::NearestEven, apply(x, y, z)));
        for operands in operands(cases) {
            let [x, y, z] = operands.map(f32::from_bits);
            device.check(format_args!("{what}"), &words(operands), bits(right(x, y, z)));
        }
    }
}

#[test]
fn sums() {
    check(200_000, |x, y, _| Arithmetic::Add(x, y), |x, y, _| x + y);
    check(100_000, |x, y, _| Arithmetic::Sub(x, y), |x, y, _| x - y);
}

#[test]
fn products() {
    check(200_000, |x, y, _| Arithmetic::Mul(x, y), |x, y, _| x * y);
}

#[test]
fn fused_products() {
    check(300_000, Arithmetic::Fma, f32::mul_add);
}

/// Multiply-adds that are tested together, with sums of them between and after them, on devices with F64 and without it.
#[test]
fn fused_products_of_each_other() {
    let polaris = Target::preset("amd-gcn").expect("a preset");
    for target in targets().iter().chain([&polaris]) {
        let mut device = of_floats(target, |b, [x, y, z]| {
            let fma = |x, y, z| b.rounded(Rounding::NearestEven, Arithmetic::Fma(x, y, z));
            let add = |x, y| b.rounded(Rounding::NearestEven, Arithmetic::Add(x, y));
            let first = fma(x, y, z);
            let second = fma(first, y, add(first, z));
            add(fma(b.f32(0.5), second, first), fma(second, second, b.f32(1e-30)))
        });
        for operands in operands(60_000).step_by(5) {
            let [x, y, z] = operands.map(f32::from_bits);
            let first = x.mul_add(y, z);
            let second = first.mul_add(y, first + z);
            let expected = 0.5f32.mul_add(second, first) + second.mul_add(second, 1e-30);
            device.check(format_args!("a chain"), &words(operands), bits(expected));
        }
    }
}

#[test]
fn quotients() {
    check(100_000, |x, y, _| Arithmetic::Div(x, y), |x, y, _| x / y);
}

#[test]
fn roots() {
    check(60_000, |x, _, _| Arithmetic::Sqrt(x), |x, _, _| x.sqrt());
}

/// Quotients and roots that are tested together for extreme operands, some of which only the device's own results are.
#[test]
fn quotients_and_roots_of_each_other() {
    let rdna = Target::preset("amd-rdna").expect("a preset");
    let mut device = of_floats(&rdna, |b, [x, y, z]| {
        let root = b.sqrt(b.fdiv(x, y));
        b.fdiv(b.fadd(b.sqrt(b.fmul(root, z)), b.f32(1.0)), b.fsub(root, b.f32(3.0)))
    });
    for operands in operands(20_000) {
        let [x, y, z] = operands.map(f32::from_bits);
        let root = (x / y).sqrt();
        let expected = ((root * z).sqrt() + 1.0) / (root - 3.0);
        device.check(format_args!("a chain"), &words(operands), bits(expected));
    }
}

/// Chains of quotients and roots whose last result goes on into other operations, with and without operands that give
/// infinities or NaNs there.
#[test]
fn ends_of_quotients_and_roots_of_each_other() {
    type Chain = (&'static str, fn(&Builder<'_>, [Value; 3]) -> Value, fn([f32; 3]) -> f32);
    let chains: [Chain; 6] = [
        (
            "a continued fraction",
            |b, [x, ..]| {
                let square = b.fmul(x, x);
                let below = [9.0, 7.0, 5.0, 3.0]
                    .into_iter()
                    .fold(b.f32(11.0), |below, odd: f32| b.fsub(b.f32(odd), b.fdiv(square, below)));
                b.fdiv(x, below)
            },
            |[x, ..]| x / [9.0, 7.0, 5.0, 3.0].into_iter().fold(11.0, |below, odd| odd - x * x / below),
        ),
        (
            "means",
            |b, [x, y, _]| {
                let half = b.f32(0.5);
                let mean = |x, y| b.fmul(b.fadd(x, y), half);
                let (root, between) = (b.sqrt(b.fmul(x, y)), mean(x, y));
                mean(b.sqrt(b.fmul(root, between)), mean(root, between))
            },
            |[x, y, _]| {
                let (root, between) = ((x * y).sqrt(), (x + y) * 0.5);
                ((root * between).sqrt() + (root + between) * 0.5) * 0.5
            },
        ),
        ("a sum with any number", |b, [x, y, z]| b.fsub(b.fadd(b.sqrt(x), y), z), |[x, y, z]| x.sqrt() + y - z),
        ("a product with any number", |b, [x, y, z]| b.fmul(b.fdiv(x, y), z), |[x, y, z]| x / y * z),
        (
            "a product with a zero",
            |b, [x, y, _]| {
                let root = b.sqrt(b.fmul(x, y));
                b.fmul(b.fmul(root, y), b.f32(0.0))
            },
            |[x, y, _]| (x * y).sqrt() * y * 0.0,
        ),
        (
            "what may be infinite",
            |b, [x, y, _]| {
                let root = b.sqrt(b.fmul(x, y));
                b.fsub(b.fmul(y, b.fmul(root, root)), b.fmul(y, y))
            },
            |[x, y, _]| {
                let root = (x * y).sqrt();
                y * (root * root) - y * y
            },
        ),
    ];
    let rdna = Target::preset("amd-rdna").expect("a preset");
    for (name, chain, expected) in chains {
        let mut device = of_floats(&rdna, chain);
        for operands in operands(20_000).step_by(5) {
            let right = expected(operands.map(f32::from_bits));
            device.check(format_args!("{name}"), &words(operands), bits(right));
        }
    }
}

#[test]
fn sums_with_constants() {
    for constant in [1.0, -3e-30, 1e-37, 0.0, -0.0, f32::from_bits(5), f32::INFINITY] {
        for target in &targets() {
            let mut device = of_floats(target, |b, [x]| b.fadd(x, b.f32(constant)));
            for [x, ..] in operands(2_000) {
                device.check(format_args!("a sum with a constant"), &[x.into()], bits(f32::from_bits(x) + constant));
            }
        }
    }
}

#[test]
fn comparisons() {
    type Holds = fn(f32, f32) -> bool;
    let comparisons: [(Compare, Holds); 4] = [
        (Compare::FEqual, |x, y| x == y),
        (Compare::FNotEqual, |x, y| x != y),
        (Compare::FLess, |x, y| x < y),
        (Compare::FLessEqual, |x, y| x <= y),
    ];
    for target in &targets() {
        for (compare, holds) in comparisons {
            let mut device = Device::new(target, [Type::F32; 2], |b, [x, y]| b.compare(compare, x, y));
            for operands in operands(20_000) {
                let [x, y, _] = operands.map(f32::from_bits);
                device.check(format_args!("{compare:?}"), &words(operands)[..2], holds(x, y).into());
            }
            for constant in [0.0, -0.0, 1.0, f32::from_bits(1), f32::NAN] {
                for swapped in [false, true] {
                    let mut device = Device::new(target, [Type::F32], |b, [x]| {
                        let operands = [x, b.f32(constant)];
                        b.compare(compare, operands[usize::from(swapped)], operands[usize::from(!swapped)])
                    });
                    for [x, ..] in operands(500) {
                        let float = f32::from_bits(x);
                        let holds = if swapped { holds(constant, float) } else { holds(float, constant) };
                        device.check(format_args!("{compare:?} {constant} {swapped}"), &[x.into()], holds.into());
                    }
                }
            }
        }
    }
}

/// Integers with few bits set, with ties, and at the ends of their ranges.
fn integers() -> Vec<u64> {
    let mut random = Random::new(23);
    let mut list = vec![0, 1, 2, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 31, (1 << 31) - 1, u32::MAX.into(), 1 << 32];
    for _ in 0..20_000 {
        let noise = random.bits() >> random.below(64);
        let sparse = (1 << random.below(64)) | (1 << random.below(64)) | (1u64 << random.below(64));
        list.extend([noise, sparse, sparse.wrapping_sub(1), !sparse]);
    }
    list
}

#[test]
fn floats_from_integers() {
    for target in &targets() {
        for wide in [false, true] {
            for signed in [false, true] {
                let convert = if signed { Unary::SignedToFloat } else { Unary::UnsignedToFloat };
                let from = if wide { Type::I64 } else { Type::I32 };
                let mut device = Device::new(target, [from], |b, [integer]| b.unary(convert(Type::F32), integer));
                for integer in integers() {
                    let low = integer as u32;
                    let expected = match (wide, signed) {
                        (false, false) => low as f32,
                        (false, true) => low as i32 as f32,
                        (true, false) => integer as f32,
                        (true, true) => integer as i64 as f32,
                    };
                    device.check(format_args!("a conversion"), &[integer & mask(from)], bits(expected));
                }
            }
        }
    }
}

#[test]
fn rounding_to_whole_numbers() {
    type Right = fn(f32) -> f32;
    let functions: [(Unary, Right); 4] = [
        (Unary::Trunc, f32::trunc),
        (Unary::RoundEven, f32::round_ties_even),
        (Unary::Floor, f32::floor),
        (Unary::Ceil, f32::ceil),
    ];
    for target in &targets() {
        for (op, right) in functions {
            let mut device = of_floats(target, |b, [x]| b.unary(op, x));
            for [x, ..] in operands(10_000) {
                device.check(format_args!("{op:?}"), &[x.into()], bits(right(f32::from_bits(x))));
            }
        }
    }
}

#[test]
fn conversions_to_f64_and_back() {
    let [.., target] = &targets();
    let mut wide = Device::new(target, [Type::F32], |b, [x]| b.widen(x));
    let mut narrow = Device::new(target, [Type::F64], |b, [x]| {
        let result = b.narrow(x);
        b.or_nan(result, b.constant(Type::F32, nan(Type::F32)))
    });
    for [x, y, _] in operands(20_000) {
        let float = f64::from(f32::from_bits(x));
        if !float.is_nan() {
            wide.check(format_args!("widening"), &[x.into()], float.to_bits());
        }
        let float = float * f64::from(f32::from_bits(y));
        narrow.check(format_args!("narrowing"), &[float.to_bits()], bits(float as f32));
    }
}

/// The sum that a reduction leaves in a memory.
fn reduce(target: &Target, space: Space, right: fn(f32, f32) -> f32) {
    let mut device = Device::new(target, [Type::I32; 2], |b, [old, operand]| {
        let (address, access) = (start(b, space), access(space, 4));
        b.store(access, address, vec![old]);
        b.push(Stmt::Atomic(Atomic { result: None, op: AtomicOp::FAdd, access, address, operand, compare: None }));
        b.load_one(access, address)
    });
    for operands in operands(20_000) {
        let [x, y, _] = operands.map(f32::from_bits);
        let expected = right(x, y);
        if !expected.is_nan() {
            device.check(format_args!("a reduction in {space:?} memory"), &words(operands)[..2], bits(expected));
        }
    }
}

#[test]
fn reductions() {
    for target in &targets() {
        reduce(target, Space::Shared, |x, y| x + y);
        reduce(target, Space::Global, |x, y| {
            let flush = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
            flush(flush(x) + flush(y))
        });
    }
}

/// The cost of a kernel's sum, product and fused product on a device that is right about normal numbers: operations
/// that run where no denormal is near.
#[test]
fn the_common_case_is_short() {
    let [target, ..] = &targets();
    let steps = |apply: fn(Value, Value, Value) -> Arithmetic| {
        let mut device =
            Device::new(target, [Type::F32; 3], |b, [x, y, z]| b.rounded(Rounding::NearestEven, apply(x, y, z)));
        device.apply(&words([1.5f32, 2.5, 0.3].map(f32::to_bits)));
        device.steps
    };
    // Reading operands and storing the result is ten of them.
    assert!(steps(|x, y, _| Arithmetic::Add(x, y)) <= 22);
    assert!(steps(|x, y, _| Arithmetic::Mul(x, y)) <= 24);
    assert!(steps(Arithmetic::Fma) <= 80);
}
