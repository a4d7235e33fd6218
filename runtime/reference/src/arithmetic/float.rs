//! Float operations other than comparisons and the functions of `GLSL.std.450` that need approximation.

use super::env::Env;
use super::format::{Arithmetic, Direction, Format};
use crate::code::Unary;
use crate::config::Choice;

impl<F: Format, C: Choice> Env<'_, F, C> {
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
        if !C::OPEN {
            return result;
        }
        if F::is_nan(operand) { self.nan([result]) } else { self.result(result) }
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

    /// The operations that round to an integer.
    #[inline(always)]
    pub fn round(&mut self, op: Unary, a: u64) -> u64 {
        let a = if C::OPEN { self.operand(a) } else { a };
        if F::is_nan(a) {
            return self.nan([a]);
        }
        let x = F::widen(a);
        let rounded = match op {
            Unary::Trunc => x.trunc(),
            Unary::Floor => x.floor(),
            Unary::Ceil => x.ceil(),
            _ => x.round_ties_even(),
        };
        let result = F::narrow(rounded, Direction::NearestEven);
        if C::OPEN { self.result(result) } else { result }
    }
}
