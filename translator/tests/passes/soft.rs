//! Conversions between formats and fused products on 16 bits, against rustc_apfloat: every operand of 16 bits and fewer, and
//! millions of others.

use super::device::Device;
use super::exact::ROUNDINGS;
use super::support::{Random, target};
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use ptx2spv_translator::internals::ir::{Arithmetic, Rounding, Type};
use ptx2spv_translator::internals::soft::{
    BFLOAT, DOUBLE, E4M3, E5M2, Format, HALF, Overflow, SINGLE, from_integer, narrow, odd_sum, widen,
};
use ptx2spv_translator::target::{Facts, Feature, Target};

/// A device of which nothing is known, with double precision or without.
fn unknown(has_double: bool) -> Target {
    target("unknown", has_double, Facts::default())
}

/// A device with conversions of f16.
fn converting() -> Target {
    let mut target = unknown(true);
    target.features.insert(Feature::ShaderFloat16);
    target.facts.convert_f16_exact = true;
    target
}

#[test]
fn narrow_formats_widen_exactly() {
    fn check<F: Float + FloatConvert<Single>>(format: Format, target: &Target) {
        let mut device = Device::new(target, [Type::I32], |b, [bits]| widen(b, format, bits));
        for bits in 0..1u64 << format.bits {
            let found = f32::from_bits(device.apply(&[bits]) as u32);
            let mut loses = false;
            let exact: Single = F::from_bits(bits.into()).convert(&mut loses).value;
            let expected = f32::from_bits(exact.to_bits() as u32);
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{format:?} {bits:#x}: {found:e}, not {expected:e}");
        }
    }
    check::<Half>(HALF, &converting());
    let target = unknown(false);
    check::<Half>(HALF, &target);
    check::<BFloat>(BFLOAT, &target);
    check::<Float8E5M2>(E5M2, &target);
    check::<Float8E4M3FN>(E4M3, &target);
}

/// Holds `narrow` from a wide format against the reference, on numbers around those of the narrow one.
fn check_narrow<W: Float + FloatConvert<N>, N: Float + FloatConvert<W>>(from: Format, to: Format) {
    check_narrow_on::<W, N>(&unknown(true), from, to);
}

fn check_narrow_on<W: Float + FloatConvert<N>, N: Float + FloatConvert<W>>(target: &Target, from: Format, to: Format) {
    let ty = if from == SINGLE { Type::F32 } else { Type::F64 };
    for (rounding, round) in ROUNDINGS {
        let overflow = if to == E4M3 { Overflow::Largest } else { Overflow::Rounded };
        let mut device = Device::new(target, [ty], |b, [float]| narrow(b, to, rounding, overflow, float));
        let mut check = |bits: u64| {
            let bits = if from == SINGLE { bits & 0xffff_ffff } else { bits };
            let found = device.apply(&[bits]);
            let mut loses = false;
            let value = W::from_bits(bits.into());
            let exact: N = value.convert_r(round, &mut loses).value;
            let expected = match exact {
                _ if value.is_nan() => to.nan,
                // What is beyond its largest number is NaN there, or infinite.
                _ if to == E4M3 && (exact.is_nan() || value.is_infinite()) => {
                    to.largest() | if value.is_negative() { to.sign() } else { 0 }
                }
                number => number.to_bits() as u64,
            };
            assert_eq!(found, expected, "{from:?} {bits:#x} to {to:?} {rounding:?}");
        };
        let mut random = Random::new(3);
        for narrow_bits in 0..1u64 << to.bits {
            let mut loses = false;
            let wide: W = N::from_bits(narrow_bits.into()).convert(&mut loses).value;
            let wide = wide.to_bits() as u64;
            // The number itself, halfway to the next, and beside these.
            let half = 1u64 << (from.precision - to.precision - 1);
            for step in [0, 1, half - 1, half, half + 1, random.bits() % (2 * half)] {
                check(wide.wrapping_add(step));
            }
        }
        for _ in 0..20_000 {
            check(random.bits());
        }
        [0, 1, from.hidden() - 1, from.hidden(), from.largest(), from.infinity(), from.infinity() + 1]
            .into_iter()
            .for_each(|magnitude| {
                check(magnitude);
                check(magnitude | from.sign());
            });
    }
}

#[test]
fn f32_narrows_to_f16() {
    check_narrow::<Single, Half>(SINGLE, HALF);
    check_narrow_on::<Single, Half>(&converting(), SINGLE, HALF);
}

#[test]
fn f32_narrows_to_bf16() {
    check_narrow::<Single, BFloat>(SINGLE, BFLOAT);
}

#[test]
fn f32_narrows_to_eight_bits() {
    check_narrow::<Single, Float8E5M2>(SINGLE, E5M2);
    check_narrow::<Single, Float8E4M3FN>(SINGLE, E4M3);
}

#[test]
fn f64_narrows_to_sixteen_bits() {
    check_narrow::<Double, Half>(DOUBLE, HALF);
    check_narrow::<Double, BFloat>(DOUBLE, BFLOAT);
}

#[test]
fn integers_become_floats() {
    fn check<F: Float>(format: Format) {
        for (rounding, round) in ROUNDINGS {
            for signed in [false, true] {
                for ty in [Type::I32, Type::I64] {
                    let mut device =
                        Device::new(&unknown(true), [ty], |b, [bits]| from_integer(b, format, rounding, signed, bits));
                    let mut random = Random::new(11);
                    for case in 0..4_000u64 {
                        let noise = random.bits() >> (random.bits() % 64);
                        // Few bits set, too: ties.
                        let integer = match case % 4 {
                            0 => noise,
                            1 => (1 << (noise % 63)) | (1 << (random.bits() % 63)),
                            2 => !noise,
                            _ => case.wrapping_sub(2000),
                        };
                        let integer = if ty == Type::I32 { integer & 0xffff_ffff } else { integer };
                        let number = match (ty, signed) {
                            (_, false) => i128::from(integer),
                            (Type::I32, true) => i128::from(integer as u32 as i32),
                            (_, true) => i128::from(integer as i64),
                        };
                        let expected = F::from_i128_r(number, round).value.to_bits() as u64;
                        assert_eq!(device.apply(&[integer]), expected, "{number} to {format:?} {rounding:?}");
                    }
                }
            }
        }
    }
    check::<Half>(HALF);
    check::<BFloat>(BFLOAT);
    check::<Single>(SINGLE);
    check::<Double>(DOUBLE);
}

/// Holds a fused product on 16 bits against the reference.
fn check_fma<F: Float>(format: Format, target: &Target, cases: u32) {
    let mut device = Device::new(target, [Type::I32; 3], |b, bits| {
        let [x, y, z] = bits.map(|bits| widen(b, format, bits));
        let sum = if format == HALF {
            let product = b.fmul(x, y);
            odd_sum(b, product, z)
        } else {
            b.rounded(Rounding::Odd, Arithmetic::Fma(x, y, z))
        };
        narrow(b, format, Rounding::NearestEven, Overflow::Rounded, sum)
    });
    let mut check = |operands: [u64; 3]| {
        let [x, y, z] = operands.map(|bits| F::from_bits(bits.into()));
        let exact = x.mul_add_r(y, z, Round::NearestTiesToEven).value;
        let expected = if exact.is_nan() { format.nan } else { exact.to_bits() as u64 };
        assert_eq!(device.apply(&operands), expected, "{format:?} {operands:x?}");
    };
    let mut random = Random::new(7);
    for case in 0..cases {
        let noise = random.bits();
        let [x, y] = [noise & 0xffff, noise >> 16 & 0xffff];
        let mut z = noise >> 32 & 0xffff;
        if case % 2 == 0 {
            // Near what the product is rounded to, or halfway below its last place.
            let product = (F::from_bits(x.into()) * F::from_bits(y.into())).value.to_bits() as u64;
            let lower = u64::from(format.precision + (noise >> 48) as u32 % 4 - 1) << (format.precision - 1);
            z = match noise >> 52 & 3 {
                0 => product ^ 0x8000,
                1 => (product ^ 0x8000).wrapping_add(noise >> 56 & 3),
                _ => product.wrapping_sub(lower) ^ (noise >> 63 << 15),
            } & 0xffff;
        }
        check([x, y, z]);
    }
}

#[test]
fn fused_products_of_f16() {
    check_fma::<Half>(HALF, &unknown(false), 1_000_000);
}

#[test]
fn fused_products_of_bf16() {
    check_fma::<BFloat>(BFLOAT, &unknown(true), 300_000);
    check_fma::<BFloat>(BFLOAT, &unknown(false), 300_000);
    check_fma::<BFloat>(BFLOAT, &Target::preset("lavapipe").expect("a preset"), 300_000);
}
