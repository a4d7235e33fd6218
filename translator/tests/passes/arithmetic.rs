//! Emulated float arithmetic against correctly rounded references: the host's, and rustc_apfloat where it has the
//! operation. The interpreter plays devices whose own arithmetic is wrong where no fact vouches for it.

use super::device;
use super::exact::{self, Operation, cases, nan};
use super::shape::Shape;
use super::support::{Random, target};
use ptx2spv_translator::internals::ir::{Rounding, Type, bits_type};
use ptx2spv_translator::target::Facts;
use ptx2spv_translator::{Math, Options, Program, Source, Target, Topic};

/// The host's result; of NaN, NVIDIA's.
fn reference(operation: Operation, ty: Type, [x, y, z]: [u64; 3]) -> u64 {
    let (bits, is_nan) = if ty == Type::F32 {
        let [a, b, c] = [x, y, z].map(|bits| f32::from_bits(bits as u32));
        let result = match operation {
            Operation::Fma => a.mul_add(b, c),
            Operation::Div => a / b,
            _ => a.sqrt(),
        };
        (result.to_bits().into(), result.is_nan())
    } else {
        let [a, b, c] = [x, y, z].map(f64::from_bits);
        let result = match operation {
            Operation::Fma => a.mul_add(b, c),
            Operation::Div => a / b,
            _ => a.sqrt(),
        };
        (result.to_bits(), result.is_nan())
    };
    if is_nan { nan(ty) } else { bits }
}

/// A device that applies an operation.
struct Device<'t> {
    operation: Operation,
    ty: Type,
    target: &'t Target,
    device: device::Device,
}

impl<'t> Device<'t> {
    fn new(operation: Operation, ty: Type, target: &'t Target) -> Self {
        let device = device::Device::new(target, [ty; 3], |b, operands| {
            if !target.quirks.double_divisions_wrong {
                return b.rounded(Rounding::NearestEven, operation.of(operands));
            }
            let bits = b.var(bits_type(ty));
            b.loop_(|b| {
                b.if_(b.is_zero(b.i32(0)), |b| {
                    b.set(bits, b.bits(b.rounded(Rounding::NearestEven, operation.of(operands))));
                });
                b.break_();
            });
            b.get(bits)
        });
        Self { operation, ty, target, device }
    }

    /// Whether the device computes the operation itself.
    fn has_own(&self) -> bool {
        let name = match self.operation {
            Operation::Fma => "fma ",
            Operation::Div => "fdiv ",
            _ => "sqrt ",
        };
        let text = self.device.function.to_string();
        text.lines().any(|line| [": f32 =", ": f64 ="].iter().any(|ty| line.contains(&format!("{ty} {name}"))))
    }

    /// Compares a result with the reference, and at times that with a second one.
    fn check(&mut self, operands: [u64; 3]) {
        let Self { operation, ty, target, device } = self;
        let result = device.apply(&operands);
        // The NaN of a device that rounds once is its own.
        let result = match ty {
            Type::F32 if f32::from_bits(result as u32).is_nan() && target.facts.fma_f32_fused => nan(*ty),
            // Likewise that of a device that divides in most places.
            Type::F64 if f64::from_bits(result).is_nan() && target.quirks.double_divisions_wrong => {
                let given = operands[..2].iter().find(|bits| f64::from_bits(**bits).is_nan());
                assert_eq!(result, given.map_or(nan(*ty), |bits| bits | 1 << 51), "{operands:#x?}");
                nan(*ty)
            }
            _ => result,
        };
        let expected = reference(*operation, *ty, operands);
        assert_eq!(result, expected, "{operation:?} {ty:?} {}: {operands:#x?}, {expected:#x}", target.name);
        if operands[2].is_multiple_of(16) {
            let second = exact::reference(*operation, Rounding::NearestEven, *ty, operands);
            assert_eq!(expected, second, "references differ");
        }
    }
}

