//! Rounds of loops that a thread may still do before its block is suspended.
//!
//! There are two counts, because the driver counts the rounds of all threads that run in lockstep together. Those of loops that the passes make for a
//! warp or for the workgroup are the same for all of them; each other round is one of some thread.

use super::operations::head;
use crate::ir::{Builder, Compare, Function, Type, Value, Var};
use ptx2spv_interface::workspace;

/// The rounds that a thread may still do in a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundsLeft {
    /// Of the kernel's own loops.
    own: Var,
    /// Of loops of the warp or the workgroup.
    common: Var,
}

impl RoundsLeft {
    pub fn new(function: &mut Function) -> Self {
        Self { own: function.var(Type::I32), common: function.var(Type::I32) }
    }

    pub fn variables(self) -> [Var; 2] {
        [self.own, self.common]
    }

    /// At the start of a dispatch.
    pub fn renew(self, b: &Builder<'_>, address: u32) {
        let rounds = head(b, address, workspace::ROUNDS);
        for left in self.variables() {
            b.set(left, rounds);
        }
    }

    /// Counts a round of one of the kernel's own loops.
    pub fn count_own(self, b: &Builder<'_>) {
        count(b, self.own);
    }

    /// Counts a round of a loop of the warp or the workgroup.
    pub fn count_common(self, b: &Builder<'_>) {
        count(b, self.common);
    }

    /// Whether no round is left.
    pub fn are_used_up(self, b: &Builder<'_>) -> Value {
        let one = b.i32(1);
        let [own, common] = self.variables().map(|left| b.compare(Compare::LessSigned, b.get(left), one));
        b.or(own, common)
    }
}

fn count(b: &Builder<'_>, left: Var) {
    b.set(left, b.sub_const(b.get(left), 1));
}
