//! The nesting of statements and the places of their operands in the function, found once for a pass that takes lists
//! apart again and again.

use std::ops::Range;

use crate::index::{Index, number};
use crate::ir::{Block, Stmt, Value, for_each_operand};

/// The extent of a statement, without a look into it.
pub struct Shape {
    /// The positions of its operands among all operands of the function; empty if the statement is new.
    pub operands: Range<u32>,
    /// The levels of lists in it.
    pub depth: usize,
    /// The shapes of the statements in its lists: the arms of a condition, or the body of a loop.
    pub lists: [Vec<Shape>; 2],
}

impl Shape {
    /// The shape of a new statement without lists.
    pub fn simple() -> Self {
        Self { operands: 0..0, depth: 0, lists: [Vec::new(), Vec::new()] }
    }

    /// The shape of a new statement with lists.
    pub fn around(lists: [Vec<Shape>; 2]) -> Self {
        let depth = 1 + lists.iter().flatten().map(|shape| shape.depth).max().unwrap_or(0);
        Self { operands: span(lists.iter().flatten()).unwrap_or_default(), depth, lists }
    }
}

/// The positions from the first to the last of the operands of statements; `None` if these have none.
pub fn span<'s>(mut shapes: impl DoubleEndedIterator<Item = &'s Shape>) -> Option<Range<u32>> {
    let has_operands = |shape: &&Shape| !shape.operands.is_empty();
    let first = shapes.find(has_operands)?;
    let last = shapes.rfind(has_operands).unwrap_or(first);
    Some(first.operands.start..last.operands.end)
}

/// The uses of a function's values.
pub struct Uses {
    /// The operands that are the same value stand together, in order.
    positions: Vec<u32>,
    /// The start of each value's uses in `positions`, and the end of the last.
    starts: Vec<usize>,
}

impl Uses {
    fn new(operands: &[Value], values: usize) -> Self {
        let mut starts = vec![0; values + 1];
        for value in operands {
            if let Some(count) = starts.get_mut(value.position() + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let (mut next, mut positions) = (starts.clone(), vec![0; operands.len()]);
        for (position, value) in operands.iter().enumerate() {
            let Some(next) = next.get_mut(value.position()) else { continue };
            if let Some(slot) = positions.get_mut(*next) {
                *slot = number(position);
            }
            *next += 1;
        }
        Self { positions, starts }
    }

    /// The positions of the operands that are a value, in order.
    pub fn of(&self, value: Value) -> &[u32] {
        let bounds = self.starts.get(value.position()..value.position() + 2);
        let Some(&[start, end]) = bounds else { return &[] };
        self.positions.get(start..end).unwrap_or_default()
    }
}

/// The shapes of a function's statements, and the uses of its `values`.
pub fn shapes(body: &Block, values: usize) -> (Vec<Shape>, Uses) {
    let mut operands = Vec::new();
    let shapes = list(body, &mut operands);
    (shapes, Uses::new(&operands, values))
}

fn list(stmts: &Block, operands: &mut Vec<Value>) -> Vec<Shape> {
    let shape = |stmt: &Stmt| {
        let start = number(operands.len());
        let mut shape = match stmt {
            Stmt::If { condition, then, otherwise } => {
                operands.push(*condition);
                Shape::around([list(then, operands), list(otherwise, operands)])
            }
            Stmt::Loop(body) => Shape::around([list(body, operands), Vec::new()]),
            stmt => {
                for_each_operand(stmt, |value| operands.push(value));
                Shape::simple()
            }
        };
        shape.operands = start..number(operands.len());
        shape
    };
    stmts.iter().map(shape).collect()
}
