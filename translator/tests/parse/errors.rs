//! What the parser says about text that is not PTX, and where.

use std::time::{Duration, Instant};

use super::support::PROLOGUE;
use ptx2spv_translator::internals::parse;
use ptx2spv_translator::{Diagnostics, Source};

/// The errors of a text.
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
    items(".address_size 48", &["1:15 `.address_size` must be 32 or 64"]);
    items(".version 8.5", &["1:1 `.version` may stand only once, at the start"]);
}

#[test]
fn missing_semicolons() {
    statements("add.u32 a, b, c\nret;", &["3:1 syntax error: expected `,` or `;`"]);
    statements("ret\n", &["4:1 syntax error: expected an operand or `;`"]);
    statements("bra L\n@p exit;", &["3:1 syntax error: expected an operand or `;`"]);
    items(".global .u32 x\n.global .u32 y;", &["2:1 syntax error: expected `,`, `;`, `=`, `<` or `[`"]);
    items(".alias a, b\n.global .u32 y;", &["2:1 syntax error: expected `;`"]);
    statements(".reg .u32 x\nret;", &["3:1 syntax error: expected `,`, `;`, `=`, `<` or `[`"]);
}

#[test]
fn broken_operands() {
    statements("add.u32 a, , c;", &["2:12 syntax error: expected an operand"]);
    statements("add.u32 a, b,;", &["2:14 syntax error: expected an operand"]);
    statements("add.u32 a b;", &["2:11 syntax error: expected `,` or `;`"]);
    statements("ld.u32 a, [b;", &["2:13 syntax error: expected `,` or `]`"]);
    statements("ld.u32 a, [];", &["2:12 syntax error: expected a value"]);
    statements("ld.u32 a, b];", &["2:12 syntax error: expected `,` or `;`"]);
    statements("mov.b64 {a, b, c;", &["2:17 syntax error: expected an operand or `}`"]);
    statements(
        "mov.b64 a, b};",
        &["2:13 syntax error: expected an operand or `;`", "3:1 syntax error: expected a declaration"],
    );
    statements("mov.b64 {a, {b}}, c;", &["2:13 syntax error: expected an operand or `}`"]);
    statements("call (a, f;", &["2:11 syntax error: expected `,` or `)`"]);
    statements("setp.lt.s32 p|, a, b;", &["2:15 syntax error: expected an operand"]);
    statements("mov.u32 a, #5;", &["2:12 syntax error: expected an operand or `;`"]);
    statements("mov.u32 a, \"b\";", &["2:12 syntax error: expected an operand or `;`"]);
    statements("and.pred a, !b.x, c;", &["2:16 syntax error: expected `,` or `;`"]);
    statements("mov.u32 %r1, ä;", &["2:14 syntax error: expected an operand or `;`"]);
    statements("@!5 bra L;", &["2:3 syntax error: expected a name"]);
    statements("5;", &["2:1 syntax error: expected a statement"]);
    statements("a.b: ret;", &["2:4 syntax error: expected an operand or `;`"]);
}

#[test]
fn broken_numbers() {
    statements("mov.u64 a, 92233720368547758080;", &["2:12 `92233720368547758080` does not fit 64 bits"]);
    statements("mov.u64 a, 0x80000000000000000;", &["2:12 `0x80000000000000000` does not fit 64 bits"]);
    statements("mov.u32 a, 0x;", &["2:12 `0x` is not a hexadecimal number"]);
    statements("mov.u32 a, 0x1G;", &["2:12 `0x1G` is not a hexadecimal number"]);
    statements("mov.u32 a, 089;", &["2:12 `089` is not an octal number"]);
    statements("mov.u32 a, 0b12;", &["2:12 `0b12` is not a binary number"]);
    statements("mov.u32 a, 12abc;", &["2:12 `12abc` is not a decimal number"]);
    statements("mov.f32 a, 0f3F80000;", &["2:12 `0f3F80000`: `0f` takes exactly 8 hexadecimal digits"]);
    statements("mov.f32 a, 0f3F8000000;", &["2:12 `0f3F8000000`: `0f` takes exactly 8 hexadecimal digits"]);
    statements("mov.f64 a, 0d3F800000;", &["2:12 `0d3F800000`: `0d` takes exactly 16 hexadecimal digits"]);
    statements("mov.f64 a, 1e999;", &["2:12 `1e999` is too large for double precision"]);
    items(".global .align 3 .u32 x;", &["1:16 an alignment must be a power of two"]);
    items(".global .align .u32 x;", &["1:16 syntax error: expected a number"]);
    items(".reg .u32 %r<5000000000>;", &["1:14 `5000000000` is too large: 32 bits is the limit here"]);
    items(".entry k() .maxntid 1.5 { }", &["1:21 `1.5` is not an integer"]);
}

