//! Joins two neighbouring `If`s with the same condition, as compilers' shared exits and restructuring leave them: the arms of
//! the second are appended to those of the first. Nothing is duplicated, and nothing but constants and negations of the
//! condition may stand between the two.

use crate::diagnostic::Span;
use crate::ir::{Block, Function, Op, Stmt, Unary, Value};

/// Joins neighbouring `If`s on one condition; see the module.
pub fn merge_ifs(function: &mut Function) {
    let definitions = function.definitions();
    let negation = |value: Value| match definitions.of(value) {
        Some(Op::Unary(Unary::Not, of)) => Some(of),
        _ => None,
    };
    let mut body = std::mem::take(&mut function.body);
    list(&mut body, &negation, None);
    function.body = body;
}

/// The value that a value is the negation of, if it is one.
type Negation<'f> = &'f dyn Fn(Value) -> Option<Value>;

/// Joins in a list and in those nested there; `around` is the mark that holds around it. The recursion must fit a small stack, so
/// it does nothing else.
fn list(block: &mut Block, negation: Negation<'_>, around: Option<Span>) {
    *block = neighbours(std::mem::take(block), negation, around);
    let mut mark = around;
    for stmt in block {
        match stmt {
            Stmt::At(at) => mark = *at,
            Stmt::If { .. } | Stmt::Loop(_) => stmt.lists_mut().for_each(|nested| list(nested, negation, mark)),
            _ => {}
        }
    }
}

/// Joins in a list alone.
#[inline(never)]
fn neighbours(block: Block, negation: Negation<'_>, around: Option<Span>) -> Block {
    let mut out = Block::with_capacity(block.len());
    // The last `If` by its place in `out` and its mark, while nothing stands after it that could matter.
    let mut open: Option<(usize, Option<Span>)> = None;
    let mut mark = around;
    for stmt in block {
        match stmt {
            Stmt::If { condition, then, otherwise } => {
                match open.filter(|(place, _)| joins(&out, *place, condition, negation)) {
                    Some((place, first)) => {
                        // What stood between comes to stand in front.
                        let between = out.split_off(place + 1);
                        let joined = out.pop();
                        out.extend(between);
                        out.push(Stmt::At(first));
                        open = Some((out.len(), first));
                        out.extend(joined.map(|joined| join(joined, mark, condition, then, otherwise)));
                        out.push(Stmt::At(mark));
                    }
                    None => {
                        open = Some((out.len(), mark));
                        out.push(Stmt::If { condition, then, otherwise });
                    }
                }
            }
            stmt => {
                match stmt {
                    Stmt::Let(_, Op::Const(_) | Op::Unary(Unary::Not, _)) => {}
                    Stmt::At(at) => mark = at,
                    _ => open = None,
                }
                out.push(stmt);
            }
        }
    }
    out
}

/// Whether the `If` at a place asks `condition` or its negation.
fn joins(out: &Block, at: usize, condition: Value, negation: Negation<'_>) -> bool {
    match out.get(at) {
        Some(Stmt::If { condition: first, .. }) => {
            *first == condition || negation(*first) == Some(condition) || negation(condition) == Some(*first)
        }
        _ => false,
    }
}

/// Appends arms, for which a mark holds, to those of an `If`.
fn join(mut first: Stmt, mark: Option<Span>, condition: Value, mut then: Block, mut otherwise: Block) -> Stmt {
    if let Stmt::If { condition: asked, then: first_then, otherwise: first_otherwise } = &mut first {
        if *asked != condition {
            std::mem::swap(&mut then, &mut otherwise);
        }
        append(first_then, mark, then);
        append(first_otherwise, mark, otherwise);
    }
    first
}

/// Appends to an arm, unless its end is never reached.
fn append(arm: &mut Block, mark: Option<Span>, more: Block) {
    if arm.last() != Some(&Stmt::Break) && !more.is_empty() {
        arm.push(Stmt::At(mark));
        arm.extend(more);
    }
}
