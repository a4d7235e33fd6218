//! Control flow: nesting, unreachable ends, and random trees.

use proptest::prelude::*;
use ptx2spv_translator::internals::ir::{AtomicOp, Block, Function, Legal, Op, Ordered, Space, Stmt, Type, Value, Var};
use ptx2spv_translator::{Options, Program, Source, Target};

use crate::support::{Builder, access, emit_one, emit_valid, lavapipe, lines, nvidia, targets};

#[test]
fn loops_get_another_exit_where_values_are_lost() {
    let mut b = Builder::default();
    let condition = b.any(Type::Bool);
    let branch = Stmt::If { condition, then: vec![Stmt::Break], otherwise: vec![] };
    b.body.push(Stmt::Loop(vec![branch]));
    b.atomic(AtomicOp::Increment, access(Space::Global, 4), true);
    let function = b.finish();
    let branches = |target: &Target| lines(&emit_valid(target, &function), "OpBranchConditional").len();
    assert!(lavapipe().quirks.loop_values_lost);
    assert_eq!(branches(&nvidia()), 2);
    assert_eq!(branches(&lavapipe()), 4);
}

/// Ifs and loops in turn, nested so deep.
pub fn nested(depth: usize) -> Legal {
    let mut b = Builder::default();
    let condition = b.any(Type::Bool);
    let mut body = Vec::new();
    for level in 0..depth {
        body = if level % 2 == 0 {
            vec![Stmt::If { condition, then: body, otherwise: vec![Stmt::Barrier(Ordered::All)] }]
        } else {
            body.push(Stmt::Break);
            vec![Stmt::Loop(body)]
        };
    }
    b.body.extend(body);
    b.finish()
}

#[test]
fn deep_nesting_is_valid() {
    emit_valid(&nvidia(), &nested(100));
    // Validation takes time quadratic in the depth; emission must not.
    emit_one(&nvidia(), &nested(1000));
}

#[test]
fn unreachable_ends_are_valid() {
    let mut b = Builder::default();
    let condition = b.any(Type::Bool);
    let var = b.function.var(Type::I32);
    let value = b.any(Type::I32);
    let set = Stmt::Set(var, value);
    let branch = |then: Block, otherwise: Block| Stmt::If { condition, then, otherwise };
    b.body.extend([
        branch(vec![], vec![]),
        branch(vec![], vec![set.clone()]),
        Stmt::Loop(vec![branch(vec![Stmt::Break], vec![Stmt::Break]), set.clone()]),
        Stmt::Loop(vec![branch(vec![set.clone(), Stmt::Break], vec![])]),
        Stmt::Loop(vec![Stmt::Break]),
        branch(vec![Stmt::Loop(vec![set.clone()]), set.clone()], vec![Stmt::Loop(vec![])]),
        Stmt::Loop(vec![]),
        set,
    ]);
    let function = b.finish();
    for target in targets() {
        emit_valid(&target, &function);
    }
}

/// A random tree whose conditions are value 0 and whose statements set variable 0 to it.
fn tree() -> impl Strategy<Value = Block> {
    let set = || Just(Stmt::Set(Var(0), Value(0)));
    prop::collection::vec(set(), 0..3).prop_recursive(8, 200, 4, move |inner| {
        let branch = (inner.clone(), inner.clone()).prop_map(|(then, otherwise)| Stmt::If {
            condition: Value(0),
            then,
            otherwise,
        });
        let stmt = prop_oneof![branch, inner.prop_map(Stmt::Loop), set()];
        (prop::collection::vec(stmt, 0..4), any::<bool>()).prop_map(|(mut list, broken)| {
            if broken {
                list.push(Stmt::Break);
            }
            list
        })
    })
}

/// Removes breaks that stand outside of loops.
fn drop_stray_breaks(block: &mut Block) {
    block.retain(|stmt| *stmt != Stmt::Break);
    for stmt in block {
        if let Stmt::If { then, otherwise, .. } = stmt {
            drop_stray_breaks(then);
            drop_stray_breaks(otherwise);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn random_trees_are_valid(mut body in tree()) {
        drop_stray_breaks(&mut body);
        let mut function = Function::default();
        let condition = function.value(Type::Bool);
        function.var(Type::Bool);
        body.insert(0, Stmt::Let(condition, Op::Const(1)));
        function.body = body;
        emit_valid(&lavapipe(), &Legal::new(function).unwrap());
    }
}

/// Where an invocation carries a warp, a loop over its lanes is 32 calls if rounds of loops are rare, which they are inside of other loops.
#[test]
fn loops_over_lanes_are_calls_where_rounds_are_rare() {
    let shuffle = "shfl.sync.bfly.b32 %x, %x, %n, 31, -1;";
    let kernel = |body: String| {
        format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {{
                .reg .b32 %x, %n; .reg .b64 %p; .reg .pred %q;
                mov.u32 %x, %tid.x; ld.param.u32 %n, [n]; ld.param.u64 %p, [p];
                {body}
                st.global.u32 [%p], %x; ret;
            }}"
        )
    };
    let straight = kernel(shuffle.repeat(8));
    let looping = kernel(format!("next: {shuffle} add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 9; @%q bra next;"));
    for (ptx, rounds, are_calls) in [(&straight, 65_535, false), (&straight, 64, true), (&looping, 65_535, true)] {
        let mut target = lavapipe();
        target.quirks.subgroups_unreliable = true;
        target.quirks.loop_budget = Some(rounds);
        let source = Source::new("k.ptx", ptx.as_str());
        let translation = Program::new(&source).unwrap().translate(&Options::new(&target)).unwrap();
        let text = translation.disassemble();
        assert_eq!(lines(&text, "OpFunctionCall").is_empty(), !are_calls, "{text}");
        // Mesa's compiler would make 32 copies of each.
        let loops = lines(&text, "OpLoopMerge");
        assert!(loops.iter().all(|line| line.ends_with("DontUnroll")), "{text}");
        // Rounds that are known need no probes: there are loops over lanes, and one that clears their arrays.
        assert!(are_calls || loops.len() < 20, "{text}");
    }
}
