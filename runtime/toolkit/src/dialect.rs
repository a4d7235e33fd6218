//! Syntax that nvcc accepts and clang rejects. Files that clang's errors name are rewritten for it, and compiled again under their own names:
//!
//! * `#define UNROLL #pragma unroll` as `#define UNROLL _Pragma("unroll")`. nvcc's compiler reads text that was preprocessed before, in which
//!   a directive may come from a macro.
//! * `kernel<< <1, 2>> >()` as `kernel<<<1, 2>>>()`.
//! * `extern "C"__global__` as `extern "C" __global__`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::clang::Error;

/// Files that clang reads as rewritten here.
#[derive(Debug)]
pub(crate) struct Rewritten<'a> {
    /// The folder for the new texts.
    folder: &'a Path,
    /// The new texts, by the names of the files.
    files: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> Rewritten<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        Self { folder, files: BTreeMap::new() }
    }

    /// The list for clang's `-ivfsoverlay`.
    pub(crate) fn list(&self) -> PathBuf {
        self.folder.join("rewritten.yaml")
    }

    /// Rewrites the files that clang's errors name. False if none is new here and has syntax of nvcc's.
    ///
    /// # Errors
    /// A new text can't be written.
    pub(crate) fn add(&mut self, errors: &str) -> Result<bool, Error> {
        let before = self.files.len();
        for name in errors.lines().filter_map(named_file) {
            let Ok(name) = std::path::absolute(name).map(|path| without_parents(&path)) else { continue };
            if self.files.contains_key(&name) {
                continue;
            }
            let Some(text) = std::fs::read_to_string(&name).ok().and_then(|text| rewrite(&text)) else {
                continue;
            };
            let new = self.folder.join(format!("rewritten.{}", self.files.len()));
            std::fs::write(&new, text).map_err(Error::file(&new))?;
            self.files.insert(name, new);
        }
        if self.files.len() == before {
            return Ok(false);
        }
        std::fs::write(self.list(), self.overlay()).map_err(Error::file(self.list()))?;
        Ok(true)
    }

    /// A virtual file system in the YAML that LLVM reads.
    fn overlay(&self) -> String {
        let quoted = |path: &Path| path.display().to_string().replace('\'', "''");
        let files = self.files.iter().map(|(name, new)| {
            format!("{{'type': 'file', 'name': '{}', 'external-contents': '{}'}}", quoted(name), quoted(new))
        });
        // Errors name the files themselves.
        format!(
            "{{'version': 0, 'use-external-names': 'false', 'roots': [{}]}}\n",
            files.collect::<Vec<_>>().join(",\n")
        )
    }
}

/// The file that a message is about: an error, or a note on the definition of its macro, such as
/// `a.h:1:2: note: expanded from macro 'M'`.
fn named_file(line: &str) -> Option<PathBuf> {
    let line = without_colors(line);
    let (place, _) = line.split_once(": error: ").or_else(|| line.split_once(": note: "))?;
    let mut parts = place.rsplitn(3, ':');
    let numbers = [parts.next()?, parts.next()?];
    numbers.iter().all(|number| number.parse::<u32>().is_ok()).then_some(())?;
    parts.next().map(PathBuf::from)
}

/// A terminal's text without its colours.
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, plain)| plain));
    std::iter::once(first).chain(rest).collect()
}

/// A path without `..`, as clang looks for files of a virtual file system.
fn without_parents(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            short.pop();
        } else {
            short.push(part);
        }
    }
    short
}

/// A source for clang, of as many lines; `None` if it has no syntax of nvcc's.
fn rewrite(source: &str) -> Option<String> {
    let lines: Vec<_> = source.split('\n').map(|line| operator(line).unwrap_or_else(|| line.to_owned())).collect();
    let text = with_launches(&with_linkage(&lines.join("\n")));
    (text != source).then_some(text)
}

