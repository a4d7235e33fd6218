//! The functions to sweep, each with its PTX and its reference.

use half::{bf16, f16};

/// A function, whose operands are made from a number.
pub struct Function {
    /// The PTX instruction.
    pub name: String,
    pub operands: Operands,
    /// Judges results.
    pub judge: Judge,
}

/// The operands of functions, by number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// All f32 values.
    Single,
    /// All values of a 16-bit format, with a 16-bit result.
    Half,
    /// Two operands of a 16-bit format, each of which takes all values: see [`packed`].
    Halves,
    /// Pairs of f32: see [`pair`].
    Pair,
    /// Many f64 values: see [`double`].
    Double,
}

/// The criterion by which results are judged.
pub enum Judge {
    /// By the correct bits, for an operand number.
    Bits(Box<dyn Fn(u32) -> u32 + Send + Sync>),
    /// By their error. Infinity means a wrong result, `None` no judgment.
    Error {
        /// The error of a result, given the operand number and the result's bits.
        error: Box<dyn Fn(u32, u64) -> Option<f64> + Send + Sync>,
        /// The unit of the error.
        unit: Unit,
    },
}

/// The unit of errors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The absolute difference.
    Absolute,
    /// The difference divided by the reference.
    Relative,
    /// The difference in units of the reference's last place.
    Place,
}

impl Judge {
    pub fn error_text(&self, error: f64) -> String {
        match self {
            Judge::Error { unit: Unit::Absolute, .. } => format!("2^{:.2} absolute", error.log2()),
            Judge::Error { unit: Unit::Place, .. } => format!("{error:.3} ulp"),
            _ => format!("2^{:.2} relative", error.log2()),
        }
    }
}

/// Number of operands to try for functions with too many to try all.
const MANY: u64 = 1 << 28;

impl Function {
    pub fn operands(&self) -> u64 {
        match self.operands {
            Operands::Single => 1 << 32,
            Operands::Half | Operands::Halves => 1 << 16,
            Operands::Pair | Operands::Double => MANY,
        }
    }

    /// Whether there are so few operands that all can be tried.
    pub fn is_narrow(&self) -> bool {
        matches!(self.operands, Operands::Half | Operands::Halves)
    }

    /// Bytes of a result in memory.
    pub fn result_bytes(&self) -> u32 {
        if self.operands == Operands::Double { 8 } else { 4 }
    }

    /// Bits of a result, or of the upper one of two results.
    pub fn float_bits(&self) -> u32 {
        match self.operands {
            Operands::Half => 16,
            Operands::Single | Operands::Halves | Operands::Pair => 32,
            Operands::Double => 64,
        }
    }

    /// The operands of a number, in hexadecimal.
    pub fn operand_text(&self, number: u32) -> String {
        match self.operands {
            Operands::Single => format!("{number:#010x}"),
            Operands::Half => format!("{number:#06x}"),
            Operands::Halves => format!("{:#010x}", packed(number)),
            Operands::Pair => {
                let (x, y) = pair(number);
                format!("{:#010x}, {:#010x}", x.to_bits(), y.to_bits())
            }
            Operands::Double => format!("{:#018x}", double(number)),
        }
    }

    /// A kernel `sweep(out, start, stride, n)` that applies the function.
    pub fn ptx(&self) -> String {
        let name = &self.name;
        let body = match self.operands {
            Operands::Single => format!("mov.b32 %fx, %x;\n{name} %r, %fx;\nmov.b32 %y, %r;"),
            Operands::Half => {
                format!("cvt.u16.u32 %hx, %x;\n{name} %hr, %hx;\ncvt.u32.u16 %y, %hr;")
            }
            Operands::Halves => format!("mul.lo.u32 %x, %x, {PACKED:#x};\n{name} %y, %x;"),
            Operands::Pair => {
                format!("{PAIR}mov.b32 %fx, %x;\nmov.b32 %fy, %y;\n{name} %r, %fx, %fy;\nmov.b32 %y, %r;")
            }
            Operands::Double => format!("{DOUBLE}{name} %d, %d;"),
        };
        // A conversion to an integer has an integer register.
        let result = if name.contains("s32.f32") { ".b32" } else { ".f32" };
        let (bytes, stored) = if self.result_bytes() == 8 { (8, "f64 [%a], %d") } else { (4, "b32 [%a], %y") };
        format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\
             .visible .entry sweep(.param .u64 out, .param .u32 start, .param .u32 stride, .param .u32 n)\n{{\n\
             .reg .pred %p;\n.reg .b32 %i, %n, %s, %t, %x, %y;\n.reg .f32 %fx, %fy;\n.reg {result} %r;\n\
             .reg .b16 %hx, %hr;\n.reg .b64 %a;\n.reg .f64 %d;\n\
             mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %x, %tid.x;\nmad.lo.u32 %i, %i, %n, %x;\n\
             ld.param.u32 %n, [n];\nsetp.ge.u32 %p, %i, %n;\n@%p exit;\n\
             ld.param.u32 %x, [start];\nld.param.u32 %s, [stride];\nmad.lo.u32 %x, %i, %s, %x;\n\
             {body}\n\
             ld.param.u64 %a, [out];\nmad.wide.u32 %a, %i, {bytes}, %a;\nst.global.{stored};\nret;\n}}\n"
        )
    }
}

