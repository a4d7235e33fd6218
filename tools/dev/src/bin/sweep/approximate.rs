//! The approximate functions to sweep. References are computed in f64.

use half::{bf16, f16};

use crate::functions::{Function, Judge, Operands, Unit, double, flushed, packed, pair};

type Reference = fn(f64) -> f64;

pub fn all(all: &mut Vec<Function>) {
    singles(all);
    quotients(all);
    halves(all);
    doubles(all);
}

/// The limits of a format.
#[derive(Clone, Copy)]
struct Format {
    /// The smallest subnormal number.
    tiny: f64,
    /// The smallest normal number.
    least: f64,
    /// The largest number.
    most: f64,
    /// Bits of the fraction.
    fraction: i32,
}

const SINGLE: Format = Format {
    tiny: 1.0 / (1u128 << 127) as f64 / (1u32 << 22) as f64,
    least: f32::MIN_POSITIVE as f64,
    most: f32::MAX as f64,
    fraction: 23,
};
const F16: Format = Format { tiny: 1.0 / 16_777_216.0, least: 1.0 / 16384.0, most: 65504.0, fraction: 10 };
const BF16: Format =
    Format { tiny: SINGLE.least / 128.0, least: SINGLE.least, most: SINGLE.most * (255.0 / 256.0), fraction: 7 };

impl Format {
    /// The error of a result. Infinities, NaNs and zeros must be the reference's, except close to the format's limits.
    fn error(self, right: f64, result: f64, unit: Unit, flush: bool) -> Option<f64> {
        let size = right.abs();
        if right.is_nan() || result.is_nan() {
            return (right.is_nan() != result.is_nan()).then_some(f64::INFINITY);
        }
        if unit == Unit::Absolute {
            return Some((result - right).abs()).filter(|error| *error > 0.0);
        }
        // The uncertainty of the format's limits.
        let near = f64::exp2(f64::from(-self.fraction.min(20)));
        if size < self.least * (1.0 - near) {
            // Subnormal or zero: within a few units, or flushed.
            let unit = if flush { self.least } else { 4.0 * self.tiny };
            return ((result - right).abs() > unit).then_some(f64::INFINITY);
        }
        if size < self.least * (1.0 + near) || size > self.most * (1.0 - near) {
            return (result.abs() < self.least && size > self.least * (1.0 + near)
                || result.abs() < self.most * (1.0 - 8.0 * near) && size > self.most)
                .then_some(f64::INFINITY);
        }
        let error = (result - right).abs() / size;
        if error >= 0.5 {
            return Some(f64::INFINITY);
        }
        let error = match unit {
            Unit::Place => (result - right).abs() / f64::exp2(size.log2().floor() - f64::from(self.fraction)),
            _ => error,
        };
        (error > 0.0).then_some(error)
    }
}

