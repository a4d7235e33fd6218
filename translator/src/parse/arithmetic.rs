//! The operators of constant expressions with PTX's typing rules (section 4.5.5): integers of 64 bits, signed or
//! unsigned; double precision; no conversion between the two.

use super::value::{Symbol, Value};
use crate::ast::Constant;
use crate::diagnostic::{Diagnostic, Span};

/// Operators before a value, casts included.
#[derive(Clone, Copy)]
pub(super) enum Prefix {
    Plus,
    Minus,
    Not,
    Complement,
    Signed,
    Unsigned,
}

/// Operators between values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

impl Prefix {
    pub(super) fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "+" => Prefix::Plus,
            "-" => Prefix::Minus,
            "!" => Prefix::Not,
            "~" => Prefix::Complement,
            _ => return None,
        })
    }
}

impl Operator {
    pub(super) fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "*" => Operator::Multiply,
            "/" => Operator::Divide,
            "%" => Operator::Remainder,
            "+" => Operator::Add,
            "-" => Operator::Subtract,
            "<<" => Operator::ShiftLeft,
            ">>" => Operator::ShiftRight,
            "<" => Operator::Less,
            "<=" => Operator::LessEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterEqual,
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "&" => Operator::And,
            "^" => Operator::Xor,
            "|" => Operator::Or,
            "&&" => Operator::LogicalAnd,
            "||" => Operator::LogicalOr,
            _ => return None,
        })
    }

    /// From 1 (`||`) to 10 (`*`), as in C.
    pub(super) fn precedence(self) -> u8 {
        match self {
            Operator::Multiply | Operator::Divide | Operator::Remainder => 10,
            Operator::Add | Operator::Subtract => 9,
            Operator::ShiftLeft | Operator::ShiftRight => 8,
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => 7,
            Operator::Equal | Operator::NotEqual => 6,
            Operator::And => 5,
            Operator::Xor => 4,
            Operator::Or => 3,
            Operator::LogicalAnd => 2,
            Operator::LogicalOr => 1,
        }
    }
}

fn int<'s>(bits: u64, unsigned: bool) -> Value<'s> {
    Value::Number(Constant::Int { bits, unsigned })
}

fn truth<'s>(value: bool) -> Value<'s> {
    int(u64::from(value), false)
}

/// Applies an operator that stands before its operand.
pub(super) fn prefix(prefix: Prefix, value: Value<'_>, span: Span) -> Result<Value<'_>, Diagnostic> {
    let Value::Number(number) = value else {
        return Err(Diagnostic::invalid("only an offset can be added to an address", span));
    };
    Ok(match (prefix, number) {
        (Prefix::Plus, _) => value,
        (Prefix::Minus, Constant::Int { bits, unsigned }) => int(bits.wrapping_neg(), unsigned),
        (Prefix::Minus, Constant::F64(bits)) => Value::Number(Constant::F64(bits ^ (1 << 63))),
        (Prefix::Minus, Constant::F32(bits)) => Value::Number(Constant::F32(bits ^ (1 << 31))),
        (Prefix::Not, Constant::Int { bits, .. }) => truth(bits == 0),
        (Prefix::Complement, Constant::Int { bits, .. }) => int(!bits, true),
        (Prefix::Signed, Constant::Int { bits, .. }) => int(bits, false),
        (Prefix::Unsigned, Constant::Int { bits, .. }) => int(bits, true),
        _ => return Err(Diagnostic::invalid("this operator needs an integer", span)),
    })
}

/// Applies an operator that stands between its operands.
pub(super) fn binary<'s>(
    operator: Operator,
    left: Value<'s>,
    right: Value<'s>,
    span: Span,
) -> Result<Value<'s>, Diagnostic> {
    match (left, right) {
        (
            Value::Number(Constant::Int { bits: a, unsigned: x }),
            Value::Number(Constant::Int { bits: b, unsigned: y }),
        ) => integer(operator, (a, x), (b, y), span),
        (Value::Number(Constant::F64(a)), Value::Number(Constant::F64(b))) => {
            double(operator, f64::from_bits(a), f64::from_bits(b), span)
        }
        (Value::Symbol(symbol), Value::Number(Constant::Int { bits, .. })) if operator == Operator::Add => {
            shifted(symbol, Some(bits.cast_signed()), span)
        }
        (Value::Symbol(symbol), Value::Number(Constant::Int { bits, .. })) if operator == Operator::Subtract => {
            shifted(symbol, bits.cast_signed().checked_neg(), span)
        }
        (Value::Symbol(_), _) | (_, Value::Symbol(_)) => {
            Err(Diagnostic::invalid("only an offset can be added to an address", span))
        }
        (Value::Number(Constant::F32(_)), _) | (_, Value::Number(Constant::F32(_))) => {
            Err(Diagnostic::invalid("a `0f` number can't be part of an expression", span))
        }
        _ => Err(Diagnostic::invalid("an expression can't mix integers and floating point", span)),
    }
}

