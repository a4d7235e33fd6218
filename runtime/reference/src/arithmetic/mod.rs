//! Scalar operations on 64-bit registers: their results, and the undefined bits of the results.
//!
//! All are pure functions on bits as described by [`crate::code`], without memory, control flow or SPIR-V ids. Widths
//! are the ones that `code` allows: 1 to 64, for floats 16, 32 and 64.
//!
//! With a plain choice, results are exact: IEEE 754 rounded to nearest even (or as the entry point requires), functions
//! of `GLSL.std.450` rounded to the nearest float where possible, and a harmless value where the result is undefined.
//! An open choice also uses the freedoms of the specification ([`env`]) and makes undefined results arbitrary
//! ([`domain`]).

mod compare;
mod convert;
mod domain;
mod env;
mod float;
mod format;
mod functions;
mod integer;
#[cfg(test)]
mod tests;
pub mod undefined;

use self::env::with_env;
use self::format::Arithmetic;
use self::integer::{mask, signed};
use crate::code::{AtomicOp, Binary, Conversion, FloatControls, Ternary, Unary, Wide};
use crate::config::Choice;

impl Unary {
    /// The result on operands of this width.
    #[inline]
    pub fn apply<C: Choice>(self, bits: u8, [a]: [u64; 1], floats: &FloatControls, choice: &mut C) -> u64 {
        use Unary as U;
        if C::OPEN && domain::unary(self, bits, a) {
            return choice.bits() & mask(bits);
        }
        match self {
            U::SNegate => integer::negate(bits, a),
            U::Not => !a & mask(bits),
            U::LogicalNot => a ^ 1,
            U::BitReverse => integer::reverse(bits, a),
            U::BitCount => a.count_ones().into(),
            U::FindUMsb => integer::find_unsigned_msb(bits, a),
            U::FNegate => with_env!(Both, bits, floats, choice, env => env.negate(a)),
            U::FAbs => with_env!(Denormals, bits, floats, choice, env => env.abs(a)),
            U::RoundEven | U::Trunc | U::Floor | U::Ceil => {
                with_env!(Neither, bits, floats, choice, env => env.round(self, a))
            }
            U::Sqrt => with_env!(Neither, bits, floats, choice, env => env.sqrt(a)),
            U::InverseSqrt | U::Sin | U::Cos | U::Tanh | U::Exp | U::Log | U::Exp2 | U::Log2 => {
                with_env!(Neither, bits, floats, choice, env => env.function(self, a))
            }
        }
    }
}

impl Binary {
    /// The result on operands of this width.
    #[inline]
    pub fn apply<C: Choice>(self, bits: u8, [a, b]: [u64; 2], floats: &FloatControls, choice: &mut C) -> u64 {
        use Binary as B;
        if C::OPEN && domain::binary(self, bits, a, b) {
            return choice.bits() & mask(self.result_bits(bits));
        }
        match self {
            B::IAdd => a.wrapping_add(b) & mask(bits),
            B::ISub => a.wrapping_sub(b) & mask(bits),
            B::IMul => a.wrapping_mul(b) & mask(bits),
            B::UDiv => a.checked_div(b).unwrap_or(0),
            B::UMod => a.checked_rem(b).unwrap_or(0),
            B::SDiv => integer::divide(bits, a, b),
            B::SMod => integer::modulo(bits, a, b),
            B::UMin => a.min(b),
            B::UMax => a.max(b),
            B::SMin => integer::min(bits, a, b),
            B::SMax => integer::max(bits, a, b),
            B::ShiftLeftLogical => integer::shift_left(bits, a, b),
            B::ShiftRightLogical => integer::shift_right(a, b),
            B::ShiftRightArithmetic => integer::shift_right_arithmetic(bits, a, b),
            B::BitwiseAnd | B::LogicalAnd => a & b,
            B::BitwiseOr | B::LogicalOr => a | b,
            B::BitwiseXor => a ^ b,
            B::IEqual => (a == b).into(),
            B::INotEqual => (a != b).into(),
            B::UGreaterThan => (a > b).into(),
            B::UGreaterThanEqual => (a >= b).into(),
            B::ULessThan => (a < b).into(),
            B::ULessThanEqual => (a <= b).into(),
            B::SGreaterThan => (signed(a, bits) > signed(b, bits)).into(),
            B::SGreaterThanEqual => (signed(a, bits) >= signed(b, bits)).into(),
            B::SLessThan => (signed(a, bits) < signed(b, bits)).into(),
            B::SLessThanEqual => (signed(a, bits) <= signed(b, bits)).into(),
            B::FAdd => with_env!(Both, bits, floats, choice, env => env.arithmetic(Arithmetic::Add, [a, b, 0])),
            B::FSub => with_env!(Both, bits, floats, choice, env => env.arithmetic(Arithmetic::Sub, [a, b, 0])),
            B::FMul => with_env!(Both, bits, floats, choice, env => env.arithmetic(Arithmetic::Mul, [a, b, 0])),
            B::FDiv => with_env!(Specials, bits, floats, choice, env => env.divide(a, b)),
            B::FOrdEqual
            | B::FUnordNotEqual
            | B::FOrdLessThan
            | B::FOrdLessThanEqual
            | B::FOrdGreaterThan
            | B::FOrdGreaterThanEqual => with_env!(Both, bits, floats, choice, env => env.compare(self, a, b)),
            B::FMin => with_env!(Denormals, bits, floats, choice, env => env.min(a, b, false)),
            B::FMax => with_env!(Denormals, bits, floats, choice, env => env.max(a, b, false)),
            B::NMin => with_env!(Denormals, bits, floats, choice, env => env.min(a, b, true)),
            B::NMax => with_env!(Denormals, bits, floats, choice, env => env.max(a, b, true)),
            // Like `NMax`, but bound by `SignedZeroInfNanPreserve`.
            B::GroupNonUniformFMax => with_env!(Both, bits, floats, choice, env => env.max(a, b, true)),
        }
    }