fn check(operation: Operation, ty: Type, target: &Target, others: u32) {
    let expanded = match (operation, ty) {
        (Operation::Fma, Type::F32) => !target.facts.fma_f32_fused || !target.facts.fma_f32_denormals,
        (Operation::Fma, _) => !target.facts.fma_f64_fused,
        (Operation::Div, Type::F32) => !target.facts.div_f32_rounded,
        (Operation::Div, _) => !target.facts.div_f64_rounded || target.quirks.double_divisions_wrong,
        (_, Type::F32) => !target.facts.sqrt_f32_rounded,
        (_, _) => !target.facts.sqrt_f64_rounded,
    };
    assert!(expanded, "the test is of emulations");
    let mut device = Device::new(operation, ty, target);
    cases(Shape::of(ty), operation, 13, others).for_each(|operands| device.check(operands));
}

fn exact_double(denormals_f32_kept: bool) -> Target {
    let facts = Facts { div_f64_rounded: true, sqrt_f64_rounded: true, denormals_f32_kept, ..Facts::default() };
    target(if denormals_f32_kept { "exact F64" } else { "exact F64, flushing" }, true, facts)
}

fn unknown(has_double: bool) -> Target {
    target(if has_double { "unknown" } else { "unknown, no F64" }, has_double, Facts::default())
}

#[test]
fn fma_f32_through_f64() {
    check(Operation::Fma, Type::F32, &Target::preset("lavapipe").expect("a preset"), 1_000_000);
    check(Operation::Fma, Type::F32, &unknown(true), 500_000);
}

#[test]
fn fma_f32_on_integers() {
    check(Operation::Fma, Type::F32, &unknown(false), 500_000);
}

/// Devices that fuse but flush, with and without other means to do better.
fn flushing_fma() -> [Target; 3] {
    let fused = |denormals_f32_kept| Facts { fma_f32_fused: true, denormals_f32_kept, ..Facts::default() };
    [
        target("flushing Fma", true, fused(true)),
        target("all flushing", true, fused(false)),
        target("flushing Fma, no F64", false, fused(true)),
    ]
}

#[test]
fn fma_f32_on_a_device_that_flushes() {
    let [double, flushing, integers] = flushing_fma();
    check(Operation::Fma, Type::F32, &double, 1_000_000);
    check(Operation::Fma, Type::F32, &flushing, 200_000);
    check(Operation::Fma, Type::F32, &integers, 200_000);
}

#[test]
fn fma_f32_with_denormals() {
    let magnitudes = |low: f64| {
        let least = f64::from(f32::from_bits(1));
        [low, low + least, low * 1.5, low * (2.0 - f64::from(f32::EPSILON))].map(|x| (x as f32).to_bits())
    };
    let exponents = [-149, -148, -140, -127, -126, -125, -103, -102, -101, -100, -77, -76, -75, -64, -63, -62, -50];
    let exponents = exponents.into_iter().chain([-24, -23, -1, 0, 1, 23, 24, 25, 63, 64, 100, 126, 127]);
    let mut interesting: Vec<u32> = exponents.flat_map(|exponent| magnitudes(2f64.powi(exponent))).collect();
    interesting.extend([0, 0x7f_ffff, 0x80_0001, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000]);
    interesting.sort_unstable();
    interesting.dedup();
    let tiny = [0, 1, 2, 0x40_0000, 0x7f_ffff, 0x80_0000, 0x80_0001, 0x100_0000];
    for target in flushing_fma() {
        let mut device = Device::new(Operation::Fma, Type::F32, &target);
        let mut all_signs = |[x, y, z]: [u32; 3]| {
            for signs in 0..8u32 {
                let sign = |bit: u32| (signs >> bit & 1) << 31;
                device.check([x | sign(0), y | sign(1), z | sign(2)].map(u64::from));
            }
        };
        for (index, &x) in interesting.iter().enumerate() {
            for (other, &y) in interesting.iter().enumerate() {
                let product = (f32::from_bits(x) * f32::from_bits(y)).to_bits() & 0x7fff_ffff;
                // Near cancellation, ties broken by next to nothing, and every kind of addend now and then.
                let near = [product.saturating_sub(1), product, product.saturating_add(1).min(0x7f80_0000)];
                let addends = near.into_iter().chain(tiny);
                addends.for_each(|z| all_signs([x, y, z]));
                interesting.iter().skip((7 * index + other) % 29).step_by(29).for_each(|&z| all_signs([x, y, z]));
            }
        }
    }
}

