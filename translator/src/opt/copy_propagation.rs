//! Copy propagation: replaces reads of variables by the value that they are known to hold, and on the way folds
//! operations, merges equal ones and takes the known arm of an `If`.
//!
//! The known values are followed through straight-line code and into and out of `If`; a loop forgets the variables that
//! it assigns. Assignments and operations that become useless stay, for [`remove_dead`](super::remove_dead), except
//! assignments of what the variable holds already. Memory is not followed.

use std::collections::hash_map::Entry;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::diagnostic::Span;
use crate::index::{IndexVec, indices};
use crate::ir::{
    Block, Builtin, Folded, Function, Op, Stmt, Type, Value, Var, fold, for_each_assigned, for_each_result,
    looks_through, map_operands, mask,
};

/// Forwards variables; see the module.
pub fn propagate_copies(function: &mut Function) {
    let mut pass = Propagation {
        known: IndexVec::filled(None, function.vars.len()),
        undo: Vec::new(),
        replacement: IndexVec::filled(None, function.values.len()),
        definition: IndexVec::filled(None, function.values.len()),
        list_of: IndexVec::filled(List(0), function.values.len()),
        open: IndexVec::filled(true, 1),
        current: List(0),
        at: None,
        available: FxHashMap::with_capacity_and_hasher(function.body.len() / 2, FxBuildHasher),
        function,
    };
    let body = std::mem::take(&mut pass.function.body);
    let mut out = Vec::with_capacity(body.len());
    pass.list(body, &mut out);
    function.body = out;
}

/// A list of statements, by its number in the order in which they are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct List(u32);

indices!(List);

/// The variables whose known value a list changed, with their known values at its end.
type Changes = Vec<(Var, Option<Value>)>;

struct Propagation<'f> {
    function: &'f mut Function,
    /// The known value of each variable here.
    known: IndexVec<Var, Option<Value>>,
    /// Former entries of `known`, to go back to at the end of a list.
    undo: Changes,
    /// The replacement of each value that has one.
    replacement: IndexVec<Value, Option<Value>>,
    /// The definition of each value, where folding may look at it.
    definition: IndexVec<Value, Option<Op>>,
    /// The list that defines each value.
    list_of: IndexVec<Value, List>,
    /// Whether each list is the current one or lies around it, so that its values are visible.
    open: IndexVec<List, bool>,
    current: List,
    /// The mark that holds here.
    at: Option<Span>,
    /// The value of each operation that was defined last; its list may be closed.
    available: FxHashMap<(Type, Op), Value>,
}

