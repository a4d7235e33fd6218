//! A function under reconstruction: where its values and variables are in the new function.

use super::arrays::{Array, Arrays};
use super::choose::WARP;
use super::positions::Positions;
use super::uniform::Uniform;
use crate::diagnostic::Span;
use crate::index::IndexVec;
use crate::ir::{Block, Builder, Op, Stmt, Type, Value, Var, bits_type};
use ptx2spv_target::Packing;

/// A function under reconstruction.
pub(super) struct Pack<'f> {
    pub(super) b: Builder<'f>,
    pub(super) packing: Packing,
    pub(super) uniform: Uniform,
    pub(super) positions: Positions,
    /// Whether regions and operations are loops over the lanes.
    pub(super) in_loops: bool,
    /// Arrays of values that differ from lane to lane, for such loops.
    pub(super) arrays: Arrays,
    /// The place of each value of the old function.
    pub(super) values: IndexVec<Value, Slot>,
    /// The variables, by lane, that stand for each variable of the old function that may differ between threads.
    pub(super) vars: IndexVec<Var, Vec<Var>>,
    /// The definition of each value of the old function.
    pub(super) definitions: IndexVec<Value, Option<Op>>,
    /// The number of uses of each value of the old function.
    pub(super) uses: IndexVec<Value, u32>,
    /// Bytes of local memory of one lane.
    pub(super) local_bytes: u32,
    /// The source mark at the current place of the old function.
    pub(super) at: Option<Span>,
    /// For which members, and lanes of a flow that waits for them, the program before the current place has looked whether all are there.
    pub(super) expected: Vec<(Members, Vec<Value>)>,
}

/// The members of operations: equal ones name the same threads.
#[derive(PartialEq, Eq)]
pub(super) enum Members {
    /// All lanes of a warp name these.
    Known(u32),
    /// By lane.
    Each(Vec<Value>),
}

impl Pack<'_> {
    pub(super) fn lane_count(&self) -> usize {
        self.packing.lanes as usize
    }

    /// The group of lanes, all of one warp, that a lane belongs to.
    pub(super) fn group(&self, lane: usize) -> usize {
        lane / self.packing.warp_lanes() as usize
    }

    /// The variable of a lane that stands for one of the old function.
    pub(super) fn var(&mut self, var: Var, lane: usize) -> Var {
        if self.uniform.var(var) {
            return var;
        }
        let ty = self.b.var_type(var);
        let lanes = self.lane_count();
        let Some(vars) = self.vars.at_mut(var) else { return var };
        if vars.is_empty() {
            vars.push(var);
            vars.extend((1..lanes).map(|_| self.b.var(ty)));
        }
        vars.get(lane).copied().unwrap_or(var)
    }

    /// The values that the lanes have here for a value of the old function.
    pub(super) fn lanes(&mut self, value: Value) -> Vec<Value> {
        let slot = self.values.at(value).cloned().unwrap_or(Slot::None);
        let ty = self.b.type_of(value);
        match slot {
            // Unreachable: the verifier has checked that definitions come before uses.
            Slot::None => vec![value; self.lane_count()],
            Slot::Same(same) => vec![same; self.lane_count()],
            Slot::Each(values) => values,
            Slot::Stored(vars) => vars.into_iter().map(|var| self.stored(var, ty)).collect(),
            Slot::Array(array) => {
                let element = |number| {
                    let lane = self.b.i32(number);
                    self.element(array, lane, ty)
                };
                (0..WARP).map(element).collect()
            }
        }
    }

    /// The content of a variable that holds the bits of a value of some type.
    pub(super) fn stored(&mut self, var: Var, ty: Type) -> Value {
        self.b.bitcast(self.b.get(var), ty)
    }

    /// The new function's value for a value that is the same for all lanes.
    pub(super) fn same(&mut self, value: Value) -> Value {
        self.lanes(value).first().copied().unwrap_or(value)
    }

    pub(super) fn set_slot(&mut self, value: Value, slot: Slot) {
        if let Some(entry) = self.values.at_mut(value) {
            *entry = slot;
        }
    }

    /// Marks the following statements of the new function with the current source position of the old function.
    pub(super) fn mark(&mut self) {
        if self.at.is_some() {
            self.b.push(Stmt::At(self.at));
        }
    }

    /// A variable for each lane's value.
    pub(super) fn storage(&mut self, value: Value) -> Vec<Var> {
        let ty = bits_type(self.b.type_of(value));
        (0..self.lane_count()).map(|_| self.b.var(ty)).collect()
    }
}

/// The lane for which statements are appended.
#[derive(Clone, Copy)]
pub(super) enum Lane {
    /// A lane by its number.
    Known(usize),
    /// The current lane of a loop over all lanes.
    Present(Value),
}

/// The place of a value of the old function.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// Not defined yet, or only within a parallel region.
    None,
    /// The same for all lanes.
    Same(Value),
    /// A value for each lane.
    Each(Vec<Value>),
    /// In variables, one for each lane, since it was computed under a condition.
    Stored(Vec<Var>),
    /// In an array for loops over the lanes.
    Array(Array),
}

/// A list of statements of the old function.
pub(super) type Old = Block;
