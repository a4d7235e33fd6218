//! Results that are no NaN because their operands are bounded: what libraries make of a number that was clamped to [0.0, 1.0], or of an
//! integer.

use rustc_hash::FxHashMap;

use crate::ir::{Arithmetic, Binary, Builder, Op, Type, Unary, Value};

/// The results of a list so far that are finite, each with a bound of its magnitude.
#[derive(Default)]
pub struct Bounded {
    bounds: FxHashMap<Value, f64>,
}

impl Bounded {
    /// Whether a value is known to be finite.
    pub fn contains(&self, b: &Builder<'_>, value: Value) -> bool {
        self.of(b, value).is_some()
    }

    /// Takes note of what an operation's result is bounded by, if it is.
    pub fn note(&mut self, b: &Builder<'_>, result: Value, op: Op) {
        if let Some(bound) = self.bound(b, op)
            && bound <= most(b.type_of(result))
        {
            self.bounds.insert(result, bound);
        }
    }

    fn of(&self, b: &Builder<'_>, value: Value) -> Option<f64> {
        let bits = match b.known(value) {
            Some(bits) => bits,
            None => return self.bounds.get(&value).copied(),
        };
        let magnitude = match b.type_of(value) {
            Type::F32 | Type::I32 => f64::from(f32::from_bits(bits as u32).abs()),
            _ => f64::from_bits(bits).abs(),
        };
        magnitude.is_finite().then_some(magnitude)
    }

    fn bound(&self, b: &Builder<'_>, op: Op) -> Option<f64> {
        let of = |value: Value| self.of(b, value);
        match op {
            Op::Unary(Unary::Saturate | Unary::Clamp, _) => Some(1.0),
            Op::Unary(Unary::SignedToFloat(_) | Unary::UnsignedToFloat(_), _) => Some(2f64.powi(64)),
            // Of as many bits, as which floats are moved.
            Op::Unary(Unary::FNeg | Unary::Bitcast(_), a) => of(a),
            Op::Binary(Binary::FAdd | Binary::FSub, x, y) => self.arithmetic(b, Arithmetic::Add(x, y)),
            Op::Binary(Binary::FMul, x, y) => self.arithmetic(b, Arithmetic::Mul(x, y)),
            Op::Fma(x, y, z) => self.arithmetic(b, Arithmetic::Fma(x, y, z)),
            Op::Rounded(_, arithmetic) | Op::Flushed(_, arithmetic) => self.arithmetic(b, arithmetic),
            Op::Select(_, x, y) => Some(of(x)?.max(of(y)?)),
            _ => None,
        }
    }

    fn arithmetic(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Option<f64> {
        let of = |value: Value| self.of(b, value);
        let exact = match arithmetic {
            Arithmetic::Add(x, y) | Arithmetic::Sub(x, y) => of(x)? + of(y)?,
            Arithmetic::Mul(x, y) => of(x)? * of(y)?,
            Arithmetic::Fma(x, y, z) => of(x)? * of(y)? + of(z)?,
            Arithmetic::Div(..) | Arithmetic::Sqrt(_) | Arithmetic::Narrow(_) => return None,
        };
        // More than rounding adds, also where it gives the least subnormal.
        Some(exact * 1.001 + f64::from(f32::MIN_POSITIVE))
    }
}

/// The greatest bound of a type that counts, far below the type's greatest number.
fn most(ty: Type) -> f64 {
    match ty {
        Type::F32 | Type::I32 => 2f64.powi(120),
        _ => 2f64.powi(1000),
    }
}
