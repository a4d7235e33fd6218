//! The environment of a float operation: the entry point's float controls, and the freedoms permitted by Vulkan.
//!
//! Every freedom is a function of [`Env`] here, or of a user of it if it concerns a single operation. "Vulkan" in
//! comments is "Precision and Operation of SPIR-V Instructions" in Vulkan's appendix "Vulkan Environment for SPIR-V".
//! Each instruction is computed by itself: instructions are never combined, as `NoContraction` requires.

use std::marker::PhantomData;

use super::bits::mask;
use super::format::{Arithmetic, Direction, Format};
use crate::code::{FloatControl, FloatControls};
use crate::config::Choice;

/// Runs an expression with an [`Env`] for floats of width `bits`. `listed` says which float controls it has to respect.
macro_rules! with_env {
    ($listed:ident, $bits:expr, $floats:expr, $choice:expr, $env:ident => $result:expr) => {
        match $bits {
            32 => {
                let mut $env = $crate::arithmetic::env::Env::<$crate::arithmetic::format::F32, C>::new(
                    $crate::arithmetic::env::Listed::$listed,
                    $floats,
                    $choice,
                );
                $result
            }
            64 => {
                let mut $env = $crate::arithmetic::env::Env::<$crate::arithmetic::format::F64, C>::new(
                    $crate::arithmetic::env::Listed::$listed,
                    $floats,
                    $choice,
                );
                $result
            }
            _ => {
                let mut $env = $crate::arithmetic::env::Env::<$crate::arithmetic::format::F16, C>::new(
                    $crate::arithmetic::env::Listed::$listed,
                    $floats,
                    $choice,
                );
                $result
            }
        }
    };
}
pub(super) use with_env;

/// The float controls that an operation has to respect, according to Vulkan's lists of instructions. Other instructions
/// may ignore them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// `SignedZeroInfNanPreserve` and `DenormPreserve`.
    Both,
    /// `SignedZeroInfNanPreserve` alone: `OpFDiv`.
    Specials,
    /// `DenormPreserve` alone: the simpler functions of `GLSL.std.450`.
    Denormals,
    /// None: all other operations.
    Neither,
}

#[derive(Debug)]
pub struct Env<'a, F, C> {
    pub(super) control: FloatControl,
    pub(super) choice: &'a mut C,
    format: PhantomData<F>,
}

impl<'a, F: Format, C: Choice> Env<'a, F, C> {
    #[inline(always)]
    pub fn new(listed: Listed, floats: &FloatControls, choice: &'a mut C) -> Self {
        let mut control = floats.0[F::INDEX];
        if C::OPEN {
            control.signed_zero_inf_nan &= matches!(listed, Listed::Both | Listed::Specials);
            control.denormals_kept &= matches!(listed, Listed::Both | Listed::Denormals);
        }
        Self { control, choice, format: PhantomData }
    }

    /// Returns true once in `count` times if choices are open.
    #[inline(always)]
    pub fn once_in(&mut self, count: u32) -> bool {
        C::OPEN && self.choice.pick(count) == count - 1
    }

    #[inline(always)]
    pub fn arithmetic(&mut self, op: Arithmetic, operands: [u64; 3]) -> u64 {
        if !C::OPEN {
            let result = F::nearest(op, operands);
            return if F::is_nan(result) { self.nan(operands) } else { result };
        }
        let operands = operands.map(|operand| self.operand(operand));
        self.controlled_arithmetic(op, operands)
    }

    /// [`Env::arithmetic`] on operands that may have been flushed already.
    #[inline(never)]
    pub fn controlled_arithmetic(&mut self, op: Arithmetic, operands: [u64; 3]) -> u64 {
        let direction = self.direction();
        let result = F::directed(op, operands, direction);
        if F::is_nan(result) {
            return self.nan(operands);
        }
        let finite = operands.into_iter().all(F::is_finite);
        let result = if finite { self.overflow(result) } else { result };
        // Vulkan: "the result of an operation may be considered denormal whenever the infinitely precise result is non-zero and
        // of smaller magnitude than the smallest normal value, even if rounding would otherwise give a normal result".
        if C::OPEN && result & !F::SIGN == F::MIN_NORMAL && self.once_in(2) {
            let truncated = F::directed(op, operands, Direction::Zero);
            let delivered = self.result(truncated);
            return if F::is_zero(delivered) { delivered } else { result };
        }
        self.result(result)
    }

    /// The rounding direction. Vulkan, "Correctly Rounded with Implementation-Defined Rounding Mode": unless
    /// `RoundingModeRTE` is declared, either neighbor is correct.
    #[inline]
    pub fn direction(&mut self) -> Direction {
        if !C::OPEN || self.control.nearest_even {
            return Direction::NearestEven;
        }
        [Direction::NearestEven, Direction::Up, Direction::Down, Direction::Zero][self.choice.pick(4) as usize]
    }

