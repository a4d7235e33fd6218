//! The text of a program: one PTX module, or several that are linked, and places in it.

use std::sync::{Arc, OnceLock};

/// The beginning of the line above each module of a linked text.
const MARK: &str = "//// ptx2spv module ";

/// PTX text with the name it is reported under.
///
/// Modules that are to be linked are one text too, each under a comment that names it: see [`Source::linked`]. Places count through
/// the whole text; [`Source::place`] says where that is in a module.
///
/// ```
/// use ptx2spv_translator::Source;
///
/// let source = Source::new("two.ptx", "first line\nsecond line\n");
/// let offset = source.text().find("line\n").unwrap() as u32;
/// assert_eq!(source.place(offset).to_string(), "two.ptx:1:7");
/// assert_eq!(source.line("two.ptx", 2).map(|span| source.slice(span)), Some("second line"));
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
    modules: Arc<[SourceModule]>,
    linked: bool,
    /// The ends of the lines, once a position has been asked for.
    line_ends: Arc<OnceLock<Vec<u32>>>,
}

/// A module of a [`Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceModule {
    /// The name that diagnostics show.
    pub name: Arc<str>,
    /// Its text, by its place in that of the source.
    pub span: Span,
}

/// A place as people find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// The name of the module.
    pub file: Arc<str>,
    /// The line in the module, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl std::fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Source {
    /// Text to translate, and the name (usually a path) that diagnostics show for it. It may be [linked](Source::linked) text.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        let (name, text) = (name.into(), text.into());
        let linked = text.starts_with(MARK);
        let modules = if linked {
            modules(&text)
        } else {
            [SourceModule { name: name.clone(), span: Span::between(0, text.len()) }].into()
        };
        Self { name, text, modules, linked, line_ends: Arc::default() }
    }

    /// A program of modules, by name and text, in the order in which a linker gets them. Its text is that of all of them, each
    /// under a comment, and can be kept and read again by [`Source::new`]. Parts that are linked already count as their modules.
    pub fn linked(name: impl Into<Arc<str>>, parts: impl IntoIterator<Item = Source>) -> Self {
        let mut text = String::new();
        for part in parts {
            for module in part.modules() {
                let name: String = module.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                text += &format!("{MARK}{name}\n{}\n", part.slice(module.span));
            }
        }
        let text: Arc<str> = text.into();
        Self { name: name.into(), modules: modules(&text), text, linked: true, line_ends: Arc::default() }
    }

    /// The name that diagnostics show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its modules; a text that isn't linked is one.
    pub fn modules(&self) -> &[SourceModule] {
        &self.modules
    }

    /// Whether the text's modules are linked, so that nothing they declare may be missing.
    pub fn is_linked(&self) -> bool {
        self.linked
    }

    /// The module that a byte offset lies in.
    pub(crate) fn module_at(&self, offset: u32) -> Option<&SourceModule> {
        let after = self.modules.partition_point(|module| module.span.start <= offset);
        self.modules.get(after.saturating_sub(1))
    }

    /// File, line and column of a byte offset; offsets past the end count as the end.
    pub fn place(&self, offset: u32) -> SourcePosition {
        let Some(module) = self.module_at(offset) else {
            return SourcePosition { file: self.name.clone(), line: 1, column: 1 };
        };
        let start = module.span.start as usize;
        let end = floor_char_boundary(&self.text, offset as usize).max(start);
        let line_ends = self.line_ends();
        let [first, next] = [start, end].map(|at| line_ends.partition_point(|&line_end| (line_end as usize) < at));
        let line = next - first + 1;
        let before = line_ends.get(first..next).and_then(<[u32]>::last);
        let line_start = before.map_or(start, |&line_end| line_end as usize + 1);
        let column = self.text.get(line_start..end).unwrap_or_default().chars().count() + 1;
        SourcePosition { file: module.name.clone(), line, column }
    }

    /// Offsets of the ends of lines, as far as spans reach.
    fn line_ends(&self) -> &[u32] {
        self.line_ends.get_or_init(|| {
            let line_ends = (0..=u32::MAX).zip(self.text.bytes()).filter(|(_, byte)| *byte == b'\n');
            line_ends.map(|(at, _)| at).collect()
        })
    }

    /// Line and column of a byte offset in its module: see [`Source::place`].
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let SourcePosition { line, column, .. } = self.place(offset);
        (line, column)
    }

    /// The bytes of a line, counted from 1, of the module of a name.
    pub fn line(&self, file: &str, line: u32) -> Option<Span> {
        let module = self.modules.iter().find(|module| *module.name == *file)?;
        let text = self.slice(module.span);
        let found = text.split('\n').nth(line.checked_sub(1)? as usize)?;
        let start = module.span.start as usize + (found.as_ptr() as usize - text.as_ptr() as usize);
        Some(Span::between(start, start + found.len()))
    }

    /// The text of a span; spans that don't lie on character boundaries are widened to the left.
    pub fn slice(&self, span: Span) -> &str {
        let start = floor_char_boundary(&self.text, span.start as usize);
        let end = floor_char_boundary(&self.text, span.end as usize).max(start);
        &self.text[start..end]
    }
}

