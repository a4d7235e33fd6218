//! The instructions of the self-test, by the facts that depend on them.

use ptx2spv_translator::Feature;
use ptx2spv_translator::target::Facts;

use super::constants::{self, Known};
use super::instruction::{Fact, Instruction};
use super::judge;

/// Facts, each with the instructions that must be right for it to hold.
pub type FactTests = &'static [(Fact, &'static [Instruction])];

/// The tests of a fused multiply-add that has a feature of its own.
pub struct FusedTests {
    pub feature: Feature,
    pub fact: Fact,
    pub instructions: &'static [Instruction],
    /// Whether the device's other operations give NVIDIA's NaN, so that modules expect NVIDIA's NaN here too.
    pub has_nans: fn(&Facts) -> bool,
    pub nans: &'static [Instruction],
    pub known: &'static [Known],
}

/// Instructions, one a line: the operands to test, PTX, and the judge of results.
macro_rules! instructions {
    ($($operands:ident $text:expr => $right:expr;)*) => {
        &[$(Instruction::$operands($text, $right)),*]
    };
}

/// Facts with their instructions.
macro_rules! facts {
    ($($fact:ident { $($instructions:tt)* })*) => {
        &[$((|facts| &mut facts.$fact, instructions! { $($instructions)* })),*]
    };
}

/// The tests for `fma` as a dot product: all contexts in which a driver could separate product and sum. It may know
/// operands, reuse a product, or move one.
pub const DOT: &[Instruction] = instructions! {
    single "fma.rn.f32 %r, %a, %b, %c;" => judge::fma_f32;
    single "fma.rn.f32 %r, %a, %b, 0f00000000;" => |[a, b, _], result| judge::fma_f32([a, b, 0], result);
    single "fma.rn.f32 %r, %a, %b, 0f80000000;" => |[a, b, _], result| judge::fma_f32([a, b, 0x8000_0000], result);
    single "fma.rn.f32 %r, %a, 0f00000000, %c;" => |[a, _, c], result| judge::fma_f32([a, 0, c], result);
    single "fma.rn.f32 %r, %a, 0f3f800000, %c;" => |[a, _, c], result| judge::fma_f32([a, 0x3f80_0000, c], result);
    single "fma.rn.f32 %r, %a, 0fc0000000, %c;" => |[a, _, c], result| judge::fma_f32([a, 0xc000_0000, c], result);
    single "fma.rn.f32 %r, %a, %a, %c;" => |[a, _, c], result| judge::fma_f32([a, a, c], result);
    // The rounding error of the product.
    single "mul.rn.f32 %r, %a, %b; xor.b32 %r, %r, 0x80000000; fma.rn.f32 %r, %a, %b, %r;" => judge::product_error_f32;
    // Another product as the addend, which must not be fused instead, and as a factor.
    single "mul.rn.f32 %r, %b, %c; fma.rn.f32 %r, %a, %b, %r;"
        => |[a, b, c], result| judge::fma_f32([a, b, judge::product_f32(b, c)], result);
    single "mul.rn.f32 %r, %b, %c; fma.rn.f32 %r, %r, %a, %b;"
        => |[a, b, c], result| judge::fma_f32([judge::product_f32(b, c), a, b], result);
    // The sum is used in further arithmetic.
    single "fma.rn.f32 %r, %a, %b, %c; mul.rn.f32 %r, %r, %c; add.rn.f32 %r, %r, %a;" => judge::fused_in_a_row;
    // A branch, with the separate product in the other branch.
    single "setp.lt.f32 %p, %a, %c; @%p bra LESS; mul.rn.f32 %r, %a, %b; add.rn.f32 %r, %r, %c; bra DONE; \
        LESS: fma.rn.f32 %r, %a, %b, %c; DONE:"
        => judge::fused_if_less;
    // The sum is not needed before the condition, so the compiler may move it.
    single "fma.rn.f32 %r, %a, %b, %c; setp.lt.f32 %p, %a, %c; @%p bra DONE; mov.u32 %n, 4; \
        ROUND: add.rn.f32 %a, %a, %c; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra ROUND; \
        xor.b32 %c, %a, %r; xor.b32 %r, %a, %c; DONE:"
        => judge::fma_f32;
    // The product is loop-invariant.
    single "mov.u32 %n, 4; ROUND: fma.rn.f32 %c, %a, %b, %c; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra ROUND; \
        mov.b32 %r, %c;"
        => judge::fused_in_rounds;
};

