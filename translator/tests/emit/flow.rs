//! Control flow: what nests how, unreachable ends, and random trees.

use proptest::prelude::*;
use ptx2spv_translator::Target;
use ptx2spv_translator::internals::ir::{AtomicOp, Block, Function, Legal, Op, Ordered, Space, Stmt, Type, Value, Var};

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