/// The multiplier that makes two 16-bit operands of one number.
const PACKED: u32 = 0x9e37_0001;

/// Two 16-bit operands: the number, and above it a multiple, which takes all values too.
pub fn packed(number: u32) -> u32 {
    number.wrapping_mul(PACKED)
}

/// [`double`] in PTX, from `%x` to `%d`.
const DOUBLE: &str = "mul.lo.u32 %y, %x, 0x9e3779b9;\nshr.u32 %t, %y, 15;\nxor.b32 %y, %y, %t;\n\
     mul.lo.u32 %y, %y, 0x85ebca6b;\nshr.u32 %t, %y, 28;\nshl.b32 %x, %x, 4;\nor.b32 %x, %x, %t;\n\
     mul.lo.u32 %y, %y, 0xc2b2ae35;\nmov.b64 %d, {%y, %x};\n";

/// The bits of an f64: the number on top, pseudorandom bits below.
pub fn double(number: u32) -> u64 {
    let y = number.wrapping_mul(0x9e37_79b9);
    let y = (y ^ y >> 15).wrapping_mul(0x85eb_ca6b);
    let upper = number << 4 | y >> 28;
    u64::from(upper) << 32 | u64::from(y.wrapping_mul(0xc2b2_ae35))
}

/// [`pair`] in PTX, from `%x` to `%x` and `%y`.
const PAIR: &str = "mul.lo.u32 %y, %x, 0x9e3779b9;\nshr.u32 %t, %y, 15;\nxor.b32 %y, %y, %t;\nmul.lo.u32 %y, %y, 0x85ebca6b;\n\
     shr.u32 %t, %y, 13;\nxor.b32 %y, %y, %t;\nmul.lo.u32 %t, %y, 0xc2b2ae35;\nshr.u32 %s, %t, 16;\nxor.b32 %t, %t, %s;\n\
     and.b32 %s, %x, 1;\nsetp.ne.u32 %p, %s, 0;\nand.b32 %s, %t, 0x81ffffff;\nand.b32 %x, %y, 0x7e000000;\n\
     or.b32 %s, %s, %x;\nselp.b32 %t, %s, %t, %p;\nmov.b32 %x, %y;\nmov.b32 %y, %t;\n";

/// The pair of a number: pseudorandom bits; for odd numbers, the exponents are within a factor of 16.
pub fn pair(number: u32) -> (f32, f32) {
    let x = number.wrapping_mul(0x9e37_79b9);
    let x = (x ^ x >> 15).wrapping_mul(0x85eb_ca6b);
    let x = x ^ x >> 13;
    let y = x.wrapping_mul(0xc2b2_ae35);
    let y = y ^ y >> 16;
    let y = if number & 1 == 1 { y & 0x81ff_ffff | x & 0x7e00_0000 } else { y };
    (f32::from_bits(x), f32::from_bits(y))
}

/// Adds all exact functions.
pub fn all(all: &mut Vec<Function>) {
    exact(all);
    halves(all);
    pairs(all);
}

/// Replaces a subnormal number by zero of its sign.
pub fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// The bits of a result. NaN becomes hardware's canonical NaN.
fn bits(result: f32) -> u32 {
    if result.is_nan() { 0x7fff_ffff } else { result.to_bits() }
}

/// The rounding of a PTX modifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Nearest,
    Zero,
    Down,
    Up,
}

const ROUNDINGS: [(&str, To); 4] = [("rn", To::Nearest), ("rz", To::Zero), ("rm", To::Down), ("rp", To::Up)];

/// The neighbor of the nearest float that a rounding selects. `rest` has the sign of the exact value minus the nearest.
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
    // Products of 24-bit numbers are exact in f64, and so is their difference from 1. A reciprocal above the largest
    // number is infinite.
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

/// The rounding away from zero.
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
                // Whether a result is tiny doesn't depend on the rounding.
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
        // Saturates like hardware, with 0 for NaN.
        single(
            format!("cvt.{modifier}i.s32.f32"),
            Box::new(move |x| (integral(f32::from_bits(x)) as i32).cast_unsigned()),
        );
    }
}

/// A 16-bit format: its name, and conversions to and from f32.
type HalfFormat = (&'static str, fn(u16) -> f32, fn(f32) -> u16);
/// A named function of an f32.
type Change = (&'static str, fn(f32) -> f32);
/// A named function of two f32.
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