#[test]
fn broken_expressions() {
    items(".global .u32 x = 1 / 0;", &["1:18 division by zero"]);
    items(".global .u32 x = 1 % (2 - 2);", &["1:18 division by zero"]);
    items(".global .f32 x = 1.0 / 0.0;", &["1:18 division by zero"]);
    items(".global .u32 x = (1 + 2;", &["1:24 syntax error: expected `)`"]);
    items(".global .u32 x = 1 + 2);", &["1:23 syntax error: expected `,` or `;`"]);
    items(".global .u32 x = 1 ? 2;", &["1:23 syntax error: expected `:`"]);
    items(".global .b64 x = 4 + foo;", &["1:22 syntax error: expected a constant"]);
    items(".global .b64 x = (foo);", &["1:19 syntax error: expected a constant"]);
    items(".global .u32 x = (1 ? 2) : 3;", &["1:24 syntax error: expected `:`"]);
    items(".global .u32 x = 1 + ;", &["1:22 syntax error: expected a value"]);
    items(".global .u32 x = 1.0 + 1;", &["1:18 an expression can't mix integers and floating point"]);
    items(".global .u32 x = ~1.0;", &["1:19 this operator needs an integer"]);
    items(".global .u32 x = (.f32) 1;", &["1:19 syntax error: expected `.s64` or `.u64`"]);
    items(".global .u32 x = foo * 2;", &["1:18 only an offset can be added to an address"]);
    items(".global .f32 x = 0f3f800000 + 1.0;", &["1:18 a `0f` number can't be part of an expression"]);
    items(".global .u32 x[1 - 2];", &["1:16 an array dimension must be an integer that is not negative"]);
}

#[test]
fn broken_declarations() {
    items(".global .u33 x;", &["1:9 syntax error: expected a state space or type"]);
    items(".global x;", &["1:9 syntax error: expected a type"]);
    items(".u32 x;", &["1:1 syntax error: expected a declaration"]);
    items(".entry k(.u32 x) { }", &["1:10 syntax error: expected a state space"]);
    items(".global .local .u32 x;", &["1:10 `.local` is one too many of its kind here"]);
    items(".visible .weak .global .u32 x;", &["1:10 a declaration takes one linkage directive only"]);
    items(".global .u32 5;", &["1:14 syntax error: expected a name"]);
    items(".global .u32 x[2;", &["1:17 syntax error: expected an operand or `]`"]);
    items(".global .u32 x = {1, 2;", &["1:23 syntax error: expected `,` or `}`"]);
    items(".global .u32 x = {1, , 2};", &["1:22 syntax error: expected a value"]);
    items(".global .u32 x = {1 {2}};", &["1:21 syntax error: expected `,` or `;`"]);
    items(".global .u32 x = {1}};", &["1:21 syntax error: expected `,` or `;`"]);
    items(".global .u32 x = ;", &["1:18 syntax error: expected a value"]);
    items(".global .u32 x = {1, #};", &["1:22 syntax error: expected a value"]);
    items(".global .u32 x = {1,", &["1:21 syntax error: expected a value"]);
    items(".entry (.param .u32 a) k() { }", &["1:8 syntax error: expected the name of the kernel"]);
    items(".entry k(.param .u32 a .param .u32 b) { }", &["1:24 syntax error: expected `,`, `)`, `<` or `[`"]);
    items(".entry k(.param .u32 a", &["1:23 syntax error: expected `,`, `)`, `<` or `[`"]);
    items(".entry k() 5 { ret; }", &["1:12 syntax error: expected a directive, `{` or `;`"]);
    items(".alias a;", &["1:9 syntax error: expected `,`"]);
    items(".file \"a.cu\"", &["1:7 syntax error: expected a number"]);
    items(".file 1 \"a.cu\n.global .u32 x;", &["1:9 this string is not closed on its line: `\"` is missing"]);
    items(".section .debug_info {\n.b8 1, }\n.global .u32 x;", &["2:6 syntax error: expected debugging data or `}`"]);
    items("mov.u32 a, b;", &["1:1 syntax error: expected a declaration"]);
    statements("ret; .branchtargets L;", &["2:6 syntax error: expected a label before this directive"]);
    statements(".foo .u32 x;", &["2:1 syntax error: expected a statement"]);
}

#[test]
fn braces_and_comments_that_are_not_closed() {
    items(".entry k() {\nret;\n", &["3:1 syntax error: expected `}`"]);
    items(".entry k() {\n{ret;\n}\n", &["4:1 syntax error: expected `}`"]);
    items(
        ".entry k() {\nret;\n\n.visible .entry l() {\n ret;\n}\n.global .u33 x;",
        &["4:1 syntax error: expected `}`", "7:9 syntax error: expected a state space or type"],
    );
    items(
        ".entry k() { ret; }\n}\nadd.u32 a, b, c;\n.func f() { ret }",
        &["2:1 syntax error: expected a declaration", "4:17 syntax error: expected an operand or `;`"],
    );
    items(".section .debug_info {\n.b8 1\n", &["3:1 syntax error: expected `}`"]);
    items("/* a", &["1:1 this comment is not closed: `*/` is missing"]);
    statements("ret;\n/* a", &["3:1 this comment is not closed: `*/` is missing"]);
    statements("mov.u32 a, /* b;", &["2:12 this comment is not closed: `*/` is missing"]);
    items(".global .u32 x = {1, /* b};", &["1:22 this comment is not closed: `*/` is missing"]);
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
