//! Results that are no NaN because their operands are bounded, as those of libraries are that compute with a number
//! clamped to [0.0, 1.0], or with an integer; and those among them that are positive.

use rustc_hash::FxHashMap;

use crate::ir::{Arithmetic, Binary, Builder, Op, Type, Unary, Value};

/// The results of a list so far that are finite, each with the numbers that it is between.
#[derive(Default)]
pub struct Bounded {
    ranges: FxHashMap<Value, Range>,
    /// The greatest numbers of integers.
    integers: FxHashMap<Value, f64>,
}

/// Numbers between two, these included.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub least: f64,
    pub greatest: f64,
}

impl Bounded {
    /// Whether a value is known to be finite.
    pub fn contains(&self, b: &Builder<'_>, value: Value) -> bool {
        self.of(b, value).is_some()
    }

    /// Notes the bounds of an operation's result, if it has any.
    pub fn note(&mut self, b: &Builder<'_>, result: Value, op: Op) {
        if let Op::Binary(Binary::Shr, x, places) = op
            && b.type_of(x) == Type::I32
            && let Some(places @ 0..32) = b.known(places)
        {
            self.integers.insert(result, f64::from(u32::MAX >> places));
        } else if let Some(range) = self.range(b, op)
            && range.most() <= most(b.type_of(result))
        {
            self.ranges.insert(result, range);
        }
    }

    /// The bounds of a value, if the value is known to be finite.
    pub fn of(&self, b: &Builder<'_>, value: Value) -> Option<Range> {
        let bits = match b.known(value) {
            Some(bits) => bits,
            None => return self.ranges.get(&value).copied(),
        };
        let number = match b.type_of(value) {
            Type::F32 | Type::I32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        number.is_finite().then_some(Range { least: number, greatest: number })
    }

    fn range(&self, b: &Builder<'_>, op: Op) -> Option<Range> {
        let of = |value: Value| self.of(b, value);
        let longest = 2f64.powi(64);
        match op {
            Op::Unary(Unary::Saturate | Unary::Clamp, _) => Some(Range { least: 0.0, greatest: 1.0 }),
            Op::Unary(Unary::SignedToFloat(_), _) => Some(Range { least: -longest, greatest: longest }),
            Op::Unary(Unary::UnsignedToFloat(_), x) => {
                let greatest = self.integers.get(&x).copied().unwrap_or(longest);
                Some(Range { least: 0.0, greatest }.rounded())
            }
            // Of as many bits, as which floats are moved.
            Op::Unary(Unary::Bitcast(_), a) => of(a),
            Op::Unary(Unary::FNeg, a) => Some(of(a)?.negated()),
            Op::Binary(Binary::FAdd, x, y) => self.arithmetic(b, Arithmetic::Add(x, y)),
            Op::Binary(Binary::FSub, x, y) => self.arithmetic(b, Arithmetic::Sub(x, y)),
            Op::Binary(Binary::FMul, x, y) => self.arithmetic(b, Arithmetic::Mul(x, y)),
            Op::Fma(x, y, z) => self.arithmetic(b, Arithmetic::Fma(x, y, z)),
            Op::Rounded(_, arithmetic) | Op::Flushed(_, arithmetic) => self.arithmetic(b, arithmetic),
            Op::Select(_, x, y) => {
                let [x, y] = [of(x)?, of(y)?];
                Some(Range { least: x.least.min(y.least), greatest: x.greatest.max(y.greatest) })
            }
            _ => None,
        }
    }

    fn arithmetic(&self, b: &Builder<'_>, arithmetic: Arithmetic) -> Option<Range> {
        let of = |value: Value| self.of(b, value);
        let exact = match arithmetic {
            Arithmetic::Add(x, y) => of(x)?.plus(of(y)?),
            Arithmetic::Sub(x, y) => of(x)?.plus(of(y)?.negated()),
            Arithmetic::Mul(x, y) => of(x)?.times(of(y)?),
            Arithmetic::Fma(x, y, z) => of(x)?.times(of(y)?).plus(of(z)?),
            Arithmetic::Div(..) | Arithmetic::Sqrt(_) | Arithmetic::Narrow(_) => return None,
        };
        Some(exact.rounded())
    }
}

impl Range {
    /// The greatest magnitude.
    pub fn most(self) -> f64 {
        self.least.abs().max(self.greatest.abs())
    }

    /// Whether the numbers are positive and, on `F32`, neither zeros nor subnormal.
    pub fn is_normal(self) -> bool {
        self.least >= f64::from(f32::MIN_POSITIVE)
    }

    fn negated(self) -> Range {
        Range { least: -self.greatest, greatest: -self.least }
    }

    fn plus(self, other: Range) -> Range {
        Range { least: self.least + other.least, greatest: self.greatest + other.greatest }
    }

    fn times(self, other: Range) -> Range {
        let products = [self.least, self.greatest].map(|x| [other.least, other.greatest].map(|y| x * y));
        let products = products.as_flattened().iter().copied();
        Range {
            least: products.clone().fold(f64::INFINITY, f64::min),
            greatest: products.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// With more than rounding adds, also where it gives a zero or the least subnormal.
    fn rounded(self) -> Range {
        let below = |number: f64| number - number.abs() * 0.001 - f64::from(f32::MIN_POSITIVE);
        Range { least: below(self.least), greatest: -below(-self.greatest) }
    }
}

/// The greatest bound of a type that counts, far below the type's greatest number.
fn most(ty: Type) -> f64 {
    match ty {
        Type::F32 | Type::I32 => 2f64.powi(120),
        _ => 2f64.powi(1000),
    }
}
