//! Products of matrices that stand together, so that they can share the words that they take from other lanes.

use crate::ir::{
    Block, Builder, Class, Fragments, Function, Op, Stmt, Value, Var, Warp, WarpOp, for_each_operand, for_each_result,
};
use ptx2spv_target::MatrixTypes;
use rustc_hash::{FxHashMap, FxHashSet};

/// Products of one kind, none of which needs a result of another.
#[derive(Default)]
pub struct Run {
    /// Constants and reads of variables, defined between the products.
    operands: Vec<(Value, Op)>,
    /// The products with their results.
    pub products: Vec<(Fragments, Vec<Value>)>,
}

impl Run {
    /// Defines the operands where the run begins.
    pub fn define_operands(&self, b: &Builder<'_>) {
        for &(value, op) in &self.operands {
            b.note(value, op);
            b.push(Stmt::Let(value, op));
        }
    }
}

/// The runs of a function.
#[derive(Default)]
pub struct Runs {
    /// Each run by the first result of its first product; those of the others have no products.
    runs: FxHashMap<Value, Run>,
    /// The operands that are defined where a run begins.
    moved: FxHashSet<Value>,
}

impl Runs {
    /// The runs of products of these types. Between the products of a run, a thread only computes for itself.
    pub fn of(function: &Function, is_wanted: impl Fn(MatrixTypes) -> bool) -> Self {
        let mut runs = Self::default();
        runs.list(&function.body, &is_wanted);
        runs
    }

    /// The run that begins with a product with these results, if the product is part of a run; empty for the run's
    /// later products.
    pub fn take(&mut self, results: &[Value]) -> Option<Run> {
        self.runs.remove(results.first()?)
    }

    /// Whether a value is defined where a run begins.
    pub fn has_moved(&self, value: Value) -> bool {
        self.moved.contains(&value)
    }

    fn list(&mut self, block: &Block, is_wanted: &dyn Fn(MatrixTypes) -> bool) {
        let mut open = Open::default();
        for stmt in block {
            match stmt {
                Stmt::Warp(Warp { results, op: WarpOp::MatrixProduct(types, fragments), .. }) if is_wanted(*types) => {
                    if !open.takes(*types, stmt) {
                        self.close(&mut open);
                    }
                    open.push(*types, *fragments, results);
                }
                _ if stmt.class() == Class::Private => open.pass(stmt),
                _ => self.close(&mut open),
            }
            stmt.lists().for_each(|list| self.list(list, is_wanted));
        }
        self.close(&mut open);
    }

    fn close(&mut self, open: &mut Open) {
        let mut run = std::mem::take(open).run;
        self.moved.extend(run.operands.iter().map(|(value, _)| *value));
        let firsts: Vec<Value> = run.products.iter().filter_map(|(_, results)| results.first().copied()).collect();
        for first in firsts {
            self.runs.insert(first, std::mem::take(&mut run));
        }
    }
}

/// A run that may go on.
#[derive(Default)]
struct Open {
    run: Run,
    types: Option<MatrixTypes>,
    /// Operands after the last product.
    operands: Vec<(Value, Op)>,
    /// Values that are not available where the run begins: other values that are defined since, and contents of
    /// variables that were set.
    later: FxHashSet<Value>,
    set: FxHashSet<Var>,
}

impl Open {
    fn takes(&self, types: MatrixTypes, product: &Stmt) -> bool {
        let mut takes = self.types == Some(types);
        for_each_operand(product, |operand| takes &= !self.later.contains(&operand));
        takes
    }

    fn push(&mut self, types: MatrixTypes, fragments: Fragments, results: &[Value]) {
        if self.run.products.is_empty() {
            // What is before the first product may stay there.
            *self = Self { types: Some(types), ..Self::default() };
        }
        self.run.operands.append(&mut self.operands);
        self.run.products.push((fragments, results.to_vec()));
        self.later.extend(results);
    }

    /// Goes on after a statement that is the thread's own affair.
    fn pass(&mut self, stmt: &Stmt) {
        match *stmt {
            Stmt::Let(value, op @ Op::Const(_)) => self.operands.push((value, op)),
            Stmt::Let(value, op @ Op::Get(var)) if !self.set.contains(&var) => self.operands.push((value, op)),
            Stmt::Set(var, _) => _ = self.set.insert(var),
            _ => for_each_result(stmt, |result| _ = self.later.insert(result)),
        }
    }
}