/// Clamps to [0, 1], multiplies by 252 and rounds down, as `exp` of libraries does.
const FLOOR: &str = "cvt.sat.f32.f32 %r, %a; fma.rm.f32 %r, %r, 0f437C0000, 0f4B400001;";
/// The same for a sum.
const SUM_FLOOR: &str = "add.rn.sat.f32 %r, %a, %b; fma.rm.f32 %r, %r, 0f437C0000, 0f4B400001;";

/// Converts to f16 and from it.
const NARROW: &str = "cvt.rn.f16.f32 %half, %a; mov.b32 %r, {%half, 0};";
const WIDEN: &str = "mov.b32 {%half, %rest}, %a; cvt.f32.f16 %r, %half;";

/// The tests for a square root by its inverse.
pub const SQRT: &[Instruction] = instructions! {
    single "sqrt.rn.f32 %r, %a;" => judge::sqrt_f32;
    unary "sqrt.rn.f32 %r, %a;" => judge::sqrt_f32;
};

/// Facts about `Fma` itself.
pub const FMA: FactTests = facts! {
    fma_f32_fused {
        single "fma.rn.f32 %r, %a, %b, %c;" => judge::fma_f32_normal;
    }
    fma_f32_denormals {
        single "fma.rn.f32 %r, %a, %b, %c;" => judge::fma_f32;
    }
};

/// Fused multiply-adds by an instruction of their own, which Vulkan promises to round once.
pub const FMA_KHR: [FusedTests; 2] = [
    FusedTests {
        feature: Feature::ShaderFmaFloat32,
        fact: |facts| &mut facts.fma_khr_f32_right,
        instructions: instructions! { single "fma.rn.f32 %r, %a, %b, %c;" => judge::fma_f32; },
        has_nans: |facts| facts.nan_f32_nvidia,
        nans: instructions! { single_nan "fma.rn.f32 %r, %a, %b, %c;" => judge::nan_f32; },
        known: &[constants::SINGLE_FMA],
    },
    FusedTests {
        feature: Feature::ShaderFmaFloat64,
        fact: |facts| &mut facts.fma_khr_f64_right,
        instructions: instructions! { double "fma.rn.f64 %r, %a, %b, %c;" => judge::fma_f64; },
        has_nans: |facts| facts.nan_f64_nvidia,
        nans: instructions! {
            double_nan "fma.rn.f64 %r, %a, %b, %c;" => |operands, result| judge::nan_f64(operands, result, &[1, 2, 0]);
        },
        known: &[constants::DOUBLE_FMA],
    },
];

