//! Errors for text that doesn't match: expectations in words instead of names of rules.

use super::node::Rule;
use super::scan;
use crate::diagnostic::{Diagnostic, ErrorKind, Span};

/// A syntax error with the text that could have stood there, in words.
pub(super) fn expected(what: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::new(ErrorKind::Syntax { expected: what.into() }, span)
}

/// A syntax error at the token that starts at `offset`.
pub(super) fn expected_at(text: &str, what: impl Into<String>, offset: usize) -> Diagnostic {
    let rest = text.get(offset..).unwrap_or_default();
    let span = Span::between(offset, scan::token_end(text, offset));
    if rest.starts_with("/*") {
        return Diagnostic::invalid("this comment is not closed: `*/` is missing", Span::between(offset, offset + 2));
    }
    if rest.starts_with('"') && scan::string_end(text, offset).is_none() {
        return Diagnostic::invalid("this string is not closed on its line: `\"` is missing", span);
    }
    expected(what, span)
}

/// Lists the needs of the rules: "a, b or c".
pub(super) fn list(rules: &[Rule]) -> String {
    let has = |rule| rules.contains(&rule);
    if has(Rule::instruction) {
        // One word for all that a statement can start with.
        return "a statement".to_owned();
    }
    if has(Rule::brace_open) && has(Rule::linkage) {
        // After a header, without the directives that could start the next item.
        return "a directive, `{` or `;`".to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    for &rule in rules {
        let word = match rule {
            // Where an operand may stand, so may a handful of other tokens: one word says it.
            Rule::brace_open | Rule::colon | Rule::comma | Rule::modifiers | Rule::number | Rule::keyword
                if has(Rule::operand) =>
            {
                continue;
            }
            // A `.const` may have a bank, and a list of types may go on: a name is what is missing.
            Rule::bank => continue,
            Rule::keyword | Rule::qualifier if has(Rule::identifier) || has(Rule::declarator) => continue,
            _ => word(rule),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    // Punctuation last: "an operand or `;`".
    words.sort_by_key(|word| word.starts_with('`') && !word.starts_with("`."));
    match words.split_last() {
        None => "something else".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

fn word(rule: Rule) -> String {
    match rule {
        Rule::operand | Rule::punctuation => "an operand",
        Rule::number => "a number",
        Rule::identifier | Rule::sink | Rule::declarator | Rule::target_name => "a name",
        Rule::keyword | Rule::qualifier | Rule::space | Rule::parameter => "a state space or type",
        Rule::string => "a string",
        Rule::mnemonic | Rule::modifiers => "an instruction",
        Rule::item | Rule::declaration => "a declaration",
        Rule::function | Rule::function_kind => "`.entry` or `.func`",
        Rule::variable | Rule::body_variable => "a variable",
        Rule::function_directive | Rule::pragma => "a directive",
        Rule::section_name => "the name of a section",
        Rule::section_entry | Rule::section_value | Rule::section_term => "debugging data",
        Rule::location_function => "`function_name`",
        Rule::location_inlined => "`inlined_at`",
        Rule::parameters | Rule::paren_open => "`(`",
        Rule::paren_close => "`)`",
        Rule::bracket_close => "`]`",
        Rule::angle_close => "`>`",
        Rule::dimension => "`[`",
        Rule::range => "`<`",
        Rule::brace_open => "`{`",
        Rule::brace_close => "`}`",
        Rule::comma => "`,`",
        Rule::colon => "`:`",
        Rule::semicolon => "`;`",
        Rule::equals => "`=`",
        Rule::EOI => "the end of the file",
        // The rules of directives are named after them.
        other => return format!("`{}`", format!("{other:?}").replacen("dot_", ".", 1)),
    }
    .to_owned()
}
