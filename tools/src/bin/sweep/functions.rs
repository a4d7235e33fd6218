//! The functions that are swept, each with its PTX and its reference.

use half::{bf16, f16};

/// A function of one operand of 32 or 16 bits, or of two that are made from a number.
pub struct Function {
    /// The PTX instruction.
    pub name: String,
    operands: Operands,
    /// Judges results.
    pub judge: Judge,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// All of f32.
    Single,
    /// All of a format of 16 bits, with a result of 16 bits.
    Half,
    /// Pairs of f32 by number: see [`pair`].
    Pair,
}

/// How results are judged.
pub enum Judge {
    /// By the bits that are right.
    Bits(Box<dyn Fn(u32) -> u32 + Send + Sync>),
    /// By their error. Infinity is a wrong result, `None` nothing to be judged.
    Error {
        /// The error of a result.
        error: Box<dyn Fn(f32, f32) -> Option<f64> + Send + Sync>,
        /// What it is measured in.
        unit: Unit,
    },
}

/// What errors are measured in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The difference.
    Absolute,
    /// The difference by the reference.
    Relative,
}

impl Judge {
    /// An error in words.
    pub fn error_text(&self, error: f64) -> String {
        match self {
            Judge::Error { unit: Unit::Absolute, .. } => format!("2^{:.2} absolute", error.log2()),
            _ => format!("2^{:.2} relative", error.log2()),
        }
    }
}

/// Pairs that are tried of functions of two operands.
const PAIRS: u64 = 1 << 28;

impl Function {
    /// How many operands there are.
    pub fn operands(&self) -> u64 {
        match self.operands {
            Operands::Single => 1 << 32,
            Operands::Half => 1 << 16,
            Operands::Pair => PAIRS,
        }
    }

    /// Whether there are so few operands that all are tried.
    pub fn is_narrow(&self) -> bool {
        self.operands == Operands::Half
    }

    /// A kernel `sweep(out, start, stride, n)` that applies it.
    pub fn ptx(&self) -> String {
        let name = &self.name;
        let body = match self.operands {
            Operands::Single => format!("mov.b32 %fx, %x;\n{name} %r, %fx;\nmov.b32 %y, %r;"),
            Operands::Half => {
                format!("cvt.u16.u32 %hx, %x;\n{name} %hr, %hx;\ncvt.u32.u16 %y, %hr;")
            }
            Operands::Pair => {
                format!("{PAIR}mov.b32 %fx, %x;\nmov.b32 %fy, %y;\n{name} %r, %fx, %fy;\nmov.b32 %y, %r;")
            }
        };
        // What is converted to an integer has a register for that.
        let result = if name.contains("s32.f32") { ".b32" } else { ".f32" };
        format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\
             .visible .entry sweep(.param .u64 out, .param .u32 start, .param .u32 stride, .param .u32 n)\n{{\n\
             .reg .pred %p;\n.reg .b32 %i, %n, %s, %t, %x, %y;\n.reg .f32 %fx, %fy;\n.reg {result} %r;\n\
             .reg .b16 %hx, %hr;\n.reg .b64 %a;\n\
             mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %x, %tid.x;\nmad.lo.u32 %i, %i, %n, %x;\n\
             ld.param.u32 %n, [n];\nsetp.ge.u32 %p, %i, %n;\n@%p exit;\n\
             ld.param.u32 %x, [start];\nld.param.u32 %s, [stride];\nmad.lo.u32 %x, %i, %s, %x;\n\
             {body}\n\
             ld.param.u64 %a, [out];\nmad.wide.u32 %a, %i, 4, %a;\nst.global.b32 [%a], %y;\nret;\n}}\n"
        )
    }
}

/// [`pair`] in PTX, from `%x` to `%x` and `%y`.
const PAIR: &str = "mul.lo.u32 %y, %x, 0x9e3779b9;\nshr.u32 %t, %y, 15;\nxor.b32 %y, %y, %t;\nmul.lo.u32 %y, %y, 0x85ebca6b;\n\
     shr.u32 %t, %y, 13;\nxor.b32 %y, %y, %t;\nmul.lo.u32 %t, %y, 0xc2b2ae35;\nshr.u32 %s, %t, 16;\nxor.b32 %t, %t, %s;\n\
     and.b32 %s, %x, 1;\nsetp.ne.u32 %p, %s, 0;\nand.b32 %s, %t, 0x81ffffff;\nand.b32 %x, %y, 0x7e000000;\n\
     or.b32 %s, %s, %x;\nselp.b32 %t, %s, %t, %p;\nmov.b32 %x, %y;\nmov.b32 %y, %t;\n";

