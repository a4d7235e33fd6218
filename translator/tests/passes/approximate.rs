//! The approximate functions that legalization writes out, against the host's on f64, over the whole range of operands.
//! Errors are printed (`--nocapture`); `docs/numerics.md` has the worst ones.

use super::device::Device;
use super::support::{Random, target};
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Binary, Builder, Op, Root, Type, Unary, Value};
use ptx2spv_translator::target::Facts;

/// A device without `F64` that flushes denormals now and then, of whose functions nothing is known.
fn unknown() -> Target {
    target("unknown", false, Facts { normal_f32_exact: true, ..Facts::default() })
}

/// A function of an `F32` on a device.
fn unary(target: &Target, op: Unary) -> Device {
    Device::new(target, [Type::F32], |b, [x]| b.op(Type::F32, Op::Unary(op, x)))
}

/// A function of an `F32` on such a device, on one whose `Fma` rounds once, and on one that keeps denormals too, with their names.
fn unary_on_all(op: Unary) -> [(&'static str, Device); 3] {
    let fusing = Facts { fma_f32_fused: true, fma_f32_denormals: true, ..unknown().facts };
    let keeping = Facts { denormals_f32_kept: true, ..fusing.clone() };
    [("unknown", unknown().facts), ("fusing", fusing), ("keeping", keeping)]
        .map(|(name, facts)| (name, unary(&Target { facts, ..unknown() }, op)))
}

/// Every 4099th f32 and all around the powers of two.
fn operands() -> impl Iterator<Item = f32> {
    let spread = (0..=u32::MAX).step_by(4099);
    let corners = (0..512u32).flat_map(|top| (0..9).map(move |step| (top << 23).wrapping_add(step).wrapping_sub(4)));
    spread.chain(corners).map(f32::from_bits)
}

/// The largest of errors, with the operand that it comes from.
#[derive(Default)]
struct Worst(f64, f32);

impl Worst {
    fn note(&mut self, error: f64, operand: f32) {
        if error > self.0 || error.is_nan() {
            *self = Worst(error, operand);
        }
    }

    fn check(&self, name: &str, bound: f64) {
        println!("{name}: 2^{:.2} at {:e}", self.0.log2(), self.1);
        assert!(self.0 <= bound, "{name}: {:e} at {:e}, more than {bound:e}", self.0, self.1);
    }
}

#[test]
fn exponentials() {
    unary_on_all(Unary::Exp2Approx).into_iter().for_each(exponentials_on);
}

fn exponentials_on((name, mut device): (&str, Device)) {
    let mut worst = Worst::default();
    for x in operands() {
        let found = f64::from(device.apply_f32([x]));
        let exact = f64::from(x).exp2();
        if x.is_nan() {
            assert!(found.is_nan());
        } else if exact > f64::from(f32::MAX) * (1.0 + 2f64.powi(-23)) || exact < 2f64.powi(-151) {
            assert!(found == exact || found == f64::from(exact as f32), "{x:e}: {found:e}");
        } else if exact <= f64::from(f32::MAX) {
            // Of the mantissa, whose unit is at least that of subnormal numbers.
            let unit = 2f64.powi(exact.log2().floor().max(-126.0) as i32);
            worst.note((found - exact).abs() / unit, x);
        }
    }
    worst.check(&format!("ex2, of the mantissa, {name}"), 2f64.powf(-22.5));
    assert_eq!(device.apply_f32([0.0]), 1.0);
    assert_eq!(device.apply_f32([-0.0]), 1.0);
    assert_eq!(device.apply_f32([3.0]), 8.0);
}

#[test]
fn logarithms() {
    unary_on_all(Unary::Log2Approx).into_iter().for_each(logarithms_on);
}

fn logarithms_on((name, mut device): (&str, Device)) {
    let (mut near, mut far) = (Worst::default(), Worst::default());
    let mantissas = (0..1 << 23).step_by(7).map(|bits| f32::from_bits(0x3f80_0000 + bits));
    for x in operands().chain(mantissas) {
        let found = f64::from(device.apply_f32([x]));
        let exact = f64::from(x).log2();
        if x == 0.0 || !x.is_finite() || x < 0.0 {
            assert!(found == exact || found.is_nan() && exact.is_nan(), "{x:e}: {found:e}");
        } else if (0.5..2.0).contains(&x) {
            near.note((found - exact).abs(), x);
        } else {
            far.note(((found - exact) / exact).abs(), x);
        }
    }
    near.check(&format!("lg2, absolute from 0.5 to 2, {name}"), 2f64.powf(-22.6));
    far.check(&format!("lg2, relative elsewhere, {name}"), 2f64.powi(-22));
    assert_eq!(device.apply_f32([1.0]), 0.0);
}

/// Turns as hardware has them: the product with its constant, rounded towards zero.
fn turns(x: f32) -> f64 {
    let product = f64::from(x) * f64::from(f32::from_bits(0x3e22_f983));
    let nearest = product as f32;
    let beyond = f64::from(nearest).abs() > product.abs();
    f64::from(f32::from_bits(nearest.to_bits() - u32::from(beyond)))
}

#[test]
fn sines_and_cosines() {
    let functions = [
        ("sin", Unary::SinApprox, f64::sin as fn(f64) -> f64, (-0f32).to_bits()),
        ("cos", Unary::CosApprox, f64::cos, 1f32.to_bits()),
    ];
    for (function, op, exact, of_negative_zero) in functions {
        for (name, mut device) in unary_on_all(op) {
            let (mut model, mut quadrant) = (Worst::default(), Worst::default());
            let angles = (0..200_000).map(|step| step as f32 * (std::f32::consts::FRAC_PI_2 / 200_000.0));
            for x in operands().chain(angles) {
                let found = f64::from(device.apply_f32([x]));
                if !x.is_finite() {
                    assert!(found.is_nan());
                    continue;
                }
                let angle = turns(x).fract() * std::f64::consts::TAU;
                model.note((found - exact(angle)).abs(), x);
                if (0.0..=std::f32::consts::FRAC_PI_2).contains(&x) {
                    quadrant.note((found - exact(f64::from(x))).abs(), x);
                }
            }
            model.check(&format!("{function}, against hardware's turns, {name}"), 2f64.powf(-22.5));
            quadrant.check(&format!("{function}, in the first quadrant, {name}"), 2f64.powf(-20.9));
            assert_eq!(device.apply_f32([-0.0]).to_bits(), of_negative_zero);
            assert_eq!(device.apply_f32([0.0]).to_bits(), (exact(0.0) as f32).to_bits());
        }
    }
}

/// Steps that are left out for operands known to be positive or small change no result. The operands are numbers from
/// an integer's upper bits, as generators of random numbers make them.
#[test]
fn bounded_operands() {
    let rdna = Target::preset("amd-rdna").expect("a preset");
    let functions = [Unary::SinApprox, Unary::CosApprox, Unary::Log2Approx];
    for ((_, target), op) in
        [("unknown", unknown()), ("rdna", rdna)].into_iter().flat_map(|t| functions.map(|op| (t.clone(), op)))
    {
        // From 2^-25 to 1, as angles around the circle and on both sides of zero.
        for (factor, addend) in
            [(1.0, 2f32.powi(-25)), (6.283_185_5, 1e-7), (-6.283_185_5, 3.0), (1500.0, 2.0), (0.5, 0.0)]
        {
            let number = |b: &Builder<'_>, bits: Value| {
                let units = b.unary(Unary::UnsignedToFloat(Type::F32), b.shr(bits, 8));
                b.fma(units, b.f32(factor * 2f32.powi(-24)), b.f32(addend))
            };
            let mut operand = Device::new(&target, [Type::I32], |b, [bits]| number(b, bits));
            let mut bounded = Device::new(&target, [Type::I32], |b, [bits]| b.unary(op, number(b, bits)));
            let mut any = unary(&target, op);
            for bits in (0..512).chain((0..=u32::MAX).step_by(4_000_037)).chain(u32::MAX - 512..=u32::MAX) {
                let bits = u64::from(bits);
                let x = operand.apply(&[bits]);
                assert_eq!(bounded.apply(&[bits]), any.apply(&[x]), "{op:?} of {x:#x} on {}", target.name);
            }
        }
    }
}