/// All other facts.
pub const FACTS: FactTests = facts! {
    fma_f32_flushes {
        tiny "fma.rn.ftz.f32 %r, %a, %b, %c;" => judge::fma_f32_flushing;
        tiny "mul.rn.ftz.f32 %r, %a, %b;" => judge::mul_f32_flushing;
        tiny "add.rn.ftz.f32 %r, %a, %b;" => judge::add_f32_flushing;
        tiny "sub.rn.ftz.f32 %r, %a, %b;" => judge::sub_f32_flushing;
    }
    nan_f32_nvidia {
        single_nan "add.rn.f32 %r, %a, %b;" => judge::nan_f32;
        single_nan "sub.rn.f32 %r, %a, %b;" => judge::nan_f32;
        single_nan "mul.rn.f32 %r, %a, %b;" => judge::nan_f32;
        single_nan "fma.rn.f32 %r, %a, %b, %c;" => judge::nan_f32;
        single_nan "fma.rn.ftz.f32 %r, %a, %b, %c;" => judge::nan_f32;
        single_nan "div.rn.f32 %r, %a, %b;" => judge::nan_f32;
        single_nan "min.f32 %r, %a, %b;" => judge::nan_f32;
        single_nan "max.f32 %r, %a, %b;" => judge::nan_f32;
        single_nan "neg.f32 %r, %a;" => judge::nan_f32;
        single_nan "add.rn.f32 %r, %a, %b; neg.f32 %r, %r;" => judge::nan_f32;
        single_nan "sqrt.rn.f32 %r, %a;" => judge::nan_f32;
        single_nan "sqrt.approx.f32 %r, %a;" => judge::nan_f32;
        single_nan "rsqrt.approx.f32 %r, %a;" => judge::nan_f32;
        single_nan "ex2.approx.f32 %r, %a;" => judge::nan_f32;
        single_nan "lg2.approx.f32 %r, %a;" => judge::nan_f32;
        single_nan "sin.approx.f32 %r, %a;" => judge::nan_f32;
        single_nan "cos.approx.f32 %r, %a;" => judge::nan_f32;
        single_nan "cvt.rzi.f32.f32 %r, %a;" => judge::nan_f32;
        single_nan "cvt.rni.f32.f32 %r, %a;" => judge::nan_f32;
        single_nan "cvt.rmi.f32.f32 %r, %a;" => judge::nan_f32;
        single_nan "cvt.rpi.f32.f32 %r, %a;" => judge::nan_f32;
        single_nan "cvt.f64.f32 %wide, %a; cvt.rn.f32.f64 %r, %wide;" => judge::nan_f32_kept;
    }
    nan_f64_nvidia {
        double_nan "add.rn.f64 %r, %a, %b;" => |operands, result| judge::nan_f64(operands, result, &[1, 0]);
        double_nan "sub.rn.f64 %r, %a, %b;" => |operands, result| judge::nan_f64(operands, result, &[1, 0]);
        double_nan "mul.rn.f64 %r, %a, %b;" => |operands, result| judge::nan_f64(operands, result, &[1, 0]);
        double_nan "fma.rn.f64 %r, %a, %b, %c;" => |operands, result| judge::nan_f64(operands, result, &[1, 2, 0]);
        double_nan "div.rn.f64 %r, %a, %b;" => |operands, result| judge::nan_f64(operands, result, &[0, 1]);
        double_nan "sqrt.rn.f64 %r, %a;" => |operands, result| judge::nan_f64(operands, result, &[0]);
        double_nan "cvt.rzi.f64.f64 %r, %a;" => |operands, result| judge::nan_f64(operands, result, &[0]);
        double_nan "cvt.rni.f64.f64 %r, %a;" => |operands, result| judge::nan_f64(operands, result, &[0]);
        single_nan "cvt.f64.f32 %wide, %a; cvt.rn.f32.f64 %r, %wide;" => judge::nan_f32_kept;
    }
    fma_f64_fused {
        double "fma.rn.f64 %r, %a, %b, %c;" => judge::fma_f64;
    }
    div_f32_rounded {
        single "div.rn.f32 %r, %a, %b;" => judge::div_f32;
    }
    div_f64_rounded {
        double "div.rn.f64 %r, %a, %b;" => judge::div_f64;
    }
    sqrt_f32_rounded {
        single "sqrt.rn.f32 %r, %a;" => judge::sqrt_f32;
        unary "sqrt.rn.f32 %r, %a;" => judge::sqrt_f32;
    }
    sqrt_f64_rounded {
        double "sqrt.rn.f64 %r, %a;" => judge::sqrt_f64;
    }
    denormals_f32_kept {
        single "add.rn.f32 %r, %a, %b;" => judge::add_f32;
        single "mul.rn.f32 %r, %a, %b;" => judge::mul_f32;
        single "setp.lt.f32 %p, %a, %b; selp.b32 %r, 1, 0, %p;" => judge::less_f32;
        single "setp.eq.f32 %p, %a, %b; selp.b32 %r, 1, 0, %p;" => judge::equal_f32;
        single "cvt.f64.f32 %wide, %a; add.rn.f64 %wide, %wide, %wide; cvt.rn.f32.f64 %r, %wide;" => judge::twice_f32;
    }
    denormals_f64_kept {
        double "add.rn.f64 %r, %a, %b;" => judge::add_f64;
        double "sub.rn.f64 %r, %a, %b;" => judge::sub_f64;
        double "mul.rn.f64 %r, %a, %b;" => judge::mul_f64;
        double "setp.lt.f64 %p, %a, %b; selp.b32 %word, 1, 0, %p; setp.le.f64 %p, %a, %b; selp.b32 %base, 2, 0, %p; \
            or.b32 %word, %word, %base; setp.eq.f64 %p, %a, %b; selp.b32 %base, 4, 0, %p; \
            or.b32 %word, %word, %base; setp.neu.f64 %p, %a, %b; selp.b32 %base, 8, 0, %p; \
            or.b32 %word, %word, %base; cvt.u64.u32 %r, %word;"
            => judge::compares_f64;
        double "cvt.rn.f64.s64 %r, %a;" => |[a, ..], result| judge::converted_f64(a as i64 as f64, result);
        double "cvt.rn.f64.u64 %r, %a;" => |[a, ..], result| judge::converted_f64(a as f64, result);
        double "cvt.u32.u64 %word, %a; cvt.f64.f32 %r, %word;" => judge::widened_f32;
        double "cvt.rn.f32.f64 %word, %a; cvt.u64.u32 %r, %word;" => judge::narrowed_f64;
    }
    normal_f32_exact {
        tiny "add.rn.f32 %r, %a, %b;" => judge::add_f32_normal;
        tiny "sub.rn.f32 %r, %a, %b;" => judge::sub_f32_normal;
        tiny "mul.rn.f32 %r, %a, %b;" => judge::mul_f32_normal;
        single "setp.lt.f32 %p, %a, %b; selp.b32 %r, 1, 0, %p;"
            => |operands, result| judge::compares_f32_normal(operands, result, |a, b| a < b);
        single "setp.le.f32 %p, %a, %b; selp.b32 %r, 1, 0, %p;"
            => |operands, result| judge::compares_f32_normal(operands, result, |a, b| a <= b);
        single "setp.eq.f32 %p, %a, %b; selp.b32 %r, 1, 0, %p;"
            => |operands, result| judge::compares_f32_normal(operands, result, |a, b| a == b);
        single "setp.neu.f32 %p, %a, %b; selp.b32 %r, 1, 0, %p;"
            => |operands, result| judge::compares_f32_normal(operands, result, |a, b| a != b);
        single "setp.nan.f32 %p, %a, %a; selp.b32 %r, 1, 0, %p;"
            => |operands, result| judge::compares_f32_normal(operands, result, |a, _| a.is_nan());
    }
    convert_f32_exact {
        single "cvt.rn.f32.s32 %r, %a;" => |[a, ..], result| judge::converted_f32(a as u32 as i32 as f32, result);
        single "cvt.rn.f32.u32 %r, %a;" => |[a, ..], result| judge::converted_f32(a as u32 as f32, result);
        single "mov.b64 %at, {%a, %b}; cvt.rn.f32.s64 %r, %at;"
            => |[a, b, _], result| judge::converted_f32((b << 32 | a) as i64 as f32, result);
        single "mov.b64 %at, {%a, %b}; cvt.rn.f32.u64 %r, %at;"
            => |[a, b, _], result| judge::converted_f32((b << 32 | a) as f32, result);
    }
    add_f32_flushes {
        tiny "add.rn.f32 %r, %a, %b;" => judge::add_f32_flushing;
        tiny "sub.rn.f32 %r, %a, %b;" => judge::sub_f32_flushing;
        tiny "mul.rn.f32 %r, %a, %b;" => judge::mul_f32_flushing;
    }
    div_f32_normal {
        tiny "div.rn.f32 %r, %a, %b;" => judge::div_f32_normal;
    }
    sqrt_f32_normal {
        single "sqrt.rn.f32 %r, %a;" => judge::sqrt_f32_normal;
        unary "sqrt.rn.f32 %r, %a;" => judge::sqrt_f32_normal;
    }
    global_atomic_add_f32_flushes {
        single "st.global.b32 [%out], %a; red.global.add.f32 [%out], %b; ld.global.b32 %r, [%out];" => judge::add_f32_flushing;
    }
    shared_atomic_add_f32_keeps {
        single "st.shared.b32 [%cell], %a; red.shared.add.f32 [%cell], %b; ld.shared.b32 %r, [%cell];" => judge::add_f32;
    }
    exp2_f32_close {
        unary "ex2.approx.f32 %r, %a;" => judge::exp2_f32_normal;
    }
    exp2_f32_denormals {
        unary "ex2.approx.f32 %r, %a;" => judge::exp2_f32;
    }
    exp2_f32_flushes {
        unary "ex2.approx.ftz.f32 %r, %a;" => judge::exp2_f32_flushing;
        ends "ex2.approx.ftz.f32 %r, %a;" => judge::exp2_f32_flushing;
    }
    log2_f32_close {
        unary "lg2.approx.f32 %r, %a;" => judge::log2_f32;
    }
    sin_cos_f32_close {
        unary "sin.approx.f32 %r, %a;" => judge::sin_f32;
        unary "cos.approx.f32 %r, %a;" => judge::cos_f32;
    }
    roots_f32_close {
        unary "sqrt.approx.f32 %r, %a;" => judge::sqrt_f32_close;
        unary "rsqrt.approx.f32 %r, %a;" => judge::rsqrt_f32_close;
    }
    roots_f32_ends {
        ends "sqrt.approx.f32 %r, %a;" => judge::sqrt_f32_ends;
        ends "rsqrt.approx.f32 %r, %a;" => judge::rsqrt_f32_ends;
    }
    roots_f32_denormals {
        ends "sqrt.approx.f32 %r, %a;" => judge::sqrt_f32_subnormal;
        ends "rsqrt.approx.f32 %r, %a;" => judge::rsqrt_f32_subnormal;
    }
    roots_f32_flush {
        ends "sqrt.approx.ftz.f32 %r, %a;" => judge::sqrt_f32_flushing;
        ends "rsqrt.approx.ftz.f32 %r, %a;" => judge::rsqrt_f32_flushing;
    }
    rounding_exact {
        unary "cvt.rzi.f32.f32 %r, %a;" => |operands, result| judge::f32_like(operands, result, f32::trunc);
        unary "cvt.rni.f32.f32 %r, %a;" => |operands, result| judge::f32_like(operands, result, f32::round_ties_even);
        unary "cvt.rmi.f32.f32 %r, %a;" => |operands, result| judge::f32_like(operands, result, f32::floor);
        unary "cvt.rpi.f32.f32 %r, %a;" => |operands, result| judge::f32_like(operands, result, f32::ceil);
        double "cvt.rzi.f64.f64 %r, %a;" => |operands, result| judge::f64_like(operands, result, f64::trunc);
        double "cvt.rni.f64.f64 %r, %a;" => |operands, result| judge::f64_like(operands, result, f64::round_ties_even);
        double "cvt.rmi.f64.f64 %r, %a;" => |operands, result| judge::f64_like(operands, result, f64::floor);
        double "cvt.rpi.f64.f64 %r, %a;" => |operands, result| judge::f64_like(operands, result, f64::ceil);
    }
    min_max_f32_exact {
        single "min.f32 %r, %a, %b;" => judge::min_f32;
        single "max.f32 %r, %a, %b;" => judge::max_f32;
        single "min.f32 %r, %a, 0f80000000;" => |[a, ..], result| judge::min_f32([a, 0x8000_0000, 0], result);
        single "max.f32 %r, %a, 0f00000000;" => |[a, ..], result| judge::max_f32([a, 0, 0], result);
    }
    negate_f32_exact {
        unary "neg.f32 %r, %a;" => |operands, result| judge::f32_like(operands, result, |a| -a);
        single "add.rn.f32 %r, %a, %b; neg.f32 %r, %r;" => |[a, b, _], result| judge::add_f32([a, b, 0], result ^ 0x8000_0000);
        single "neg.f32 %r, %a; add.rn.f32 %r, %r, %b;" => |[a, b, _], result| judge::add_f32([a ^ 0x8000_0000, b, 0], result);
    }
    to_integer_f32_saturates {
        unary "cvt.rzi.s32.f32 %r, %a;" => |operands, result| judge::saturated(operands, result, |a| a as i32 as u32);
        unary "cvt.rzi.u32.f32 %r, %a;" => |operands, result| judge::saturated(operands, result, |a| a as u32);
        unary "cvt.rni.s32.f32 %r, %a;"
            => |operands, result| judge::saturated(operands, result, |a| a.round_ties_even() as i32 as u32);
        unary "cvt.rmi.u32.f32 %r, %a;" => |operands, result| judge::saturated(operands, result, |a| a.floor() as u32);
    }
    clamp_f32_right {
        unary FLOOR => judge::floor_of_saturated;
        ends FLOOR => judge::floor_of_saturated;
        // A driver may fuse the clamp into the sum.
        single SUM_FLOOR => |[a, b, _], result| judge::floor_of_saturated([judge::sum_f32(a, b), 0, 0], result);
    }
    arithmetic_f16_exact {
        halves "add.rn.f16x2 %r, %a, %b;" => judge::add_f16;
        halves "sub.rn.f16x2 %r, %a, %b;" => judge::sub_f16;
        halves "mul.rn.f16x2 %r, %a, %b;" => judge::mul_f16;
        halves "fma.rn.f16x2 %r, %a, %b, %c;" => judge::fma_f16;
        // The product and the sum must not be fused.
        halves "mul.rn.f16x2 %r, %a, %b; add.rn.f16x2 %r, %r, %c;" => judge::product_and_sum_f16;
    }
    known_operands_f16_right {
        // Zeros, ones, twos, and the same operand twice. PTX has no constants of this type but in registers.
        halves "mov.b32 %b, 0; add.rn.f16x2 %r, %a, %b;" => |[a, ..], result| judge::add_f16([a, 0, 0], result);
        halves "mov.b32 %b, 0x80008000; add.rn.f16x2 %r, %a, %b;"
            => |[a, ..], result| judge::add_f16([a, 0x8000_8000, 0], result);
        halves "sub.rn.f16x2 %r, %a, %a;" => |[a, ..], result| judge::sub_f16([a, a, 0], result);
        halves "mov.b32 %b, 0; sub.rn.f16x2 %r, %b, %a;" => |[a, ..], result| judge::sub_f16([0, a, 0], result);
        halves "mov.b32 %b, 0; mul.rn.f16x2 %r, %a, %b;" => |[a, ..], result| judge::mul_f16([a, 0, 0], result);
        halves "mov.b32 %b, 0x3c003c00; mul.rn.f16x2 %r, %a, %b;"
            => |[a, ..], result| judge::mul_f16([a, 0x3c00_3c00, 0], result);
        halves "mov.b32 %b, 0xbc00bc00; mul.rn.f16x2 %r, %a, %b;"
            => |[a, ..], result| judge::mul_f16([a, 0xbc00_bc00, 0], result);
        halves "mov.b32 %b, 0x40004000; mul.rn.f16x2 %r, %a, %b;"
            => |[a, ..], result| judge::mul_f16([a, 0x4000_4000, 0], result);
        halves "mov.b32 %b, 0; fma.rn.f16x2 %r, %a, %b, %c;" => |[a, _, c], result| judge::fma_f16([a, 0, c], result);
        halves "mov.b32 %b, 0x3c003c00; fma.rn.f16x2 %r, %a, %b, %c;"
            => |[a, _, c], result| judge::fma_f16([a, 0x3c00_3c00, c], result);
        halves "mov.b32 %c, 0; fma.rn.f16x2 %r, %a, %b, %c;" => |[a, b, _], result| judge::fma_f16([a, b, 0], result);
        halves "mov.b32 %c, 0x80008000; fma.rn.f16x2 %r, %a, %b, %c;"
            => |[a, b, _], result| judge::fma_f16([a, b, 0x8000_8000], result);
        // The square doesn't fit, which shows compilers that round the product of two known factors.
        halves "mov.b32 %b, 0x3c103c10; fma.rn.f16x2 %r, %b, %b, %c;"
            => |[_, _, c], result| judge::fma_f16([0x3c10_3c10, 0x3c10_3c10, c], result);
        // This product is 2^-31 below half of the addend's last place, which shows compilers that round to f32 first.
        halves "mov.b32 %a, 0x10011001; mov.b32 %b, 0x3bfe3bfe; mov.b32 %c, 0x3c013c01; fma.rn.f16x2 %r, %a, %b, %c;"
            => |_, result| result == 0x3c01_3c01;
    }
    nan_f16_nvidia {
        halves "add.rn.f16x2 %r, %a, %b;" => judge::nan_f16;
        halves "sub.rn.f16x2 %r, %a, %b;" => judge::nan_f16;
        halves "mul.rn.f16x2 %r, %a, %b;" => judge::nan_f16;
        halves "fma.rn.f16x2 %r, %a, %b, %c;" => judge::nan_f16;
    }
    convert_f16_exact {
        unary NARROW => judge::narrowed_f16;
        near_half NARROW => judge::narrowed_f16;
        half WIDEN => judge::widened_f16;
        // A conversion of another one's result.
        half "mov.b32 {%half, %rest}, %a; cvt.f32.f16 %r, %half; cvt.rn.f16.f32 %half, %r; mov.b32 %r, {%half, 0};"
            => judge::same_f16;
        near_half "cvt.rn.f16.f32 %half, %a; cvt.f32.f16 %r, %half;" => judge::rounded_f16;
        // Operands known to the driver's compiler: ties after an even and after an odd number, and one of subnormals.
        half "cvt.rn.f16.f32 %half, 0f3f801000; cvt.rn.f16.f32 %rest, 0f3f803000; mov.b32 %r, {%half, %rest};"
            => |_, result| result == 0x3c02_3c00;
        half "cvt.rn.f16.f32 %half, 0fb4200000; mov.b32 %r, {%half, 0};" => |_, result| result == 0x8002;
        half "mov.b16 %half, 0x8001; cvt.f32.f16 %r, %half;" => |_, result| result == 0xb380_0000;
    }
    nan_conversions_f16_nvidia {
        single_nan NARROW => judge::nan_f16;
        half WIDEN => judge::nan_f32;
        single_nan "cvt.rn.f16.f32 %half, %a; cvt.f32.f16 %r, %half;" => judge::nan_f32;
        // Drivers may return an f16 that only passes through f32, and ask its sign in place of the f32's.
        half "mov.b32 {%half, %rest}, %a; cvt.f32.f16 %r, %half; cvt.rn.f16.f32 %half, %r; mov.b32 %r, {%half, 0};"
            => judge::nan_f16;
        half "mov.b32 {%half, %rest}, %a; cvt.f32.f16 %r, %half; slct.b32.s32 %r, 1, 0, %r;" => judge::positive_nan_f16;
    }
    atomic_add_f64_exact {
        double "st.global.b64 [%out], %a; red.global.add.f64 [%out], %b; ld.global.b64 %r, [%out];" => judge::add_f64;
        double "st.shared.b64 [%cell], %a; red.shared.add.f64 [%cell], %b; ld.shared.b64 %r, [%cell];" => judge::add_f64;
    }
};
