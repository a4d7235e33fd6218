//! Shapes of trees for graphs of compilers, and trees that the verifier refuses. That trees do what their graphs do is
//! tested in `tests/structurize.rs`.

use super::{
    Condition, Graph, Node, Node::Break, Terminator, Terminator::Exit, Terminator::Goto, Tree, structurize, verify,
};

fn branch(then: u32, otherwise: u32) -> Terminator {
    Terminator::Branch { then, otherwise }
}

fn block(block: u32) -> Node {
    Node::Block(block)
}

fn set(selector: u32, value: u32) -> Node {
    Node::Set { selector, value }
}

fn on(block: u32, then: &[Node], otherwise: &[Node]) -> Node {
    Node::If { condition: Condition::Branch(block), then: then.to_vec(), otherwise: otherwise.to_vec() }
}

fn when(selector: u32, equals: u32, then: &[Node], otherwise: &[Node]) -> Node {
    Node::If { condition: Condition::Selector { selector, equals }, then: then.to_vec(), otherwise: otherwise.to_vec() }
}

fn forever(body: &[Node]) -> Node {
    Node::Loop(body.to_vec())
}

#[track_caller]
fn shape(terminators: &[Terminator], selectors: u32, nodes: &[Node]) {
    let graph = Graph { blocks: terminators.to_vec() };
    let tree = structurize(&graph).unwrap();
    assert_eq!(tree, Tree { nodes: nodes.to_vec(), selectors });
    assert_eq!(verify(&graph, &tree), Ok(()));
}

#[test]
fn sequences() {
    shape(&[Exit], 0, &[block(0)]);
    shape(&[Goto(2), Exit, Goto(1)], 0, &[block(0), block(2), block(1)]);
    // A branch to one place is no branch, and block 1 can't be reached.
    shape(&[branch(2, 2), Goto(0), Exit], 0, &[block(0), block(2)]);
}

#[test]
fn ifs() {
    shape(&[branch(1, 2), Goto(2), Exit], 0, &[block(0), on(0, &[block(1)], &[]), block(2)]);
    shape(&[branch(2, 1), Goto(2), Exit], 0, &[block(0), on(0, &[], &[block(1)]), block(2)]);
    shape(&[branch(1, 2), Goto(3), Goto(3), Exit], 0, &[block(0), on(0, &[block(1)], &[block(2)]), block(3)]);
    let inner = [block(1), on(1, &[block(2)], &[block(3)]), block(4)];
    shape(
        &[branch(1, 5), branch(2, 3), Goto(4), Goto(4), Goto(6), Goto(6), Exit],
        0,
        &[block(0), on(0, &inner, &[block(5)]), block(6)],
    );
}

#[test]
fn returns() {
    shape(&[branch(1, 2), Exit, Exit], 0, &[block(0), on(0, &[block(1)], &[block(2)])]);
    // if (0) return; if (2) return; 4
    shape(
        &[branch(1, 2), Exit, branch(1, 3), Exit],
        1,
        &[
            block(0),
            on(0, &[set(0, 1)], &[block(2), on(2, &[set(0, 1)], &[block(3), set(0, 4)])]),
            when(0, 1, &[block(1)], &[]),
        ],
    );
    shape(
        &[branch(1, 2), Exit, branch(3, 4), Exit, Exit],
        0,
        &[block(0), on(0, &[block(1)], &[block(2), on(2, &[block(3)], &[block(4)])])],
    );
    // if (0) { if (1) return; 3 } 4
    let inner = [block(1), on(1, &[block(2), set(0, 5)], &[block(3), set(0, 4)])];
    shape(
        &[branch(1, 4), branch(2, 3), Exit, Goto(4), Exit],
        1,
        &[block(0), on(0, &inner, &[set(0, 4)]), when(0, 4, &[block(4)], &[])],
    );
}

#[test]
fn short_circuits() {
    // if (0 && 1 && 2) 3 else 4
    let part2 = on(2, &[block(3), set(0, 5)], &[set(0, 4)]);
    let part1 = on(1, &[block(2), part2], &[set(0, 4)]);
    shape(
        &[branch(1, 4), branch(2, 4), branch(3, 4), Goto(5), Goto(5), Exit],
        1,
        &[block(0), on(0, &[block(1), part1], &[set(0, 4)]), when(0, 4, &[block(4)], &[]), block(5)],
    );
    // if (0 || 1) 2
    let part1 = on(1, &[set(0, 2)], &[set(0, 3)]);
    shape(
        &[branch(2, 1), branch(2, 3), Goto(3), Exit],
        1,
        &[block(0), on(0, &[set(0, 2)], &[block(1), part1]), when(0, 2, &[block(2)], &[]), block(3)],
    );
    // Without an else, `and` needs nothing.
    shape(
        &[branch(1, 3), branch(2, 3), Goto(3), Exit],
        0,
        &[block(0), on(0, &[block(1), on(1, &[block(2)], &[])], &[]), block(3)],
    );
}

#[test]
fn loops() {
    // while (1) 2
    shape(
        &[Goto(1), branch(2, 3), Goto(1), Exit],
        0,
        &[block(0), forever(&[block(1), on(1, &[], &[Break]), block(2)]), block(3)],
    );
    // do 1 while (1)
    shape(&[Goto(1), branch(1, 2), Exit], 0, &[block(0), forever(&[block(1), on(1, &[], &[Break])]), block(2)]);
    // if (0) do { 1; 2 } while (2)
    shape(
        &[branch(3, 1), Goto(2), branch(3, 1), Exit],
        0,
        &[block(0), on(0, &[], &[forever(&[block(1), block(2), on(2, &[Break], &[])])]), block(3)],
    );
    // for (;;) 0
    shape(&[Goto(0)], 0, &[forever(&[block(0)])]);
    // while (0) { if (1) continue; if (2) break; 3 }
    let body = [block(0), on(0, &[], &[Break]), block(1), on(1, &[], &[block(2), on(2, &[Break], &[]), block(3)])];
    shape(&[branch(1, 4), branch(0, 2), branch(4, 3), Goto(0), Exit], 0, &[forever(&body), block(4)]);
    // while (0) { 1; while (2) 3; 4 }
    let inner = forever(&[block(2), on(2, &[], &[Break]), block(3)]);
    shape(
        &[branch(1, 5), Goto(2), branch(3, 4), Goto(2), Goto(0), Exit],
        0,
        &[forever(&[block(0), on(0, &[], &[Break]), block(1), inner, block(4)]), block(5)],
    );
}

