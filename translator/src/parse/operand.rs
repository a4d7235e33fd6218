//! Operands of instructions, from flat tokens.

use super::error;
use super::expression;
use super::literal;
use super::node::{Cursor, Rule, Token};
use super::value::{Symbol, Value};
use crate::ast::{Constant, Ident, Operand};
use crate::diagnostic::{Diagnostic, Span};

/// The operands of one instruction. Parentheses are lists in a `call` and belong to expressions elsewhere.
pub(super) fn operands<'s>(tokens: &[Token<'s>], end: Span, call: bool) -> Result<Vec<Operand<'s>>, Diagnostic> {
    if tokens.is_empty() {
        return Ok(Vec::new());
    }
    // As many as there are, where none has several tokens.
    let mut operands = Vec::with_capacity(tokens.len().div_ceil(2));
    let mut cursor = Cursor::new(tokens, end);
    loop {
        operands.push(operand(&mut cursor, call)?);
        if cursor.peek().is_none() {
            return Ok(operands);
        }
        expect(&mut cursor, ",", "`,` or `;`")?;
    }
}

fn expect(cursor: &mut Cursor<'_, '_>, text: &str, words: &str) -> Result<Span, Diagnostic> {
    let token = cursor.take(text).ok_or_else(|| error::expected(words, cursor.span()))?;
    Ok(token.ident.span)
}

fn operand<'s>(cursor: &mut Cursor<'_, 's>, call: bool) -> Result<Operand<'s>, Diagnostic> {
    let first = match cursor.peek() {
        Some(token) if token.is("[") => return address(cursor),
        Some(token) if token.is("(") && call => return list(cursor),
        _ => element(cursor)?,
    };
    if cursor.take("|").is_none() {
        return Ok(first);
    }
    let second = element(cursor)?;
    let span = first.span().to(second.span());
    Ok(Operand::Pair(Box::new([first, second]), span))
}

/// A scalar or a vector.
fn element<'s>(cursor: &mut Cursor<'_, 's>) -> Result<Operand<'s>, Diagnostic> {
    if cursor.at("{") { vector(cursor) } else { scalar(cursor) }
}

/// `{a, b}`
fn vector<'s>(cursor: &mut Cursor<'_, 's>) -> Result<Operand<'s>, Diagnostic> {
    let start = expect(cursor, "{", "`{`")?;
    let mut elements = vec![scalar(cursor)?];
    while cursor.take(",").is_some() {
        elements.push(scalar(cursor)?);
    }
    let end = expect(cursor, "}", "`,` or `}`")?;
    Ok(Operand::Vector(elements, start.to(end)))
}

/// `(a, b)`
fn list<'s>(cursor: &mut Cursor<'_, 's>) -> Result<Operand<'s>, Diagnostic> {
    let start = expect(cursor, "(", "`(`")?;
    let mut elements = Vec::new();
    if !cursor.at(")") {
        elements.push(scalar(cursor)?);
        while cursor.take(",").is_some() {
            elements.push(scalar(cursor)?);
        }
    }
    let end = expect(cursor, ")", "`,` or `)`")?;
    Ok(Operand::List(elements, start.to(end)))
}

/// `[a + 4]`, `[a, {x, y}]`
fn address<'s>(cursor: &mut Cursor<'_, 's>) -> Result<Operand<'s>, Diagnostic> {
    let start = expect(cursor, "[", "`[`")?;
    let is_element = cursor.peek_second().is_some_and(|next| next.is("["));
    let (base, offset) = if is_element || name(cursor).is_some() && is_alone(cursor) {
        (scalar(cursor)?, 0)
    } else {
        match expression::evaluate(cursor)? {
            (Value::Symbol(Symbol { name, suffix, offset, generic: false, mask: None }), _) => {
                (Operand::Name { name, suffix }, offset)
            }
            (value, span) => (Operand::Constant(value.constant()?, span), 0),
        }
    };
    let mut more = Vec::new();
    while cursor.take(",").is_some() {
        more.push(element(cursor)?);
    }
    let mut end = expect(cursor, "]", "`,` or `]`")?;
    // A hint about the memory at the address, which changes nothing in what the instruction does.
    if let Some(unified) = cursor.take(".unified") {
        end = unified.ident.span;
    }
    Ok(Operand::Address { base: Box::new(base), offset, more, span: start.to(end) })
}

/// The next token, if it is the name of something.
fn name<'s>(cursor: &Cursor<'_, 's>) -> Option<Ident<'s>> {
    let token = cursor.peek().filter(|token| token.rule == Rule::operand && !token.is("_") && !token.is("WARP_SZ"))?;
    Some(token.ident)
}

/// Whether the next token is a whole expression.
fn is_alone(cursor: &Cursor<'_, '_>) -> bool {
    cursor.peek_second().is_none_or(|next| matches!(next.ident.text, "," | "}" | ")" | "]"))
}

/// Everything without braces, brackets or commas.
fn scalar<'s>(cursor: &mut Cursor<'_, 's>) -> Result<Operand<'s>, Diagnostic> {
    let Some(token) = cursor.peek() else {
        return Err(error::expected("an operand", cursor.span()));
    };
    let next = cursor.peek_second();
    let next_is = |text| next.is_some_and(|next: &Token<'_>| next.is(text));
    if let Some(whole) = name(cursor)
        && (is_alone(cursor) || next_is("|"))
    {
        cursor.advance();
        let (name, suffix) = expression::split_name(whole);
        return Ok(Operand::Name { name, suffix });
    }
    match token.rule {
        Rule::operand if token.is("_") => {
            cursor.advance();
            return Ok(Operand::Sink(token.ident.span));
        }
        Rule::operand if next_is("[") => return indexed(cursor, token.ident),
        Rule::number if is_alone(cursor) => {
            cursor.advance();
            return Ok(Operand::Constant(literal::number(token.ident)?, token.ident.span));
        }
        _ => {}
    }
    let register = next.filter(|next| next.rule == Rule::operand && !next.is("_") && !next.is("WARP_SZ"));
    if let Some(register) = register {
        let (name, suffix) = expression::split_name(register.ident);
        if token.is("!") {
            cursor.advance();
            cursor.advance();
            return match suffix {
                None => Ok(Operand::Not(name)),
                Some(suffix) => Err(error::expected("`,` or `;`", suffix.span)),
            };
        }
        if token.is("-") {
            cursor.advance();
            cursor.advance();
            return Ok(Operand::Negate { name, suffix });
        }
    }
    let starts_value =
        matches!(token.rule, Rule::operand | Rule::number) || matches!(token.ident.text, "(" | "+" | "-" | "!" | "~");
    if !starts_value {
        return Err(error::expected("an operand", token.ident.span));
    }
    let (value, span) = expression::evaluate(cursor)?;
    Ok(Operand::Constant(value.constant()?, span))
}

/// `name[4]`, `name[register]`, `name[register+4]`
fn indexed<'s>(cursor: &mut Cursor<'_, 's>, name: Ident<'s>) -> Result<Operand<'s>, Diagnostic> {
    cursor.advance();
    expect(cursor, "[", "`[`")?;
    let (value, span) = expression::evaluate(cursor)?;
    let (register, number) = match value {
        Value::Symbol(Symbol { name, suffix: None, offset, generic: false, mask: None }) => (Some(name), offset),
        value => match value.constant()? {
            Constant::Int { bits, .. } => (None, bits.cast_signed()),
            _ => return Err(error::expected("an integer or a register", span)),
        },
    };
    let end = expect(cursor, "]", "`]`")?;
    Ok(Operand::Element { name, register, number, span: name.span.to(end) })
}