/// `list` and `nested` call each other for as many levels as lists are nested; the rest is kept out of line so that
/// their frames stay small.
impl Propagation<'_> {
    /// Moves statements to `out`, and tells whether their end can be reached. The recursion must fit a small stack, so it does
    /// nothing else.
    fn list(&mut self, stmts: Block, out: &mut Block) -> bool {
        for mut stmt in stmts {
            self.replace_operands(&mut stmt);
            let goes_on = match &mut stmt {
                Stmt::If { condition, then, otherwise } => match self.constant(*condition) {
                    Some(holds) => {
                        let arm = std::mem::take(if holds { then } else { otherwise });
                        let at = self.at;
                        if !self.list(arm, out) {
                            return false;
                        }
                        self.at = at;
                        stmt = Stmt::At(at);
                        true
                    }
                    None => {
                        let then = self.nested(then);
                        let otherwise = self.nested(otherwise);
                        self.join(then, otherwise)
                    }
                },
                Stmt::Loop(body) => {
                    // The body starts with what holds before it and at its end alike.
                    self.forget_assigned(body);
                    // Nothing to join after it: what the body changes stays forgotten.
                    self.nested(body);
                    true
                }
                Stmt::Break => false,
                _ => {
                    self.statement(stmt, out);
                    continue;
                }
            };
            out.push(stmt);
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Moves a statement without lists to `out`, unless it says nothing new.
    #[inline(never)]
    fn statement(&mut self, stmt: Stmt, out: &mut Block) {
        match stmt {
            Stmt::Let(value, op) => return self.define(value, op, out),
            Stmt::Set(var, value) if self.known[var] == Some(value) => return,
            Stmt::Set(var, value) => self.learn(var, Some(value)),
            Stmt::At(at) => self.at = at,
            _ => self.note_results(&stmt),
        }
        out.push(stmt);
    }

    /// Rewrites a nested list, and returns its changes; `None` if its end can't be reached.
    fn nested(&mut self, list: &mut Block) -> Option<Changes> {
        let undo_mark = self.undo.len();
        let stmts = std::mem::take(list);
        list.reserve(stmts.len());
        let at = self.at;
        let around = std::mem::replace(&mut self.current, self.open.push(true));
        let falls_through = self.list(stmts, list);
        self.open[self.current] = false;
        self.current = around;
        self.at = at;
        let changes = self.leave(undo_mark);
        falls_through.then_some(changes)
    }

    /// Goes back to the known values before a nested list.
    #[inline(never)]
    fn leave(&mut self, undo_mark: usize) -> Changes {
        let changes = self.undo[undo_mark..].iter().map(|(var, _)| (*var, self.known[*var])).collect();
        while self.undo.len() > undo_mark
            && let Some((var, former)) = self.undo.pop()
        {
            self.known[var] = former;
        }
        changes
    }

    /// Goes on with the values known at the end of both arms of an `If`; false if neither end can be reached.
    #[inline(never)]
    fn join(&mut self, then: Option<Changes>, otherwise: Option<Changes>) -> bool {
        match (then, otherwise) {
            (None, None) => return false,
            (Some(changes), None) | (None, Some(changes)) => {
                for (var, value) in changes {
                    self.learn_if_visible(var, value);
                }
            }
            (Some(then), Some(otherwise)) => {
                let then: FxHashMap<_, _> = then.into_iter().collect();
                let otherwise: FxHashMap<_, _> = otherwise.into_iter().collect();
                for (&var, &value) in &then {
                    let other = otherwise.get(&var).copied().unwrap_or(self.known[var]);
                    self.learn_if_visible(var, value.filter(|_| value == other));
                }
                for (&var, &value) in &otherwise {
                    // Variables in both were done above.
                    if !then.contains_key(&var) {
                        let same = value == self.known[var];
                        self.learn_if_visible(var, value.filter(|_| same));
                    }
                }
            }
        }
        true
    }

    #[inline(never)]
    fn replace_operands(&self, stmt: &mut Stmt) {
        map_operands(stmt, |value| self.replacement[value].unwrap_or(value));
    }

    #[inline(never)]
    fn note_results(&mut self, stmt: &Stmt) {
        for_each_result(stmt, |result| self.list_of[result] = self.current);
    }

    #[inline(never)]
    fn define(&mut self, value: Value, op: Op, out: &mut Block) {
        let ty = self.function.type_of(value);
        let definition = &self.definition;
        let op = match fold(self.function, &op, |operand| definition[operand]) {
            Some(Folded::Value(same)) => {
                self.replacement[value] = Some(same);
                return;
            }
            Some(Folded::Const(bits)) => Op::Const(bits & mask(ty)),
            None => op,
        };
        if let Op::Get(var) = op {
            if let Some(known) = self.known[var] {
                self.replacement[value] = Some(known);
                return;
            }
            self.learn(var, Some(value));
        } else if op != Op::Builtin(Builtin::Clock) {
            match self.available.entry((ty, op)) {
                Entry::Occupied(same) if self.open[self.list_of[*same.get()]] => {
                    self.replacement[value] = Some(*same.get());
                    return;
                }
                Entry::Occupied(mut hidden) => _ = hidden.insert(value),
                Entry::Vacant(new) => _ = new.insert(value),
            }
        }
        if looks_through(&op) {
            self.definition[value] = Some(op);
        }
        self.list_of[value] = self.current;
        out.push(Stmt::Let(value, op));
    }

    fn constant(&self, value: Value) -> Option<bool> {
        match self.definition[value] {
            Some(Op::Const(bits)) => Some(bits != 0),
            _ => None,
        }
    }

    #[inline(never)]
    fn learn(&mut self, var: Var, value: Option<Value>) {
        let entry = &mut self.known[var];
        if *entry != value {
            self.undo.push((var, *entry));
            *entry = value;
        }
    }

    /// Learns a value that a nested list knew; values that it defined itself can't be used after it.
    fn learn_if_visible(&mut self, var: Var, value: Option<Value>) {
        let visible = value.filter(|value| self.open[self.list_of[*value]]);
        self.learn(var, visible);
    }

    #[inline(never)]
    fn forget_assigned(&mut self, block: &Block) {
        for_each_assigned(block, &mut |var| self.learn(var, None));
    }
}
