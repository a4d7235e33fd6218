//! The verifier finds a broken rule at the stage from which the rule holds, and not before.

use ptx2spv_translator::internals::ir::Stage;
use ptx2spv_translator::internals::pipeline::Unit;

const STAGES: [Stage; 5] = [Stage::Graph, Stage::Uniform, Stage::Tree, Stage::Mapped, Stage::Legal];

/// The first stage whose rules a unit breaks, and how.
fn first_broken(unit: &Unit, stages: &[Stage]) -> Option<(Stage, String)> {
    stages.iter().find_map(|stage| unit.verify(*stage).err().map(|error| (*stage, error)))
}

#[test]
fn rules_of_trees() {
    let prelude = "var i32: r0\nv0: i32 = 1\nv1: i64 = 2\nv2: bool = 0\nv3: f32 = 3\n";
    for (text, stage, error) in [
        ("v4: i32 = add v0, v9", Stage::Tree, "v4 = add v0, v9: v9 is used where it is not defined"),
        ("v0: i32 = 1", Stage::Tree, "v0 is defined twice"),
        ("if v2 {\n  v4: i32 = 1\n}\nr0 := v4", Stage::Tree, "v4 is used where it is not defined"),
        ("v4: i32 = add v0, v1", Stage::Tree, "v4 = add v0, v1: v1 is I64 where I32 is needed"),
        ("v4: i32 = fadd v0, v0", Stage::Tree, "v4 = fadd v0, v0: not an operation on I32"),
        ("r0 := v1", Stage::Tree, "v1 is I64 where I32 is needed"),
        ("r7 := v0", Stage::Tree, "no variable r7"),
        ("if v0 {\n}", Stage::Tree, "v0 is I32 where Bool is needed"),
        ("break", Stage::Tree, "break outside a loop"),
        ("loop {\n  break\n  barrier\n}", Stage::Tree, "statements after a break"),
        ("v4: i32 = load.global.b32 [v0]", Stage::Tree, "v0 is I32 where I64 is needed"),
        ("v4: i32 = load.shared.b24 [v0]", Stage::Tree, "1 elements of 3 bytes"),
        ("v4: i32 = load.shared.b32.release.cta [v0]", Stage::Tree, "a load that releases"),
        ("store.shared.b32.acquire.cta [v0], v0", Stage::Tree, "a store that acquires"),
        ("atomic.add.global.b32 [v1], v0 expecting v0", Stage::Tree, "Add with or without something to compare with"),
        ("atomic.compare_exchange.global.b32 [v1], v0", Stage::Tree, "CompareExchange with or without something"),
        ("v4: i32 = thread_id.3", Stage::Tree, "v4 = thread_id.3: dimension 3"),
        ("v4: i32 = cluster_rank", Stage::Tree, "v4 = cluster_rank: a block's number in a cluster of one"),
        ("warp.sync", Stage::Mapped, "an operation of a warp"),
        ("report.trap", Stage::Legal, "a report"),
        ("v4: i32 = load.generic.b32 [v1]", Stage::Legal, "a generic address"),
        (
            "v4: f32 = rounded.up.add v3, v3",
            Stage::Legal,
            "v4 = rounded.up.add v3, v3: an operation that no device has",
        ),
        (
            "v4: f32 = flushed.nearest_even.add v3, v3",
            Stage::Legal,
            "v4 = flushed.nearest_even.add v3, v3: an operation",
        ),
        ("v4: f32 = root.sqrt.ftz v3", Stage::Legal, "v4 = root.sqrt.ftz v3: an operation that no device has"),
        ("v4: f32 = or_nan v3, v3", Stage::Legal, "v4 = or_nan v3, v3: an operation that no device has"),
        ("atomic.half.f16.add.global.b32 [v1], v0", Stage::Legal, "an atomic on 16-bit floats"),
        ("return v0", Stage::Tree, "a result that isn't the end of a helper"),
        ("v4: i32 = call.0 v0", Stage::Tree, "v4 = call.0 v0: no helper 0"),
        ("v4: i32 = parameter.0", Stage::Tree, "v4 = parameter.0: no parameter 0"),
    ] {
        let unit = Unit::parse_tree(&format!("{prelude}{text}\n")).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (found, what) = first_broken(&unit, &STAGES[2..]).unwrap_or_else(|| panic!("{text} breaks no rule"));
        assert_eq!(found, stage, "{text}: {what}");
        assert!(what.starts_with(error), "{text}: {what}");
    }
    let unit = Unit::parse_tree(prelude).unwrap();
    assert_eq!(first_broken(&unit, &STAGES[2..]), None);
    for (text, stage) in [("var bool: r0\nexited r0\n", Stage::Mapped), ("var f32: r0\n", Stage::Tree)] {
        let unit = Unit::parse_tree(text).unwrap();
        assert_eq!(first_broken(&unit, &STAGES[2..]).map(|(stage, _)| stage), Some(stage), "{text}");
    }
}