#[test]
fn fma_f64() {
    check(Operation::Fma, Type::F64, &Target::preset("lavapipe").expect("a preset"), 1_000_000);
}

#[test]
fn division_f32_through_f64() {
    check(Operation::Div, Type::F32, &exact_double(true), 500_000);
    check(Operation::Div, Type::F32, &exact_double(false), 500_000);
}

#[test]
fn division_on_integers() {
    check(Operation::Div, Type::F32, &unknown(true), 500_000);
    check(Operation::Div, Type::F64, &unknown(true), 1_000_000);
}

/// Devices that fuse, and divide and take roots within Vulkan's bounds.
fn fusing(has_double: bool, denormals_f32_kept: bool) -> Target {
    let fma =
        Facts { fma_f32_fused: true, fma_f64_fused: true, fma_f32_denormals: denormals_f32_kept, ..Facts::default() };
    let name = if denormals_f32_kept { "fusing" } else { "fusing, flushing" };
    target(name, has_double, Facts { denormals_f32_kept, ..fma })
}

#[test]
fn division_by_fma() {
    check(Operation::Div, Type::F32, &fusing(true, true), 200_000);
    check(Operation::Div, Type::F32, &fusing(false, false), 200_000);
    check(Operation::Div, Type::F64, &fusing(true, true), 200_000);
}

/// Divisors next to a power of two, whose reciprocals lie next to the middle of two floats, with dividends next to powers of two and others.
#[test]
fn division_by_fma_next_to_powers_of_two() {
    for (ty, one, fraction) in [(Type::F32, 0x3f80_0000, (1 << 23) - 1), (Type::F64, 0x3ff0 << 48, (1 << 52) - 1)] {
        let target = fusing(true, true);
        let mut device = Device::new(Operation::Div, ty, &target);
        let mut random = Random::new(36);
        for distance in 0..64 {
            for divisor in [one + fraction - distance, one + distance] {
                let next = (0..16).flat_map(|step| [one + step, one + fraction - step]);
                let others = (0..1000).map(|_| one + (random.bits() & fraction));
                for dividend in next.chain(others) {
                    device.check([dividend, divisor, 0]);
                }
            }
        }
    }
}

/// Quotients on `F32` as near the middle of two numbers as there are: an odd number of 2^-25 divisors apart.
#[test]
fn division_by_fma_next_to_ties() {
    let target = fusing(true, true);
    let mut device = Device::new(Operation::Div, Type::F32, &target);
    let mut random = Random::new(41);
    let divisors = (0..512).map(|step| (1 << 24) - 1 - 2 * step);
    let others = (0..4000).map(|_| (1 << 23) | (random.bits() & 0x7f_ffff) | 1);
    for divisor in divisors.chain(others) {
        // Newton's method doubles the bits of the inverse modulo 2^64.
        let inverse = (0..6)
            .fold(divisor, |inverse: u64, _| inverse.wrapping_mul(2u64.wrapping_sub(divisor.wrapping_mul(inverse))));
        for (apart, places) in (-9..=9i64).step_by(2).flat_map(|apart| [(apart, 24), (apart, 25)]) {
            // The middle times the divisor, less than a multiple of 2^places by what they are apart.
            let middle = (apart as u64).wrapping_neg().wrapping_mul(inverse) & ((1 << places) - 1);
            let middle = middle | (u64::from(places == 24) << 24);
            let dividend = (middle * divisor).wrapping_add_signed(apart) >> places;
            if (1 << 24..1 << 25).contains(&middle) && (1 << 23..1 << 24).contains(&dividend) {
                device.check([dividend, divisor, 0].map(|significand| (significand & 0x7f_ffff) | 0x3f80_0000));
            }
        }
    }
}

