//! Makes large PTX modules from small ones: copies with unique module-scope names.

use std::collections::HashSet;
use std::fmt::Write;

/// A module, split into a head and a part that can be repeated.
pub struct Template<'t> {
    /// `.version`, `.target` and `.address_size`.
    head: Vec<&'t str>,
    /// Everything else, in pieces. Names declared at module scope are marked.
    pieces: Vec<Piece<'t>>,
}

enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

impl<'t> Template<'t> {
    /// Splits a module. This is not a parser: the text must be well-formed and have no comments in odd places.
    pub fn new(text: &'t str) -> Self {
        let is_head = |line: &&str| [".version", ".target", ".address_size"].iter().any(|word| line.starts_with(word));
        let head = text.lines().map(str::trim).filter(is_head).collect();
        let mut tokens = Vec::new();
        for line in text.lines().map(|line| line.split("//").next().unwrap_or("")) {
            if !is_head(&line.trim()) && !line.trim().is_empty() {
                tokens.extend(tokenize(line));
                tokens.push("\n");
            }
        }
        let names = module_names(&tokens);
        let piece = |token: &'t str| if names.contains(token) { Piece::Name(token) } else { Piece::Text(token) };
        Self { head, pieces: tokens.into_iter().map(piece).collect() }
    }

    /// The head of the module.
    pub fn head(&self) -> String {
        self.head.join("\n") + "\n"
    }

    /// Appends a copy with a suffix added to module-scope names.
    pub fn copy_to(&self, out: &mut String, suffix: &str) {
        for piece in &self.pieces {
            // Writing to a string can't fail.
            let _ = match piece {
                Piece::Text(text) => out.write_str(text),
                Piece::Name(name) => write!(out, "{name}{suffix}"),
            };
        }
    }
}

/// A module of at least `bytes` bytes, made of copies of several modules with the same head.
pub fn large_module(templates: &[Template<'_>], bytes: usize) -> String {
    let mut out = templates.first().map(Template::head).unwrap_or_default();
    let mut round = 0;
    while out.len() < bytes && !templates.is_empty() {
        for (index, template) in templates.iter().enumerate() {
            template.copy_to(&mut out, &format!("__{round}_{index}"));
        }
        round += 1;
    }
    out
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_$%.".contains(c)
}

/// Words (including the dot of directives), quoted strings, and other single characters.
fn tokenize(mut line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    while let Some(first) = line.chars().next() {
        let len = if first == '"' {
            line[1..].find('"').map_or(line.len(), |end| end + 2)
        } else if is_name_character(first) {
            line.find(|c| !is_name_character(c)).unwrap_or(line.len())
        } else {
            first.len_utf8()
        };
        let (token, rest) = line.split_at(len);
        tokens.push(token);
        line = rest;
    }
    tokens
}

/// Identifiers outside of all brackets: functions and variables.
fn module_names<'t>(tokens: &[&'t str]) -> HashSet<&'t str> {
    let mut depth = 0_usize;
    let mut names = HashSet::new();
    for &token in tokens {
        match token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ if depth == 0 && token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$') => {
                names.insert(token);
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// made by hand\n.version 7.0\n.target sm_70\n.address_size 64\n\
        .const .u32 table[2] = {1, 2}; // two\n.visible .entry add(.param .u64 add_param_0)\n{\n  ld.const.u32 %r1, [table];\n\
        $L1: bra $L1;\n}\n";

    #[test]
    fn names_of_the_module_change_and_others_stay() {
        let template = Template::new(TEXT);
        let mut out = String::new();
        template.copy_to(&mut out, "__7");
        assert!(out.contains("table__7[2]") && out.contains("[table__7]") && out.contains(".entry add__7("), "{out}");
        assert!(out.contains(".u64 add_param_0)") && out.contains("$L1: bra $L1;") && !out.contains("//"), "{out}");
        assert!(!out.contains(".version"), "{out}");
    }

    #[test]
    fn a_large_module_has_one_head_and_the_size_asked_for() {
        let out = large_module(&[Template::new(TEXT), Template::new(TEXT)], 10_000);
        assert_eq!(out.matches(".version").count(), 1);
        assert!((10_000..11_000).contains(&out.len()), "{}", out.len());
        let copies = out.matches(".entry").count();
        let names: HashSet<&str> = out.split(".entry ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
        assert_eq!(names.len(), copies);
    }
}
