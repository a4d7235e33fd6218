//! Constant expressions: PTX sections 4.5.4 to 4.5.6, and addresses of variables with offsets.
//!
//! Operators wait on an explicit stack, so that parentheses nest as deep as [`MAX_DEPTH`] and no deeper.

use super::arithmetic::{self, Operator, Prefix};
use super::error;
use super::literal;
use super::node::{Cursor, Rule, part};
use super::value::{Symbol, Value};
use crate::ast::{Constant, Ident};
use crate::diagnostic::{Diagnostic, Span};

/// The most operators and parentheses that may wait for their operands.
const MAX_DEPTH: usize = 256;

/// An operator or parenthesis that waits for an operand or for its closing parenthesis.
#[derive(Clone, Copy)]
enum Pending {
    Prefix(Prefix),
    Binary(Operator),
    Question,
    Colon,
    Open(Wrapper),
}

/// The effect of a pair of parentheses on the enclosed expression.
#[derive(Clone, Copy)]
enum Wrapper {
    None,
    Mask(u64),
}

/// A name with its selector (`v.x`) taken apart.
pub(super) fn split_name(whole: Ident<'_>) -> (Ident<'_>, Option<Ident<'_>>) {
    match whole.text.find('.') {
        Some(dot) => (part(whole, 0, dot), Some(part(whole, dot + 1, whole.text.len()))),
        None => (whole, None),
    }
}

/// Takes `(name)`, whose parenthesis the cursor is at.
fn name_in_parentheses<'s>(cursor: &mut Cursor<'_, 's>) -> Result<Ident<'s>, Diagnostic> {
    cursor.advance();
    let name = cursor.peek().filter(|token| token.rule == Rule::operand);
    let name = name.ok_or_else(|| error::expected("the name of a variable", cursor.span()))?.ident;
    cursor.advance();
    cursor.take(")").ok_or_else(|| error::expected("`)`", cursor.span()))?;
    Ok(name)
}

/// Evaluates the longest expression at the cursor, and leaves the cursor after it.
pub(super) fn evaluate<'s>(cursor: &mut Cursor<'_, 's>) -> Result<(Value<'s>, Span), Diagnostic> {
    let start = cursor.span();
    let mut evaluation = Evaluation::default();
    loop {
        let end = cursor.span();
        if evaluation.operand(cursor)? {
            let mut last = end;
            while cursor.at(")") && evaluation.parentheses > 0 {
                last = cursor.span();
                evaluation.close(last)?;
                cursor.advance();
            }
            if !evaluation.operator(cursor)? {
                let value = evaluation.finish(cursor)?;
                return Ok((value, start.to(last)));
            }
        }
    }
}

#[derive(Default)]
struct Evaluation<'s> {
    values: Vec<(Value<'s>, Span)>,
    pending: Vec<Pending>,
    parentheses: usize,
}

impl<'s> Evaluation<'s> {
    /// Takes the token that stands where an operand is due. False for a prefix: then the operand is still due.
    fn operand(&mut self, cursor: &mut Cursor<'_, 's>) -> Result<bool, Diagnostic> {
        let Some(token) = cursor.peek() else {
            return Err(error::expected("a value", cursor.span()));
        };
        let called = cursor.peek_second().is_some_and(|next| next.is("("));
        let span = token.ident.span;
        cursor.advance();
        match token.rule {
            Rule::number if called => {
                let Constant::Int { bits, .. } = literal::number(token.ident)? else {
                    return Err(error::expected("an integer mask", span));
                };
                cursor.advance();
                self.open(Wrapper::Mask(bits), span)?;
            }
            Rule::number => {
                self.values.push((Value::Number(literal::number(token.ident)?), span));
                return Ok(true);
            }
            Rule::operand if token.is("WARP_SZ") => {
                self.values.push((Value::Number(Constant::Int { bits: 32, unsigned: false }), span));
                return Ok(true);
            }
            Rule::operand if !token.is("_") => {
                let is_wrapper = |pending: &Pending| matches!(pending, Pending::Open(Wrapper::Mask(_)));
                if !self.values.is_empty() || !self.pending.iter().all(is_wrapper) {
                    return Err(error::expected("a constant", span));
                }
                let generic = called && token.is("generic");
                let name = if generic { name_in_parentheses(cursor)? } else { token.ident };
                // To an address offsets are added; they may be negative.
                if let Some(minus) = cursor.peek().filter(|next| next.is("-")) {
                    return Err(error::expected("`+`", minus.ident.span));
                }
                let (name, suffix) = split_name(name);
                let symbol = Symbol { name, suffix, offset: 0, generic, mask: None };
                self.values.push((Value::Symbol(symbol), span));
                return Ok(true);
            }
            Rule::punctuation if token.is("(") => match cursor.peek() {
                Some(cast) if cast.rule == Rule::keyword => {
                    let prefix = match cast.ident.text {
                        ".s64" => Prefix::Signed,
                        ".u64" => Prefix::Unsigned,
                        _ => return Err(error::expected("`.s64` or `.u64`", cast.ident.span)),
                    };
                    cursor.advance();
                    cursor.take(")").ok_or_else(|| error::expected("`)`", cursor.span()))?;
                    self.push(Pending::Prefix(prefix), span)?;
                }
                _ => self.open(Wrapper::None, span)?,
            },
            _ => match Prefix::from_text(token.ident.text) {
                Some(prefix) => self.push(Pending::Prefix(prefix), span)?,
                None => return Err(error::expected("a value", span)),
            },
        }
        Ok(false)
    }

