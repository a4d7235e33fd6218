//! Functions of `GLSL.std.450` that have no exact result. They are computed in double precision and rounded once; open
//! choices add an error within Vulkan's limits.
//!
//! If the precision is "inherited from" a formula, the formula is computed with operations that have errors of their
//! own, so that each result lies in the permitted range. Infinities, NaNs and zeros follow IEEE 754.

use super::env::Env;
use super::format::{Arithmetic, Direction, Format};
use crate::code::Unary;
use crate::config::Choice;

impl<F: Format, C: Choice> Env<'_, F, C> {
    pub fn function(&mut self, op: Unary, a: u64) -> u64 {
        let a = self.operand(a);
        if F::is_nan(a) {
            return self.nan([a]);
        }
        let result = if C::OPEN && F::is_finite(a) && self.once_in(2) {
            self.approximate(op, a)
        } else {
            F::narrow(exact(op, F::widen(a)), Direction::NearestEven)
        };
        if F::is_nan(result) { self.nan([]) } else { self.result(result) }
    }

    /// A function of a finite operand, with its permitted error.
    fn approximate(&mut self, op: Unary, a: u64) -> u64 {
        let x = F::widen(a);
        match op {
            Unary::InverseSqrt => self.inverse_sqrt(x),
            Unary::Exp | Unary::Exp2 => self.exponential(op, a),
            Unary::Log | Unary::Log2 => self.logarithm(op, a),
            Unary::Sin | Unary::Cos => self.sine(op, a),
            _ => {
                let (sine, cosine) = (self.hyperbolic(Arithmetic::Sub, a), self.hyperbolic(Arithmetic::Add, a));
                self.divide(sine, cosine)
            }
        }
    }

    /// Vulkan: 2 ULP.
    pub fn inverse_sqrt(&mut self, x: f64) -> u64 {
        let nearest = F::narrow(exact(Unary::InverseSqrt, x), Direction::NearestEven);
        self.within(nearest, 2.0, slack::<F>())
    }

    /// `Exp`, `Exp2`. Vulkan: 3 + 2 |x| ULP; in half precision 1 + 2 |x| ULP.
    fn exponential(&mut self, op: Unary, a: u64) -> u64 {
        let x = F::widen(a);
        let nearest = F::narrow(exact(op, x), Direction::NearestEven);
        let constant = if F::BITS == 16 { 1.0 } else { 3.0 };
        let result = self.within(nearest, constant + 2.0 * x.abs(), slack::<F>());
        self.result(result)
    }

    /// `Log`, `Log2`. Vulkan: an absolute error below 2^-21 in [0.5, 2.0], in half precision 2^-7; 3 ULP outside.
    fn logarithm(&mut self, op: Unary, a: u64) -> u64 {
        let x = F::widen(a);
        let exact = exact(op, x);
        let result = if (0.5..=2.0).contains(&x) {
            self.near(exact, if F::BITS == 16 { POWER_M7 } else { POWER_M21 })
        } else {
            self.within(F::narrow(exact, Direction::NearestEven), 3.0, slack::<F>())
        };
        self.result(result)
    }

    /// `Sin`, `Cos`. Vulkan: an absolute error of at most 2^-11 in [-π, π], for half precision 2^-7. For other operands
    /// the error is unspecified, and any result between -1 and 1 is possible.
    fn sine(&mut self, op: Unary, a: u64) -> u64 {
        let x = F::widen(a);
        let result = if x.abs() <= std::f64::consts::PI {
            self.near(exact(op, x), if F::BITS == 16 { POWER_M7 } else { POWER_M11 })
        } else {
            self.near(0.0, 1.0)
        };
        self.result(result)
    }

    /// The sine and the cosine of `Tanh`. Vulkan: "Inherited from (exp(x) − exp(−x)) × 0.5", the other with a sum.
    fn hyperbolic(&mut self, op: Arithmetic, a: u64) -> u64 {
        let (up, down) = (self.exponential(Unary::Exp, a), self.exponential(Unary::Exp, a ^ F::SIGN));
        let both = self.arithmetic(op, [up, down, 0]);
        self.arithmetic(Arithmetic::Mul, [both, half::<F>(), 0])
    }
}

/// The value to be rounded to the format. Its error is below a hundredth of an ULP of single precision.
fn exact(op: Unary, x: f64) -> f64 {
    match op {
        Unary::InverseSqrt => x.sqrt().recip(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tanh => x.tanh(),
        Unary::Exp => x.exp(),
        Unary::Log => x.ln(),
        Unary::Exp2 => x.exp2(),
        _ => x.log2(),
    }
}

/// The maximum error of a rounded value of [`exact`], in ULP.
fn slack<F: Format>() -> f64 {
    if F::BITS == 64 { 1.5 } else { 0.51 }
}

/// 0.5
fn half<F: Format>() -> u64 {
    F::ONE - F::MIN_NORMAL
}

const POWER_M7: f64 = 0.007_812_5;
const POWER_M11: f64 = 1.0 / 2048.0;
const POWER_M21: f64 = 1.0 / 2_097_152.0;