/// `#define NAME _Pragma("…")` for `#define NAME #pragma …`.
fn operator(line: &str) -> Option<String> {
    let (definition, name_and_value) = directive(line)?;
    let (name, value) = name_and_value.split_once([' ', '\t'])?;
    let (pragma, text) = directive(value)?;
    let text = text.split("//").next().unwrap_or_default().trim();
    if (definition, pragma) != ("define", "pragma") || text.ends_with('\\') || text.contains("/*") {
        return None;
    }
    Some(format!("#define {name} _Pragma(\"{}\")", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// A directive's name, and the text behind.
fn directive(line: &str) -> Option<(&str, &str)> {
    let (name, text) = line.trim_start().strip_prefix('#')?.trim_start().split_once([' ', '\t'])?;
    Some((name, text.trim_start()))
}

/// A source with a space behind `extern "C"`, whose text C++11 reads as one literal with what follows.
pub fn with_linkage(source: &str) -> String {
    source.replace("extern \"C\"_", "extern \"C\" _")
}

/// A source without spaces in the `<<<` and `>>>` of launches.
fn with_launches(source: &str) -> String {
    let (mut text, mut rest) = (String::new(), source);
    while let Some((start, end)) = three(rest, '<') {
        let (before, opening, after) = (&rest[..start], &rest[start..end], &rest[end..]);
        text += before;
        let line = text.rsplit('\n').next().unwrap_or_default();
        let statement = &after[..after.find(';').unwrap_or(after.len())];
        // `operator<< <T>` is C++, and string literals stay as they are.
        let is_launch = !before.trim_end().ends_with("operator") && line.matches('"').count() % 2 == 0;
        match three(statement, '>').filter(|_| is_launch) {
            Some((start, end)) => {
                text = text + &joined(opening) + &statement[..start] + &joined(&statement[start..end]);
                rest = &after[end..];
            }
            None => {
                text += opening;
                rest = after;
            }
        }
    }
    text + rest
}

/// The begin and the end of three equal marks, with or without space before the last one.
fn three(text: &str, mark: char) -> Option<(usize, usize)> {
    text.match_indices(&format!("{mark}{mark}")).find_map(|(start, pair)| {
        let rest = &text[start + pair.len()..];
        let third = rest.trim_start();
        third.starts_with(mark).then(|| (start, text.len() - third.len() + 1))
    })
}

/// Marks with the space between them at the end.
fn joined(marks: &str) -> String {
    let (space, marks): (String, String) = marks.chars().partition(|mark| mark.is_whitespace());
    marks + &space
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_become_operators() {
        let source = "#pragma once\r\n  # define A  # pragma unroll N // all\n#define B(x) #x\n#define C 1\n";
        assert_eq!(
            rewrite(source).unwrap(),
            "#pragma once\r\n#define A _Pragma(\"unroll N\")\n#define B(x) #x\n#define C 1\n"
        );
        assert_eq!(operator("#define M #pragma message \"a\"").unwrap(), r#"#define M _Pragma("message \"a\"")"#);
        for line in [
            "#pragma unroll",
            "#define A #pragmatic",
            "#define A #pragma unroll \\",
            "#define",
            "define A #pragma b",
            "",
        ] {
            assert_eq!(rewrite(line), None, "{line}");
        }
    }

    #[test]
    fn launches_lose_spaces() {
        let source = "k<< <n >> 2,\n 1>>\n>(a);\nk<<<1, 2>> >(a); x << 1; std::vector<std::vector<int> > > v;\n";
        let expected = "k<<< n >> 2,\n 1>>>\n(a);\nk<<<1, 2>>> (a); x << 1; std::vector<std::vector<int> > > v;\n";
        assert_eq!(rewrite(source).unwrap(), expected);
        for same in
            ["k<<<1, 2>>>(a);", "operator<< <A<B<int> > >(a);", "puts(\"k<< <1>> >()\");", "a << b; c >> d;", "<< <"]
        {
            assert_eq!(rewrite(same), None, "{same}");
        }
    }

    #[test]
    fn linkage_gets_a_space() {
        assert_eq!(rewrite("extern \"C\"__global__ void k();").unwrap(), "extern \"C\" __global__ void k();");
        assert_eq!(rewrite("extern \"C\" __global__ void k();"), None);
    }

    #[test]
    fn files_of_messages() {
        let plain = "src/a b.h:40:25: note: expanded from macro 'UNROLL'";
        let colored = "\x1b[1msrc/a b.h:40:25: \x1b[0m\x1b[0;1;30mnote: \x1b[0mexpanded from macro 'UNROLL'\x1b[0m";
        assert_eq!(named_file(plain), Some("src/a b.h".into()));
        assert_eq!(named_file(colored), Some("src/a b.h".into()));
        assert_eq!(named_file("a.h:1:2: error: expected expression"), Some("a.h".into()));
        assert_eq!(named_file("clang++-19: error: no such file or directory: 'a.cu'"), None);
        assert_eq!(named_file("<scratch space>: note: expanded from macro 'A'"), None);
        assert_eq!(without_parents(Path::new("/a/b/../c.h")), Path::new("/a/c.h"));
    }
}
