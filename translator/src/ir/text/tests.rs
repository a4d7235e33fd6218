use super::Named;
use crate::ir::{
    Arithmetic, AtomicOp, Binary, Builtin, Compare, Function, HalfFormat, HalfOp, Halves, MemoryOrder, Reduction,
    Rounding, Scope, Shuffle, Space, Stmt, SubgroupOp, Type, Unary, Vote, WarpOp, verify,
};
use ptx2spv_target::{Fault, MatrixTypes};

/// A function with every statement, operation and modifier that there is.
const EVERYTHING: &str = include_str!("everything.ir");

#[test]
fn everything_is_read_and_printed_alike() {
    let function = Function::parse(EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify(&function), Ok(()));
    assert_eq!(format!("{function:#}"), EVERYTHING);
    let unmarked = function.to_string();
    assert!(!unmarked.contains("at 12..30"));
    let again = Function::parse(&unmarked).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.to_string(), unmarked);
}

#[test]
fn everything_has_every_name() {
    let words: Vec<&str> = EVERYTHING.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for names in [
        Type::NAMES,
        Rounding::NAMES,
        Arithmetic::NAMES,
        Halves::NAMES,
        Unary::NAMES,
        Binary::NAMES,
        Compare::NAMES,
        Builtin::NAMES,
        Space::NAMES,
        MemoryOrder::NAMES,
        Scope::NAMES,
        AtomicOp::NAMES,
        HalfFormat::NAMES,
        HalfOp::NAMES,
        WarpOp::NAMES,
        Vote::NAMES,
        Shuffle::NAMES,
        Reduction::NAMES,
        SubgroupOp::NAMES,
        MatrixTypes::NAMES,
        Fault::NAMES,
    ] {
        for name in names {
            // Weak accesses go without saying.
            assert!(words.contains(name) || *name == "weak", "{name}");
        }
    }
}

#[test]
fn operations_have_names_of_their_own() {
    let mut names = [Unary::NAMES, Binary::NAMES, Compare::NAMES, Builtin::NAMES].concat();
    names.extend(["select", "fma", "dot_fma", "rounded", "flushed", "half", "matrix", "pair", "sample", "call"]);
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn faults_are_named_with_their_line() {
    for (text, line, expected) in [
        ("v0: i33 = 1", 1, "a type"),
        ("; comment\n\nv0: i32 = frobnicate", 3, "an operation"),
        ("v0: i32 = add v1", 1, "an operation"),
        ("v0: i32 = add v1, v2, v3", 1, "an operation"),
        ("v0: i32 = not.i32 v1", 1, "an operation"),
        ("v0: i32 = load.global.b32 v1", 1, "`[`"),
        ("load.global.b32 [v1]", 1, "a statement"),
        ("store.global [v1], v2", 1, "an access"),
        ("loop {\n  break", 2, "`}`"),
        ("}", 1, "a statement"),
        ("barrier barrier", 1, "the end of the line"),
        ("v4000000000: i32 = 1", 1, "a statement"),
        ("var i32: r5000000000", 1, "a variable"),
        ("shared_bytes -1", 1, "a number of bytes"),
        ("at 1..", 1, "a range"),
        ("warp.shuffle v0", 1, "an operation of a warp"),
        ("helper 1 (): i32 {", 1, "`0`"),
        ("helper 0 (i32, i99): i32 {", 1, "a type"),
        ("helper 0 (i32): i32 {\n  v0: i32 = parameter.0\n  return v0\n", 3, "`}`"),
        ("v0: i32 = call v1", 1, "an operation"),
        ("v0: i32 = call.0 v1, v1, v1, v1", 1, "an operation"),
    ] {
        let error = Function::parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.expected.starts_with(expected), "{text}: {error}");
    }
    let deep = "loop {\n".repeat(100_000);
    assert_eq!(Function::parse(&deep).expect_err("deep").expected, "less nesting");
}

#[test]
fn values_without_definition_leave_no_trace() {
    let function = Function::parse("v7: f32 = 0x3f800000\n").unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(function.body[..], [Stmt::Let(..)]));
    assert_eq!(function.values.len(), 8);
    assert_eq!(function.to_string(), "v7: f32 = 0x3f800000\n");
}