    /// Takes the operator that follows an operand, if there is one.
    fn operator(&mut self, cursor: &mut Cursor<'_, 's>) -> Result<bool, Diagnostic> {
        let Some(token) = cursor.peek() else {
            return Ok(false);
        };
        let span = token.ident.span;
        if let Some(operator) = Operator::from_text(token.ident.text) {
            self.reduce(operator.precedence())?;
            self.push(Pending::Binary(operator), span)?;
        } else if token.is("?") {
            // Binary operators bind tighter; an outer `:` stays, because `?:` associates to the right.
            self.reduce(1)?;
            self.push(Pending::Question, span)?;
        } else if token.is(":") && self.pending.iter().rev().any(|pending| matches!(pending, Pending::Question)) {
            self.reduce(0)?;
            match self.pending.pop() {
                Some(Pending::Question) => self.pending.push(Pending::Colon),
                _ => return Err(error::expected("`)`", span)),
            }
        } else {
            return Ok(false);
        }
        cursor.advance();
        Ok(true)
    }

    fn open(&mut self, wrapper: Wrapper, span: Span) -> Result<(), Diagnostic> {
        self.parentheses += 1;
        self.push(Pending::Open(wrapper), span)
    }

    fn close(&mut self, span: Span) -> Result<(), Diagnostic> {
        self.reduce(0)?;
        self.parentheses -= 1; // the caller checked that one is open
        let Some(Pending::Open(wrapper)) = self.pending.pop() else {
            return Err(error::expected("`:`", span));
        };
        let Some((value, place)) = self.values.last_mut() else {
            return Err(error::expected("a value", span));
        };
        match (wrapper, value) {
            (Wrapper::None, _) => {}
            (Wrapper::Mask(mask), Value::Symbol(symbol)) if symbol.mask.is_none() => symbol.mask = Some(mask),
            _ => return Err(error::expected("the name of a variable", *place)),
        }
        *place = place.to(span);
        Ok(())
    }

    fn push(&mut self, pending: Pending, span: Span) -> Result<(), Diagnostic> {
        if self.pending.len() >= MAX_DEPTH {
            return Err(Diagnostic::invalid(format!("an expression is nested deeper than {MAX_DEPTH} levels"), span));
        }
        self.pending.push(pending);
        Ok(())
    }

    /// Applies the waiting operators that bind at least as tight as `precedence`, up to an open parenthesis or `?`.
    fn reduce(&mut self, precedence: u8) -> Result<(), Diagnostic> {
        while let Some(&pending) = self.pending.last() {
            let binds = match pending {
                Pending::Prefix(_) => true,
                Pending::Binary(operator) => operator.precedence() >= precedence,
                Pending::Colon => precedence == 0,
                Pending::Question | Pending::Open(_) => false,
            };
            if !binds {
                break;
            }
            self.pending.pop();
            self.apply(pending)?;
        }
        Ok(())
    }

    fn apply(&mut self, pending: Pending) -> Result<(), Diagnostic> {
        let missing = || Diagnostic::internal("an operator without operand", None);
        let (last, last_span) = self.values.pop().ok_or_else(missing)?;
        let result = match pending {
            Pending::Prefix(prefix) => (arithmetic::prefix(prefix, last, last_span)?, last_span),
            Pending::Binary(operator) => {
                let (first, first_span) = self.values.pop().ok_or_else(missing)?;
                let span = first_span.to(last_span);
                (arithmetic::binary(operator, first, last, span)?, span)
            }
            Pending::Colon => {
                let (chosen, chosen_span) = self.values.pop().ok_or_else(missing)?;
                let (condition, condition_span) = self.values.pop().ok_or_else(missing)?;
                let span = condition_span.to(chosen_span).to(last_span);
                (arithmetic::choice(condition, chosen, last, span)?, span)
            }
            Pending::Question | Pending::Open(_) => return Err(missing()),
        };
        self.values.push(result);
        Ok(())
    }

    fn finish(mut self, cursor: &Cursor<'_, 's>) -> Result<Value<'s>, Diagnostic> {
        self.reduce(0)?;
        match self.pending.last() {
            Some(Pending::Open(_)) => Err(error::expected("`)`", cursor.span())),
            Some(_) => Err(error::expected("`:`", cursor.span())),
            None => {
                let value = self.values.pop();
                value.map(|(value, _)| value).ok_or_else(|| error::expected("a value", cursor.span()))
            }
        }
    }
}
