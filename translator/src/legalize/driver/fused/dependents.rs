//! Marks what depends on a dot product.

use crate::index::{IndexVec, indices};
use crate::ir::{Function, Op, Stmt, Value, Var, for_each_op_operand};

/// A value or a variable that may depend on a dot product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item(u32);

indices!(Item);

/// All items of a function.
pub struct Dependents {
    values: IndexVec<Value, Option<Item>>,
    vars: IndexVec<Var, Option<Item>>,
    /// What gives each item; none for variables.
    ops: IndexVec<Item, Option<Op>>,
    /// The dot products, and what is computed from them without a variable in between.
    movable: IndexVec<Item, bool>,
}

impl Dependents {
    /// Marks the items of a function.
    pub fn new(function: &Function) -> Self {
        let mut dependents = Self {
            values: IndexVec::filled(None, function.values.len()),
            vars: IndexVec::filled(None, function.vars.len()),
            ops: IndexVec::new(),
            movable: IndexVec::new(),
        };
        // A variable that one round of a loop assigns may be read by the next one.
        let mut before = None;
        while before != Some(dependents.len()) {
            before = Some(dependents.len());
            dependents.list(&function.body);
        }
        dependents
    }

    fn list(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let(value, op) if self.values[*value].is_none() => {
                    let operands = self.operands(*op);
                    let is_read = matches!(op, Op::Get(var) if self.vars[*var].is_some());
                    let is_dot = matches!(op, Op::DotFma(..));
                    if is_dot || is_read || !operands.is_empty() {
                        let movable = is_dot || operands.iter().any(|item| self.movable[*item]);
                        self.values[*value] = Some(self.add(Some(*op), movable));
                    }
                }
                Stmt::Set(var, value) if self.values[*value].is_some() && self.vars[*var].is_none() => {
                    self.vars[*var] = Some(self.add(None, false));
                }
                _ => stmt.lists().for_each(|list| self.list(list)),
            }
        }
    }

    fn add(&mut self, op: Option<Op>, movable: bool) -> Item {
        self.movable.push(movable);
        self.ops.push(op)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    pub fn value(&self, value: Value) -> Option<Item> {
        self.values.of(value)
    }

    /// The item of a variable.
    pub fn var(&self, var: Var) -> Option<Item> {
        self.vars.of(var)
    }

    /// What computes an item, unless that is a variable.
    pub fn op(&self, item: Item) -> Option<Op> {
        self.ops[item]
    }

    /// Whether an item is a dot product or computed from one without a variable in between.
    pub fn is_movable(&self, item: Item) -> bool {
        self.movable[item]
    }

    /// The items that an operation uses; a variable that it reads isn't among them.
    pub fn operands(&self, op: Op) -> Vec<Item> {
        let mut items = Vec::new();
        for_each_op_operand(op, |value| items.extend(self.value(value)));
        items
    }
}