fn shifted<'s>(symbol: Symbol<'s>, by: Option<i64>, span: Span) -> Result<Value<'s>, Diagnostic> {
    let offset = by.and_then(|by| symbol.offset.checked_add(by)).filter(|_| symbol.mask.is_none());
    match offset {
        Some(offset) => Ok(Value::Symbol(Symbol { offset, ..symbol })),
        None => Err(Diagnostic::invalid("this can't be added to an address", span)),
    }
}

fn integer<'s>(operator: Operator, left: (u64, bool), right: (u64, bool), span: Span) -> Result<Value<'s>, Diagnostic> {
    let ((a, a_unsigned), (b, b_unsigned)) = (left, right);
    let unsigned = a_unsigned || b_unsigned;
    let (signed_a, signed_b) = (a.cast_signed(), b.cast_signed());
    let ordered = if unsigned { a.cmp(&b) } else { signed_a.cmp(&signed_b) };
    if b == 0 && matches!(operator, Operator::Divide | Operator::Remainder) {
        return Err(Diagnostic::invalid("division by zero", span));
    }
    Ok(match operator {
        Operator::Add => int(a.wrapping_add(b), unsigned),
        Operator::Subtract => int(a.wrapping_sub(b), unsigned),
        Operator::Multiply => int(a.wrapping_mul(b), unsigned),
        Operator::Divide if unsigned => int(a / b, true),
        Operator::Divide => int(signed_a.wrapping_div(signed_b).cast_unsigned(), false),
        Operator::Remainder => int(a % b, false),
        // Shifts by 64 and more move every bit out.
        Operator::ShiftLeft => int(shift(b).map_or(0, |by| a << by), a_unsigned),
        Operator::ShiftRight if a_unsigned => int(shift(b).map_or(0, |by| a >> by), true),
        Operator::ShiftRight => int((signed_a >> shift(b).unwrap_or(63)).cast_unsigned(), false),
        Operator::And => int(a & b, unsigned),
        Operator::Or => int(a | b, unsigned),
        Operator::Xor => int(a ^ b, unsigned),
        Operator::Less => truth(ordered.is_lt()),
        Operator::LessEqual => truth(ordered.is_le()),
        Operator::Greater => truth(ordered.is_gt()),
        Operator::GreaterEqual => truth(ordered.is_ge()),
        Operator::Equal => truth(a == b),
        Operator::NotEqual => truth(a != b),
        Operator::LogicalAnd => truth(a != 0 && b != 0),
        Operator::LogicalOr => truth(a != 0 || b != 0),
    })
}

fn shift(by: u64) -> Option<u32> {
    u32::try_from(by).ok().filter(|&by| by < 64)
}

fn double<'s>(operator: Operator, a: f64, b: f64, span: Span) -> Result<Value<'s>, Diagnostic> {
    let float = |value: f64| Ok(Value::Number(Constant::F64(value.to_bits())));
    match operator {
        Operator::Add => float(a + b),
        Operator::Subtract => float(a - b),
        Operator::Multiply => float(a * b),
        Operator::Divide if b == 0.0 => Err(Diagnostic::invalid("division by zero", span)),
        Operator::Divide => float(a / b),
        Operator::Less => Ok(truth(a < b)),
        Operator::LessEqual => Ok(truth(a <= b)),
        Operator::Greater => Ok(truth(a > b)),
        Operator::GreaterEqual => Ok(truth(a >= b)),
        Operator::Equal => Ok(truth(a == b)),
        Operator::NotEqual => Ok(truth(a != b)),
        _ => Err(Diagnostic::invalid("this operator needs integers", span)),
    }
}

/// `condition ? yes : no`.
pub(super) fn choice<'s>(
    condition: Value<'s>,
    yes: Value<'s>,
    no: Value<'s>,
    span: Span,
) -> Result<Value<'s>, Diagnostic> {
    let Value::Number(Constant::Int { bits: condition, .. }) = condition else {
        return Err(Diagnostic::invalid("the condition of `?:` must be an integer", span));
    };
    match (yes, no) {
        (
            Value::Number(Constant::Int { bits: a, unsigned: x }),
            Value::Number(Constant::Int { bits: b, unsigned: y }),
        ) => Ok(int(if condition != 0 { a } else { b }, x || y)),
        (Value::Number(Constant::F64(_)), Value::Number(Constant::F64(_))) => Ok(if condition != 0 { yes } else { no }),
        _ => Err(Diagnostic::invalid("both results of `?:` must be integers, or both double precision", span)),
    }
}