#[test]
fn loops_with_several_exits() {
    // while (0) { if (1) { 2; break } 3 } 4
    let body = [block(0), on(0, &[], &[set(0, 4), Break]), block(1), on(1, &[set(0, 2), Break], &[]), block(3)];
    shape(
        &[branch(1, 4), branch(2, 3), Goto(4), Goto(0), Exit],
        1,
        &[forever(&body), when(0, 2, &[block(2)], &[]), block(4)],
    );
    // while (0) { if (1) { 2; return } 3 } 4
    shape(
        &[branch(1, 4), branch(2, 3), Exit, Goto(0), Exit],
        1,
        &[forever(&body), when(0, 2, &[block(2)], &[block(4)])],
    );
    // while (0) while (1) if (2) goto 3; 3
    let inner = forever(&[block(1), on(1, &[], &[set(0, 0), Break]), block(2), on(2, &[set(0, 4), Break], &[])]);
    let outer = forever(&[block(0), on(0, &[], &[Break]), inner, when(0, 4, &[Break], &[])]);
    shape(&[branch(1, 3), branch(2, 0), branch(3, 1), Exit], 1, &[outer, block(3)]);
}

#[test]
fn loops_with_several_entries() {
    let body = [when(0, 1, &[block(1), set(0, 2)], &[block(2), on(2, &[], &[Break]), set(0, 1)])];
    shape(
        &[branch(1, 2), Goto(2), branch(1, 3), Exit],
        1,
        &[block(0), on(0, &[set(0, 1)], &[set(0, 2)]), forever(&body), block(3)],
    );
}

#[test]
fn verifier_refuses() {
    // while (0) { 1 } 2, with an unreachable block.
    let graph = Graph { blocks: vec![branch(1, 2), Goto(0), Exit, Exit] };
    let refuses = |nodes: &[Node], reason: &str| {
        let error = verify(&graph, &Tree { nodes: nodes.to_vec(), selectors: 1 }).unwrap_err();
        assert!(error.contains(reason), "{error}");
    };
    let exits = || on(0, &[], &[Break]);
    let natural = [forever(&[block(0), exits(), block(1)]), block(2)];
    assert_eq!(verify(&graph, &Tree { nodes: natural.to_vec(), selectors: 0 }), Ok(()));

    refuses(&[], "instead of Some(0)");
    refuses(&[block(2)], "instead of Some(0)");
    refuses(&[forever(&[block(0), on(0, &[Break], &[]), block(1)]), block(2)], "instead of Some(1)");
    refuses(&[forever(&[block(0), exits(), block(1), Break]), block(2)], "instead of Some(0)");
    refuses(&[forever(&[block(0), exits(), block(1)])], "instead of Some(2)");
    refuses(&[forever(&[block(0), exits(), block(1)]), block(2), block(2)], "twice");
    refuses(&[forever(&[block(0), exits(), block(1)]), block(2), block(4)], "no block 4");
    refuses(&[forever(&[block(0), exits(), block(1)]), block(2), block(3)], "instead of None");
    refuses(&[forever(&[block(0), exits(), block(1)]), block(2), forever(&[])], "leads to no block");
    refuses(&[forever(&[block(0), on(0, &[], &[Break, block(1)])]), block(2)], "not the last");
    refuses(&[block(0), exits(), block(1)], "outside of all loops");
    refuses(&[forever(&[block(0), exits(), on(0, &[], &[]), block(1)]), block(2)], "no code");
    refuses(
        &[forever(&[
            block(0),
            exits(),
            block(1),
            Node::If { condition: Condition::Branch(9), then: vec![block(2)], otherwise: vec![] },
        ])],
        "dominate",
    );
    refuses(&[forever(&[exits(), block(0), block(1)]), block(2)], "dominate");
    refuses(&[forever(&[forever(&[block(0), Break]), exits(), block(1)]), block(2)], "dominate");
    refuses(&[forever(&[block(0), forever(&[exits(), Break]), block(1)]), block(2)], "dominate");
    refuses(&[forever(&[block(0), exits(), block(1), on(0, &[set(0, 1)], &[])]), block(2)], "too late");
    refuses(&[forever(&[block(0), exits(), set(1, 0), block(1)]), block(2)], "no selector 1");
    refuses(&[forever(&[block(0), exits(), when(1, 0, &[block(1)], &[])]), block(2)], "no selector 1");
    refuses(&[forever(&[block(0), exits(), when(0, 0, &[block(1)], &[])]), block(2)], "not set");
    // Set in an earlier iteration of the loop only.
    refuses(&[set(0, 5), forever(&[when(0, 5, &[block(0)], &[]), exits(), block(1)]), block(2)], "dominate");
    refuses(&[set(0, 5), forever(&[block(0), exits(), block(1), when(0, 5, &[set(0, 6)], &[])]), block(2)], "not set");
    refuses(
        &[forever(&[block(0), exits(), set(0, 1), when(0, 1, &[block(1)], &[set(0, 2)])]), block(2)],
        "never executed",
    );
}
