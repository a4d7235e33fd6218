//! Removes statements without effect: assignments that no read can see, operations and ordinary loads with unused
//! results, empty `If`s, unused results of atomics, and marks of instructions that left no statements.
//!
//! One walk from the end to the start. A loop's end counts every variable that the loop reads as read, so that an
//! assignment which only later rounds of a loop could overwrite stays. Loops stay even if they do nothing.

use crate::index::IndexVec;
use crate::ir::{
    Block, Function, MemoryOrder, Op, Stmt, SubgroupOp, Value, Var, VarSet, WarpOp, for_each_read, for_each_result,
    map_operands,
};

/// Removes dead code; see the module.
pub fn remove_dead(function: &mut Function) {
    let mut pass = Dead {
        used: IndexVec::filled(false, function.values.len()),
        live: VarSet::new(function.vars.len()),
        after_loop: VarSet::new(function.vars.len()),
        exited: function.exited,
    };
    pass.list(&mut function.body);
}

struct Dead {
    /// Whether a later statement uses each value.
    used: IndexVec<Value, bool>,
    /// Variables whose content a later statement may read.
    live: VarSet,
    /// The same after the innermost loop.
    after_loop: VarSet,
    /// A variable that other threads read, too.
    exited: Option<Var>,
}

impl Dead {
    fn list(&mut self, block: &mut Block) {
        let mut kept = Block::with_capacity(block.len());
        while let Some(mut stmt) = block.pop() {
            if self.keep(&mut stmt, kept.last()) {
                kept.push(stmt);
            }
        }
        kept.reverse();
        *block = kept;
    }

    /// Whether a statement stays, given the statement that follows it; the operands of a statement that stays then
    /// count as used.
    fn keep(&mut self, stmt: &mut Stmt, next: Option<&Stmt>) -> bool {
        match stmt {
            Stmt::At(_) => return !matches!(next, None | Some(Stmt::At(_))),
            Stmt::Let(value, op) => {
                if !self.used[*value] {
                    return false;
                }
                if let Op::Get(var) = op {
                    self.live.insert(*var);
                }
            }
            Stmt::Set(var, _) => {
                if !self.live.remove(*var) && self.exited != Some(*var) {
                    return false;
                }
            }
            Stmt::Load { access, .. } if access.order == MemoryOrder::Weak => {
                let mut used = false;
                for_each_result(stmt, |result| used |= self.used[result]);
                if !used {
                    return false;
                }
            }
            Stmt::Atomic(atomic) => atomic.result = atomic.result.filter(|result| self.used[*result]),
            Stmt::Warp(warp) => {
                // Waiting alone orders nothing, but for what is there to wait.
                if warp.op != WarpOp::Sync && !warp.results.iter().any(|result| self.used[*result]) {
                    return false;
                }
            }
            Stmt::Subgroup(results, op) => {
                if *op != SubgroupOp::Barrier && !results.iter().any(|result| self.used[*result]) {
                    return false;
                }
            }
            Stmt::If { then, otherwise, .. } => {
                let after = self.live.clone();
                self.list(otherwise);
                let before_otherwise = std::mem::replace(&mut self.live, after);
                self.list(then);
                self.live.extend(&before_otherwise);
                if then.is_empty() && otherwise.is_empty() {
                    return false;
                }
            }
            Stmt::Loop(body) => {
                let outer = std::mem::replace(&mut self.after_loop, self.live.clone());
                // After the end comes the next round, which reads what the loop reads or breaks out.
                for_each_read(body, &mut |var| self.live.insert(var));
                self.list(body);
                self.after_loop = outer;
            }
            Stmt::Break => self.live = self.after_loop.clone(),
            Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Barrier(_)
            | Stmt::Report(..)
            | Stmt::Arrive(_)
            | Stmt::Fence(_)
            | Stmt::Return(_) => {}
        }
        let used = &mut self.used;
        map_operands(stmt, |value| {
            used[value] = true;
            value
        });
        true
    }
}
