//! The matches of pest, as a tree that is quick to walk, and the tokens made from them.

use pest::iterators::Pairs;

use crate::ast::Ident;
use crate::diagnostic::Span;

/// The parser that pest generates from the grammar.
#[allow(missing_docs)]
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "parse/ptx.pest"]
    pub struct PtxParser;
}

pub(super) use grammar::{PtxParser, Rule};

/// The matches of one call of pest: a tree, flat and in the order of the text, with places that count from the start of
/// the source.
pub(super) struct Matches<'s> {
    text: &'s str,
    entries: Vec<Entry>,
}

struct Entry {
    rule: Rule,
    span: Span,
    /// The position of the next entry that isn't inside this one.
    next: usize,
}

impl<'s> Matches<'s> {
    /// The matches that pest found in the part of a text that starts at `base`.
    pub(super) fn new(pairs: Pairs<'_, Rule>, text: &'s str, base: u32) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let mut open = Vec::new();
        for token in pairs.tokens() {
            // Sources are at most u32::MAX bytes long.
            match token {
                pest::Token::Start { rule, pos } => {
                    let start = base + pos.pos() as u32;
                    open.push(entries.len());
                    entries.push(Entry { rule, span: Span { start, end: start }, next: 0 });
                }
                pest::Token::End { pos, .. } => {
                    let next = entries.len();
                    // Each end has its start before it.
                    if let Some(entry) = open.pop().and_then(|position| entries.get_mut(position)) {
                        entry.span.end = base + pos.pos() as u32;
                        entry.next = next;
                    }
                }
            }
        }
        Self { text, entries }
    }

    /// The outermost nodes.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node<'_, 's>> {
        self.between(0, self.entries.len())
    }

    fn between(&self, first: usize, end: usize) -> impl Iterator<Item = Node<'_, 's>> + use<'_, 's> {
        let mut position = first;
        std::iter::from_fn(move || {
            let entry = self.entries.get(position).filter(|_| position < end)?;
            let node = Node { matches: self, entry, position };
            position = entry.next;
            Some(node)
        })
    }
}

/// A matched rule.
#[derive(Clone, Copy)]
pub(super) struct Node<'m, 's> {
    matches: &'m Matches<'s>,
    entry: &'m Entry,
    position: usize,
}

impl<'m, 's> Node<'m, 's> {
    pub(super) fn rule(self) -> Rule {
        self.entry.rule
    }

    pub(super) fn text(self) -> &'s str {
        let Span { start, end } = self.entry.span;
        self.matches.text.get(start as usize..end as usize).unwrap_or_default()
    }

    pub(super) fn span(self) -> Span {
        self.entry.span
    }

    pub(super) fn ident(self) -> Ident<'s> {
        Ident { text: self.text(), span: self.span() }
    }

    /// The node up to its last token: where a node ends with something optional, pest counts the white space and the
    /// comments after it in.
    pub(super) fn tight(self) -> Ident<'s> {
        let mut last = self;
        // The grammar is not recursive, so this takes a few steps only.
        while let Some(child) = last.children().last() {
            last = child;
        }
        let len = (last.span().end - self.span().start) as usize;
        part(self.ident(), 0, len)
    }

    /// The name of a directive without its dot, or a string without its quotes.
    pub(super) fn inner_ident(self) -> Ident<'s> {
        let whole = self.ident();
        match self.rule() {
            Rule::string => part(whole, 1, whole.text.len().saturating_sub(1)),
            _ => part(whole, 1, whole.text.len()),
        }
    }

    pub(super) fn children(self) -> impl Iterator<Item = Node<'m, 's>> + use<'m, 's> {
        self.matches.between(self.position + 1, self.entry.next)
    }

    pub(super) fn token(self) -> Token<'s> {
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
    /// Whether the token is this punctuation.
    pub(super) fn is(&self, text: &str) -> bool {
        self.ident.text == text
    }
}

/// Walks through tokens.
pub(super) struct Cursor<'t, 's> {
    tokens: &'t [Token<'s>],
    next: usize,
    /// The place after the last token, for errors.
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

    /// The place of the next token, or the place after the last one.
    pub(super) fn span(&self) -> Span {
        self.peek().map_or(self.end, |token| token.ident.span)
    }
}
