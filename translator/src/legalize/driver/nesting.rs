//! Flattens control flow that is nested deeper than the driver takes: see [`Quirks::nesting`](ptx2spv_target::Quirks).
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

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::shape::{self, Shape, Uses};
use crate::index::IndexVec;
use crate::ir::{Block, Builder, Constants, Function, Stmt, Type, Value, for_each_result, is_deeper, is_lane_loop};
use crate::legalize::carry::{Carrier, rename};

/// Flattens conditions that are nested deeper than the driver takes.
pub fn flatten_nesting(function: &mut Function, most: Option<u32>) {
    let Some(most) = most else { return };
    let most = most as usize;
    if !is_deeper(&function.body, most) {
        return;
    }
    let (constants, names) = (function.constants(), IndexVec::filled(None, function.values.len()));
    let body = std::mem::take(&mut function.body);
    let (shapes, uses) = shape::shapes(&body, names.len());
    let mut flattening = Flattening { b: Builder::new(function), constants, uses, names };
    flattening.flatten(body.into_iter().zip(shapes).collect(), most);
    flattening.b.finish();
}

type Shaped = (Stmt, Shape);

/// The new values for values of the function.
type Names = Vec<(Value, Value)>;

/// A part of an arm.
struct Part {
    kind: Kind,
    stmts: Vec<Shaped>,
    /// The condition by which the part's last statements set flags, if they do.
    decides: Option<Value>,
    /// The values from earlier parts that it uses.
    names: Names,
}

/// The way in which a part of an arm is made to run only with the arm.
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
    fn new(kind: Kind, stmts: Vec<Shaped>) -> Part {
        Part { kind, stmts, decides: None, names: Names::new() }
    }
}

/// Each statement of the function is looked at once, where it gets its last place: until then a part has the names that are to be given in
/// it, and [`Uses`] tell which values it uses.
struct Flattening<'f> {
    b: Builder<'f>,
    constants: Constants,
    uses: Uses,
    /// The new value of each value of the function, at the current statement.
    names: IndexVec<Value, Option<Value>>,
}

