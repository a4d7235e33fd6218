//! Parallel regions: the code that each thread executes for itself between two places where threads synchronize. A region is repeated for
//! each lane, under the condition that the lane takes part.

use rustc_hash::FxHashMap;

use super::flow::Flow;
use super::pack::{Lane, Old, Pack, Slot};
use crate::diagnostic::Span;
use crate::ir::{Block, Op, Space, Stmt, Value, Var, for_each_result, for_each_use, map_operands};

/// Whether statements are harmless if a lane without a thread executes them.
fn is_harmless(block: &Block) -> bool {
    block.iter().all(|stmt| match stmt {
        Stmt::At(_) | Stmt::Set(..) => true,
        Stmt::Let(_, op) => op.is_speculatable(),
        Stmt::If { .. } => stmt.lists().all(is_harmless),
        _ => false,
    })
}

/// The values of a lane that a region has defined so far.
pub(super) type Own = FxHashMap<Value, Value>;

impl Pack<'_> {
    /// Takes the pending statements and appends them for every lane. `at` is the source mark before the first.
    pub(super) fn parallel_region(&mut self, pending: &mut Old, at: Option<Span>, flow: &Flow) {
        let stmts = std::mem::take(pending);
        if stmts.iter().all(|stmt| matches!(stmt, Stmt::At(_))) {
            self.mark();
            return;
        }
        if self.in_loops {
            self.region_loop(&stmts, at, flow);
            return self.mark();
        }
        let unconditional = match flow {
            Flow::All => is_harmless(&stmts),
            Flow::Some(_) => {
                stmts.iter().all(|stmt| matches!(stmt, Stmt::At(_) | Stmt::Let(..)) && is_harmless(&vec![stmt.clone()]))
            }
        };
        let escaping = self.escaping(&stmts);
        let storage: Vec<_> =
            if unconditional { Vec::new() } else { escaping.iter().map(|&value| self.storage(value)).collect() };
        let mut each = vec![Vec::new(); escaping.len()];
        for lane in 0..self.lane_count() {
            let condition = if unconditional { None } else { self.takes_part(flow, lane) };
            let outer = condition.map(|_| self.b.take_block());
            self.b.push(Stmt::At(at));
            let mut own = Own::default();
            self.lane(&stmts, Lane::Known(lane), &mut own);
            for (index, value) in escaping.iter().enumerate() {
                let Some(&computed) = own.get(value) else { continue };
                match storage.get(index).and_then(|vars| vars.get(lane)) {
                    Some(&var) => {
                        let ty = self.b.var_type(var);
                        self.b.set(var, self.b.bitcast(computed, ty));
                    }
                    None => each[index].push(computed),
                }
            }
            if let (Some(condition), Some(outer)) = (condition, outer) {
                let then = self.b.replace_block(outer);
                self.b.push(Stmt::If { condition, then, otherwise: Vec::new() });
            }
        }
        for (index, value) in escaping.into_iter().enumerate() {
            let slot = match storage.get(index) {
                Some(vars) => Slot::Stored(vars.clone()),
                None => Slot::Each(std::mem::take(&mut each[index])),
            };
            self.set_slot(value, slot);
        }
        self.mark();
    }

    /// Values that statements define and others use.
    pub(super) fn escaping(&self, stmts: &Old) -> Vec<Value> {
        let mut inside: FxHashMap<Value, u32> = FxHashMap::default();
        for_each_use(stmts, &mut |value| *inside.entry(value).or_default() += 1);
        let mut escaping = Vec::new();
        for stmt in stmts {
            for_each_result(stmt, |value| {
                let uses = self.uses.at(value).copied().unwrap_or(0);
                if uses > inside.get(&value).copied().unwrap_or(0) {
                    escaping.push(value);
                }
            });
        }
        escaping
    }

    /// Appends statements for one lane.
    pub(super) fn lane(&mut self, stmts: &[Stmt], lane: Lane, own: &mut Own) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(value, op) => {
                    let new = match self.builtin(op, lane) {
                        Some(known) => known,
                        None => {
                            let ty = self.b.type_of(*value);
                            let op = match *op {
                                Op::Get(var) => Op::Get(self.var_of(var, lane)),
                                op => crate::ir::map_op_operands(op, |value| self.operand(value, lane, own)),
                            };
                            self.b.op(ty, op)
                        }
                    };
                    own.insert(*value, new);
                }
                Stmt::Set(var, value) => {
                    let value = self.operand(*value, lane, own);
                    let var = self.var_of(*var, lane);
                    self.b.set(var, value);
                }
                Stmt::If { condition, then, otherwise } => {
                    let condition = self.operand(*condition, lane, own);
                    let then = self.nested_lane(then, lane, own);
                    let otherwise = self.nested_lane(otherwise, lane, own);
                    self.b.push(Stmt::If { condition, then, otherwise });
                }
                Stmt::Loop(body) => {
                    let body = self.nested_lane(body, lane, own);
                    self.b.push(Stmt::Loop(body));
                }
                stmt => self.effect(stmt.clone(), lane, own),
            }
        }
    }

    fn nested_lane(&mut self, stmts: &[Stmt], lane: Lane, own: &mut Own) -> Old {
        let outer = self.b.take_block();
        self.lane(stmts, lane, own);
        self.b.replace_block(outer)
    }

    /// Appends a statement that accesses memory, or a mark.
    fn effect(&mut self, mut stmt: Stmt, lane: Lane, own: &mut Own) {
        map_operands(&mut stmt, |value| self.operand(value, lane, own));
        if let Stmt::Load { access, address, .. } | Stmt::Store { access, address, .. } = &mut stmt
            && access.space == Space::Local
        {
            // The product is below the size of all lanes' memory, so it doesn't overflow.
            *address = match lane {
                Lane::Known(lane) => {
                    let offset = u64::from(self.local_bytes).saturating_mul(lane as u64);
                    self.b.add_const(*address, offset)
                }
                Lane::Present(lane) => self.b.add(*address, self.b.mul_const(lane, self.local_bytes.into())),
            };
        }
        let mut renew = |value: &mut Value| {
            let new = self.b.value(self.b.type_of(*value));
            own.insert(*value, new);
            *value = new;
        };
        match &mut stmt {
            Stmt::Load { results, .. } => results.iter_mut().for_each(&mut renew),
            Stmt::Atomic(atomic) => atomic.result.iter_mut().for_each(&mut renew),
            _ => {}
        }
        self.b.push(stmt);
    }

    /// The value that a lane has here for a value of the old function.
    fn operand(&mut self, value: Value, lane: Lane, own: &Own) -> Value {
        if let Some(&own) = own.get(&value) {
            return own;
        }
        match (self.values.at(value), lane) {
            (Some(Slot::Same(same)), _) => *same,
            (Some(Slot::Each(values)), Lane::Known(lane)) => values.get(lane).copied().unwrap_or(value),
            (Some(Slot::Stored(vars)), Lane::Known(lane)) => {
                let var = vars.get(lane).copied();
                let ty = self.b.type_of(value);
                var.map_or(value, |var| self.stored(var, ty))
            }
            _ => value,
        }
    }

    /// The variable that stands for one of the old function. In a loop over lanes all lanes share one variable.
    fn var_of(&mut self, var: Var, lane: Lane) -> Var {
        match lane {
            Lane::Known(lane) => self.var(var, lane),
            Lane::Present(_) => var,
        }
    }
}