/// The modules of a linked text: each begins after the line that names it, and ends where the next such line begins.
fn modules(text: &str) -> Arc<[SourceModule]> {
    let mut found: Vec<SourceModule> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix(MARK) {
            if let Some(last) = found.last_mut() {
                last.span.end = Span::between(0, at).end;
            }
            found.push(SourceModule {
                name: name.trim_end_matches(['\n', '\r']).into(),
                span: Span::between(at + line.len(), text.len()),
            });
        }
        at += line.len();
    }
    found.into()
}

pub(crate) fn floor_char_boundary(text: &str, offset: usize) -> usize {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// An offset as spans have it. It saturates in texts of more than 4 GiB, which are refused when they are parsed.
pub(crate) fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// A half-open range of byte offsets into a [`Source`].
///
/// ```
/// use ptx2spv_translator::{Source, Span};
///
/// let source = Source::new("a.ptx", "ret; exit;");
/// let [ret, exit] = [Span { start: 0, end: 4 }, Span { start: 5, end: 10 }];
/// assert_eq!(source.slice(exit), "exit;");
/// assert_eq!(source.slice(ret.to(exit)), "ret; exit;");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span between two offsets.
    pub(crate) fn between(start: usize, end: usize) -> Span {
        Span { start: offset(start), end: offset(end) }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_a_text() {
        let source = Source::new("a.ptx", "one\n  zwölf drei\n");
        let place = |offset| source.place(offset).to_string();
        assert_eq!(["a.ptx:1:1", "a.ptx:2:3", "a.ptx:2:7", "a.ptx:3:1", "a.ptx:3:1"], [0, 6, 11, 18, 99].map(place));
        assert_eq!(source.line("a.ptx", 2).map(|span| source.slice(span)), Some("  zwölf drei"));
        assert_eq!((source.line("a.ptx", 4), source.line("a.ptx", 0), source.line("b.ptx", 1)), (None, None, None));
    }

    #[test]
    fn linked_texts() {
        let parts = || [Source::new("a.ptx", "one\ntwo"), Source::new("b\n.ptx", "three\n\n")];
        let source = Source::linked("all", parts());
        let again = Source::new("all", source.text());
        assert_eq!(source.modules(), again.modules());
        assert!(source.is_linked() && again.is_linked() && !parts()[0].is_linked());
        let texts: Vec<_> = source.modules().iter().map(|module| (&*module.name, source.slice(module.span))).collect();
        assert_eq!(texts, [("a.ptx", "one\ntwo\n"), ("b .ptx", "three\n\n\n")]);
        let at = |word: &str| source.place(source.text().find(word).unwrap() as u32).to_string();
        assert_eq!([at("two"), at("three")], ["a.ptx:2:1", "b .ptx:1:1"]);
        assert_eq!(source.line("a.ptx", 2).map(|span| source.slice(span)), Some("two"));
        // What is linked already counts as its modules.
        let more = Source::linked("more", [source, Source::new("c", "four")]);
        assert_eq!(more.modules().len(), 3);
        assert_eq!(more.place(more.text().find("four").unwrap() as u32).to_string(), "c:1:1");
    }
}