#[test]
fn hyperbolic_tangents() {
    unary_on_all(Unary::TanhApprox).into_iter().for_each(hyperbolic_tangents_on);
}

fn hyperbolic_tangents_on((name, mut device): (&str, Device)) {
    let mut worst = Worst::default();
    for x in operands() {
        let found = device.apply_f32([x]);
        let exact = f64::from(x).tanh();
        if x.is_nan() {
            assert!(found.is_nan());
        } else if x == 0.0 || x.is_subnormal() || x.is_infinite() {
            assert_eq!(found.to_bits(), (exact as f32).to_bits(), "{x:e}");
        } else {
            worst.note(((f64::from(found) - exact) / exact).abs(), x);
        }
    }
    worst.check(&format!("tanh, relative, {name}"), 2f64.powi(-21));
}

/// With `.ftz`, on devices that facts vouch for more or less of.
#[test]
fn exponentials_that_flush() {
    let close = Facts { exp2_f32_close: true, ..unknown().facts };
    let devices = [
        ("unknown", unknown().facts),
        ("fusing", Facts { fma_f32_fused: true, fma_f32_denormals: true, ..unknown().facts }),
        ("close", close.clone()),
        ("close, keeping", Facts { denormals_f32_kept: true, ..close.clone() }),
        ("close, flushing", Facts { exp2_f32_flushes: true, ..close }),
    ];
    for (name, facts) in devices {
        let target = Target { facts, ..unknown() };
        let mut device = unary(&target, Unary::Exp2Flushed);
        for x in operands().step_by(101).chain([0.0, -0.0, -126.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]) {
            let found = device.apply_f32([x]);
            let exact = f64::from(if x.is_subnormal() { 0.0 } else { x }).exp2();
            let is_right = if x < -126.0 {
                found.to_bits() == 0
            } else if exact.is_nan() || exact > f64::from(f32::MAX) {
                found == f32::INFINITY || found.is_nan() && x.is_nan()
            } else {
                // The device's own is a unit off.
                (f64::from(found) - exact).abs() <= 2f64.powi(-22) * exact
            };
            assert!(is_right, "{x:e} on {name}: {found:e}, not {exact:e}");
        }
    }
}