#[test]
fn rules_of_helpers() {
    let helper = "v0: i32 = parameter.0\nreturn v0\n";
    for (text, error) in [
        (
            format!("helper 0 (i32): i32 {{\n{helper}}}\nv0: i64 = 1\nv1: i32 = call.0 v0\n"),
            "v1 = call.0 v0: v0 is I64",
        ),
        (
            format!("helper 0 (i32): i32 {{\n{helper}}}\nv0: i32 = 1\nv1: i64 = call.0 v0\n"),
            "v1 = call.0 v0: v1 is I64",
        ),
        (format!("helper 0 (i32): i32 {{\n{helper}}}\nv0: i32 = call.0\n"), "v0 = call.0: 0 operands for helper 0"),
        (format!("helper 0 (i64): i32 {{\n{helper}}}\n"), "helper 0: v0 = parameter.0: v0 is I32"),
        (format!("helper 0 (i32): i64 {{\n{helper}}}\n"), "helper 0: v0 is I32"),
        (format!("helper 0 (): i32 {{\n{helper}}}\n"), "helper 0: v0 = parameter.0: no parameter 0"),
        (format!("helper 0 (i32, f32): i32 {{\n{helper}}}\n"), "helper 0: floats"),
        (format!("helper 0 (i32): i32 {{\n{helper}barrier\n}}\n"), "helper 0: no result"),
        ("helper 0 (i32): i32 {\nv0: i32 = call.0 v0\nreturn v0\n}\n".into(), "helper 0: v0 = call.0 v0: no helper 0"),
    ] {
        let unit = Unit::parse_tree(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let found = unit.verify(Stage::Mapped).expect_err(&text);
        assert!(found.starts_with(error), "{text}: {found}");
    }
}

#[test]
fn rules_of_graphs() {
    for (text, stage, error) in [
        ("", Stage::Graph, "a graph without an entry"),
        ("b0:\n  goto b1\n", Stage::Graph, "b0 leads to b1, which isn't there"),
        ("b0:\n  v0: i32 = 1\n  branch v0, b0, b0\n", Stage::Graph, "b0: v0 is I32 where Bool is needed"),
        ("b0:\n  v0: bool = 1\n  goto b1\nb1:\n  branch v0, b0, b0\n", Stage::Graph, "b1: v0 is used where"),
        ("b0:\n  stop barrier.sync v0\n  exit\n", Stage::Graph, "b0: v0 is used where it is not defined"),
        (
            "b0:\n  v0: i32 = 1\n  stop barrier.red.any v0 predicate v0\n  exit\n",
            Stage::Graph,
            "b0: v0 is I32 where Bool",
        ),
        ("b0:\n  stop yield\n  exit\n", Stage::Uniform, "b0 still has a stop"),
    ] {
        let unit = Unit::parse_graph(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (found, what) = first_broken(&unit, &STAGES[..2]).unwrap_or_else(|| panic!("{text} breaks no rule"));
        assert_eq!(found, stage, "{text}: {what}");
        assert!(what.starts_with(error), "{text}: {what}");
    }
}