    /// An operand, which may be flushed to zero if it is denormal. Vulkan: "By default any denormalized floating-point value
    /// input into a shader or potentially generated by any instruction […] may be flushed to zero".
    #[inline]
    pub fn operand(&mut self, a: u64) -> u64 {
        if F::is_denormal(a) && self.flushes() { a & F::SIGN } else { a }
    }

    /// Whether a denormal becomes zero. With `DenormPreserve` it must not.
    fn flushes(&mut self) -> bool {
        !self.control.denormals_kept && self.once_in(2)
    }

    /// Finishes a result that is not a NaN: a denormal may be flushed to zero, and a zero may have either sign. Vulkan:
    /// without `SignedZeroInfNanPreserve`, `NSZ` is assumed.
    #[inline]
    pub fn result(&mut self, a: u64) -> u64 {
        let a = if F::is_denormal(a) && self.flushes() { a & F::SIGN } else { a };
        if C::OPEN && F::is_zero(a) && !self.control.signed_zero_inf_nan && self.once_in(2) { a ^ F::SIGN } else { a }
    }

    /// Finishes a result of finite operands. Vulkan: without `SignedZeroInfNanPreserve`, `NotInf` is assumed, so that
    /// an overflow may return the greatest finite value. Infinite operands are not affected: a strict reading would
    /// make every use of them undefined, and tests could check nothing.
    fn overflow(&mut self, a: u64) -> u64 {
        let infinite = a & !F::SIGN == F::INFINITY;
        if C::OPEN && infinite && !self.control.signed_zero_inf_nan && self.once_in(4) { a - 1 } else { a }
    }

    /// A NaN result. With fixed choices, the first operand that is a NaN, made quiet, or else a fixed NaN. IEEE 754,
    /// 6.2.3 leaves the payload open, and Vulkan the quiet bit. Vulkan: without `SignedZeroInfNanPreserve`, `NotNaN` is
    /// assumed, so that any value is correct.
    #[cold]
    pub fn nan<const N: usize>(&mut self, operands: [u64; N]) -> u64 {
        if C::OPEN {
            if !self.control.signed_zero_inf_nan && self.once_in(4) {
                return self.choice.bits() & mask(F::BITS);
            }
            if self.once_in(2) {
                let payload = self.choice.bits() & (F::SIGN | (F::MIN_NORMAL - 1));
                let quiet = if payload & !F::SIGN == 0 { F::QUIET } else { 0 };
                return F::INFINITY | payload | quiet;
            }
        }
        operands.into_iter().find(|operand| F::is_nan(*operand)).map_or(F::NAN, |operand| operand | F::QUIET)
    }

    /// A result within `ulps` units in the last place of the exact one, which `nearest` differs from by at most
    /// `slack`. Vulkan, "ULP": the unit is the distance between the floats around the exact result.
    pub fn within(&mut self, nearest: u64, ulps: f64, slack: f64) -> u64 {
        if !C::OPEN || F::is_zero(nearest) || F::is_nan(nearest) {
            return nearest;
        }
        let (sign, magnitude) = (nearest & F::SIGN, nearest & !F::SIGN);
        if magnitude == F::INFINITY {
            // "Where the range of allowed return values includes any value of magnitude larger than that of the largest
            // representable finite floating-point number, operations may, additionally, return either an infinity […] or the
            // finite number with the largest magnitude".
            return if self.once_in(2) { sign | F::MAX } else { nearest };
        }
        let fraction = magnitude & (F::MIN_NORMAL - 1);
        let steps = (ulps - slack).clamp(0.0, F::MIN_NORMAL as f64) as u64;
        // Above a power of two, floats are twice as far apart as the unit, if the exact result lies below that power.
        let up = if fraction == 0 { steps / 2 } else { steps.min(F::MIN_NORMAL - fraction) };
        let magnitude = match self.choice.pick(6) {
            1 => magnitude + up,
            2 => magnitude.saturating_sub(steps),
            3 => magnitude + self.choice.bits() % (up + 1),
            4 => magnitude.saturating_sub(self.choice.bits() % (steps + 1)),
            _ => magnitude,
        };
        sign | magnitude
    }

    /// A result within an absolute error of the exact one.
    pub fn near(&mut self, exact: f64, error: f64) -> u64 {
        let off = match if C::OPEN { self.choice.pick(4) } else { 0 } {
            1 => 1.0,
            2 => -1.0,
            3 => (self.choice.bits() as i64) as f64 / -(i64::MIN as f64),
            _ => 0.0,
        };
        // A tenth of the error is left for rounding to the format.
        F::narrow(exact + off * 0.9 * error, Direction::NearestEven)
    }
}