#[test]
fn roots() {
    for (name, op, exact, bound) in [
        ("sqrt", Unary::SqrtApprox, (|x| x.sqrt()) as fn(f64) -> f64, 2f64.powi(-23)),
        ("rsqrt", Unary::InverseSqrtApprox, |x| x.sqrt().recip(), 2f64.powf(-22.9)),
    ] {
        for (device_name, mut device) in unary_on_all(op) {
            let mut worst = Worst::default();
            // All mantissas, since the exponent changes nothing, and all exponents.
            let mantissas = (0..1 << 24).step_by(29).map(|bits| f32::from_bits(0x3f80_0000 + bits));
            for x in operands().chain(mantissas).filter(|x| x.is_normal() && *x > 0.0) {
                let exact = exact(f64::from(x));
                worst.note((f64::from(device.apply_f32([x])) / exact - 1.0).abs(), x);
            }
            worst.check(&format!("{name} on {device_name}, relative"), bound);
        }
    }
}

/// Roots of everything, on devices that facts vouch for more or less of.
#[test]
fn ends_of_roots() {
    let right = Facts { roots_f32_close: true, roots_f32_ends: true, ..unknown().facts };
    let devices = [
        ("unknown", unknown().facts),
        ("fusing", Facts { fma_f32_fused: true, fma_f32_denormals: true, ..unknown().facts }),
        ("close", Facts { roots_f32_close: true, ..unknown().facts }),
        ("close, subnormals too", Facts { roots_f32_close: true, roots_f32_denormals: true, ..unknown().facts }),
        ("right", right.clone()),
        ("right, keeping", Facts { denormals_f32_kept: true, ..right.clone() }),
        ("right, subnormals too", Facts { roots_f32_denormals: true, ..right.clone() }),
        ("right, flushing", Facts { roots_f32_flush: true, ..right }),
    ];
    let forms = [(false, false), (false, true), (true, false), (true, true)];
    for ((name, facts), (inverse, flush)) in devices.iter().flat_map(|device| forms.map(|form| (device, form))) {
        let target = Target { facts: facts.clone(), ..unknown() };
        let root = Root { inverse, flush };
        let mut device = unary(&target, Unary::Root(root));
        for x in operands().step_by(101).chain([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]) {
            let found = device.apply_f32([x]);
            let operand = if flush && x.is_subnormal() { 0f32.copysign(x) } else { x };
            let exact = f64::from(operand).sqrt();
            let exact = if inverse { exact.recip() } else { exact };
            let is_right = if exact == 0.0 || !exact.is_finite() {
                found.to_bits() == (exact as f32).to_bits() || found.is_nan() && exact.is_nan()
            } else {
                // The device's own are a unit off.
                (f64::from(found) - exact).abs() <= 2f64.powi(-22) * exact
            };
            assert!(is_right, "{root:?} of {x:e} on {name}: {found:e}, not {exact:e}");
        }
    }
}

#[test]
fn quotients() {
    let mut device = Device::new(&unknown(), [Type::F32; 2], |b, [x, y]| b.binary(Binary::FDivApprox, x, y));
    let mut worst = Worst::default();
    let mut random = Random::new(5);
    let mut check = |device: &mut Device, x: f32, y: f32| {
        let found = device.apply_f32([x, y]);
        let exact = f64::from(x) / f64::from(y);
        let nearest = exact as f32;
        if nearest.is_nan() || nearest.is_infinite() || nearest == 0.0 {
            assert!(
                found == nearest && found.is_sign_negative() == nearest.is_sign_negative()
                    || found.is_nan() && nearest.is_nan(),
                "{x:e} / {y:e} = {found:e}"
            );
        } else {
            let unit = f64::from(f32::from_bits(nearest.abs().to_bits() + 1)) - f64::from(nearest.abs());
            worst.note((f64::from(found) - exact).abs() / unit, y);
        }
    };
    for y in operands().step_by(13) {
        check(&mut device, 1.0, y);
        check(&mut device, f32::from_bits(random.bits() as u32), y);
        let power = random.pick(&[0u32, 1, 5, 20, 39]) << 23;
        check(&mut device, f32::from_bits((0x3f80_0000 + power) | random.below(1 << 23) as u32), y);
    }
    worst.check("quotients, in the last place", 2.0);
}
