//! Errors of the parser, and their positions, for text that is not PTX.

use std::time::{Duration, Instant};

use super::support::PROLOGUE;
use ptx2spv_translator::internals::parse;
use ptx2spv_translator::{Diagnostics, Source};

fn errors(text: &str) -> Diagnostics {
    let source = Source::new("test.ptx", text);
    parse::parse(&source).expect_err("an error")
}

/// `line:column message` for each error.
fn report(text: &str) -> Vec<String> {
    let errors = errors(text);
    errors
        .list
        .iter()
        .map(|error| {
            let (line, column) = errors.source.line_column(error.place().start);
            format!("{line}:{column} {}", error.kind)
        })
        .collect()
}

/// The errors of a module with these items; line 1 is the first line of the items.
#[track_caller]
fn items(text: &str, expected: &[&str]) {
    // One line, so that the lines of the items keep their numbers.
    let prologue = PROLOGUE.replace('\n', " ");
    let found = report(&format!("{prologue}\n{text}"));
    let expected: Vec<_> = expected
        .iter()
        .map(|line| {
            let (number, rest) = line.split_once(':').expect("line:column");
            format!("{}:{rest}", number.parse::<usize>().expect("a line") + 1)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

/// The errors of a kernel with these statements in its second line and following.
#[track_caller]
fn statements(text: &str, expected: &[&str]) {
    items(&format!(".entry k() {{\n{text}\n}}\n"), expected);
}

#[test]
fn text_that_is_no_ptx() {
    let expected = "syntax error: expected `.version` (PTX text starts with it)";
    for (text, place) in [
        ("", "1:1"),
        ("hello, world", "1:1"),
        ("\u{7f}ELF\u{2}\u{1}\0\0", "1:1"),
        ("\0\0\0\0", "1:1"),
        ("// only a comment\n", "2:1"),
        ("\n\n  .target sm_90", "3:3"),
        ("{{{{", "1:1"),
        ("日本語", "1:1"),
    ] {
        assert_eq!(report(text), [format!("{place} {expected}")], "{text:?}");
    }
}

#[test]
fn broken_prologues() {
    assert_eq!(report(".version"), ["1:9 syntax error: expected a number"]);
    assert_eq!(report(".version eight"), ["1:10 syntax error: expected a number"]);
    assert_eq!(report(".version 8 .target sm_90"), ["1:10 syntax error: expected a version such as `8.5`"]);
    assert_eq!(report(".version 8.5\n"), ["2:1 syntax error: expected `.target`"]);
    assert_eq!(
        report(".version 8.5\n.entry k() { }"),
        ["2:1 syntax error: expected `.target` (it follows `.version`)"]
    );
    assert_eq!(report(".version 8.5 .target"), ["1:21 syntax error: expected a name"]);
}

#[test]
fn broken_items_and_statements() {
    let check = |lines: &[&str], is_item: bool| {
        let (errors, text): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| line.starts_with("! "));
        let errors: Vec<&str> = errors.iter().map(|error| &error[2..]).collect();
        assert!(!errors.is_empty(), "{text:?}");
        if is_item { items(&text.join("\n"), &errors) } else { statements(&text.join("\n"), &errors) }
    };
    let mut is_item = false;
    let lines: Vec<&str> = include_str!("errors.txt").lines().collect();
    for case in lines.split(|line| line.is_empty()) {
        match case {
            [kind] if kind.starts_with("# ") => is_item = *kind == "# items",
            case => check(case, is_item),
        }
    }
}

#[test]
fn braces_that_are_not_closed() {
    items(".entry k() {\nret;\n", &["3:1 syntax error: expected `}`"]);
    items(".entry k() {\n{ret;\n}\n", &["4:1 syntax error: expected `}`"]);
    items(
        ".entry k() {\nret;\n\n.visible .entry l() {\n ret;\n}\n.global .u33 x;",
        &["4:1 syntax error: expected `}`", "7:9 syntax error: expected a state space or type"],
    );
    items(".section .debug_info {\n.b8 1\n", &["3:1 syntax error: expected `}`"]);
}

#[test]
fn errors_come_together_and_name_their_function() {
    let text = "
.global .u33 a;
.visible .entry first(.param .u32 p)
{
    add.u32 a, b c;
    mov.b32 {x, y}, 0xz;
    {
        ld.global.u32 a, [b;
        ret;
    }
    ret;
}
.global .u32 b = 1/0, c;
.entry second(.param .u32 p, .bogus q)
{
    mov.b64 {x, y}, z;
    add.u32 a, ;
}
.func third() { ret }
.global .u32 d = 0x1G;
";
    items(
        text,
        &[
            "2:9 syntax error: expected a state space or type",
            "5:18 syntax error: expected `,` or `;`",
            "6:21 `0xz` is not a hexadecimal number",
            "8:28 syntax error: expected `,` or `]`",
            "13:18 division by zero",
            "14:30 syntax error: expected a state space or type",
            "17:16 syntax error: expected an operand",
            "19:21 syntax error: expected an operand or `;`",
            "20:18 `0x1G` is not a hexadecimal number",
        ],
    );
    let errors = errors(&format!("{PROLOGUE}{text}"));
    let functions: Vec<_> = errors.list.iter().map(|error| error.function.as_deref()).collect();
    let first = Some("first");
    assert_eq!(functions, [None, first, first, first, None, None, None, Some("third"), None]);
}

#[test]
fn errors_mark_the_token() {
    let errors = errors(&format!("{PROLOGUE}.entry k() {{ add.u32 a, b %foo_1; }}"));
    assert_eq!(errors.source.slice(errors.list[0].place()), "%foo_1");
    let rendered = errors.render();
    assert!(rendered.contains("^^^^^^\n"), "{rendered}");
}

#[test]
fn there_is_a_limit_to_errors() {
    let text = format!("{PROLOGUE}.entry k() {{\n{}}}", "add.u32 a b;\n".repeat(1000));
    let errors = errors(&text);
    assert_eq!(errors.list.len(), Diagnostics::MAX);
}

/// The errors of a text that must be refused quickly, however long it is.
fn quick(text: &str) -> Diagnostics {
    #[allow(clippy::disallowed_methods, reason = "tests do not run in browsers")]
    let start = Instant::now();
    let errors = errors(text);
    // Linear time takes a small part of it even on a busy machine; anything quadratic takes hours.
    assert!(start.elapsed() < Duration::from_secs(600), "took {:?}", start.elapsed());
    errors
}

#[test]
fn a_megabyte_of_openings_is_an_error() {
    for opening in ["{", "(", "[", "-", "(.s64)", "0xFF(", "1?", "a|", "/*"] {
        let many = opening.repeat((1 << 20) / opening.len() + 1);
        for text in [
            format!("{PROLOGUE}.entry k() {{ {many}"),
            format!("{PROLOGUE}.entry k() {{ mov.u32 a, {many}"),
            format!("{PROLOGUE}.entry k() {{ mov.u32 a, {many}; }}"),
            format!("{PROLOGUE}.entry k() {{ call f, {many}; }}"),
            format!("{PROLOGUE}.global .u32 x = {many};"),
            format!("{PROLOGUE}.global .u32 x[{many}];"),
            format!("{PROLOGUE}.entry k({many}) {{ }}"),
            format!("{PROLOGUE}{many}"),
        ] {
            quick(&text);
        }
    }
}

#[test]
fn nesting_too_deep_is_an_error_at_its_place() {
    let scopes = "{".repeat(1100);
    statements(&scopes, &["2:1025 scopes are nested deeper than 1024 levels"]);
    let text = format!("mov.u32 a, {}1{};", "(".repeat(300), ")".repeat(300));
    statements(&text, &["2:268 an expression is nested deeper than 256 levels"]);
    let text = format!(".global .u32 x = {}1{};", "{".repeat(70), "}".repeat(70));
    items(&text, &["1:82 an initialiser is nested deeper than 64 levels"]);
}

#[test]
fn statements_too_long_are_an_error() {
    let names = "a,".repeat(150_000);
    statements(&format!("mov {names}b;"), &["2:1 what starts here is longer than 256 KiB"]);
    // Comments between statements may be as long as they like.
    let comment = format!("/* {} */", "a;".repeat(1_000_000));
    statements(&format!("{comment}\nadd b c;"), &["3:7 syntax error: expected `,` or `;`"]);
}
