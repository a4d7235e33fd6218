//! Walks over text without parsing it: comments, ends of tokens, and the place to go on after an error.
//!
//! All offsets are bytes. Each function looks at every byte once at most.

/// Skips white space and comments. Stops at a comment that is never closed.
pub(super) fn trivia(text: &str, mut offset: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        while bytes.get(offset).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)) {
            offset += 1;
        }
        match comment_end(text, offset) {
            Some(end) => offset = end,
            None => return offset,
        }
    }
}

fn comment_end(text: &str, offset: usize) -> Option<usize> {
    let rest = text.get(offset..)?;
    if rest.starts_with("//") || rest.starts_with("@@DWARF") {
        return Some(rest.find('\n').map_or(text.len(), |newline| offset + newline));
    }
    if rest.starts_with('#') {
        return marker_end(text, offset);
    }
    let inside = rest.strip_prefix("/*")?;
    inside.find("*/").map(|end| offset + end + 4)
}

/// After a line marker of a C preprocessor, `# 12 "file.h" 2`.
fn marker_end(text: &str, offset: usize) -> Option<usize> {
    let gap = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let number = |offset: usize| {
        let rest = text.get(offset..)?;
        let start = gap(rest);
        let digits = rest.get(start..)?.bytes().take_while(u8::is_ascii_digit).count();
        (start > 0 && digits > 0).then_some(offset + start + digits)
    };
    let start = offset + if text.get(offset..)?.starts_with("#line") { 5 } else { 1 };
    let line = number(start)?;
    let gap = gap(text.get(line..)?);
    let mut end = string_end(text, line + gap).filter(|_| gap > 0)?;
    while let Some(flag) = number(end) {
        end = flag;
    }
    Some(end)
}

/// After a string that starts at the offset, if it is closed on its line.
pub(super) fn string_end(text: &str, offset: usize) -> Option<usize> {
    let inside = text.get(offset..)?.strip_prefix('"')?;
    let end = inside.find(['"', '\n'])?;
    inside.get(end..)?.starts_with('"').then_some(offset + end + 2)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%')
}

/// After the token that starts at the offset: a word with its leading dot, a string, or one character.
pub(super) fn token_end(text: &str, offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or_default();
    let Some(first) = rest.chars().next() else {
        return offset;
    };
    if first == '"' {
        let line = rest.find(['\n', '\r']).map_or(text.len(), |newline| offset + newline);
        return string_end(text, offset).unwrap_or(line);
    }
    let start = if first == '.' { 1 } else { 0 };
    let word = rest.bytes().skip(start).take_while(|&byte| is_word(byte)).count();
    offset + if word == 0 { first.len_utf8() } else { start + word }
}

/// A place where parsing can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// After a `;`.
    Semicolon,
    /// At a `{` that no `}` follows before the next `;`.
    Open,
    Close,
    /// At a directive that starts an item of a module.
    Item,
    End,
}

/// The meaning of braces on the way to the next stop.
#[derive(Clone, Copy)]
pub(super) enum Braces {
    /// Braces open and close scopes, or vectors within a statement; this many of a vector are open.
    Count(usize),
    /// Nothing.
    Ignore,
}

/// A brace that isn't closed within this many bytes opens a scope, not a vector. Without a limit, each error in a text
/// full of braces would scan the whole text.
const MAX_VECTOR: usize = 4096;

/// The next place where parsing can go on.
pub(super) fn next_stop(text: &str, mut offset: usize, braces: Braces) -> (usize, Stop) {
    let bytes = text.as_bytes();
    let (mut depth, counting) = match braces {
        Braces::Count(depth) => (depth, true),
        Braces::Ignore => (0, false),
    };
    // The brace of a vector, or of a scope if a `;` follows inside of it.
    let mut open = None;
    loop {
        offset = trivia(text, offset);
        if let Some((start, stop)) = open
            && offset - start > MAX_VECTOR
        {
            return (start, stop);
        }
        let Some(&byte) = bytes.get(offset) else {
            return open.unwrap_or((text.len(), Stop::End));
        };
        match byte {
            b';' => return open.unwrap_or((offset + 1, Stop::Semicolon)),
            b'{' if counting => {
                open.get_or_insert((offset, Stop::Open));
                depth += 1;
                offset += 1;
            }
            b'}' if counting && depth > 0 => {
                depth -= 1;
                open = open.filter(|_| depth > 0);
                offset += 1;
            }
            b'}' if counting => return (offset, Stop::Close),
            b'.' if starts_item(text, offset) => return open.unwrap_or((offset, Stop::Item)),
            b'.' | b'"' => offset = token_end(text, offset),
            _ if is_word(byte) => {
                while bytes.get(offset).is_some_and(|&byte| is_word(byte) || byte == b'.') {
                    offset += 1;
                }
            }
            // The bytes of a character that is not ASCII are skipped one by one.
            _ => offset += 1,
        }
    }
}

/// After the brace that closes a body, of which the opening brace stands before the offset. None if there is none.
pub(super) fn body_end(text: &str, mut offset: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    loop {
        let ahead =
            bytes.get(offset..)?.iter().position(|byte| matches!(byte, b'{' | b'}' | b'"' | b'/' | b'@' | b'#'))?;
        offset += ahead;
        match bytes.get(offset)? {
            b'}' if depth == 0 => return Some(offset + 1),
            b'}' => depth -= 1,
            b'{' => depth += 1,
            b'"' => {
                offset = string_end(text, offset)?;
                continue;
            }
            _ => {
                if let Some(end) = comment_end(text, offset) {
                    offset = end;
                    continue;
                }
            }
        }
        offset += 1;
    }
}

/// The number of braces that open between two offsets and do not close again.
pub(super) fn open_braces(text: &str, from: usize, to: usize) -> usize {
    let between = text.as_bytes().get(from..to).unwrap_or_default();
    between.iter().fold(0, |depth: usize, byte| match byte {
        b'{' => depth.saturating_add(1),
        b'}' => depth.saturating_sub(1),
        _ => depth,
    })
}

/// Whether a directive that only stands at module scope starts at the offset.
pub(super) fn starts_item(text: &str, offset: usize) -> bool {
    let directive = text.get(offset..token_end(text, offset)).unwrap_or_default();
    let directives = [
        ".entry",
        ".func",
        ".visible",
        ".extern",
        ".weak",
        ".common",
        ".version",
        ".target",
        ".address_size",
        ".alias",
        ".file",
        ".section",
    ];
    directives.contains(&directive)
}

/// Whether the text at the offset is `.entry` or `.func`, with linkage before it or not.
pub(super) fn starts_function(text: &str, mut offset: usize) -> bool {
    loop {
        let end = token_end(text, offset);
        match text.get(offset..end).unwrap_or_default() {
            ".entry" | ".func" => return true,
            ".visible" | ".extern" | ".weak" | ".common" => offset = trivia(text, end),
            _ => return false,
        }
    }
}