fn singles(all: &mut Vec<Function>) {
    use Unit::{Absolute, Relative};
    type Row = (&'static str, Unit, fn(f32) -> bool, Reference);
    let rows: [Row; 8] = [
        ("ex2", Relative, |_| true, f64::exp2),
        ("lg2", Absolute, |x| x > 0.5 && x < 2.0, f64::log2),
        ("lg2", Relative, |x| !(x > 0.5 && x < 2.0), f64::log2),
        ("sin", Absolute, |x| x.abs() <= std::f32::consts::FRAC_PI_2, f64::sin),
        ("cos", Absolute, |x| x.abs() <= std::f32::consts::FRAC_PI_2, f64::cos),
        ("rcp", Relative, |_| true, f64::recip),
        ("sqrt", Relative, |_| true, f64::sqrt),
        ("rsqrt", Relative, |_| true, |x| x.sqrt().recip()),
    ];
    for (name, unit, domain, reference) in rows {
        for flush in [false, true] {
            let name = format!("{name}.approx{}.f32", if flush { ".ftz" } else { "" });
            all.push(single(name, unit, flush, domain, reference));
        }
    }
    all.push(single("tanh.approx.f32".into(), Relative, false, |_| true, f64::tanh));
}

/// A function of an f32, which is judged for operands in a domain.
fn single(name: String, unit: Unit, flush: bool, domain: fn(f32) -> bool, reference: Reference) -> Function {
    let error = move |bits, result| {
        let x = f32::from_bits(bits);
        let x = if flush { flushed(x) } else { x };
        let result = f64::from(f32::from_bits(low(result)));
        domain(x).then(|| SINGLE.error(reference(f64::from(x)), result, unit, flush)).flatten()
    };
    Function { name, operands: Operands::Single, judge: Judge::Error { error: Box::new(error), unit } }
}

/// Quotients of normal and infinite numbers. For large divisors the manual permits a result of zero from `div.approx`.
fn quotients(all: &mut Vec<Function>) {
    for (name, most) in [("div.approx", 2f32.powi(126)), ("div.full", f32::MAX)] {
        for flush in [false, true] {
            let error = move |number, result| {
                let (x, y) = pair(number);
                if x.is_subnormal() || y.is_subnormal() || y.is_finite() && y.abs() > most {
                    return None;
                }
                let result = f64::from(f32::from_bits(low(result)));
                SINGLE.error(f64::from(x) / f64::from(y), result, Unit::Place, true)
            };
            let judge = Judge::Error { error: Box::new(error), unit: Unit::Place };
            let name = format!("{name}{}.f32", if flush { ".ftz" } else { "" });
            all.push(Function { name, operands: Operands::Pair, judge });
        }
    }
}

fn halves(all: &mut Vec<Function>) {
    type Row = (&'static str, Unit, Reference);
    let rows: [Row; 2] = [("ex2", Unit::Relative, f64::exp2), ("tanh", Unit::Absolute, f64::tanh)];
    type Kind = (&'static str, Format, fn(u16) -> f64);
    let kinds: [Kind; 2] =
        [("f16", F16, |bits| f16::from_bits(bits).to_f64()), ("bf16", BF16, |bits| bf16::from_bits(bits).to_f64())];
    for (name, unit, reference) in rows {
        for (kind, format, widen) in kinds {
            let flush = name == "ex2" && kind == "bf16";
            let error = move |bits, result| format.error(reference(widen(bits)), widen(result), unit, flush);
            let name = format!("{name}.approx{}.{kind}", if flush { ".ftz" } else { "" });
            let judge = Judge::Error {
                error: Box::new(move |bits, result| error(part(bits.into(), 0), part(result, 0))),
                unit,
            };
            all.push(Function { name: name.clone(), operands: Operands::Half, judge });
            let both = move |number, result| {
                let bits = packed(number).into();
                let errors = [0, 16].map(|shift| error(part(bits, shift), part(result, shift)));
                errors.into_iter().flatten().reduce(f64::max)
            };
            let judge = Judge::Error { error: Box::new(both), unit };
            all.push(Function { name: name + "x2", operands: Operands::Halves, judge });
        }
    }
}

fn doubles(all: &mut Vec<Function>) {
    let rows: [(&'static str, Reference); 2] = [("rcp", f64::recip), ("rsqrt", |x| x.sqrt().recip())];
    for (name, reference) in rows {
        let error = move |number, result| {
            // The lower words of operands are ignored, and those of results are zero. Subnormal operands and results
            // become zero.
            let x = f64::from_bits(double(number) & !0xffff_ffff);
            let x = if x.is_subnormal() { 0f64.copysign(x) } else { x };
            let right = reference(x);
            if right.is_nan() {
                return (result != 0x7fff_ffff_0000_0000).then_some(f64::INFINITY);
            }
            let found = f64::from_bits(result);
            if low(result) != 0 || found.is_nan() || found.is_sign_negative() != right.is_sign_negative() {
                return Some(f64::INFINITY);
            }
            if right == 0.0 || right.is_subnormal() || right.is_infinite() {
                let right = if right.is_subnormal() { 0.0 } else { right.abs() };
                return (found.abs() != right).then_some(f64::INFINITY);
            }
            relative(found / right - 1.0)
        };
        let judge = Judge::Error { error: Box::new(error), unit: Unit::Relative };
        all.push(Function { name: format!("{name}.approx.ftz.f64"), operands: Operands::Double, judge });
    }
    let error = |number, result| {
        let (x, found) = (f64::from_bits(double(number)), f64::from_bits(result));
        if x.is_nan() || x <= 0.0 || x.is_infinite() {
            let right = x.sqrt().recip();
            return (right.is_nan() != found.is_nan() || !right.is_nan() && right != found).then_some(f64::INFINITY);
        }
        if !found.is_normal() {
            return Some(f64::INFINITY);
        }
        // The error of the square relative to the operand's reciprocal, with more bits than f64. Scaled so that nothing
        // is subnormal.
        let scale = if x < 1.0 { 128 } else { -128 };
        let (x, root) = (x * f64::exp2(f64::from(2 * scale)), found * f64::exp2(f64::from(-scale)));
        let square = root * root;
        let rest = root.mul_add(root, -square);
        relative((square.mul_add(x, -1.0) + rest * x) / 2.0)
    };
    let judge = Judge::Error { error: Box::new(error), unit: Unit::Relative };
    all.push(Function { name: "rsqrt.approx.f64".into(), operands: Operands::Double, judge });
}

/// A relative error, if it is finite.
fn relative(error: f64) -> Option<f64> {
    let error = error.abs();
    (error > 0.0).then_some(if error < 0.5 { error } else { f64::INFINITY })
}

#[allow(clippy::cast_possible_truncation)]
fn low(bits: u64) -> u32 {
    bits as u32
}

/// 16 bits, from a position on.
#[allow(clippy::cast_possible_truncation)]
fn part(bits: u64, shift: u32) -> u16 {
    (bits >> shift) as u16
}
