//! Colors on terminals. `anstream` removes them in pipes and files, and if `NO_COLOR` is set.

use std::fmt::Write;
use std::io;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// Errors and failures.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Warnings.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Notes and help.
pub const ASIDE: Style = AnsiColor::Cyan.on_default();

/// A styled word for the standard output.
pub fn out(style: Style, word: &str) -> String {
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => word.to_owned(),
        _ => format!("{style}{word}{style:#}"),
    }
}

/// Colors the first words of a message's lines, and the marks below quoted lines; for `anstream`'s standard error,
/// which removes colors where necessary.
pub fn message(text: &str) -> String {
    let kinds = [("error", BAD), ("warning", WARNING), ("note", ASIDE), ("help", ASIDE)];
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let word = kinds.iter().find(|(word, _)| line.strip_prefix(word).is_some_and(|rest| rest.starts_with(':')));
        let mark = line.find('│').and_then(|bar| Some((bar, bar + line.get(bar..)?.find('^')?)));
        // Writing to a string can't fail.
        let _ = match (word, mark) {
            (Some((word, style)), _) => write!(out, "{style}{word}{style:#}{}", &line[word.len()..]),
            (None, Some((_, start))) if line[start..].trim_end().chars().all(|c| c == '^') => {
                let (before, marks) = line.split_at(start);
                let (marks, end) = marks.split_at(marks.trim_end().len());
                write!(out, "{before}{BAD}{marks}{BAD:#}{end}")
            }
            (None, _) => write!(out, "{line}"),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let text = "error: no\n 1 │ errors: x ^ y\n   │   ^^\nhelp: so\nother: text";
        let painted = message(text);
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), text);
        for part in
            ["error\u{1b}[0m: no\n 1 │ errors: x ^ y\n   │   \u{1b}", "^^\u{1b}[0m\n", "help\u{1b}[0m: so\nother: text"]
        {
            assert!(painted.contains(part), "{painted:?}");
        }
    }
}
