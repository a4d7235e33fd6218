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
    /// A function of one operand.
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
            Unary::Tan => {
                let (sine, cosine) = (self.sine(Unary::Sin, a), self.sine(Unary::Cos, a));
                self.divide(sine, cosine)
            }
            Unary::Atan => self.arctangent(x.atan()),
            Unary::Asin => {
                let cosine = self.cathetus(a);
                self.atan2(a, cosine)
            }
            Unary::Acos => {
                let sine = self.cathetus(a);
                self.atan2(sine, a)
            }
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

    /// `Atan`, `Atan2`. Vulkan: 4096 ULP, in half precision 5 ULP.
    fn arctangent(&mut self, exact: f64) -> u64 {
        let nearest = F::narrow(exact, Direction::NearestEven);
        let result = self.within(nearest, if F::BITS == 16 { 5.0 } else { 4096.0 }, slack::<F>());
        self.result(result)
    }

    /// `sqrt(1.0 - x * x)`, which `Asin` and `Acos` inherit from.
    fn cathetus(&mut self, a: u64) -> u64 {
        let square = self.arithmetic(Arithmetic::Mul, [a, a, 0]);
        let difference = self.arithmetic(Arithmetic::Sub, [F::ONE, square, 0]);
        // Operands in the permitted range are at most 1. A square above 1 comes from rounding.
        self.sqrt(if F::widen(difference) < 0.0 { 0 } else { difference })
    }

    /// The sine and the cosine of `Tanh`. Vulkan: "Inherited from (exp(x) − exp(−x)) × 0.5", the other with a sum.
    fn hyperbolic(&mut self, op: Arithmetic, a: u64) -> u64 {
        let (up, down) = (self.exponential(Unary::Exp, a), self.exponential(Unary::Exp, a ^ F::SIGN));
        let both = self.arithmetic(op, [up, down, 0]);
        self.arithmetic(Arithmetic::Mul, [both, half::<F>(), 0])
    }

    /// `Atan2`: the angle of `y / x`, in the quadrant determined by the signs.
    pub fn atan2(&mut self, y: u64, x: u64) -> u64 {
        let (y, x) = (self.operand(y), self.operand(x));
        if F::is_nan(y) || F::is_nan(x) {
            return self.nan([y, x]);
        }
        let exact = F::widen(y).atan2(F::widen(x));
        self.arctangent(exact)
    }

    /// `Pow`. Vulkan: "Inherited from exp2(y × log2(x))".
    pub fn pow(&mut self, x: u64, y: u64) -> u64 {
        let (x, y) = (self.operand(x), self.operand(y));
        let ordinary = F::is_finite(x) && F::is_finite(y) && !F::is_zero(x);
        let result = if C::OPEN && ordinary && self.once_in(2) {
            let logarithm = self.logarithm(Unary::Log2, x);
            let product = self.arithmetic(Arithmetic::Mul, [y, logarithm, 0]);
            if F::is_finite(product) {
                self.exponential(Unary::Exp2, product)
            } else {
                F::narrow(F::widen(product).exp2(), Direction::NearestEven)
            }
        } else {
            let base = F::widen(x);
            let power = if base < 0.0 { f64::NAN } else { base.powf(F::widen(y)) };
            F::narrow(power, Direction::NearestEven)
        };
        if F::is_nan(result) { self.nan([x, y]) } else { self.result(result) }
    }

    /// `Radians`, `Degrees`. Vulkan: a product with "a correctly rounded approximation" of the ratio.
    pub fn scale_angle(&mut self, op: Unary, a: u64) -> u64 {
        let ratio = match op {
            Unary::Radians => std::f64::consts::PI / 180.0,
            _ => 180.0 / std::f64::consts::PI,
        };
        let direction = self.any_direction();
        self.arithmetic(Arithmetic::Mul, [a, F::narrow(ratio, direction), 0])
    }
}

/// The value to be rounded to the format. Its error is below a hundredth of an ULP of single precision.
fn exact(op: Unary, x: f64) -> f64 {
    match op {
        Unary::InverseSqrt => x.sqrt().recip(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Asin => x.asin(),
        Unary::Acos => x.acos(),
        Unary::Atan => x.atan(),
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
