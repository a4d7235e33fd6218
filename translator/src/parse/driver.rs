//! Gives the text to pest piece by piece, and turns its errors into diagnostics.
//!
//! Pest only ever sees a window of the text, so that neither a match nor an error costs more than the window. Long runs
//! of short pieces are matched a window at a time; where the window cuts the text, the last piece may be incomplete and
//! is matched again.

use pest::Parser as _;
use pest::error::{Error, ErrorVariant, InputLocation};

use super::error;
use super::initializer::{Builder, Step};
use super::node::{Matches, PtxParser, Rule};
use super::scan::{self, Braces, Stop};
use crate::ast::Init;
use crate::diagnostic::{Diagnostic, Span};

/// Bytes matched at once where many pieces follow each other: enough to make the cost of a call disappear.
const RUN: usize = 4 << 10;
/// Bytes that a single piece may have.
const LONGEST: usize = 256 << 10;

pub(super) struct Driver<'s> {
    text: &'s str,
    /// Offset of the module.
    start: usize,
    offset: usize,
}

/// The text that pest sees.
struct Window<'s> {
    text: &'s str,
    start: usize,
    /// The source goes on after it.
    cut: bool,
}

impl Window<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

impl<'s> Driver<'s> {
    /// At the start of a module, after its byte order mark; the text goes up to the module's end.
    pub(super) fn new(text: &'s str, start: usize) -> Self {
        let marked = text.get(start..).is_some_and(|module| module.starts_with('\u{feff}'));
        Self { text, start, offset: if marked { start + '\u{feff}'.len_utf8() } else { start } }
    }

    pub(super) fn text(&self) -> &'s str {
        self.text
    }

    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    pub(super) fn set_offset(&mut self, offset: usize) {
        self.offset = offset;
    }

    pub(super) fn at_end(&self) -> bool {
        self.offset >= self.text.len()
    }

    /// The token at the offset.
    pub(super) fn token(&self) -> &'s str {
        self.text.get(self.offset..scan::token_end(self.text, self.offset)).unwrap_or_default()
    }

    /// Moves over white space and comments.
    pub(super) fn skip_trivia(&mut self) -> Result<(), Diagnostic> {
        self.offset = scan::trivia(self.text, self.offset);
        match self.text.get(self.offset..) {
            Some(rest) if rest.starts_with("/*") => Err(self.expected("")),
            _ => Ok(()),
        }
    }

    /// A syntax error at the offset.
    pub(super) fn expected(&self, what: impl Into<String>) -> Diagnostic {
        error::expected_at(self.text, what, self.offset)
    }

    /// The line of the module in which a span starts, from 1.
    pub(super) fn line(&self, span: Span) -> usize {
        let before = self.text.as_bytes().get(self.start..span.start as usize).unwrap_or_default();
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    /// Moves to the next place where parsing can go on.
    pub(super) fn resync(&mut self, braces: Braces) -> Stop {
        let (offset, stop) = scan::next_stop(self.text, self.offset, braces);
        self.offset = offset;
        stop
    }

    /// Matches one piece and moves past it.
    pub(super) fn one(&mut self, rule: Rule) -> Result<Matches<'s>, Diagnostic> {
        self.skip_trivia()?;
        let matches = self.matches(rule, LONGEST)?.0;
        let end = matches.nodes().next().ok_or_else(|| self.expected("something else"))?.span().end;
        self.offset = end as usize;
        Ok(matches)
    }

    /// Matches pieces that follow each other, at least one, and tells how many there are; moving past them is left to the caller.
    pub(super) fn many(&mut self, run: Rule, single: Rule) -> Result<(Matches<'s>, usize), Diagnostic> {
        let (matches, window) = self.matches(run, RUN)?;
        let complete = matches.nodes().count().saturating_sub(usize::from(window.cut));
        if complete > 0 {
            return Ok((matches, complete));
        }
        Ok((self.matches(single, LONGEST)?.0, 1))
    }

    fn window(&self, size: usize) -> Window<'s> {
        let mut end = self.text.len().min(self.offset.saturating_add(size));
        while !self.text.is_char_boundary(end) {
            end -= 1; // 0 is a boundary
        }
        let text = self.text.get(self.offset..end).unwrap_or_default();
        Window { text, start: self.offset, cut: end < self.text.len() }
    }

    fn matches(&self, rule: Rule, size: usize) -> Result<(Matches<'s>, Window<'s>), Diagnostic> {
        let window = self.window(size);
        let pairs = PtxParser::parse(rule, window.text).map_err(|error| self.mismatch(error, &window))?;
        // The text is at most u32::MAX bytes long.
        let matches = Matches::new(pairs, self.text, window.start as u32);
        // A match that needs to see the end of the text must not take the end of the window for it.
        let end = matches.nodes().last().map_or(window.start, |node| node.span().end as usize);
        if size == LONGEST && window.cut && end == window.end() {
            return Err(self.too_long());
        }
        Ok((matches, window))
    }

    fn mismatch(&self, error: Error<Rule>, window: &Window<'s>) -> Diagnostic {
        let (InputLocation::Pos(at) | InputLocation::Span((at, _))) = error.location;
        match error.variant {
            ErrorVariant::ParsingError { positives, .. } => {
                self.unexpected(error::list(&positives), window.start + at, window)
            }
            ErrorVariant::CustomError { message } => {
                Diagnostic::internal(message, Span::between(self.offset, self.offset))
            }
        }
    }

    /// A syntax error at `at`, unless it is the end of the window that broke the text there.
    fn unexpected(&self, what: impl Into<String>, at: usize, window: &Window<'s>) -> Diagnostic {
        if window.cut && scan::trivia(self.text, at).max(scan::token_end(self.text, at)) >= window.end() {
            return self.too_long();
        }
        error::expected_at(self.text, what, at)
    }

    fn too_long(&self) -> Diagnostic {
        let span = Span::between(self.offset, scan::token_end(self.text, self.offset));
        Diagnostic::invalid(format!("what starts here is longer than {} KiB", LONGEST >> 10), span)
    }

    /// Reads an initialiser, and stops at the `,` or `;` after it.
    pub(super) fn initializer(&mut self) -> Result<Init<'s>, Diagnostic> {
        let mut builder = Builder::default();
        let mut size = RUN;
        loop {
            self.skip_trivia()?;
            let (matches, window) = self.matches(Rule::initializer, size)?;
            let (start, mut end) = (self.offset, self.offset);
            for node in matches.nodes() {
                let span = node.span();
                end = span.end as usize;
                match builder.push(node)? {
                    Step::Value => {}
                    Step::Separator => self.offset = end,
                    Step::Done(init) => {
                        self.offset = span.start as usize;
                        return Ok(init);
                    }
                }
            }
            if !window.cut || (size == LONGEST && self.offset == start) {
                let at = scan::trivia(self.text, end);
                return Err(self.unexpected(builder.expectation(), at, &window));
            }
            // The value that the window cut, if it did, comes again.
            builder.forget_value();
            size = if self.offset == start { LONGEST } else { RUN };
        }
    }
}
