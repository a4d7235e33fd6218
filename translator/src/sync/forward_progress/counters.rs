//! Recognises loops that take their work from a counter: `while ((i = atomicAdd(&next, 1)) < n)`.
//!
//! The values that such a loop reads depend on other threads, but the loop does not wait for them: each iteration's own
//! addition brings the counter nearer to the limit at which the loop ends. So the direction counts: `while
//! (atomicAdd(&lock, 1) != 0)` and `while (atomicAdd(&lock, 1) > 0)` take a lock, and wait. So does a loop that takes
//! its addition back, as `while (atomicAdd(&come, 1) < n) atomicSub(&come, 1)`.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

use super::facts::{Change, Loop};
use crate::cfg::dependence::OnOthers;
use crate::ir::{Atomic, AtomicOp, Binary, Builtin, Compare, MemoryOrder, Op, Space, Type, Unary, Value, Var, Varies};

/// The most values on the way from a branch's condition to the values that it is computed from.
const DEPTH: u32 = 32;
/// The most values that a search looks at.
const STEPS: u32 = 10_000;

/// The direction of a counter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// A way back from a branch to the counter.
pub(super) struct Search<'l, 'c> {
    of: &'l Loop<'c>,
    others: &'l OnOthers,
    fixed: RefCell<FxHashMap<Value, bool>>,
    steps: Cell<u32>,
}

impl<'l, 'c> Search<'l, 'c> {
    /// A search in a loop, of which this is known.
    pub(super) fn new(of: &'l Loop<'c>, others: &'l OnOthers) -> Self {
        Self { of, others, fixed: RefCell::default(), steps: Cell::new(STEPS) }
    }

    /// Whether a condition has this value once a counter has passed a limit that does not change, and the loop's own additions lead there.
    pub(super) fn ends_by_counter(&self, condition: Value, wanted: bool) -> bool {
        self.steps.set(STEPS);
        self.passes_limit(condition, wanted, DEPTH) && self.steps.get() > 0
    }

    /// Whether a value is found to be the same in each turn.
    pub(super) fn is_constant(&self, value: Value) -> bool {
        self.steps.set(STEPS);
        self.is_fixed(value, DEPTH)
    }

