//! Control flow that the threads of a subgroup execute together, with an execution mask.
//!
//! A mask has a bit for each lane of a warp; there is one for each warp that the invocation's lanes belong to. On
//! subgroups of up to 32 invocations the mask is the same in all invocations.

use super::collective::{is_collective, may_break};
use super::pack::{Lane, Old, Pack, Slot};
use crate::ir::{Binary, Builtin, Op, Stmt, SubgroupOp, Type, Value, Var, has_warp};

/// The threads for which statements are executed.
pub(super) enum Flow {
    /// All threads of the block.
    All,
    /// The lanes in these masks, by group of lanes.
    Some(Vec<Value>),
}

/// The innermost enclosing loop that the threads of a subgroup execute together.
pub(super) enum Loop {
    /// There is no such loop.
    None,
    /// The threads leave the loop together.
    Together,
    /// The threads leave the loop at different times: variables hold the masks of the lanes still in the loop, by
    /// group.
    Apart(Vec<Var>),
}

impl Pack<'_> {
    /// Appends statements for the threads of a flow.
    pub(super) fn list(&mut self, stmts: &[Stmt], flow: &Flow, inside: &Loop) {
        let mut pending = Old::new();
        let mut pending_at = self.at;
        self.mark();
        for (position, stmt) in stmts.iter().enumerate() {
            if pending.is_empty() {
                pending_at = self.at;
            }
            match stmt {
                Stmt::At(at) => {
                    self.at = *at;
                    if pending.is_empty() { self.mark() } else { pending.push(stmt.clone()) }
                }
                _ if is_collective(stmt) => {
                    self.parallel_region(&mut pending, pending_at, flow);
                    self.collective(stmt, flow, inside);
                    if let (Loop::Apart(left), true) = (inside, may_break(stmt)) {
                        let rest = stmts.get(position + 1..).unwrap_or_default();
                        self.rest(rest, flow, inside, left);
                        return;
                    }
                    self.mark();
                }
                stmt if self.once(stmt) => {
                    if let Stmt::Set(..) = stmt {
                        // Pending statements may read the variable.
                        self.parallel_region(&mut pending, pending_at, flow);
                    }
                    self.uniform_statement(stmt);
                }
                Stmt::Let(value, op) if !self.in_loops && self.is_ready(op, pending.is_empty()) => {
                    self.define_each(*value, op)
                }
                stmt => pending.push(stmt.clone()),
            }
        }
        self.parallel_region(&mut pending, pending_at, flow);
    }

    /// Whether a statement has the same effect for all threads of the subgroup, so that one execution serves all.
    fn once(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(value, _) => self.uniform.value(*value),
            Stmt::Set(var, _) => self.uniform.var(*var),
            Stmt::Load { results, .. } => results.iter().all(|result| self.uniform.value(*result)),
            _ => false,
        }
    }

    fn uniform_statement(&mut self, stmt: &Stmt) {
        if let Stmt::Let(value, Op::Builtin(Builtin::ClusterRank)) = stmt {
            let rank = self.positions.rank;
            return self.set_slot(*value, Slot::Same(rank));
        }
        let mut stmt = stmt.clone();
        crate::ir::map_operands(&mut stmt, |value| match self.definitions.at(value) {
            // The number of the warp comes from it, which may be pending.
            Some(Some(Op::Builtin(Builtin::ThreadIndex))) => self.positions.first_index(),
            _ => self.same(value),
        });
        let mut results = Vec::new();
        crate::ir::for_each_result(&stmt, |result| results.push(result));
        for result in results {
            self.set_slot(result, Slot::Same(result));
        }
        if let Stmt::Let(value, op) = &stmt {
            self.b.note(*value, *op);
        }
        self.b.push(stmt);
    }

    /// Whether an operation can be done at once for all lanes, whether or not they take part. `settled` says that all
    /// assignments before the operation are done.
    fn is_ready(&self, op: &Op, settled: bool) -> bool {
        if !op.is_speculatable() || matches!(op, Op::Get(_)) && !settled {
            return false;
        }
        !op.any_operand(|value| !matches!(self.values.at(value), Some(Slot::Same(_) | Slot::Each(_))))
    }

    fn define_each(&mut self, value: Value, op: &Op) {
        let each = (0..self.lane_count()).map(|lane| self.define_lane(value, op, lane));
        let each = each.collect();
        self.set_slot(value, Slot::Each(each));
    }

    fn define_lane(&mut self, value: Value, op: &Op, lane: usize) -> Value {
        if let Some(known) = self.builtin(op, Lane::Known(lane)) {
            return known;
        }
        let ty = self.b.type_of(value);
        let part = self.part_of_number(op, lane);
        let op = match *op {
            Op::Get(var) => Op::Get(self.var(var, lane)),
            op => crate::ir::map_op_operands(op, |value| self.lanes(value).get(lane).copied().unwrap_or(value)),
        };
        let result = self.b.op(ty, op);
        match part {
            // Drivers know whether the block is one row, and which of the two it is.
            Some(part) => self.b.select(self.positions.extent.flat, part, result),
            None => result,
        }
    }

    /// The lane and the warp as programs compute them from `%tid.x`, for blocks of one row: drivers know that warps are subgroups, and that a
    /// subgroup's number is the same for all of it.
    fn part_of_number(&self, op: &Op, lane: usize) -> Option<Value> {
        let Op::Binary(binary, number, constant) = *op else { return None };
        if *self.definitions.at(number)? != Some(Op::Builtin(Builtin::ThreadId(0))) {
            return None;
        }
        let parts = match (binary, self.uniform.constant(constant)?) {
            (Binary::And, 31) => &self.positions.lane,
            (Binary::Shr, 5) => &self.positions.warp,
            _ => return None,
        };
        parts.get(lane).copied().filter(|_| !self.positions.warp.is_empty())
    }

    /// The value of a built-in that depends on the lane.
    pub(super) fn builtin(&mut self, op: &Op, lane: Lane) -> Option<Value> {
        let Op::Builtin(builtin) = op else { return None };
        let positions = &self.positions;
        match (builtin, lane) {
            (Builtin::ClusterRank, _) => Some(positions.rank),
            (Builtin::ThreadIndex, Lane::Known(lane)) => positions.index.get(lane).copied(),
            (Builtin::ThreadIndex, Lane::Present(lane)) => Some(positions.index_at(&self.b, lane)),
            (Builtin::ThreadId(dimension), Lane::Known(lane)) => {
                positions.tid.get(usize::from(*dimension)).and_then(|lanes| lanes.get(lane)).copied()
            }
            (Builtin::ThreadId(dimension), Lane::Present(lane)) => {
                let index = positions.index_at(&self.b, lane);
                positions.extent.tid(&self.b, index).get(usize::from(*dimension)).copied()
            }
            (
                Builtin::BlockSize(_)
                | Builtin::WorkgroupId(_)
                | Builtin::WorkgroupCount(_)
                | Builtin::Invocations
                | Builtin::InvocationIndex
                | Builtin::SubgroupId
                | Builtin::SubgroupLane
                | Builtin::SharedBytes
                | Builtin::DynamicSharedBytes
                | Builtin::TextureBits
                | Builtin::PushConstant(_)
                | Builtin::Clock
                | Builtin::Parameter(_),
                _,
            ) => None,
        }
    }

    /// Appends a statement that all threads of the subgroup execute together.
    fn collective(&mut self, stmt: &Stmt, flow: &Flow, inside: &Loop) {
        match stmt {
            Stmt::Warp(warp) => self.operation(warp, flow),
            Stmt::If { condition, then, otherwise } if self.uniform.value(*condition) => {
                let condition = self.same(*condition);
                let then = self.nested(then, flow, inside);
                let otherwise = self.nested(otherwise, flow, inside);
                self.b.push(Stmt::If { condition, then, otherwise });
            }
            Stmt::If { condition, then, otherwise } => {
                let holds = if self.in_loops {
                    vec![self.lanes_where(|pack, lane| pack.value_at(*condition, lane))]
                } else {
                    let conditions = self.lanes(*condition);
                    self.ballot(&conditions)
                };
                // The threads of one arm may have exited when the other arm asks which have.
                let mut arms = [(then, true), (otherwise, false)];
                if has_warp(then) && !has_warp(otherwise) {
                    arms.reverse();
                }
                for (arm, wanted) in arms {
                    if arm.is_empty() {
                        continue;
                    }
                    let masks = self.masks(flow).into_iter().zip(&holds).map(|(mask, &holds)| {
                        let which = if wanted { holds } else { self.b.not(holds) };
                        self.b.and(mask, which)
                    });
                    let masks: Vec<Value> = masks.collect();
                    self.if_any(arm, masks, inside);
                }
            }
            Stmt::Loop(body) if self.uniform.leaves_apart(body) => {
                let live: Vec<Var> = self.masks(flow).iter().map(|_| self.b.var(Type::I32)).collect();
                for (&var, mask) in live.iter().zip(self.masks(flow)) {
                    self.b.set(var, mask);
                }
                let outer = self.b.take_block();
                let masks: Vec<Value> = live.iter().map(|&var| self.b.get(var)).collect();
                self.list(body, &Flow::Some(masks), &Loop::Apart(live.clone()));
                let masks: Vec<Value> = live.iter().map(|&var| self.b.get(var)).collect();
                let condition = self.any(&masks);
                self.b.push(Stmt::If { condition, then: Vec::new(), otherwise: vec![Stmt::Break] });
                self.b.push(Stmt::Loop(self.b.replace_block(outer)));
            }
            Stmt::Loop(body) => {
                let body = self.nested(body, flow, &Loop::Together);
                self.b.push(Stmt::Loop(body));
            }
            Stmt::Break => match inside {
                Loop::Apart(live) => {
                    for (&var, mask) in live.iter().zip(self.masks(flow)) {
                        let left = self.b.and(self.b.get(var), self.b.not(mask));
                        self.b.set(var, left);
                    }
                }
                Loop::None | Loop::Together => self.b.break_(),
            },
            Stmt::Barrier(_) | Stmt::Subgroup(..) => self.b.push(stmt.clone()),
            // Threads execute these each for themselves.
            Stmt::At(_)
            | Stmt::Let(..)
            | Stmt::Set(..)
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Atomic(_)
            | Stmt::Report(..)
            | Stmt::Arrive(_)
            | Stmt::Fence(_)
            | Stmt::Return(_) => self.b.push(stmt.clone()),
        }
    }

    fn nested(&mut self, stmts: &[Stmt], flow: &Flow, inside: &Loop) -> Old {
        let (outer, at, expected) = (self.b.take_block(), self.at, self.expected.len());
        self.list(stmts, flow, inside);
        self.at = at;
        self.expected.truncate(expected);
        self.b.replace_block(outer)
    }

    /// Appends statements under masks, to be skipped if no lane is in the masks.
    fn if_any(&mut self, stmts: &[Stmt], masks: Vec<Value>, inside: &Loop) {
        let condition = self.any(&masks);
        let then = self.nested(stmts, &Flow::Some(masks), inside);
        self.b.push(Stmt::If { condition, then, otherwise: Vec::new() });
    }

    /// Appends the statements after one at which threads may have left the innermost loop.
    fn rest(&mut self, stmts: &[Stmt], flow: &Flow, inside: &Loop, live: &[Var]) {
        if stmts.iter().all(|stmt| matches!(stmt, Stmt::At(_))) {
            return;
        }
        let masks = self.masks(flow).into_iter().zip(live).map(|(mask, &var)| self.b.and(mask, self.b.get(var)));
        let masks = masks.collect();
        self.if_any(stmts, masks, inside);
    }

    /// The masks of a flow, by group of lanes.
    pub(super) fn masks(&self, flow: &Flow) -> Vec<Value> {
        match flow {
            Flow::All => self.positions.existing.clone(),
            Flow::Some(masks) => masks.clone(),
        }
    }

    /// The lanes of each warp for which a truth value holds, by group; bits of lanes that don't take part are
    /// arbitrary.
    pub(super) fn ballot(&mut self, conditions: &[Value]) -> Vec<Value> {
        let (size, lanes) = (self.packing.subgroup_size, self.packing.warp_lanes() as usize);
        // Many ballots take longer than one word that the invocations exchange, to run and even more to compile: llvmpipe makes a loop of
        // each, and LLVM's coroutines look at all blocks for the counter of each loop.
        let exchanges = lanes > size.trailing_zeros() as usize && size > 1;
        let groups = conditions.chunks(lanes).enumerate().map(|(number, group)| {
            let mut joined = None;
            for ((lane, &condition), shift) in (number * lanes..).zip(group).zip((0..).step_by(size as usize)) {
                let word = if exchanges {
                    self.b.select(condition, self.positions.bit[lane], self.b.i32(0))
                } else {
                    let words = self.subgroup_ballot(condition);
                    let word = self.own_word(&words);
                    self.b.shl(word, shift)
                };
                joined = Some(joined.map_or(word, |joined| self.b.or(joined, word)));
            }
            // A group has at least one lane.
            let joined = joined.unwrap_or(self.positions.invocation);
            if exchanges { self.join_all(joined, |pack, a, b| pack.b.or(a, b)) } else { joined }
        });
        groups.collect()
    }

    fn subgroup_ballot(&mut self, condition: Value) -> Vec<Value> {
        if self.packing.subgroup_size == 1 {
            return vec![self.b.bool_to(Type::I32, condition)];
        }
        let words: Vec<Value> = (0..self.packing.ballot_words()).map(|_| self.b.value(Type::I32)).collect();
        self.b.push(Stmt::Subgroup(words.clone(), SubgroupOp::Ballot(condition)));
        words
    }

    /// The word of a ballot that has the invocation's own bit.
    fn own_word(&mut self, words: &[Value]) -> Value {
        let mut own = words.first().copied().unwrap_or(self.positions.invocation);
        for (&word, first) in words.iter().zip((0..).step_by(32)).skip(1) {
            let reached = self.b.ule(self.b.i32(first), self.positions.invocation);
            own = self.b.select(reached, word, own);
        }
        own
    }

    /// Whether masks have a lane in any invocation of the subgroup.
    pub(super) fn any(&mut self, masks: &[Value]) -> Value {
        let mut all = masks.first().copied().unwrap_or(self.positions.invocation);
        for &mask in masks.iter().skip(1) {
            all = self.b.or(all, mask);
        }
        let some = self.b.is_nonzero(all);
        if self.packing.ballot_words() == 1 {
            return some;
        }
        self.anywhere(some)
    }

    /// Whether a truth value holds in any invocation of the subgroup.
    pub(super) fn anywhere(&mut self, some: Value) -> Value {
        let words = self.subgroup_ballot(some);
        let mut all = words.first().copied().unwrap_or(self.positions.invocation);
        for &word in words.iter().skip(1) {
            all = self.b.or(all, word);
        }
        self.b.is_nonzero(all)
    }

    pub(super) fn takes_part(&mut self, flow: &Flow, lane: usize) -> Option<Value> {
        match flow {
            Flow::All => self.positions.exists.get(lane).copied(),
            Flow::Some(masks) => {
                let (mask, bit) = (*masks.get(self.group(lane))?, *self.positions.bit.get(lane)?);
                let own = self.b.and(mask, bit);
                Some(self.b.is_nonzero(own))
            }
        }
    }
}
