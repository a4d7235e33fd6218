//! Float operations other than comparisons and the functions of `GLSL.std.450` that need approximation.

use super::env::Env;
use super::format::{Arithmetic, Direction, Format};
use crate::code::Unary;
use crate::config::Choice;

impl<F: Format, C: Choice> Env<'_, F, C> {
    /// `OpFNegate`.
    #[inline]
    pub fn negate(&mut self, a: u64) -> u64 {
        self.bitwise(a, a ^ F::SIGN)
    }

    /// `FAbs`. Vulkan would permit a negative zero here, but no device returns one.
    #[inline]
    pub fn abs(&mut self, a: u64) -> u64 {
        self.control.signed_zero_inf_nan = true;
        self.bitwise(a, a & !F::SIGN)
    }

    /// A result that differs from an operand in at most the sign.
    #[inline]
    fn bitwise(&mut self, operand: u64, result: u64) -> u64 {
        if self.is_orderly() {
            return result;
        }
        if C::OPEN && F::is_nan(operand) { self.nan([result]) } else { self.result(result) }
    }

    /// `OpFDiv`. Vulkan: 2.5 ULP for a divisor of 0 or in [2^-126, 2^126], for half precision [2^-14, 2^14]; other
    /// divisors are unspecified. For double precision, Vulkan only says "at least that of single precision". Like the
    /// conformance tests, this is read as the same number of ULP.
    #[inline(always)]
    pub fn divide(&mut self, a: u64, b: u64) -> u64 {
        if !C::OPEN {
            return self.arithmetic(Arithmetic::Div, [a, b, 0]);
        }
        let (a, b) = (self.operand(a), self.operand(b));
        let nearest = F::nearest(Arithmetic::Div, [a, b, 0]);
        if F::is_nan(nearest) {
            return self.nan([a, b]);
        }
        if F::is_zero(a) || F::is_zero(b) || !F::is_finite(a) || !F::is_finite(b) {
            return self.result(nearest);
        }
        let greatest = 2 * F::BIAS as u64 - 1;
        let bounded = (F::MIN_NORMAL..=greatest << F::FRACTION).contains(&(b & !F::SIGN));
        let result = if bounded {
            self.within(nearest, 2.5, 0.5)
        } else {
            match self.choice.pick(4) {
                0 | 1 => nearest,
                // The reciprocal was flushed to zero, or overflowed.
                2 => nearest & F::SIGN | if F::is_denormal(b) { F::INFINITY } else { 0 },
                _ => self.any_number(),
            }
        };
        self.result(result)
    }

    /// Any value except NaNs and infinities.
    pub fn any_number(&mut self) -> u64 {
        let bits = self.choice.bits() & super::mask(F::BITS);
        if F::is_finite(bits) { bits } else { bits & !F::INFINITY }
    }

    /// `Fma`. Vulkan: "Inherited from `OpFMul` followed by `OpFAdd`", so rounded once or twice.
    #[inline(always)]
    pub fn fma(&mut self, [a, b, c]: [u64; 3]) -> u64 {
        if self.once_in(2) {
            let product = self.arithmetic(Arithmetic::Mul, [a, b, 0]);
            return self.arithmetic(Arithmetic::Add, [product, c, 0]);
        }
        self.arithmetic(Arithmetic::Fma, [a, b, c])
    }

    /// `FMix`. Vulkan: "Inherited from x × (1.0 − a) + y × a", also as transformed by distributivity.
    pub fn mix(&mut self, x: u64, y: u64, a: u64) -> u64 {
        if self.once_in(2) {
            let difference = self.arithmetic(Arithmetic::Sub, [y, x, 0]);
            return self.fma([difference, a, x]);
        }
        let rest = self.arithmetic(Arithmetic::Sub, [F::ONE, a, 0]);
        let x = self.arithmetic(Arithmetic::Mul, [x, rest, 0]);
        let y = self.arithmetic(Arithmetic::Mul, [y, a, 0]);
        self.arithmetic(Arithmetic::Add, [x, y, 0])
    }

    /// `SmoothStep`. Vulkan: "Inherited from t × t × (3.0 − 2.0 × t), where t = clamp((x − edge0) / (edge1 − edge0), 0.0, 1.0)".
    pub fn smooth_step(&mut self, edge0: u64, edge1: u64, x: u64) -> u64 {
        let [two, three] = [2.0, 3.0].map(|value| F::narrow(value, Direction::NearestEven));
        let along = self.arithmetic(Arithmetic::Sub, [x, edge0, 0]);
        let whole = self.arithmetic(Arithmetic::Sub, [edge1, edge0, 0]);
        let ratio = self.divide(along, whole);
        let t = self.clamp([ratio, 0, F::ONE], false);
        let twice = self.arithmetic(Arithmetic::Mul, [two, t, 0]);
        let factor = self.arithmetic(Arithmetic::Sub, [three, twice, 0]);
        let square = self.arithmetic(Arithmetic::Mul, [t, t, 0]);
        self.arithmetic(Arithmetic::Mul, [square, factor, 0])
    }

    /// `Sqrt`. Vulkan: "Inherited from 1.0 / inversesqrt()".
    #[inline]
    pub fn sqrt(&mut self, a: u64) -> u64 {
        if !C::OPEN {
            return self.arithmetic(Arithmetic::Sqrt, [a, 0, 0]);
        }
        let a = self.operand(a);
        if F::is_nan(a) {
            return self.nan([a]);
        }
        let exact = F::is_zero(a) || !F::is_finite(a);
        if exact || self.once_in(2) {
            return self.result(F::nearest(Arithmetic::Sqrt, [a, 0, 0]));
        }
        let inverse = self.inverse_sqrt(F::widen(a));
        self.divide(F::ONE, inverse)
    }

    /// `OpFRem`: the sign is that of `a`. Vulkan: "Inherited from x − y × trunc(x/y)".
    pub fn remainder(&mut self, a: u64, b: u64) -> u64 {
        self.remainder_by(Unary::Trunc, a, b, |x, y| x % y)
    }

    /// `OpFMod`: the sign is that of `b`. Vulkan: "Inherited from x − y × floor(x/y)".
    pub fn modulo(&mut self, a: u64, b: u64) -> u64 {
        self.remainder_by(Unary::Floor, a, b, |x, y| {
            let remainder = x % y;
            if remainder != 0.0 && (remainder < 0.0) != (y < 0.0) { remainder + y } else { remainder }
        })
    }

    fn remainder_by(&mut self, rounding: Unary, a: u64, b: u64, exact: impl Fn(f64, f64) -> f64) -> u64 {
        let (a, b) = (self.operand(a), self.operand(b));
        if C::OPEN && F::is_finite(a) && F::is_finite(b) && self.once_in(2) {
            let ratio = self.divide(a, b);
            let whole = self.round(rounding, ratio);
            let product = self.arithmetic(Arithmetic::Mul, [b, whole, 0]);
            return self.arithmetic(Arithmetic::Sub, [a, product, 0]);
        }
        let result = F::narrow(exact(F::widen(a), F::widen(b)), Direction::NearestEven);
        if F::is_nan(result) { self.nan([a, b]) } else { self.result(result) }
    }

    /// The operations that round to an integer.
    #[inline(always)]
    pub fn round(&mut self, op: Unary, a: u64) -> u64 {
        let a = if self.is_orderly() { a } else { self.operand(a) };
        if F::is_nan(a) {
            return self.nan([a]);
        }
        let x = F::widen(a);
        let rounded = match op {
            Unary::Trunc => x.trunc(),
            Unary::Floor => x.floor(),
            Unary::Ceil => x.ceil(),
            // GLSL.std.450, Round: "The fraction 0.5 will round in a direction chosen by the implementation".
            Unary::Round if self.once_in(2) => {
                let away = x.round();
                if (x - x.trunc()).abs() == 0.5 && x.round_ties_even() == away { x.trunc() } else { away }
            }
            _ => x.round_ties_even(),
        };
        let result = F::narrow(rounded, Direction::NearestEven);
        if self.is_orderly() { result } else { self.result(result) }
    }

    /// `Fract`: `x - floor x`.
    pub fn fract(&mut self, a: u64) -> u64 {
        let a = self.operand(a);
        let whole = F::narrow(F::widen(a).floor(), Direction::NearestEven);
        self.controlled_arithmetic(Arithmetic::Sub, [a, whole, 0])
    }

    /// `Modf`: fraction and whole part, both with the sign of `a`.
    pub fn modf(&mut self, a: u64) -> [u64; 2] {
        let a = self.operand(a);
        if F::is_nan(a) {
            return [self.nan([a]), self.nan([a])];
        }
        let x = F::widen(a);
        let fraction = if x.is_infinite() { 0.0 } else { x - x.trunc() };
        [fraction.copysign(x), x.trunc()].map(|part| self.result(F::narrow(part, Direction::NearestEven)))
    }

    /// `Frexp`: a significand in [0.5, 1) and an exponent.
    pub fn frexp(&mut self, a: u64) -> [u64; 2] {
        let a = self.operand(a);
        if F::is_zero(a) || !F::is_finite(a) {
            return [self.result(a), 0];
        }
        let (sign, magnitude) = (a & F::SIGN, a & !F::SIGN);
        // A denormal is brought to where its highest bit becomes the hidden one.
        let shift = F::FRACTION.saturating_sub(magnitude.ilog2());
        let normal = magnitude << shift;
        let biased = (normal >> F::FRACTION).max(1) as i32 - shift as i32;
        let significand = sign | ((F::BIAS as u64 - 1) << F::FRACTION) | (normal & (F::MIN_NORMAL - 1));
        [significand, (biased - F::BIAS + 1) as u32 as u64]
    }

    /// `Ldexp`. Vulkan: "Correctly rounded".
    pub fn ldexp(&mut self, a: u64, exponent: u64) -> u64 {
        let a = self.operand(a);
        if F::is_nan(a) {
            return self.nan([a]);
        }
        let direction = self.direction();
        let exponent = exponent as u32 as i32;
        // GLSL.std.450, Ldexp: "If exp is less than −126 (single precision) or −1022 (double precision), the result may be
        // flushed to zero."
        if exponent < 1 - F::BIAS && self.once_in(2) {
            return self.result(a & F::SIGN);
        }
        self.result(F::scale(a, exponent, direction))
    }
}
