//! Comparisons of floats, and selections by them.

use super::env::Env;
use super::format::Format;
use crate::code::Binary;
use crate::config::Choice;

impl<F: Format, C: Choice> Env<'_, F, C> {
    /// One of the twelve comparisons. Vulkan requires the correct result, but without `SignedZeroInfNanPreserve` it
    /// assumes `NotNaN`, so that an unordered pair may compare either way.
    #[inline(always)]
    #[expect(
        clippy::neg_cmp_op_on_partial_ord,
        reason = "a comparison of unordered operands is false, so its negation is true"
    )]
    pub fn compare(&mut self, op: Binary, a: u64, b: u64) -> u64 {
        let (a, b) = if self.is_orderly() { (a, b) } else { (self.operand(a), self.operand(b)) };
        let (x, y) = (F::widen(a), F::widen(b));
        let result = match op {
            Binary::FOrdEqual => x == y,
            Binary::FUnordEqual => x == y || x.is_nan() || y.is_nan(),
            Binary::FOrdNotEqual => x != y && !x.is_nan() && !y.is_nan(),
            Binary::FUnordNotEqual => x != y,
            Binary::FOrdLessThan => x < y,
            Binary::FUnordLessThan => !(x >= y),
            Binary::FOrdLessThanEqual => x <= y,
            Binary::FUnordLessThanEqual => !(x > y),
            Binary::FOrdGreaterThan => x > y,
            Binary::FUnordGreaterThan => !(x <= y),
            Binary::FOrdGreaterThanEqual => x >= y,
            _ => !(x < y),
        };
        let unordered = C::OPEN && (F::is_nan(a) || F::is_nan(b));
        let swapped = unordered && !self.control.signed_zero_inf_nan && self.once_in(2);
        (result != swapped).into()
    }

    /// `OpIsNan`. Vulkan: without `SignedZeroInfNanPreserve`, the absence of NaNs may be assumed.
    #[inline]
    pub fn is_nan(&mut self, a: u64) -> u64 {
        let ignored = C::OPEN && !self.control.signed_zero_inf_nan && self.once_in(2);
        (F::is_nan(a) && !ignored).into()
    }

    /// `OpIsInf`. Without `SignedZeroInfNanPreserve`, the absence of infinities may be assumed.
    #[inline]
    pub fn is_infinite(&mut self, a: u64) -> u64 {
        let ignored = C::OPEN && !self.control.signed_zero_inf_nan && self.once_in(2);
        (a & !F::SIGN == F::INFINITY && !ignored).into()
    }

    /// `FMin`, or `NMin`, which ignores a NaN.
    #[inline]
    pub fn min(&mut self, a: u64, b: u64, number: bool) -> u64 {
        self.select(a, b, number, |x, y| y < x)
    }

    /// `FMax`, or `NMax`, which ignores a NaN.
    #[inline]
    pub fn max(&mut self, a: u64, b: u64, number: bool) -> u64 {
        self.select(a, b, number, |x, y| x < y)
    }

    /// Returns `b` if `second(a, b)` holds, else `a`.
    #[inline(always)]
    fn select(&mut self, a: u64, b: u64, number: bool, second: impl Fn(f64, f64) -> bool) -> u64 {
        let (a, b) = if self.is_orderly() { (a, b) } else { (self.operand(a), self.operand(b)) };
        let chosen = match (F::is_nan(a), F::is_nan(b)) {
            (false, false) => {
                if second(F::widen(a), F::widen(b)) {
                    b
                } else {
                    a
                }
            }
            (true, true) => return self.nan([a, b]),
            // GLSL.std.450, FMin: "Which operand is the result is undefined if one of the operands is a NaN." NMin
            // defines the result for NaNs, and so is bound to it, although it isn't listed under
            // `SignedZeroInfNanPreserve`.
            (true, false) if !number && self.once_in(2) => return self.nan([a]),
            (false, true) if !number && self.once_in(2) => return self.nan([b]),
            (true, false) => b,
            (false, true) => a,
        };
        if self.is_orderly() { chosen } else { self.result(chosen) }
    }

    /// `FClamp` as defined by GLSL.std.450, and `NClamp` likewise.
    #[inline]
    pub fn clamp(&mut self, [x, low, high]: [u64; 3], number: bool) -> u64 {
        let raised = self.max(x, low, number);
        self.min(raised, high, number)
    }

    /// `Step`: 0 below the edge, else 1.
    #[inline]
    pub fn step(&mut self, edge: u64, x: u64) -> u64 {
        let below = self.compare(Binary::FOrdLessThan, x, edge) != 0;
        self.result(if below { 0 } else { F::ONE })
    }

    /// `FSign`.
    #[inline]
    pub fn sign(&mut self, a: u64) -> u64 {
        let a = self.operand(a);
        if F::is_nan(a) {
            return self.nan([a]);
        }
        self.result(if F::is_zero(a) { a } else { a & F::SIGN | F::ONE })
    }
}
