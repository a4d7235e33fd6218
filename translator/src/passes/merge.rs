//! Joins two neighbouring `If`s that ask the same, as compilers' shared exits and restructuring leave them: the arms of
//! the second move behind those of the first. Nothing is duplicated, and nothing but constants and negations of the
//! condition may stand between the two.

use crate::ir::{Block, Function, Op, Stmt, Unary, Value};

/// Joins neighbouring `If`s on one condition; see the module.
pub fn merge_ifs(function: &mut Function) {
    let mut negation = vec![None; function.values.len()];
    let mut body = std::mem::take(&mut function.body);
    list(&mut body, &mut negation);
    function.body = body;
}

/// The value that each value is the negation of, if it is one.
type Negations = Vec<Option<Value>>;

fn list(block: &mut Block, negation: &mut Negations) {
    let mut out = Block::with_capacity(block.len());
    // Place in `out` of the last `If`, while nothing stands behind it that could matter.
    let mut open: Option<usize> = None;
    for stmt in block.drain(..) {
        match stmt {
            Stmt::If { condition, then, otherwise } => match open.filter(|at| joins(&out, *at, condition, negation)) {
                Some(at) => join(&mut out, at, condition, then, otherwise),
                None => {
                    open = Some(out.len());
                    out.push(Stmt::If { condition, then, otherwise });
                }
            },
            stmt => {
                match stmt {
                    Stmt::Let(value, Op::Unary(Unary::Not, of)) => negation[value.0 as usize] = Some(of),
                    Stmt::Let(_, Op::Const(_)) | Stmt::At(_) => {}
                    _ => open = None,
                }
                out.push(stmt);
            }
        }
        // Joining puts what stood between in front of the `If`, which is the last statement then.
        open = open.map(|at| if matches!(out.last(), Some(Stmt::If { .. })) { out.len() - 1 } else { at });
    }
    for stmt in &mut out {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                list(then, negation);
                list(otherwise, negation);
            }
            Stmt::Loop(body) => list(body, negation),
            _ => {}
        }
    }
    *block = out;
}

/// Whether the `If` at a place asks `condition` or its negation.
fn joins(out: &Block, at: usize, condition: Value, negation: &Negations) -> bool {
    let not = |value: Value| negation.get(value.0 as usize).copied().flatten();
    match out.get(at) {
        Some(Stmt::If { condition: first, .. }) => {
            *first == condition || not(*first) == Some(condition) || not(condition) == Some(*first)
        }
        _ => false,
    }
}

/// Moves arms behind those of the `If` at a place, which moves behind what follows it.
fn join(out: &mut Block, at: usize, condition: Value, then: Block, otherwise: Block) {
    let between = out.split_off(at + 1);
    let Some(Stmt::If { condition: first, then: mut first_then, otherwise: mut first_otherwise }) = out.pop() else {
        return; // `joins` has seen an `If` there
    };
    let (then, otherwise) = if first == condition { (then, otherwise) } else { (otherwise, then) };
    append(&mut first_then, then);
    append(&mut first_otherwise, otherwise);
    out.extend(between);
    out.push(Stmt::If { condition: first, then: first_then, otherwise: first_otherwise });
}

/// Appends to an arm, unless its end is never reached.
fn append(arm: &mut Block, mut more: Block) {
    if arm.last() != Some(&Stmt::Break) {
        arm.append(&mut more);
    }
}
