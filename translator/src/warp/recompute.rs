//! Recomputes values of other lanes where a lane can compute them itself: an address of a matrix' row, say, that comes
//! from the lane's number. A driver moves such operations out of loops, and not shuffles.

use rustc_hash::FxHashMap;

use super::choose::WARP;
use super::pack::{Pack, Slot};
use crate::ir::{Builtin, Op, Value, for_each_op_operand, map_op_operands};

/// The most operations that take the place of a shuffle.
const MOST: usize = 24;

impl Pack<'_> {
    /// The value that lane `from` of a lane's warp has, if a few operations on that lane's number and on values that are the same for all give it.
    pub(super) fn recomputed(&mut self, value: Value, own: usize, from: Value) -> Option<Value> {
        let mut operations = Vec::new();
        if !self.comes_from_number(value, &mut operations) {
            return None;
        }
        let own = self.positions.index.get(own).copied()?;
        let index = self.b.or(self.b.and_const(own, u64::from(!(WARP - 1))), from);
        let mut computed: FxHashMap<Value, Value> = FxHashMap::default();
        for (value, op) in operations {
            let new = match op {
                Op::Builtin(Builtin::ThreadIndex) => index,
                Op::Builtin(Builtin::ThreadId(dimension)) => {
                    *self.positions.extent.tid(&self.b, index).get(usize::from(dimension))?
                }
                op => {
                    let ty = self.b.type_of(value);
                    let operand = |value| computed.get(&value).copied().unwrap_or_else(|| self.same(value));
                    let op = map_op_operands(op, operand);
                    self.b.op(ty, op)
                }
            };
            computed.insert(value, new);
        }
        computed.get(&value).copied()
    }

    /// Whether a value comes from the thread's number and values that are the same for all, by a few operations.
    pub(super) fn is_from_number(&self, value: Value) -> bool {
        self.comes_from_number(value, &mut Vec::new())
    }

    /// Adds the operations that give a value, operands first; not those of values that are the same for all threads.
    fn comes_from_number(&self, value: Value, operations: &mut Vec<(Value, Op)>) -> bool {
        let is_same = self.uniform.value(value) && matches!(self.values.at(value), Some(Slot::Same(_)));
        if is_same || operations.iter().any(|(known, _)| *known == value) {
            return true;
        }
        let Some(op) = self.definitions.of(value) else { return false };
        let is_able = match op {
            Op::Builtin(builtin) => matches!(builtin, Builtin::ThreadIndex | Builtin::ThreadId(_)),
            Op::Const(_) | Op::Unary(..) | Op::Binary(..) | Op::Compare(..) | Op::Select(..) => op.is_speculatable(),
            _ => false,
        };
        let mut are_able = is_able && operations.len() < MOST;
        for_each_op_operand(op, |operand| are_able = are_able && self.comes_from_number(operand, operations));
        operations.push((value, op));
        are_able && operations.len() <= MOST
    }
}
