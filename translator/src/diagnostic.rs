//! Source text, spans, and the typed diagnostics that every stage of the translator reports.
//!
//! A stage never stops at the first problem where it can go on: it collects [`Diagnostic`]s and hands
//! them back together as [`Diagnostics`].

use std::fmt;
use std::sync::Arc;

use codespan_reporting::diagnostic as render;
use codespan_reporting::files::{Files, SimpleFile};
use codespan_reporting::term;

use crate::target::Feature;

/// PTX text with the name it is reported under.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
}

impl Source {
    /// Text to translate, and the name (usually a path) that diagnostics show for it.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The name that diagnostics show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// One-based line and column (in characters) of a byte offset; offsets past the end count as the end.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let end = floor_char_boundary(&self.text, offset as usize);
        let before = &self.text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// Where a line, counted from 1, begins and ends in the text.
    pub(crate) fn line_bytes(&self, line: u32) -> Option<(u32, u32)> {
        let text = self.text.split('\n').nth(line.checked_sub(1)? as usize)?;
        let start = text.as_ptr() as usize - self.text.as_ptr() as usize;
        Some((u32::try_from(start).ok()?, u32::try_from(start + text.len()).ok()?))
    }

    /// The text of a span; spans that don't lie on character boundaries are widened to the left.
    pub fn slice(&self, span: Span) -> &str {
        let start = floor_char_boundary(&self.text, span.start as usize);
        let end = floor_char_boundary(&self.text, span.end as usize).max(start);
        &self.text[start..end]
    }
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// A half-open range of byte offsets into a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// What is wrong, by kind; [`fmt::Display`] gives the message that a person reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text isn't PTX.
    #[error("syntax error: expected {expected}")]
    Syntax {
        /// What could have stood here, in words.
        expected: String,
    },
    /// The text is PTX in form, but breaks one of its rules (types, scopes, duplicate names, …).
    #[error("{0}")]
    Invalid(String),
    /// No PTX version has this instruction.
    #[error("unknown instruction `{0}`: PTX has no such opcode")]
    UnknownOpcode(String),
    /// PTX has the instruction, but not with this modifier.
    #[error("`{opcode}` has no modifier `.{modifier}`")]
    UnknownModifier {
        /// The opcode without modifiers.
        opcode: String,
        /// The modifier without its dot.
        modifier: String,
    },
    /// PTX that this version of the translator does not translate yet.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The target device lacks something that the kernel needs.
    #[error("the target lacks `{feature}`, which {needed_for} needs")]
    MissingFeature {
        /// Vulkan's name for it.
        feature: Feature,
        /// The construct that needs it.
        needed_for: String,
    },
    /// The kernel needs more of a resource than the target has.
    #[error("{what}: {needed} needed, the target has {available}")]
    Limit {
        /// The resource, with its unit.
        what: String,
        /// How much the kernel asks for.
        needed: u64,
        /// How much there is.
        available: u64,
    },
    /// A broken invariant inside the translator: always a bug of ours, never of the input.
    #[error("internal error (please report it): {0}")]
    Internal(String),
}

/// One problem, with its place in the source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where, if it has a place.
    pub span: Option<Span>,
    /// The kernel or function in which it was found, if in one.
    pub function: Option<String>,
    /// Advice or background, if there is any.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without help text.
    pub fn new(kind: ErrorKind, span: impl Into<Option<Span>>) -> Self {
        Self { kind, span: span.into(), function: None, help: None }
    }

    /// What to point at: the start of the text for what has no place.
    pub fn place(&self) -> Span {
        self.span.unwrap_or_default()
    }

    /// Shorthand for [`ErrorKind::Invalid`].
    pub fn invalid(message: impl Into<String>, span: impl Into<Option<Span>>) -> Self {
        Self::new(ErrorKind::Invalid(message.into()), span)
    }

    /// Shorthand for [`ErrorKind::Unsupported`].
    pub fn unsupported(what: impl Into<String>, span: impl Into<Option<Span>>) -> Self {
        Self::new(ErrorKind::Unsupported(what.into()), span)
    }

    /// Shorthand for [`ErrorKind::Internal`].
    pub fn internal(what: impl Into<String>, span: impl Into<Option<Span>>) -> Self {
        Self::new(ErrorKind::Internal(what.into()), span)
    }

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Names the function it was found in, unless one is named already.
    #[must_use]
    pub fn in_function(mut self, name: &str) -> Self {
        self.function.get_or_insert_with(|| name.to_owned());
        self
    }
}

/// All problems found in one run, together with the source they refer to. Never empty when returned as an error.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The text the spans point into.
    pub source: Source,
    /// The problems in source order.
    pub list: Vec<Diagnostic>,
    /// How many more there were than [`Diagnostics::MAX`].
    pub left_out: usize,
}

impl Diagnostics {
    /// At most this many diagnostics are kept, so that garbage input can't fill the memory or the screen.
    pub const MAX: usize = 100;
    /// Lines of more bytes are not quoted.
    const MAX_QUOTED: usize = 400;

    /// Sorts by place and cuts to [`Self::MAX`].
    pub fn new(source: Source, mut list: Vec<Diagnostic>) -> Self {
        list.sort_by_key(|diagnostic| (diagnostic.place().start, diagnostic.place().end));
        let left_out = list.len().saturating_sub(Self::MAX);
        list.truncate(Self::MAX);
        Self { source, list, left_out }
    }

    /// The report as shown on a terminal, without colours: file, line, column, the source line with the place marked.
    pub fn render(&self) -> String {
        let file = SimpleFile::new(self.source.name(), self.source.text());
        let config = term::Config::default();
        let mut out = String::new();
        for diagnostic in &self.list {
            let place = diagnostic.place();
            let start = floor_char_boundary(self.source.text(), place.start as usize);
            let end = floor_char_boundary(self.source.text(), place.end as usize).max(start);
            // A span of many lines would print them all: mark its first line only.
            let end = self.source.text()[start..end].find('\n').map_or(end, |newline| start + newline);
            let mut notes = Vec::new();
            notes.extend(diagnostic.function.iter().map(|name| format!("in function `{name}`")));
            notes.extend(diagnostic.help.iter().cloned());
            let line = file.line_index((), start).and_then(|line| file.line_range((), line));
            let quotable = line.is_ok_and(|line| line.len() <= Self::MAX_QUOTED);
            let mut report = render::Diagnostic::error().with_message(diagnostic.kind.to_string());
            if quotable {
                report.labels.push(render::Label::primary((), start..end));
            } else {
                let (line, column) = self.source.line_column(place.start);
                notes.insert(0, format!("at {}:{line}:{column}", self.source.name()));
            }
            let mut text = String::new();
            if term::emit_to_string(&mut text, &config, &file, &report.with_notes(notes)).is_err() {
                let (line, column) = self.source.line_column(place.start);
                text = format!("error: {}\n  at {}:{line}:{column}\n", diagnostic.kind, self.source.name());
            }
            out.push_str(&text);
        }
        if self.left_out > 0 {
            out.push_str(&format!("… and {} more errors\n", self.left_out));
        }
        out
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render().trim_end())
    }
}

impl std::error::Error for Diagnostics {}