/// The pair of a number: random bits; of odd numbers, exponents are within a factor of 16 of each other.
fn pair(number: u32) -> (f32, f32) {
    let x = number.wrapping_mul(0x9e37_79b9);
    let x = (x ^ x >> 15).wrapping_mul(0x85eb_ca6b);
    let x = x ^ x >> 13;
    let y = x.wrapping_mul(0xc2b2_ae35);
    let y = y ^ y >> 16;
    let y = if number & 1 == 1 { y & 0x81ff_ffff | x & 0x7e00_0000 } else { y };
    (f32::from_bits(x), f32::from_bits(y))
}

/// All of them.
pub fn all() -> Vec<Function> {
    let mut all = Vec::new();
    approximate(&mut all);
    exact(&mut all);
    halves(&mut all);
    pairs(&mut all);
    all
}

fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// The bits of a result; hardware's one NaN for NaN.
fn bits(result: f32) -> u32 {
    if result.is_nan() { 0x7fff_ffff } else { result.to_bits() }
}

/// Judges an approximation where the operand is in a domain. Infinities, NaNs and zeros must be those of the reference, but for
/// what is too close to a format's ends to tell.
fn judged(unit: Unit, flush: bool, domain: fn(f32) -> bool, reference: fn(f64) -> f64) -> Judge {
    let error = move |x: f32, result: f32| {
        let x = if flush { flushed(x) } else { x };
        if !domain(x) {
            return None;
        }
        let right = reference(f64::from(x));
        let size = right.abs();
        if right.is_nan() || result.is_nan() {
            return (right.is_nan() != result.is_nan()).then_some(f64::INFINITY);
        }
        if unit == Unit::Absolute {
            return Some((f64::from(result) - right).abs()).filter(|error| *error > 0.0);
        }
        let (least, most) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        if size < least * 0.999_999 {
            // Subnormal or zero: within a few of their units, or flushed.
            let unit = if flush { least } else { 4.0 * f64::from(f32::from_bits(1)) };
            return ((f64::from(result) - right).abs() > unit).then_some(f64::INFINITY);
        }
        if size < least * 1.000_001 || size > most * 0.999_999 {
            return ((f64::from(result).abs() < least) && size > least * 1.000_001
                || f64::from(result).abs() < most * 0.999 && size > most)
                .then_some(f64::INFINITY);
        }
        let error = (f64::from(result) - right).abs() / size;
        (error > 0.0).then_some(if error < 0.5 { error } else { f64::INFINITY })
    };
    Judge::Error { error: Box::new(error), unit }
}

fn approximate(all: &mut Vec<Function>) {
    use Unit::{Absolute, Relative};
    type Row = (&'static str, Unit, fn(f32) -> bool, fn(f64) -> f64);
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
            let judge = judged(unit, flush, domain, reference);
            all.push(Function { name, operands: Operands::Single, judge });
        }
    }
    let judge = judged(Relative, false, |_| true, f64::tanh);
    all.push(Function { name: "tanh.approx.f32".into(), operands: Operands::Single, judge });
}

/// A rounding by the PTX modifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Nearest,
    Zero,
    Down,
    Up,
}

const ROUNDINGS: [(&str, To); 4] = [("rn", To::Nearest), ("rz", To::Zero), ("rm", To::Down), ("rp", To::Up)];

/// The neighbour of the nearest float that a rounding asks for; `rest` has the sign of what is exact less what is nearest.
fn directed(nearest: f32, rest: f64, to: To) -> f32 {
    let up = match to {
        To::Nearest => return nearest,
        To::Zero => nearest.is_sign_negative(),
        To::Down => false,
        To::Up => true,
    };
    match (up, rest > 0.0, rest < 0.0) {
        (true, true, _) => nearest.next_up(),
        (false, _, true) => nearest.next_down(),
        _ => nearest,
    }
}