impl Flattening<'_> {
    /// Appends a list, nested at most `most` levels deep.
    fn flatten(&mut self, mut todo: Vec<Shaped>, most: usize) {
        todo.reverse();
        // With the names that are to be given before each statement.
        let mut todo: Vec<(Shaped, Names)> = todo.into_iter().map(unnamed).collect();
        while let Some(((stmt, shape), names)) = todo.pop() {
            for (value, name) in names {
                if let Some(slot) = self.names.at_mut(value) {
                    *slot = Some(name);
                }
            }
            let is_deep = most > 1 && shape.depth > most;
            match stmt {
                Stmt::If { condition, then, otherwise } if is_deep => {
                    let condition = self.name(condition);
                    if !self.has_deep_part([&then, &otherwise], &shape, most - 1) {
                        let [first, second] = shape.lists;
                        let [then, otherwise] = [(then, first), (otherwise, second)]
                            .map(|(arm, shapes)| self.nested(arm, shapes, most - 1));
                        self.b.push(Stmt::If { condition, then, otherwise });
                        continue;
                    }
                    let negated = self.b.not(condition);
                    let mut parts = Vec::new();
                    let arms = [(condition, then), (negated, otherwise)];
                    for ((condition, arm), shapes) in arms.into_iter().zip(shape.lists) {
                        parts.extend(self.split(condition, arm.into_iter().zip(shapes), most - 1));
                    }
                    todo.extend(parts.into_iter().rev());
                }
                Stmt::Loop(body) if is_deep => {
                    let [shapes, _] = shape.lists;
                    let body = self.nested(body, shapes, most - 1);
                    self.b.push(Stmt::Loop(body));
                }
                mut stmt => {
                    rename(std::slice::from_mut(&mut stmt), &|value| self.name(value));
                    self.b.push(stmt);
                }
            }
        }
    }

    /// A list in another statement, nested at most `most` levels deep.
    fn nested(&mut self, stmts: Block, shapes: Vec<Shape>, most: usize) -> Block {
        let outer = self.b.take_block();
        self.flatten(stmts.into_iter().zip(shapes).collect(), most);
        self.b.replace_block(outer)
    }

    /// Whether some statement of two arms comes out of them. If none does, only loops over lanes are too deep.
    fn has_deep_part(&self, arms: [&[Stmt]; 2], shape: &Shape, most: usize) -> bool {
        let mut stmts = arms.into_iter().zip(&shape.lists).flat_map(|(arm, shapes)| arm.iter().zip(shapes));
        stmts.any(|(stmt, shape)| self.comes_out(stmt, shape, most))
    }

    fn name(&self, value: Value) -> Value {
        self.names.of(value).unwrap_or(value)
    }

    /// Splits the statements of an arm, so that those nested too deep stand beside the others under conditions of their own.
    fn split(
        &mut self,
        condition: Value,
        arm: impl Iterator<Item = Shaped>,
        most: usize,
    ) -> impl Iterator<Item = (Shaped, Names)> {
        let outer = self.b.take_block();
        let no = self.b.bool(false);
        let mut parts = Vec::new();
        let mut last = Part::new(Kind::Guarded, Vec::new());
        for (stmt, shape) in arm {
            if !self.comes_out(&stmt, &shape, most) {
                last.stmts.push((stmt, shape));
                continue;
            }
            let mut deep = Vec::new();
            match stmt {
                Stmt::If { condition: inner, then, otherwise } => {
                    last.decides = Some(inner);
                    let inner = self.name(inner);
                    for ((arm, holds), shapes) in [(then, true), (otherwise, false)].into_iter().zip(shape.lists) {
                        if arm.is_empty() {
                            continue;
                        }
                        let flag = self.b.var(Type::Bool);
                        self.b.set(flag, no);
                        let around = self.b.take_block();
                        let value = if holds { inner } else { self.b.not(inner) };
                        self.b.set(flag, value);
                        last.stmts.extend(self.b.take_block().into_iter().map(simple));
                        let flag = self.b.get(flag);
                        let mut stmts: Vec<Shaped> = self.b.take_block().into_iter().map(simple).collect();
                        let condition = Stmt::If { condition: flag, then: arm, otherwise: Vec::new() };
                        stmts.push((condition, Shape::around([shapes, Vec::new()])));
                        deep.push(Part::new(Kind::Flagged, stmts));
                        self.b.replace_block(around);
                    }
                }
                stmt => deep.push(Part::new(Kind::Loop, vec![(stmt, shape)])),
            }
            parts.push(std::mem::replace(&mut last, Part::new(Kind::Guarded, Vec::new())));
            parts.append(&mut deep);
        }
        parts.push(last);
        self.separate(&mut parts);
        let mut stmts: Vec<_> = self.b.replace_block(outer).into_iter().map(simple).map(unnamed).collect();
        for Part { kind, stmts: mut part, names, .. } in parts.into_iter().filter(|part| !part.stmts.is_empty()) {
            if kind == Kind::Guarded {
                let (then, shapes) = part.drain(..).unzip();
                let guarded = Stmt::If { condition, then, otherwise: Vec::new() };
                part.push((guarded, Shape::around([shapes, Vec::new()])));
            }
            if let (Kind::Loop, Some((Stmt::Loop(body), shape))) = (kind, part.last_mut()) {
                body.insert(0, Stmt::If { condition, then: Vec::new(), otherwise: vec![Stmt::Break] });
                let [mut shapes, others] = std::mem::replace(shape, Shape::simple()).lists;
                shapes.insert(0, Shape::around([Vec::new(), vec![Shape::simple()]]));
                *shape = Shape::around([shapes, others]);
            }
            let first = stmts.len();
            stmts.extend(part.into_iter().map(unnamed));
            if let Some((_, before)) = stmts.get_mut(first) {
                *before = names;
            }
        }
        stmts.into_iter()
    }

    /// Whether a statement of an arm is nested too deep. Loops over lanes stay, since they become functions.
    fn comes_out(&self, stmt: &Stmt, shape: &Shape, most: usize) -> bool {
        let is_lane_loop = |body| self.b.function(|function| is_lane_loop(body, &function.lane_numbers));
        let stays = matches!(stmt, Stmt::Loop(body) if is_lane_loop(body));
        !stays && shape.depth > most
    }

    /// Makes values that parts use from earlier parts go through variables.
    fn separate(&mut self, parts: &mut [Part]) {
        let outer = self.b.take_block();
        let used = self.used_later(parts);
        let mut last_uses: FxHashMap<Value, usize> = FxHashMap::default();
        for (number, values) in used.iter().enumerate() {
            last_uses.extend(values.iter().map(|value| (*value, number)));
        }
        let mut carriers: FxHashMap<Value, Carrier> = FxHashMap::default();
        for ((number, part), used) in parts.iter_mut().enumerate().zip(used) {
            for value in used {
                if let Some(carrier) = carriers.get(&value) {
                    part.names.push((value, carrier.give(&self.b, value)));
                }
            }
            let mut results = Vec::new();
            part.stmts.iter().for_each(|(stmt, _)| for_each_result(stmt, |value| results.push(value)));
            part.stmts.splice(..0, self.b.take_block().into_iter().map(simple));
            for value in results.into_iter().filter(|value| last_uses.get(value).is_some_and(|last| *last > number)) {
                let carrier = Carrier::take(&self.b, value, &self.constants);
                carriers.insert(value, carrier);
            }
            part.stmts.extend(self.b.take_block().into_iter().map(simple));
        }
        self.b.replace_block(outer);
    }

    /// The values that each part uses from earlier parts, in the order of their first uses there.
    fn used_later(&self, parts: &[Part]) -> Vec<Vec<Value>> {
        let mut end = 0;
        let mut spans: Vec<Range<u32>> = Vec::new();
        for part in parts {
            let span = shape::span(part.stmts.iter().map(|(_, shape)| shape)).unwrap_or(end..end);
            end = span.end;
            spans.push(span);
        }
        let mut deciding: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
        for (number, part) in parts.iter().enumerate() {
            if let Some(condition) = part.decides {
                deciding.entry(condition).or_default().push(number);
            }
        }
        let mut used: Vec<Vec<(u32, Value)>> = vec![Vec::new(); parts.len()];
        let mut uses = |number: usize, at: u32, value: Value| {
            if let Some(used) = used.get_mut(number) {
                used.push((at, value));
            }
        };
        for ((number, part), span) in parts.iter().enumerate().zip(&spans) {
            let mut find = |value| {
                let mut positions = self.uses.of(value);
                let mut end = span.end;
                loop {
                    positions = positions.get(positions.partition_point(|at| *at < end)..).unwrap_or_default();
                    let Some(at) = positions.first() else { break };
                    let user = spans.partition_point(|span| span.end <= *at);
                    let Some(span) = spans.get(user) else { break };
                    if span.contains(at) {
                        uses(user, *at, value);
                    }
                    end = if span.contains(at) { span.end } else { at + 1 };
                }
                for user in deciding.get(&value).into_iter().flatten().filter(|user| **user > number) {
                    uses(*user, u32::MAX, value);
                }
            };
            part.stmts.iter().for_each(|(stmt, _)| for_each_result(stmt, &mut find));
        }
        let in_order = |mut used: Vec<(u32, Value)>| {
            used.sort_unstable();
            let mut seen = FxHashSet::default();
            used.into_iter().map(|(_, value)| value).filter(|value| seen.insert(*value)).collect()
        };
        used.into_iter().map(in_order).collect()
    }
}

fn simple(stmt: Stmt) -> Shaped {
    (stmt, Shape::simple())
}

fn unnamed(stmt: Shaped) -> (Shaped, Names) {
    (stmt, Names::new())
}
