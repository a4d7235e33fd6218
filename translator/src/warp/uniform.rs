//! Finds the values and variables that are the same for all threads of a subgroup.
//!
//! Flow-insensitive over variables, as [`crate::cfg`]'s analysis for blocks is, and erring towards "different" only. A loaded value counts
//! as the same only if no thread writes that memory: control flow depends on the analysis, and a race must not break it.

use super::choose::WARP;
use super::collective::{is_collective, may_break};
use super::positions::ThreadOrder;
use crate::index::IndexVec;
use crate::ir::{
    Binary, Block, Builtin, Constants, Function, MemoryOrder, Op, Shuffle, Space, Stmt, Value, Var, Varies, Warp,
    WarpOp, for_each_result,
};
use ptx2spv_target::Packing;

/// The analysis's result.
pub(super) struct Uniform {
    packing: Packing,
    order: ThreadOrder,
    /// Whether threads may differ in each value and variable.
    values: IndexVec<Value, bool>,
    vars: IndexVec<Var, bool>,
    /// Bits of values that are constants.
    constants: Constants,
    /// Whether a value is the thread's number in the block.
    indices: IndexVec<Value, bool>,
    changed: bool,
}

impl Uniform {
    /// Analyses a function whose threads lie on subgroups as `packing` and `order` say.
    pub(super) fn new(function: &Function, packing: Packing, order: ThreadOrder) -> Self {
        let mut analysis = Self {
            packing,
            order,
            values: IndexVec::filled(false, function.values.len()),
            vars: IndexVec::filled(false, function.vars.len()),
            constants: IndexVec::filled(None, function.values.len()),
            indices: IndexVec::filled(false, function.values.len()),
            changed: true,
        };
        while analysis.changed {
            analysis.changed = false;
            analysis.list(&function.body, false);
        }
        analysis
    }

    /// Whether a value is the same for all threads of a subgroup.
    pub(super) fn value(&self, value: Value) -> bool {
        self.values.at(value) == Some(&false)
    }

    /// Whether a variable is the same for all threads of a subgroup, and assigned by statements that they execute together.
    pub(super) fn var(&self, var: Var) -> bool {
        self.vars.at(var) == Some(&false)
    }

    /// The bits of a value that is a constant.
    pub(super) fn constant(&self, value: Value) -> Option<u32> {
        let bits = self.constants.of(value)?;
        u32::try_from(bits).ok()
    }

    /// Whether threads may leave a loop with this body at different times.
    pub(super) fn leaves_apart(&self, body: &Block) -> bool {
        body.iter().filter(|stmt| may_break(stmt)).any(|stmt| {
            // A break by itself is for all of them.
            let Stmt::If { condition, then, otherwise } = stmt else { return false };
            !self.value(*condition) || self.leaves_apart(then) || self.leaves_apart(otherwise)
        })
    }

    fn differ(&mut self, value: Value) {
        if let Some(differs) = self.values.at_mut(value) {
            self.changed |= !*differs;
            *differs = true;
        }
    }

    /// `apart`: threads may execute the list at different times, or each for itself.
    fn list(&mut self, stmts: &Block, apart: bool) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(value, op) => self.define(*value, op),
                Stmt::Set(var, value) => {
                    if (apart || !self.value(*value))
                        && let Some(differs) = self.vars.at_mut(*var)
                    {
                        self.changed |= !*differs;
                        *differs = true;
                    }
                }
                Stmt::Load { results, access, address } => {
                    let constant =
                        access.read_only && access.order == MemoryOrder::Weak && access.space == Space::Global;
                    if !constant || !self.value(*address) {
                        results.iter().for_each(|result| self.differ(*result));
                    }
                }
                Stmt::Warp(warp) => self.warp(warp),
                Stmt::If { condition, then, otherwise } => {
                    let apart = apart || !is_collective(stmt) || !self.value(*condition);
                    self.list(then, apart);
                    self.list(otherwise, apart);
                }
                Stmt::Loop(body) => {
                    let apart = apart || !is_collective(stmt) || self.leaves_apart(body);
                    self.list(body, apart);
                }
                _ => for_each_result(stmt, |result| self.differ(result)),
            }
        }
    }

    fn define(&mut self, value: Value, op: &Op) {
        let same = match *op {
            Op::Const(bits) => {
                if let Some(constant) = self.constants.at_mut(value) {
                    *constant = Some(bits);
                }
                true
            }
            Op::Get(var) => self.var(var),
            // The number of the subgroup, or of several.
            Op::Binary(Binary::Shr, a, amount)
                if self.order == ThreadOrder::Warps && self.indices.at(a) == Some(&true) =>
            {
                self.constant(amount).is_some_and(|amount| amount >= self.packing.span().trailing_zeros())
            }
            Op::Builtin(builtin) => {
                if let (Builtin::ThreadIndex, Some(found)) = (builtin, self.indices.at_mut(value)) {
                    *found = true;
                }
                match builtin.varies() {
                    // Each block has subgroups of its own.
                    Varies::Nowhere | Varies::InBlocks | Varies::InSubgroups => true,
                    Varies::InInvocations | Varies::InThreads | Varies::InTime | Varies::InCalls => false,
                }
            }
            op => !op.any_operand(|operand| !self.value(operand)),
        };
        if !same {
            self.differ(value);
        }
    }

    fn warp(&mut self, warp: &Warp) {
        let together = self.packing.span() == WARP && warp.members.is_none_or(|members| self.value(members));
        let same: &[bool] = match warp.op {
            _ if !together => &[],
            WarpOp::Vote(..) | WarpOp::Ballot(_) | WarpOp::ActiveMask | WarpOp::Reduce(..) => &[true],
            WarpOp::MatchAll(_) => &[true, true],
            WarpOp::Elect => &[true, false],
            // A broadcast.
            WarpOp::Shuffle { mode: Shuffle::Index, lane, clamp, .. }
                if self.value(lane) && self.constant(clamp).is_some_and(|clamp| clamp & 0x1f1f == 0x1f) =>
            {
                &[true, true]
            }
            WarpOp::Shuffle { .. }
            | WarpOp::MatchAny(_)
            | WarpOp::Gathered
            | WarpOp::MatrixProduct(..)
            | WarpOp::Sync => &[],
        };
        for (number, &result) in warp.results.iter().enumerate() {
            if same.get(number) != Some(&true) {
                self.differ(result);
            }
        }
    }
}
