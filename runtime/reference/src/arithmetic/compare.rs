//! Comparisons of floats, and selections by them.

use super::env::Env;
use super::format::Format;
use crate::code::Binary;
use crate::config::Choice;

impl<F: Format, C: Choice> Env<'_, F, C> {
    /// A comparison. Vulkan requires the correct result, but without `SignedZeroInfNanPreserve` it
    /// assumes `NotNaN`, so that an unordered pair may compare either way.
    #[inline(always)]
    pub fn compare(&mut self, op: Binary, a: u64, b: u64) -> u64 {
        let (a, b) = if C::OPEN { (self.operand(a), self.operand(b)) } else { (a, b) };
        let (x, y) = (F::widen(a), F::widen(b));
        let result = match op {
            Binary::FOrdEqual => x == y,
            Binary::FUnordNotEqual => x != y,
            Binary::FOrdLessThan => x < y,
            Binary::FOrdLessThanEqual => x <= y,
            Binary::FOrdGreaterThan => x > y,
            _ => x >= y,
        };
        let unordered = C::OPEN && (F::is_nan(a) || F::is_nan(b));
        let swapped = unordered && !self.control.signed_zero_inf_nan && self.once_in(2);
        (result != swapped).into()
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
        let (a, b) = if C::OPEN { (self.operand(a), self.operand(b)) } else { (a, b) };
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
        if C::OPEN { self.result(chosen) } else { chosen }
    }

    #[inline]
    pub fn clamp(&mut self, [x, low, high]: [u64; 3]) -> u64 {
        let raised = self.max(x, low, true);
        self.min(raised, high, true)
    }
}
