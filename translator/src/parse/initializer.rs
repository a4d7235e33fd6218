//! Initialisers, from flat tokens as they come. Braces nest on an explicit stack.

use super::error;
use super::expression;
use super::node::{Cursor, Node, Rule, Token};
use crate::ast::{Constant, Init};
use crate::diagnostic::{Diagnostic, Span};

/// The deepest nesting of braces: no array has more dimensions.
const MAX_DEPTH: usize = 64;

/// The role of a token.
pub(super) enum Step<'s> {
    /// The token is part of a value that goes on.
    Value,
    /// The token ends the value before it.
    Separator,
    /// The token ends the initialiser and does not belong to it.
    Done(Init<'s>),
}

/// Builds an initialiser from tokens.
#[derive(Default)]
pub(super) struct Builder<'s> {
    /// The lists that are open, with the places of their braces.
    open: Vec<(Vec<Init<'s>>, Span)>,
    /// A list that was just closed.
    closed: Option<Init<'s>>,
    value: Vec<Token<'s>>,
}

impl<'s> Builder<'s> {
    /// Takes the next token.
    pub(super) fn push(&mut self, node: Node<'_, 's>) -> Result<Step<'s>, Diagnostic> {
        let token = node.token();
        let span = token.ident.span;
        match token.ident.text {
            "{" => {
                if self.closed.is_some() || !self.value.is_empty() {
                    return Err(error::expected("`,` or `;`", span));
                }
                if self.open.len() >= MAX_DEPTH {
                    let message = format!("an initialiser is nested deeper than {MAX_DEPTH} levels");
                    return Err(Diagnostic::invalid(message, span));
                }
                self.open.push((Vec::new(), span));
                Ok(Step::Separator)
            }
            "}" => {
                let last = self.complete(span)?;
                let Some((mut list, start)) = self.open.pop() else {
                    return Err(error::expected("`,` or `;`", span));
                };
                if last.is_none() && !list.is_empty() {
                    return Err(error::expected("a value", span));
                }
                list.extend(last);
                self.closed = Some(Init::List(list, start.to(span)));
                Ok(Step::Separator)
            }
            "," | ";" => {
                let Some(init) = self.complete(span)? else {
                    return Err(error::expected("a value", span));
                };
                match self.open.last_mut() {
                    None => Ok(Step::Done(init)),
                    Some(_) if token.is(";") => Err(error::expected("`,` or `}`", span)),
                    Some((list, _)) => {
                        list.push(init);
                        Ok(Step::Separator)
                    }
                }
            }
            _ if self.closed.is_some() => Err(error::expected("`,` or `;`", span)),
            _ => {
                self.value.push(token);
                Ok(Step::Value)
            }
        }
    }

    /// Forgets the tokens of a value that goes on, so that they can be pushed again.
    pub(super) fn forget_value(&mut self) {
        self.value.clear();
    }

    /// The tokens that can come next, in words.
    pub(super) fn expectation(&self) -> &'static str {
        match (self.closed.is_some() || !self.value.is_empty(), self.open.is_empty()) {
            (false, _) => "a value",
            (true, true) => "`,` or `;`",
            (true, false) => "`,` or `}`",
        }
    }

    /// The initialiser before a separator, if there is one.
    fn complete(&mut self, end: Span) -> Result<Option<Init<'s>>, Diagnostic> {
        if let Some(list) = self.closed.take() {
            return Ok(Some(list));
        }
        let init = match self.value.as_slice() {
            [] => return Ok(None),
            // `addr_mode_0 = wrap` of a sampler.
            [name, equals, rest @ ..] if name.rule == Rule::operand && equals.is("=") => {
                let (value, span) = self.scalar(rest, end)?;
                Init::Property { name: name.ident, value, span: name.ident.span.to(span) }
            }
            tokens => {
                let (value, span) = self.scalar(tokens, end)?;
                Init::Scalar(value, span)
            }
        };
        self.value.clear();
        Ok(Some(init))
    }

    fn scalar(&self, tokens: &[Token<'s>], end: Span) -> Result<(Constant<'s>, Span), Diagnostic> {
        let mut cursor = Cursor::new(tokens, end);
        let (value, span) = expression::evaluate(&mut cursor)?;
        if cursor.peek().is_some() {
            let words = if self.open.is_empty() { "`,` or `;`" } else { "`,` or `}`" };
            return Err(error::expected(words, cursor.span()));
        }
        Ok((value.constant()?, span))
    }
}