    /// The width of the result, for operands of width `bits`.
    fn result_bits(self, bits: u8) -> u8 {
        if self.compares() { 1 } else { bits }
    }
}

impl Ternary {
    /// The result on operands of this width.
    #[inline]
    pub fn apply<C: Choice>(self, bits: u8, operands: [u64; 3], floats: &FloatControls, choice: &mut C) -> u64 {
        use Ternary as T;
        let [a, b, c] = operands;
        if C::OPEN && domain::ternary(self, bits, operands) {
            return choice.bits() & mask(bits);
        }
        match self {
            T::Select => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
            T::FmaKHR => with_env!(Both, bits, floats, choice, env => env.arithmetic(Arithmetic::Fma, operands)),
            T::Fma => with_env!(Denormals, bits, floats, choice, env => env.fma(operands)),
            T::NClamp => with_env!(Denormals, bits, floats, choice, env => env.clamp(operands)),
            T::SClamp => integer::min(bits, integer::max(bits, a, b), c),
            T::BitFieldUExtract => integer::extract_unsigned(bits, a, b, c),
        }
    }
}

impl AtomicOp {
    /// The new contents of memory of width `bits`, given the old value, the operand and the comparator.
    pub fn apply<C: Choice>(self, bits: u8, operands: [u64; 3], floats: &FloatControls, choice: &mut C) -> u64 {
        let [old, value, comparator] = operands;
        match self {
            Self::Load => old,
            Self::CompareExchange if old != comparator => old,
            Self::Store | Self::Exchange | Self::CompareExchange => value,
            Self::Update(op) => op.apply(bits, [old, value], floats, choice),
        }
    }
}

#[inline]
pub fn wide(op: Wide, bits: u8, a: u64, b: u64) -> [u64; 2] {
    match op {
        Wide::UMulExtended => integer::multiply_unsigned(bits, a, b),
        Wide::SMulExtended => integer::multiply_signed(bits, a, b),
    }
}

#[inline]
pub fn convert<C: Choice>(op: Conversion, from: u8, to: u8, a: u64, floats: &FloatControls, choice: &mut C) -> u64 {
    if C::OPEN && domain::convert(op, from, to, a) {
        return choice.bits() & mask(to);
    }
    match op {
        Conversion::UConvert => a & mask(to),
        Conversion::SConvert => signed(a, from) as u64 & mask(to),
        Conversion::ConvertUToF => with_env!(Both, to, floats, choice, env => env.integer_to_float(false, a)),
        Conversion::ConvertSToF => {
            let value = signed(a, from);
            with_env!(Both, to, floats, choice, env => env.integer_to_float(value < 0, value.unsigned_abs()))
        }
        Conversion::ConvertFToU => convert::to_unsigned(from, to, a),
        Conversion::ConvertFToS => convert::to_signed(from, to, a),
        Conversion::FConvert => convert::between_floats(from, to, a, floats, choice),
    }
}

#[inline]
pub fn insert_bits<C: Choice>(bits: u8, base: u64, insert: u64, offset: u64, count: u64, choice: &mut C) -> u64 {
    if C::OPEN && domain::bit_field(bits, offset, count) {
        return choice.bits() & mask(bits);
    }
    integer::insert(bits, base, insert, offset, count)
}
