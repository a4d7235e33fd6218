//! Arithmetic that flushes as `.ftz` does, against sums and products in more than twice the precision.

use super::device::Device;
use super::exact::{ROUNDINGS, nan};
use super::support::{Random, target};
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Arithmetic, Type, Value};
use ptx2spv_translator::target::Facts;
use rustc_apfloat::ieee::{Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

fn operation(fused: bool, [x, y, z]: [Value; 3]) -> Arithmetic {
    if fused { Arithmetic::Fma(x, y, z) } else { Arithmetic::Mul(x, y) }
}

/// The result by the rule: rounded to 24 bits of any exponent, zero if that is below the least normal number.
fn reference(fused: bool, round: Round, operands: [u32; 3]) -> u32 {
    let flush = |bits: u32| if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits };
    let [x, y, z] = operands.map(|bits| Single::from_bits(flush(bits).into()));
    let rounded = if fused { x.mul_add_r(y, z, round) } else { x.mul_r(y, round) }.value;
    let bits = rounded.to_bits() as u32;
    if rounded.is_nan() {
        return 0x7fff_ffff;
    }
    // Towards zero in more bits, and whether any are lost.
    let wide = |x: Single| FloatConvert::<Quad>::convert(x, &mut false).value;
    let exact = if fused {
        wide(x).mul_add_r(wide(y), wide(z), Round::TowardZero)
    } else {
        wide(x).mul_r(wide(y), Round::TowardZero)
    };
    let is_inexact = exact.status & Status::INEXACT != Status::OK;
    let magnitude = exact.value.abs();
    let least = wide(Single::from_bits(0x80_0000));
    let below = |places: i32| (least - least.scalbn(-places)).value;
    let negative = exact.value.is_negative();
    let is_tiny = match round {
        Round::NearestTiesToEven => magnitude < below(25),
        Round::TowardNegative if negative => magnitude < below(24) || magnitude == below(24) && !is_inexact,
        Round::TowardPositive if !negative => magnitude < below(24) || magnitude == below(24) && !is_inexact,
        _ => magnitude < least,
    };
    if is_tiny { bits & 0x8000_0000 } else { bits }
}

fn check(fused: bool, target: &Target, cases: u32) {
    for (rounding, round) in ROUNDINGS {
        let mut device = Device::new(target, [Type::F32; 3], |b, operands| {
            let result = b.flushed(rounding, operation(fused, operands));
            b.or_nan(result, b.constant(Type::F32, nan(Type::F32)))
        });
        let mut try_one = |operands: [u32; 3]| {
            let expected = reference(fused, round, operands).into();
            device.check(format_args!("{rounding:?} fused {fused}"), &operands.map(u64::from), expected);
        };
        let mut random = Random::new(5);
        for case in 0..cases {
            let bits = random.bits();
            let sign = |bit: u32| (bits >> bit & 1) as u32;
            let (x, z) = (bits as u32, (bits >> 32) as u32);
            if case % 4 == 0 {
                try_one([x, z, random.bits() as u32]);
                continue;
            }
            // Significands whose product is nearly 2, at the lower end of the exponents.
            let x = 0x2000_0000 | x & 0x7f_ffff; // 2^-63 to 2^-62
            let inverse = (2.0 / f32::from_bits(0x3f80_0000 | x & 0x7f_ffff)).to_bits();
            let y = (inverse - 0x2000_0000).wrapping_add(random.below(3) as u32).wrapping_sub(1);
            if case % 4 == 1 {
                try_one([x | sign(63) << 31, y, sign(62) << 31]);
                continue;
            }
            // The least normal number and a small product.
            let small = 0x1980_0000 + ((random.below(16) as u32) << 23) + (z & 3);
            let addend = 0x80_0000 + random.below(2) as u32;
            try_one([small | sign(63) << 31, small & 0xff80_0000, addend | sign(62) << 31]);
        }
    }
}

#[test]
fn products_are_flushed_after_rounding() {
    let fused = Facts { fma_f32_fused: true, ..Facts::default() };
    let flushing = Facts { normal_f32_exact: true, ..Facts::default() };
    let targets = [
        Target::preset("lavapipe").expect("a preset"),
        Target::preset("nvidia").expect("a preset"),
        target("exact", true, Facts::ALL),
        target("flushing Fma", true, Facts { denormals_f32_kept: true, ..fused.clone() }),
        target("all flushing", true, fused),
        target("unknown", true, Facts::default()),
        target("unknown, no F64", false, Facts::default()),
        target("flushing, no F64", false, flushing.clone()),
        target("flushing as PTX does", false, Facts { add_f32_flushes: true, ..flushing }),
    ];
    for target in &targets {
        check(false, target, 30_000);
        check(true, target, 30_000);
    }
}
