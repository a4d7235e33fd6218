//! The typed diagnostics that every stage of the translator reports.
//!
//! A stage never stops at the first problem where it can go on: it collects [`Diagnostic`]s and hands
//! them back together as [`Diagnostics`].

use std::fmt;

use codespan_reporting::diagnostic as render;
use codespan_reporting::files::{Files, SimpleFiles};
use codespan_reporting::term;

use crate::names::readable;
use crate::source::floor_char_boundary;
pub use crate::source::{Source, Span};
use ptx2spv_target::Feature;

/// The kind of an error; [`fmt::Display`] gives the message that a person reads.
///
/// ```
/// use ptx2spv_translator::{ErrorKind, Program, Source};
///
/// let text = ".version 6.0\n.target sm_50\n.address_size 64\n.entry k() { jump there; }";
/// let diagnostics = Program::new(&Source::new("k.ptx", text)).err().unwrap();
/// let kind = &diagnostics.list[0].kind;
/// assert_eq!(*kind, ErrorKind::UnknownOpcode("jump".to_owned()));
/// assert_eq!(kind.to_string(), "unknown instruction `jump`: PTX has no such opcode");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text isn't PTX.
    #[error("syntax error: expected {expected}")]
    Syntax {
        /// The tokens that could have stood here, in words.
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
    /// Code that uses definitions of another module, and can only be translated once both are linked.
    #[error("not supported: {0}")]
    Undefined(String),
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
        /// The kernel's demand.
        needed: u64,
        /// The target's limit.
        available: u64,
    },
    /// A broken invariant inside the translator: always a bug of ours, never of the input.
    #[error("internal error (please report it): {0}")]
    Internal(String),
}

impl ErrorKind {
    /// The name of the kind, which stays the same between versions: for reports that other programs read.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "syntax",
            Self::Invalid(_) => "invalid",
            Self::UnknownOpcode(_) => "unknown-opcode",
            Self::UnknownModifier { .. } => "unknown-modifier",
            Self::Unsupported(_) => "unsupported",
            Self::Undefined(_) => "undefined",
            Self::MissingFeature { .. } => "missing-feature",
            Self::Limit { .. } => "limit",
            Self::Internal(_) => "internal",
        }
    }
}

/// The result of decoding and of lowering.
pub(crate) type Result<T = (), E = Diagnostic> = std::result::Result<T, E>;

/// One problem, with its place in the source.
///
/// ```
/// use ptx2spv_translator::{Program, Source};
///
/// let text = ".version 6.0\n.target sm_50\n.address_size 64\n.entry k()\n{\n    jump there;\n}";
/// let source = Source::new("k.ptx", text);
/// let diagnostics = Program::new(&source).err().unwrap();
/// let diagnostic = &diagnostics.list[0];
/// assert_eq!(source.place(diagnostic.place().start).to_string(), "k.ptx:6:5");
/// assert_eq!(diagnostic.function.as_deref(), Some("k"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The error.
    pub kind: ErrorKind,
    /// Where, if it has a place.
    pub span: Option<Span>,
    /// The kernel or function in which it was found, if in one.
    pub function: Option<String>,
    /// Advice or background, if there is any.
    pub help: Option<String>,
    /// Another place that the problem is about, with a note.
    pub related: Option<Box<(Span, String)>>,
}

impl Diagnostic {
    /// A diagnostic without help text.
    pub fn new(kind: ErrorKind, span: impl Into<Option<Span>>) -> Self {
        Self { kind, span: span.into(), function: None, help: None, related: None }
    }

    /// The place to point at: the start of the text for a diagnostic without a place.
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

