//! A view of pest's pairs with spans that count from the start of the source, and the tokens made from them.

use pest::iterators::{Pair, Pairs};

use crate::ast::Ident;
use crate::diagnostic::Span;

/// What pest generates from the grammar.
#[allow(missing_docs)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "parse/ptx.pest"]
    pub struct PtxParser;
}

pub(super) use grammar::{PtxParser, Rule};

/// A matched rule.
#[derive(Clone)]
pub(super) struct Node<'s> {
    pair: Pair<'s, Rule>,
    /// Offset in the source of the text that was given to pest.
    base: u32,
}

impl<'s> Node<'s> {
    /// The nodes of a match that starts at `base`.
    pub(super) fn all(pairs: Pairs<'s, Rule>, base: u32) -> impl ExactSizeIterator<Item = Node<'s>> + use<'s> {
        pairs.map(move |pair| Node { pair, base })
    }

    pub(super) fn rule(&self) -> Rule {
        self.pair.as_rule()
    }

    pub(super) fn text(&self) -> &'s str {
        self.pair.as_str()
    }

    pub(super) fn span(&self) -> Span {
        let span = self.pair.as_span();
        // Sources are at most u32::MAX bytes long, so both fit.
        Span { start: self.base + span.start() as u32, end: self.base + span.end() as u32 }
    }

    pub(super) fn ident(&self) -> Ident<'s> {
        Ident { text: self.text(), span: self.span() }
    }

    /// The node up to its last token: where a node ends with something optional, pest counts the white space and the
    /// comments after it in.
    pub(super) fn tight(&self) -> Ident<'s> {
        let mut last = self.clone();
        // The grammar is not recursive, so this takes a few steps only.
        while let Some(child) = last.children().last() {
            last = child;
        }
        let len = (last.span().end - self.span().start) as usize;
        part(self.ident(), 0, len)
    }

    /// The name of a directive without its dot, or a string without its quotes.
    pub(super) fn inner_ident(&self) -> Ident<'s> {
        let whole = self.ident();
        match self.rule() {
            Rule::string => part(whole, 1, whole.text.len().saturating_sub(1)),
            _ => part(whole, 1, whole.text.len()),
        }
    }

    pub(super) fn children(&self) -> impl Iterator<Item = Node<'s>> + use<'s> {
        let base = self.base;
        self.pair.clone().into_inner().map(move |pair| Node { pair, base })
    }

    pub(super) fn token(&self) -> Token<'s> {
        Token { rule: self.rule(), ident: self.ident() }
    }
}

/// The part of a name between two byte offsets, which must lie on character boundaries inside of it.
pub(super) fn part(ident: Ident<'_>, from: usize, to: usize) -> Ident<'_> {
    // Both are at most the length of the text, which lies in a source of at most u32::MAX bytes.
    let span = Span { start: ident.span.start + from as u32, end: ident.span.start + to as u32 };
    Ident { text: ident.text.get(from..to).unwrap_or_default(), span }
}

/// One token of an operand list, a dimension or an initialiser.
#[derive(Clone, Copy)]
pub(super) struct Token<'s> {
    pub(super) rule: Rule,
    pub(super) ident: Ident<'s>,
}

impl<'s> Token<'s> {
    /// Whether it is this punctuation.
    pub(super) fn is(&self, text: &str) -> bool {
        self.ident.text == text
    }
}

/// Walks through tokens.
pub(super) struct Cursor<'t, 's> {
    tokens: &'t [Token<'s>],
    next: usize,
    /// Where the text after the last token stands, for errors.
    end: Span,
}

impl<'t, 's> Cursor<'t, 's> {
    pub(super) fn new(tokens: &'t [Token<'s>], end: Span) -> Self {
        Self { tokens, next: 0, end }
    }

    pub(super) fn peek(&self) -> Option<&'t Token<'s>> {
        self.tokens.get(self.next)
    }

    pub(super) fn peek_second(&self) -> Option<&'t Token<'s>> {
        self.tokens.get(self.next.saturating_add(1))
    }

    pub(super) fn at(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.is(text))
    }

    pub(super) fn advance(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// Takes the next token if it is this punctuation.
    pub(super) fn take(&mut self, text: &str) -> Option<&'t Token<'s>> {
        let token = self.peek().filter(|token| token.is(text))?;
        self.advance();
        Some(token)
    }

    /// Where the next token stands, or what follows the last one.
    pub(super) fn span(&self) -> Span {
        self.peek().map_or(self.end, |token| token.ident.span)
    }
}