fn reciprocal(x: f32, to: To) -> f32 {
    let nearest = x.recip();
    if !x.is_finite() || x == 0.0 {
        return nearest;
    }
    // 24 bits by 24 are exact in f64, and so is what they leave of 1. A reciprocal beyond the largest number is infinite.
    if nearest.is_infinite() {
        return directed(
            f32::MAX.copysign(x),
            f64::from(1f32.copysign(x)),
            if to == To::Nearest { away(x) } else { to },
        );
    }
    let rest = (1.0 - f64::from(nearest) * f64::from(x)) * f64::from(1f32.copysign(x));
    directed(nearest, rest, to)
}

/// The rounding that leads away from zero.
fn away(x: f32) -> To {
    if x.is_sign_negative() { To::Down } else { To::Up }
}

fn root(x: f32, to: To) -> f32 {
    let nearest = x.sqrt();
    if !nearest.is_finite() || nearest == 0.0 {
        return nearest;
    }
    directed(nearest, f64::from(x) - f64::from(nearest) * f64::from(nearest), to)
}

fn exact(all: &mut Vec<Function>) {
    let mut single = |name: String, reference: Box<dyn Fn(u32) -> u32 + Send + Sync>| {
        all.push(Function { name, operands: Operands::Single, judge: Judge::Bits(reference) });
    };
    for (modifier, to) in ROUNDINGS {
        single(format!("rcp.{modifier}.f32"), Box::new(move |x| bits(reciprocal(f32::from_bits(x), to))));
        single(
            format!("rcp.{modifier}.ftz.f32"),
            Box::new(move |x| {
                let x = flushed(f32::from_bits(x));
                // What is tiny is so however it is rounded.
                let cut = flushed(reciprocal(x, To::Zero));
                bits(if cut == 0.0 { cut } else { reciprocal(x, to) })
            }),
        );
        single(format!("sqrt.{modifier}.f32"), Box::new(move |x| bits(root(f32::from_bits(x), to))));
        single(format!("sqrt.{modifier}.ftz.f32"), Box::new(move |x| bits(root(flushed(f32::from_bits(x)), to))));
        let integral: fn(f32) -> f32 = match to {
            To::Nearest => f32::round_ties_even,
            To::Zero => f32::trunc,
            To::Down => f32::floor,
            To::Up => f32::ceil,
        };
        single(format!("cvt.{modifier}i.f32.f32"), Box::new(move |x| bits(integral(f32::from_bits(x)))));
        // Saturates as hardware does, and gives 0 for NaN.
        single(
            format!("cvt.{modifier}i.s32.f32"),
            Box::new(move |x| (integral(f32::from_bits(x)) as i32).cast_unsigned()),
        );
    }
}

/// A 16-bit format: its name, and its conversions to and from f32.
type HalfFormat = (&'static str, fn(u16) -> f32, fn(f32) -> u16);
/// A function of one f32 by name.
type Change = (&'static str, fn(f32) -> f32);
/// A function of two f32 by name.
type Operation = (&'static str, fn(f32, f32) -> f32);

fn halves(all: &mut Vec<Function>) {
    let formats: [HalfFormat; 2] = [
        ("f16", |bits| f16::from_bits(bits).to_f32(), |x| f16::from_f32(x).to_bits()),
        ("bf16", |bits| bf16::from_bits(bits).to_f32(), |x| bf16::from_f32(x).to_bits()),
    ];
    for (format, widen, narrow) in formats {
        let changes: [Change; 2] = [("abs", f32::abs), ("neg", |x| -x)];
        for (name, change) in changes {
            let reference = move |bits: u32| {
                // Operands have 16 bits.
                #[allow(clippy::cast_possible_truncation)]
                let x = widen(bits as u16);
                if x.is_nan() { 0x7fff } else { u32::from(narrow(change(x))) }
            };
            let judge = Judge::Bits(Box::new(reference));
            all.push(Function { name: format!("{name}.{format}"), operands: Operands::Half, judge });
        }
    }
}

fn pairs(all: &mut Vec<Function>) {
    let operations: [Operation; 4] =
        [("add", |x, y| x + y), ("sub", |x, y| x - y), ("mul", |x, y| x * y), ("div", |x, y| x / y)];
    for (name, operation) in operations {
        let reference = move |number: u32| {
            let (x, y) = pair(number);
            bits(operation(x, y))
        };
        let judge = Judge::Bits(Box::new(reference));
        all.push(Function { name: format!("{name}.rn.f32"), operands: Operands::Pair, judge });
    }
}