    /// Shorthand for [`ErrorKind::Undefined`], with the way out.
    pub fn undefined(what: impl Into<String>, span: impl Into<Option<Span>>) -> Self {
        let link = "link this module with the one that defines it: `ptx2spv link`, or `--link FILE`";
        Self::new(ErrorKind::Undefined(what.into()), span).with_help(link)
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

    /// Adds another place that it is about.
    #[must_use]
    pub fn with_related(mut self, span: Span, what: impl Into<String>) -> Self {
        self.related = Some(Box::new((span, what.into())));
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
///
/// ```
/// use ptx2spv_translator::{Program, Source};
///
/// let text = ".version 6.0\n.target sm_50\n.address_size 64\n.entry k()\n{\n    jump there;\n    fly;\n}";
/// let diagnostics = Program::new(&Source::new("k.ptx", text)).err().unwrap();
/// assert_eq!((diagnostics.list.len(), diagnostics.left_out), (2, 0));
/// // What a person reads quotes each line, with a mark under the place.
/// assert!(diagnostics.to_string().contains("6 │     jump there;"));
/// // So does what a program or a build script shows whose `main` returns the error.
/// assert_eq!(format!("{diagnostics:?}"), diagnostics.to_string());
/// ```
#[derive(Clone)]
pub struct Diagnostics {
    /// The text the spans point into.
    pub source: Source,
    /// The problems in source order.
    pub list: Vec<Diagnostic>,
    /// The number of problems beyond [`Diagnostics::MAX`].
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

    /// The report as shown on a terminal, without colours: file, line, column, the source line with the place marked. Names
    /// that compilers made are C++ names again, but for those in quoted lines.
    pub fn render(&self) -> String {
        let mut files = SimpleFiles::new();
        let numbers: Vec<usize> = self
            .source
            .modules()
            .iter()
            .map(|module| files.add(&*module.name, self.source.slice(module.span)))
            .collect();
        let config = term::Config::default();
        let mut out = String::new();
        for diagnostic in &self.list {
            let mut notes = Vec::new();
            notes.extend(diagnostic.function.iter().map(|name| format!("in function `{name}`")));
            notes.extend(diagnostic.help.iter().cloned());
            let mut report = render::Diagnostic::error().with_message(diagnostic.kind.to_string());
            match self.label(&files, &numbers, diagnostic.place(), render::LabelStyle::Primary) {
                Some(label) => report.labels.push(label),
                None => notes.insert(0, format!("at {}", self.source.place(diagnostic.place().start))),
            }
            if let Some((span, what)) = diagnostic.related.as_deref() {
                match self.label(&files, &numbers, *span, render::LabelStyle::Secondary) {
                    Some(label) => report.labels.push(label.with_message(what)),
                    None => notes.push(format!("{what} at {}", self.source.place(span.start))),
                }
            }
            let mut text = String::new();
            if term::emit_to_string(&mut text, &config, &files, &report.with_notes(notes)).is_err() {
                text = format!("error: {}\n  at {}\n", diagnostic.kind, self.source.place(diagnostic.place().start));
            }
            out.push_str(&text);
        }
        if self.left_out > 0 {
            out.push_str(&format!("… and {} more errors\n", self.left_out));
        }
        readable(&out)
    }

    /// Marks a place, if its line is short enough to be quoted.
    fn label(
        &self,
        files: &SimpleFiles<&str, &str>,
        numbers: &[usize],
        place: Span,
        style: render::LabelStyle,
    ) -> Option<render::Label<usize>> {
        let module = self.source.module_at(place.start)?;
        let index = self.source.modules().iter().position(|other| other.span == module.span)?;
        let file = *numbers.get(index)?;
        let text = self.source.slice(module.span);
        let within = |offset: u32| floor_char_boundary(text, offset.saturating_sub(module.span.start) as usize);
        let start = within(place.start);
        let end = within(place.end).max(start);
        // A span of many lines would print them all: mark its first line only.
        let end = text[start..end].find('\n').map_or(end, |newline| start + newline);
        let line = files.line_index(file, start).and_then(|line| files.line_range(file, line)).ok()?;
        (line.len() <= Self::MAX_QUOTED).then(|| render::Label::new(style, file, start..end))
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render().trim_end())
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Diagnostics {}