    /// One value further, if the search may still go on.
    fn further(&self, depth: u32) -> Option<u32> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        depth.checked_sub(1)
    }

    /// The values that the loop assigns to a variable, if no assignment depends on other threads by the way that leads
    /// to it.
    fn assigned(&self, var: Var) -> Option<Vec<Value>> {
        let values: Vec<Value> = self.of.assigned(var).collect();
        (!values.is_empty() && !self.others.is_controlled(var)).then_some(values)
    }

    /// The same, with the depth that is left.
    fn passes_limit(&self, condition: Value, wanted: bool, depth: u32) -> bool {
        let Some(depth) = self.further(depth) else { return false };
        match self.of.kernel.values.get(&condition) {
            Some(Op::Unary(Unary::Not, value)) => self.passes_limit(*value, !wanted, depth),
            Some(Op::Get(var)) => self
                .assigned(*var)
                .is_some_and(|values| values.iter().all(|value| self.passes_limit(*value, wanted, depth))),
            Some(Op::Compare(
                Compare::LessUnsigned | Compare::LessEqualUnsigned | Compare::LessSigned | Compare::LessEqualSigned,
                lower,
                upper,
            )) => {
                let (low, high) =
                    if wanted { (Direction::Down, Direction::Up) } else { (Direction::Up, Direction::Down) };
                (self.counts(*lower, low, depth) && self.is_fixed(*upper, depth))
                    || (self.counts(*upper, high, depth) && self.is_fixed(*lower, depth))
            }
            _ => false,
        }
    }

    /// Whether each turn moves a value in this direction, since the value is computed from the result of an addition to
    /// a counter.
    fn counts(&self, value: Value, direction: Direction, depth: u32) -> bool {
        let Some(depth) = self.further(depth) else { return false };
        if let Some(atomic) = self.of.atomic(value) {
            return self.is_counter(atomic, direction, depth);
        }
        if let Some(offered) = self.of.shuffled(value) {
            return self.counts(offered, direction, depth);
        }
        match self.of.kernel.values.get(&value) {
            // Lanes that take no number have something else in the register, and get the number by a shuffle.
            Some(Op::Get(var)) => self.assigned(*var).is_some_and(|values| {
                let mut counts = values.iter().map(|value| self.counts(*value, direction, depth));
                counts.any(|counts| counts)
                    && values.iter().all(|value| self.counts(*value, direction, depth) || self.is_fixed(*value, depth))
            }),
            Some(Op::Unary(Unary::ZeroExtend | Unary::SignExtend, value)) => self.counts(*value, direction, depth),
            Some(Op::Binary(Binary::Add, a, b)) => {
                (self.counts(*a, direction, depth) && self.is_fixed(*b, depth))
                    || (self.counts(*b, direction, depth) && self.is_fixed(*a, depth))
            }
            Some(Op::Binary(Binary::Sub | Binary::Shl, a, b)) => {
                self.counts(*a, direction, depth) && self.is_fixed(*b, depth)
            }
            Some(Op::Binary(Binary::Mul, a, b)) => {
                (self.counts(*a, direction, depth) && self.sign(*b, depth) == Some(Direction::Up))
                    || (self.counts(*b, direction, depth) && self.sign(*a, depth) == Some(Direction::Up))
            }
            _ => false,
        }
    }

    /// Whether an atomic moves a counter in this direction, and nothing in the loop moves it back.
    fn is_counter(&self, atomic: &Atomic, direction: Direction, depth: u32) -> bool {
        let undoes = |change: &Change| {
            let apart = matches!(
                (change.space, atomic.access.space),
                (Space::Local, _) | (Space::Shared, Space::Global) | (Space::Global, Space::Shared)
            );
            let goes_on = match (change.op, direction) {
                (Some(AtomicOp::Add), _) => change.adds.is_some_and(|value| self.sign(value, depth) == Some(direction)),
                (Some(AtomicOp::MaxSigned | AtomicOp::MaxUnsigned), Direction::Up)
                | (Some(AtomicOp::MinSigned | AtomicOp::MinUnsigned), Direction::Down)
                | (Some(AtomicOp::FAdd | AtomicOp::Half(..)), _) => true,
                _ => false,
            };
            // What changes another place with each turn doesn't keep the counter where it is.
            !apart && !goes_on && self.is_fixed(change.address, depth)
        };
        atomic.op == AtomicOp::Add
            && self.sign(atomic.operand, depth) == Some(direction)
            && self.is_fixed(atomic.address, depth)
            && !self.of.changes().any(undoes)
    }

    /// The sign of a value that is known not to be zero.
    fn sign(&self, value: Value, depth: u32) -> Option<Direction> {
        let depth = self.further(depth)?;
        match self.of.kernel.values.get(&value)? {
            Op::Const(0) => None,
            Op::Const(bits) => {
                let sign = if self.of.kernel.function.type_of(value) == Type::I64 { 63 } else { 31 };
                let negative = *bits >> sign & 1 == 1;
                Some(if negative { Direction::Down } else { Direction::Up })
            }
            Op::Builtin(Builtin::BlockSize(_)) => Some(Direction::Up),
            Op::Unary(Unary::ZeroExtend | Unary::SignExtend, value) => self.sign(*value, depth),
            Op::Get(var) => {
                let mut signs = self.of.kernel.assigned.get(var)?.iter().map(|(_, value)| self.sign(*value, depth));
                let first = signs.next()??;
                signs.all(|sign| sign == Some(first)).then_some(first)
            }
            _ => None,
        }
    }

    /// Whether a value is the same in each turn, or one of a few such values.
    fn is_fixed(&self, value: Value, depth: u32) -> bool {
        if let Some(fixed) = self.fixed.borrow().get(&value) {
            return *fixed;
        }
        // A value that is computed from itself is not.
        self.fixed.borrow_mut().insert(value, false);
        let fixed = self.further(depth).is_some_and(|depth| self.is_made_of_fixed(value, depth));
        self.fixed.borrow_mut().insert(value, fixed);
        fixed
    }

    fn is_made_of_fixed(&self, value: Value, depth: u32) -> bool {
        let fixed = |value: Value| self.is_fixed(value, depth);
        if let Some((access, address)) = self.of.loaded(value) {
            return access.order == MemoryOrder::Weak && fixed(address);
        }
        let Some(op) = self.of.kernel.values.get(&value) else { return false };
        match **op {
            Op::Const(_) => true,
            Op::Builtin(builtin) => builtin.varies() != Varies::InTime,
            Op::Get(var) if !self.of.assigns(var) => true,
            Op::Get(var) => self.assigned(var).is_some_and(|values| values.iter().all(|value| fixed(*value))),
            Op::Unary(_, a) => fixed(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Pair(a, b) => fixed(a) && fixed(b),
            Op::Select(a, b, c) => fixed(a) && fixed(b) && fixed(c),
            // No limit is computed by these.
            Op::Fma(..)
            | Op::DotFma(..)
            | Op::Matrix(..)
            | Op::Rounded(..)
            | Op::Flushed(..)
            | Op::Half(..)
            | Op::Sample(_)
            | Op::Call(..) => false,
        }
    }
}
