//! The approximate functions that legalization writes out, against the host's on f64, over the whole range of operands.
//! Errors are printed (`--nocapture`); `docs/numerics.md` has the worst ones.

use super::support::{Random, access};
use crate::evaluator::Machine;
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{Binary, Builder, Function, Op, Root, Space, Type, Unary, Value, verify};
use ptx2spv_translator::internals::pipeline::legalize;
use ptx2spv_translator::target::{Facts, Feature};

/// A device without `F64` that flushes denormals now and then, of whose functions nothing is known.
fn unknown() -> Target {
    let mut target = Target::preset("lavapipe").expect("a preset");
    target.facts = Facts { normal_f32_exact: true, ..Facts::default() };
    target.features.remove(&Feature::ShaderFloat64);
    target
}

/// A function of two f32 as it was legalized.
struct Device {
    function: Function,
    machine: Machine,
}

impl Device {
    fn new(op: impl FnOnce([Value; 2]) -> Op) -> Self {
        Self::of(unknown(), op)
    }

    fn of(target: Target, op: impl FnOnce([Value; 2]) -> Op) -> Self {
        let mut function = Function::default();
        let vars = [(); 2].map(|()| function.var(Type::I32));
        let b = Builder::new(&mut function);
        let operands = vars.map(|var| b.bitcast(b.get(var), Type::F32));
        let result = b.bits(b.op(Type::F32, op(operands)));
        b.store(access(Space::Shared, 4), b.i32(0), vec![result]);
        b.finish();
        legalize(&mut function, &target).unwrap();
        assert_eq!(verify(&function), Ok(()), "{function}");
        let machine = Machine { facts: target.facts, shared: vec![0; 4], ..Machine::default() };
        Self { function, machine }
    }

    fn unary(op: Unary) -> Self {
        Self::new(|[x, _]| Op::Unary(op, x))
    }

    fn apply(&mut self, x: f32, y: f32) -> f32 {
        self.machine.vars.clear();
        self.machine.vars.extend([x, y].map(|operand| u64::from(operand.to_bits())));
        self.machine.steps = 10_000;
        self.machine.run(&self.function).unwrap_or_else(|fault| panic!("{x:e} {y:e}: {fault}"));
        f32::from_bits(u32::from_le_bytes(self.machine.shared[..4].try_into().expect("four bytes")))
    }
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
    let mut device = Device::unary(Unary::Exp2Approx);
    let mut worst = Worst::default();
    for x in operands() {
        let found = f64::from(device.apply(x, 0.0));
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
    worst.check("ex2, of the mantissa", 2f64.powf(-22.5));
    assert_eq!(device.apply(0.0, 0.0), 1.0);
    assert_eq!(device.apply(-0.0, 0.0), 1.0);
    assert_eq!(device.apply(3.0, 0.0), 8.0);
}

#[test]
fn logarithms() {
    let mut device = Device::unary(Unary::Log2Approx);
    let (mut near, mut far) = (Worst::default(), Worst::default());
    let mantissas = (0..1 << 23).step_by(7).map(|bits| f32::from_bits(0x3f80_0000 + bits));
    for x in operands().chain(mantissas).filter(|x| !x.is_subnormal()) {
        let found = f64::from(device.apply(x, 0.0));
        let exact = f64::from(x).log2();
        if x == 0.0 || !x.is_finite() || x < 0.0 {
            assert!(found == exact || found.is_nan() && exact.is_nan(), "{x:e}: {found:e}");
        } else if (0.5..2.0).contains(&x) {
            near.note((found - exact).abs(), x);
        } else {
            far.note(((found - exact) / exact).abs(), x);
        }
    }
    near.check("lg2, absolute from 0.5 to 2", 2f64.powf(-22.6));
    far.check("lg2, relative elsewhere", 2f64.powi(-22));
    assert_eq!(device.apply(1.0, 0.0), 0.0);
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
    for (name, op, exact) in
        [("sin", Unary::SinApprox, f64::sin as fn(f64) -> f64), ("cos", Unary::CosApprox, f64::cos as fn(f64) -> f64)]
    {
        let mut device = Device::unary(op);
        let (mut model, mut quadrant) = (Worst::default(), Worst::default());
        let angles = (0..200_000).map(|step| step as f32 * (std::f32::consts::FRAC_PI_2 / 200_000.0));
        for x in operands().chain(angles) {
            let found = f64::from(device.apply(x, 0.0));
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
        model.check(&format!("{name}, against hardware's turns"), 2f64.powf(-22.5));
        quadrant.check(&format!("{name}, in the first quadrant"), 2f64.powf(-20.9));
    }
    let mut sine = Device::unary(Unary::SinApprox);
    assert_eq!(sine.apply(-0.0, 0.0).to_bits(), (-0f32).to_bits());
    assert_eq!(sine.apply(0.0, 0.0).to_bits(), 0);
    assert_eq!(Device::unary(Unary::CosApprox).apply(-0.0, 0.0), 1.0);
}

#[test]
fn hyperbolic_tangents() {
    let mut device = Device::unary(Unary::TanhApprox);
    let mut worst = Worst::default();
    for x in operands() {
        let found = device.apply(x, 0.0);
        let exact = f64::from(x).tanh();
        if x.is_nan() {
            assert!(found.is_nan());
        } else if x == 0.0 || x.is_subnormal() || x.is_infinite() {
            assert_eq!(found.to_bits(), (exact as f32).to_bits(), "{x:e}");
        } else {
            worst.note(((f64::from(found) - exact) / exact).abs(), x);
        }
    }
    worst.check("tanh, relative", 2f64.powi(-21));
}

/// With `.ftz`, on devices that facts vouch for more or less of.
#[test]
fn exponentials_that_flush() {
    let close = Facts { exp2_f32_close: true, ..unknown().facts };
    let devices = [
        ("unknown", unknown().facts),
        ("close", close.clone()),
        ("close, keeping", Facts { denormals_f32_kept: true, ..close.clone() }),
        ("close, flushing", Facts { exp2_f32_flushes: true, ..close }),
    ];
    for (name, facts) in devices {
        let target = Target { facts, ..unknown() };
        let mut device = Device::of(target, |[x, _]| Op::Unary(Unary::Exp2Flushed, x));
        for x in operands().step_by(101).chain([0.0, -0.0, -126.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]) {
            let found = device.apply(x, 0.0);
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
        let mut device = Device::unary(op);
        let mut worst = Worst::default();
        // All mantissas, since the exponent changes nothing, and all exponents.
        let mantissas = (0..1 << 24).step_by(29).map(|bits| f32::from_bits(0x3f80_0000 + bits));
        for x in operands().chain(mantissas).filter(|x| x.is_normal() && *x > 0.0) {
            let exact = exact(f64::from(x));
            worst.note((f64::from(device.apply(x, 0.0)) / exact - 1.0).abs(), x);
        }
        worst.check(&format!("{name}, relative"), bound);
    }
}

/// Roots of everything, on devices that facts vouch for more or less of.
#[test]
fn ends_of_roots() {
    let right = Facts { roots_f32_close: true, roots_f32_ends: true, ..unknown().facts };
    let devices = [
        ("unknown", unknown().facts),
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
        let mut device = Device::of(target, |[x, _]| Op::Unary(Unary::Root(root), x));
        for x in operands().step_by(101).chain([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]) {
            let found = device.apply(x, 0.0);
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
    let mut device = Device::new(|[x, y]| Op::Binary(Binary::FDivApprox, x, y));
    let mut worst = Worst::default();
    let mut random = Random::new(5);
    let mut check = |device: &mut Device, x: f32, y: f32| {
        let found = device.apply(x, y);
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