#[test]
fn sqrt_by_fma() {
    check(Operation::Sqrt, Type::F32, &fusing(true, true), 100_000);
    check(Operation::Sqrt, Type::F32, &fusing(false, false), 100_000);
    let mut right_at_ends = fusing(false, true);
    right_at_ends.facts.roots_f32_ends = true;
    check(Operation::Sqrt, Type::F32, &right_at_ends, 100_000);
    // Significands of odd and even exponents, at even distances.
    let mut device = Device::new(Operation::Sqrt, Type::F32, &right_at_ends);
    for operand in (0x3f80_0000..0x4080_0000).step_by(509) {
        device.check([operand, 0, 0]);
    }
}

#[test]
fn division_f64_by_fma_under_conditions_in_loops() {
    let mut target = target("divides wrong there", true, Facts { roots_f32_ends: false, ..Facts::ALL });
    target.quirks.double_divisions_wrong = true;
    check(Operation::Div, Type::F64, &target, 1_000_000);
}

#[test]
fn sqrt_f32() {
    check(Operation::Sqrt, Type::F32, &exact_double(true), 500_000);
    check(Operation::Sqrt, Type::F32, &exact_double(false), 500_000);
    check(Operation::Sqrt, Type::F32, &unknown(false), 500_000);
}

#[test]
fn sqrt_f64() {
    check(Operation::Sqrt, Type::F64, &unknown(true), 50_000);
}

#[test]
fn what_the_device_does_right_stays() {
    let target = target("right", true, Facts::ALL);
    for operation in [Operation::Fma, Operation::Div, Operation::Sqrt] {
        for ty in [Type::F32, Type::F64] {
            assert!(Device::new(operation, ty, &target).has_own());
            assert!(!Device::new(operation, ty, &unknown(false)).has_own());
        }
    }
}

#[test]
fn fast_math_takes_the_device_as_it_is() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n\
        .visible .entry k(.param .u64 p) {\n\
        .reg .u64 %a;\n.reg .f32 %x;\n\
        ld.param.u64 %a, [p];\nld.global.f32 %x, [%a];\n\
        fma.rn.f32 %x, %x, %x, %x;\ndiv.rn.f32 %x, %x, %x;\nsqrt.rn.f32 %x, %x;\n\
        st.global.f32 [%a], %x;\nret;\n}\n";
    let source = Source::new("k.ptx", text);
    let program = Program::new(&source).expect("valid PTX");
    let target = unknown(true);
    let has_own = |math| {
        let translation = program.translate(&Options::new(&target).math(math)).expect("translatable");
        assert_eq!(translation.interface.math, math);
        let assembly = translation.disassemble();
        [" Fma ", "OpFDiv", " Sqrt "].map(|name| assembly.contains(name))
    };
    assert_eq!(has_own(Math::FAST), [true; 3]);
    // The emulated root begins with the device's.
    assert_eq!(has_own(Math::EXACT), [false, false, true]);
}

/// A kernel of one instruction on f32.
fn assembly(instruction: &str, math: Math, target: &Target) -> String {
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .u64 %a;\n.reg .f32 %x;\nld.param.u64 %a, [p];\nld.global.f32 %x, [%a];\n\
         {instruction}\nst.global.f32 [%a], %x;\nret;\n}}\n"
    );
    let source = Source::new("k.ptx", text);
    let program = Program::new(&source).expect("valid PTX");
    program.translate(&Options::new(target).math(math)).expect("translatable").disassemble()
}

