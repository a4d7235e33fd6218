//! Numbers: PTX sections 4.5.1 and 4.5.2.

use crate::ast::{Constant, Ident};
use crate::diagnostic::Diagnostic;

/// The value of a number as written.
pub(super) fn number<'s>(literal: Ident<'s>) -> Result<Constant<'s>, Diagnostic> {
    let text = literal.text;
    match text.as_bytes() {
        // Eight hexadecimal digits fit.
        [b'0', b'f' | b'F', ..] => hex_float(literal, 8).map(|bits| Constant::F32(bits as u32)),
        [b'0', b'd' | b'D', ..] => hex_float(literal, 16).map(Constant::F64),
        [b'0', b'x' | b'X', ..] => integer(literal, 2, 16, "a hexadecimal number"),
        [b'0', b'b' | b'B', ..] => integer(literal, 2, 2, "a binary number"),
        _ if text.contains(['.', 'e', 'E']) => float(literal),
        _ if text.starts_with('0') && text.len() > 1 && !matches!(text, "0U") => {
            integer(literal, 1, 8, "an octal number")
        }
        _ => integer(literal, 0, 10, "a decimal number"),
    }
}

/// The value of an integer that a directive takes.
pub(super) fn small<'s>(literal: Ident<'s>) -> Result<u32, Diagnostic> {
    match number(literal)? {
        Constant::Int { bits, .. } => u32::try_from(bits).map_err(|_| {
            Diagnostic::invalid(format!("`{}` is too large: 32 bits is the limit here", literal.text), literal.span)
        }),
        _ => Err(Diagnostic::invalid(format!("`{}` is not an integer", literal.text), literal.span)),
    }
}

fn hex_float(literal: Ident<'_>, digits: usize) -> Result<u64, Diagnostic> {
    let (prefix, text) = literal.text.split_at_checked(2).unwrap_or_default();
    // `from_str_radix` would take a sign; the grammar lets none into a number.
    u64::from_str_radix(text, 16).ok().filter(|_| text.len() == digits).ok_or_else(|| {
        let message = format!("`{}`: `{prefix}` takes exactly {digits} hexadecimal digits", literal.text);
        Diagnostic::invalid(message, literal.span)
    })
}

fn integer<'s>(literal: Ident<'s>, skip: usize, radix: u32, kind: &str) -> Result<Constant<'s>, Diagnostic> {
    let text = literal.text.get(skip..).unwrap_or_default();
    let digits = text.strip_suffix('U').unwrap_or(text);
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(Diagnostic::invalid(format!("`{}` is not {kind}", literal.text), literal.span));
    }
    // As ptxas has it: a number of 64 bits takes no further digit, and what a last digit carries out of 63 bits is lost.
    let bits = digits.chars().try_fold(0u64, |bits, digit| {
        let digit = u64::from(digit.to_digit(radix)?);
        i64::try_from(bits).is_ok().then(|| bits.wrapping_mul(radix.into()).wrapping_add(digit))
    });
    let too_large = || Diagnostic::invalid(format!("`{}` does not fit 64 bits", literal.text), literal.span);
    let bits = bits.ok_or_else(too_large)?;
    let unsigned = digits.len() < text.len() || i64::try_from(bits).is_err();
    Ok(Constant::Int { bits, unsigned })
}

fn float<'s>(literal: Ident<'s>) -> Result<Constant<'s>, Diagnostic> {
    match literal.text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Constant::F64(value.to_bits())),
        Ok(_) => {
            Err(Diagnostic::invalid(format!("`{}` is too large for double precision", literal.text), literal.span))
        }
        Err(_) => Err(Diagnostic::invalid(format!("`{}` is not a number", literal.text), literal.span)),
    }
}
