//! Reads the words of a line.

use std::str::FromStr;

use super::{Modifier, Parts};
use crate::ir::{Type, Value, Var};

/// Numbers of values and variables are below this.
const MAX_NUMBER: u32 = 1 << 20;

/// Why a text isn't one of the intermediate representation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}")]
pub struct ParseError {
    /// Where, from 1.
    pub line: usize,
    /// The text that could have stood there, in words.
    pub expected: String,
}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// One line that is being read.
#[derive(Clone, Copy)]
pub(crate) struct Line<'t> {
    pub(super) number: usize,
    /// The text that hasn't been read yet.
    pub(super) rest: &'t str,
}

impl<'t> Line<'t> {
    /// The error that something else should stand here.
    pub(crate) fn expected(&self, what: &str) -> ParseError {
        ParseError { line: self.number, expected: what.to_owned() }
    }

    /// Takes a token if it comes next.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    /// Takes a token.
    pub(crate) fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Takes a word: letters, digits, dots and underscores.
    pub(crate) fn word(&mut self) -> Option<&'t str> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        (!word.is_empty()).then_some(word)
    }

    /// Takes this word if it comes next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let mut ahead = *self;
        let found = ahead.word() == Some(word);
        if found {
            *self = ahead;
        }
        found
    }

    /// Takes a word that `FromStr` understands.
    pub(crate) fn parse<T: FromStr>(&mut self, what: &str) -> Result<T> {
        let here = *self;
        self.word().and_then(|word| word.parse().ok()).ok_or_else(|| here.expected(what))
    }

    /// Nothing may follow.
    pub(crate) fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    pub(crate) fn value(&mut self) -> Result<Value> {
        self.maybe_value().ok_or_else(|| self.expected("a value, such as v0"))
    }

    pub(super) fn maybe_value(&mut self) -> Option<Value> {
        let mut ahead = *self;
        let value = numbered(ahead.word()?, 'v').map(Value)?;
        *self = ahead;
        Some(value)
    }

    pub(crate) fn var(&mut self) -> Result<Var> {
        let here = *self;
        let number = self.word().and_then(|word| numbered(word, 'r'));
        number.map(Var).ok_or_else(|| here.expected("a variable, such as r0"))
    }

    pub(super) fn ty(&mut self) -> Result<Type> {
        let here = *self;
        let ty = self.word().and_then(|word| Type::parse(&mut Parts::new(word, Vec::new())));
        ty.ok_or_else(|| here.expected("a type"))
    }

    /// Values with commas between them; there may be none.
    pub(super) fn values(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        values.extend(self.maybe_value());
        while !values.is_empty() && self.eat(",") {
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// The modifier that the rest of a mnemonic and its operands stand for.
    pub(crate) fn modifier<T: Modifier>(&mut self, parts: &str, what: &str) -> Result<T> {
        let here = *self;
        let mut parts = Parts::new(parts, self.values()?);
        let modifier = T::parse(&mut parts).filter(|_| parts.is_empty());
        modifier.ok_or_else(|| here.expected(what))
    }
}

/// The number of a value or variable.
pub(super) fn numbered(word: &str, letter: char) -> Option<u32> {
    word.strip_prefix(letter)?.parse().ok().filter(|number| *number < MAX_NUMBER)
}
