//! Flattens control flow that is nested deeper than the driver takes: see [`Quirks::nesting`](crate::target::Quirks).
//!
//! Statements that are too deep in an arm of a condition move out of the arm, one level at a time:
//!
//! ```text
//! if c { P; if d { T } else { U }; Q }      =>      t = u = false; if c { P; t = d; u = !d }; if t { T }; if u { U }; if c { Q }
//! if c { P; loop { B }; Q }                 =>      if c { P }; loop { if !c { break }; B }; if c { Q }
//! ```
//!
//! Values that one part uses from another go through variables. The conditions are flags rather than conjunctions, since some drivers'
//! compilers take conjunctions apart into nested conditions again. A break still leaves the same loop. Loops in loops stay as deep as they
//! are.

use rustc_hash::FxHashMap;

use crate::ir::{Block, Builder, Constants, Function, Stmt, Type, Value, for_each_result, is_deeper, is_lane_loop};
use crate::legalize::carry::{Carrier, outer_values, rename};

/// Flattens conditions that are nested deeper than the driver takes.
pub fn flatten_nesting(function: &mut Function, most: Option<u32>) {
    let Some(most) = most else { return };
    let most = most as usize;
    if !is_deeper(&function.body, most) {
        return;
    }
    let constants = function.constants();
    let body = std::mem::take(&mut function.body);
    let mut b = Builder::new(function);
    flatten(&mut b, body, most, &constants);
    b.finish();
}

/// Appends a list, nested at most `most` levels deep.
fn flatten(b: &mut Builder<'_>, stmts: Block, most: usize, constants: &Constants) {
    // In reverse order.
    let mut todo: Block = stmts.into_iter().rev().collect();
    while let Some(stmt) = todo.pop() {
        let is_deep = most > 1 && is_nested_deeper(&stmt, most);
        match stmt {
            Stmt::If { condition, then, otherwise } if is_deep => {
                let negated = b.not(condition);
                let mut parts = Vec::new();
                for (condition, arm) in [(condition, then), (negated, otherwise)] {
                    parts.extend(split(b, condition, arm, most - 1, constants));
                }
                todo.extend(parts.into_iter().rev());
            }
            Stmt::Loop(body) if is_deep => b.loop_(|b| flatten(b, body, most - 1, constants)),
            stmt => b.push(stmt),
        }
    }
}

/// Whether a condition or loop is nested deeper than `most`, itself counted.
fn is_nested_deeper(stmt: &Stmt, most: usize) -> bool {
    let is_deep = |list: &Block| most == 0 || is_deeper(list, most - 1);
    match stmt {
        Stmt::If { then, otherwise, .. } => is_deep(then) || is_deep(otherwise),
        Stmt::Loop(body) => is_deep(body),
        _ => false,
    }
}

/// A part of an arm.
struct Part {
    kind: Kind,
    block: Block,
}

/// How a part of an arm is made to run only with the arm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The arm's condition.
    Guarded,
    /// A flag that the previous part has set.
    Flagged,
    /// The last statement is a loop that ends at once if the arm's condition doesn't hold.
    Loop,
}

impl Part {
    fn guarded() -> Part {
        Part { kind: Kind::Guarded, block: Vec::new() }
    }
}

/// Splits the statements of an arm, so that those nested too deep stand beside the others under conditions of their own.
fn split(b: &mut Builder<'_>, condition: Value, arm: Block, most: usize, constants: &Constants) -> Block {
    let outer = std::mem::take(&mut b.block);
    let no = b.bool(false);
    let mut parts = Vec::new();
    let mut last = Part::guarded();
    for stmt in arm {
        if !comes_out(b, &stmt, most) {
            last.block.push(stmt);
            continue;
        }
        let mut deep = Vec::new();
        match stmt {
            Stmt::If { condition: inner, then, otherwise } => {
                for (arm, holds) in [(then, true), (otherwise, false)] {
                    if arm.is_empty() {
                        continue;
                    }
                    let flag = b.var(Type::Bool);
                    b.set(flag, no);
                    let around = std::mem::replace(&mut b.block, std::mem::take(&mut last.block));
                    let value = if holds { inner } else { b.not(inner) };
                    b.set(flag, value);
                    last.block = std::mem::take(&mut b.block);
                    let flag = b.get(flag);
                    b.push(Stmt::If { condition: flag, then: arm, otherwise: Vec::new() });
                    deep.push(Part { kind: Kind::Flagged, block: std::mem::replace(&mut b.block, around) });
                }
            }
            stmt => deep.push(Part { kind: Kind::Loop, block: vec![stmt] }),
        }
        parts.push(std::mem::replace(&mut last, Part::guarded()));
        parts.append(&mut deep);
    }
    parts.push(last);
    separate(b, &mut parts, constants);
    for Part { kind, mut block } in parts.into_iter().filter(|part| !part.block.is_empty()) {
        match (kind, block.pop()) {
            (Kind::Loop, Some(Stmt::Loop(body))) => {
                b.block.append(&mut block);
                let mut inside = vec![Stmt::If { condition, then: Vec::new(), otherwise: vec![Stmt::Break] }];
                inside.extend(body);
                b.push(Stmt::Loop(inside));
            }
            (kind, end) => {
                block.extend(end);
                if kind == Kind::Guarded {
                    b.push(Stmt::If { condition, then: block, otherwise: Vec::new() });
                } else {
                    b.block.append(&mut block);
                }
            }
        }
    }
    std::mem::replace(&mut b.block, outer)
}

/// Whether a statement of an arm is nested too deep. Loops over lanes stay, since they become functions.
fn comes_out(b: &Builder<'_>, stmt: &Stmt, most: usize) -> bool {
    let stays = matches!(stmt, Stmt::Loop(body) if is_lane_loop(body, &b.function.lane_numbers));
    !stays && is_nested_deeper(stmt, most)
}

/// Makes values that parts use from earlier parts go through variables.
fn separate(b: &mut Builder<'_>, parts: &mut [Part], constants: &Constants) {
    let outer = std::mem::take(&mut b.block);
    let used: Vec<Vec<Value>> = parts.iter().map(|part| outer_values(&part.block)).collect();
    let mut last_uses: FxHashMap<Value, usize> = FxHashMap::default();
    for (number, values) in used.iter().enumerate() {
        last_uses.extend(values.iter().map(|value| (*value, number)));
    }
    let mut carriers: FxHashMap<Value, Carrier> = FxHashMap::default();
    for (number, part) in parts.iter_mut().map(|part| &mut part.block).enumerate() {
        b.block = Vec::new();
        let mut names = FxHashMap::default();
        for value in used.get(number).into_iter().flatten() {
            if let Some(carrier) = carriers.get(value) {
                names.insert(*value, carrier.give(b, *value));
            }
        }
        if !names.is_empty() {
            rename(part, &names);
        }
        let mut results = Vec::new();
        part.iter().for_each(|stmt| for_each_result(stmt, |value| results.push(value)));
        b.block.append(part);
        for value in results.into_iter().filter(|value| last_uses.get(value).is_some_and(|last| *last > number)) {
            let carrier = Carrier::take(b, value, constants);
            carriers.insert(value, carrier);
        }
        *part = std::mem::take(&mut b.block);
    }
    b.block = outer;
}