#[test]
fn each_topic_changes_its_own_instructions() {
    let target = unknown(true);
    let instructions = [
        (Topic::Fma, "fma.rn.f32 %x, %x, %x, %x;"),
        (Topic::Division, "div.rn.f32 %x, %x, %x;"),
        (Topic::Division, "sqrt.rn.f32 %x, %x;"),
        (Topic::Denormals, "mul.ftz.f32 %x, %x, %x;"),
        (Topic::Approximate, "ex2.approx.f32 %x, %x;"),
        (Topic::Approximate, "rsqrt.approx.f32 %x, %x;"),
        (Topic::Nan, "add.f32 %x, %x, %x;"),
        (Topic::Rounding, "cvt.rmi.f32.f32 %x, %x;"),
        (Topic::Constants, "add.f32 %x, %x, 0f3F800000;"),
    ];
    for (its_own, instruction) in instructions {
        let exact = assembly(instruction, Math::default(), &target);
        for topic in Topic::ALL {
            let changed = assembly(instruction, Math::EXACT.with(*topic, true), &target) != exact;
            // Which NaN it is concerns all; expansions convert to f64, with denormals, and have constants; and that of 2^x rounds.
            let by_parts = matches!(topic, Topic::Nan | Topic::Denormals | Topic::Constants)
                || (its_own, *topic) == (Topic::Approximate, Topic::Rounding);
            let concerns = *topic == its_own || by_parts;
            assert!(concerns || !changed, "{instruction} with {}=fast", topic.name());
            assert!(changed || *topic != its_own, "{instruction} with {}=fast", topic.name());
        }
    }
}

#[test]
fn nans_cost_nothing_where_only_floats_use_them() {
    let target = target("right", true, Facts::ALL);
    let selections = |instructions| assembly(instructions, Math::EXACT, &target).matches("OpSelect ").count();
    assert_eq!(selections("add.f32 %x, %x, %x;"), 1);
    assert_eq!(selections("add.f32 %x, %x, %x;\nmul.f32 %x, %x, %x;\nsub.f32 %x, %x, %x;"), 1);
    let target = Target { facts: Facts { nan_f32_nvidia: true, ..Facts::ALL }, ..unknown(true) };
    assert!(!assembly("add.f32 %x, %x, %x;", Math::EXACT, &target).contains("OpSelect "));
}

#[test]
fn roots_that_are_right_at_the_ends_stand_alone() {
    let target = target("right", true, Facts::TRUSTED);
    for (instruction, function) in [
        ("sqrt.approx.f32", " Sqrt "),
        ("rsqrt.approx.f32", " InverseSqrt "),
        ("rsqrt.approx.ftz.f32", " InverseSqrt "),
    ] {
        let assembly = assembly(&format!("{instruction} %x, %x;"), Math::EXACT, &target);
        assert!(assembly.contains(function), "{assembly}");
        for other in ["OpSelect ", "OpFMul ", "OpFOrdLessThan ", "OpBitwiseAnd "] {
            assert!(!assembly.contains(other), "{assembly}");
        }
    }
}

#[test]
fn doubles_whose_denormals_may_be_flushed_are_not_used() {
    let facts = Facts { denormals_f64_kept: false, ..Facts::default() };
    let flushing = Target { facts: facts.clone(), ..target("f64", true, Facts::default()) };
    let without = Target { facts, ..target("f64", false, Facts::default()) };
    let keeping = target("f64", true, Facts::default());
    for instruction in [
        "cvt.f64.f32 %d, %x; add.rn.f64 %d, %d, %d; cvt.rn.f32.f64 %x, %d;",
        "cvt.f64.f32 %d, %x; rsqrt.approx.f64 %d, %d; cvt.rn.f32.f64 %x, %d;",
        "cvt.f64.f32 %d, %x; atom.global.add.f64 %d, [%a], %d;",
        "fma.rn.f32 %x, %x, %x, %x;",
        "fma.rz.ftz.f32 %x, %x, %x, %x;",
        "add.rz.f32 %x, %x, %x;",
        "div.rn.f32 %x, %x, %x;",
        "sqrt.rn.f32 %x, %x;",
        "sqrt.approx.f32 %x, %x;",
    ] {
        let instruction = format!(".reg .f64 %d;\n{instruction}");
        let [flushing, without, keeping] =
            [&flushing, &without, &keeping].map(|target| assembly(&instruction, Math::EXACT, target));
        assert_eq!(flushing, without, "{instruction}");
        assert!(!flushing.contains("OpCapability Float64"), "{flushing}");
        // Quotients and roots need further facts.
        let is_used = keeping.contains("OpCapability Float64");
        assert_eq!(is_used, !instruction.contains("div") && !instruction.contains("sqrt.rn"), "{instruction}");
    }
}
