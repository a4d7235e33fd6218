//! A warp in one invocation, without 32 copies of the code: each parallel region is a loop over the lanes (the "work-item loops" of
//! OpenCL on processors), and so is each operation of the warp.
//!
//! Arrays in local memory, with an element for each lane, carry values from one region to another. Within a region, values stay in the old
//! function's variables and values, as if there were one thread.

use rustc_hash::{FxHashMap, FxHashSet};

use super::arrays::Array;
use super::choose::WARP;
use super::flow::Flow;
use super::pack::{Lane, Old, Pack, Slot};
use super::parallel_region::Own;
use crate::diagnostic::Span;
use crate::ir::{Op, Stmt, Type, Value, Var, for_each_read, for_each_use};

/// The variables that a region uses and that may differ between threads.
#[derive(Default)]
struct Registers {
    /// Variables that are read where the region may not have assigned them.
    inputs: Vec<Var>,
    /// Variables that are assigned.
    assigned: Vec<Var>,
    /// The number of reads of each variable.
    reads: FxHashMap<Var, u32>,
}

impl Registers {
    /// Adds the uses in a list. `definite` has the variables already assigned; those that the list always assigns are
    /// added to it.
    fn list(&mut self, pack: &Pack<'_>, stmts: &[Stmt], definite: &mut FxHashSet<Var>) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(_, Op::Get(var)) if !pack.uniform.var(*var) && !definite.contains(var) => {
                    push_new(&mut self.inputs, *var);
                }
                Stmt::Set(var, _) => {
                    push_new(&mut self.assigned, *var);
                    definite.insert(*var);
                }
                Stmt::If { then, otherwise, .. } => {
                    let mut other = definite.clone();
                    self.list(pack, then, definite);
                    self.list(pack, otherwise, &mut other);
                    definite.retain(|var| other.contains(var));
                }
                Stmt::Loop(body) => self.list(pack, body, &mut definite.clone()),
                _ => {}
            }
        }
    }
}

fn push_new(vars: &mut Vec<Var>, var: Var) {
    if !vars.contains(&var) {
        vars.push(var);
    }
}

impl Pack<'_> {
    /// Appends a loop over the lanes.
    pub(super) fn for_each_lane(&mut self, body: impl FnOnce(&mut Self, Value)) {
        let number = self.b.var(Type::I32);
        self.b.function(|function| function.lane_numbers.push(number));
        self.b.set(number, self.b.i32(0));
        let outer = self.b.take_block();
        let lane = self.b.get(number);
        body(self, lane);
        let next = self.b.add_const(lane, 1);
        self.b.set(number, next);
        let condition = self.b.ult(next, self.b.i32(WARP));
        self.b.push(Stmt::If { condition, then: Vec::new(), otherwise: vec![Stmt::Break] });
        self.b.push(Stmt::Loop(self.b.replace_block(outer)));
    }

    /// Appends a region for every lane of a flow.
    pub(super) fn region_loop(&mut self, stmts: &Old, at: Option<Span>, flow: &Flow) {
        let escaping: Vec<(Value, Array)> =
            self.escaping(stmts).into_iter().map(|value| (value, self.array_of(self.b.type_of(value)))).collect();
        let inputs = self.inputs(stmts);
        let [loaded, stored] = self.registers(stmts);
        let mask = self.mask(flow);
        self.for_each_lane(|pack, lane| {
            let condition = pack.is_in(mask, lane);
            let outer = pack.b.take_block();
            pack.b.push(Stmt::At(at));
            let mut own: Own = inputs.into_iter().map(|value| (value, pack.value_at(value, lane))).collect();
            for (var, array) in loaded {
                let value = pack.element(array, lane, pack.b.var_type(var));
                pack.b.set(var, value);
            }
            pack.lane(stmts, Lane::Present(lane), &mut own);
            for (var, array) in stored {
                pack.set_element(array, lane, pack.b.get(var));
            }
            for (value, array) in &escaping {
                if let Some(&value) = own.get(value) {
                    pack.set_element(*array, lane, value);
                }
            }
            let then = pack.b.replace_block(outer);
            pack.b.push(Stmt::If { condition, then, otherwise: Vec::new() });
        });
        for (value, array) in escaping {
            self.set_slot(value, Slot::Array(array));
        }
    }

    /// The values from other regions that statements use, and that may differ between lanes.
    fn inputs(&self, stmts: &Old) -> Vec<Value> {
        let mut inputs = Vec::new();
        let mut seen = FxHashSet::default();
        for_each_use(stmts, &mut |value| {
            let is_array = matches!(self.values.at(value), Some(Slot::Array(_)));
            if is_array && seen.insert(value) {
                inputs.push(value);
            }
        });
        inputs
    }

    /// The variables that a region must load from arrays, and those that it must store there.
    fn registers(&mut self, stmts: &Old) -> [Vec<(Var, Array)>; 2] {
        let mut registers = Registers::default();
        let mut definite = FxHashSet::default();
        registers.list(self, stmts, &mut definite);
        for_each_read(stmts, &mut |var| *registers.reads.entry(var).or_default() += 1);
        let is_read_later = |var: &Var| {
            let here = registers.reads.get(var).copied().unwrap_or(0);
            let everywhere = self.arrays.reads.get(var).copied().unwrap_or(0);
            everywhere > here
                || registers.inputs.contains(var)
                || self.b.function(|function| function.exited) == Some(*var)
        };
        let stored: Vec<Var> = registers.assigned.iter().copied().filter(is_read_later).collect();
        let mut loaded = registers.inputs;
        for var in stored.iter().filter(|var| !definite.contains(var)) {
            push_new(&mut loaded, *var);
        }
        [loaded, stored].map(|vars| vars.into_iter().map(|var| (var, self.var_array(var))).collect())
    }

    fn array_of(&mut self, ty: Type) -> Array {
        self.arrays.add(ty)
    }

    fn var_array(&mut self, var: Var) -> Array {
        if let Some(array) = self.arrays.vars.get(&var) {
            return *array;
        }
        let array = self.array_of(self.b.var_type(var));
        self.arrays.vars.insert(var, array);
        array
    }

    fn address(&mut self, array: Array, lane: Value) -> Value {
        self.b.add_const(self.b.shl(lane, array.bytes.trailing_zeros()), array.offset.into())
    }

    pub(super) fn element(&mut self, array: Array, lane: Value, ty: Type) -> Value {
        let address = self.address(array, lane);
        let bits = self.b.load_one(array.access(), address);
        if ty == Type::Bool { self.b.is_nonzero(bits) } else { self.b.bitcast(bits, ty) }
    }

    fn set_element(&mut self, array: Array, lane: Value, value: Value) {
        let bits = match self.b.type_of(value) {
            Type::Bool => self.b.bool_to(Type::I32, value),
            _ => self.b.bits(value),
        };
        let address = self.address(array, lane);
        self.b.store(array.access(), address, vec![bits]);
    }

    /// The value that a lane has for a value of the old function.
    pub(super) fn value_at(&mut self, value: Value, lane: Value) -> Value {
        match self.values.at(value) {
            Some(Slot::Same(same)) => *same,
            Some(Slot::Array(array)) => self.element(*array, lane, self.b.type_of(value)),
            _ => value,
        }
    }

    pub(super) fn mask(&self, flow: &Flow) -> Value {
        self.masks(flow).first().copied().unwrap_or(self.positions.invocation)
    }

    pub(super) fn is_in(&mut self, mask: Value, lane: Value) -> Value {
        let bit = self.bit(lane);
        self.b.is_nonzero(self.b.and(mask, bit))
    }

    pub(super) fn bit(&mut self, lane: Value) -> Value {
        self.b.shl_by(self.b.i32(1), lane)
    }

    /// The lanes for which something holds.
    pub(super) fn lanes_where(&mut self, holds: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let zero = self.b.i32(0);
        self.accumulate(zero, |pack, lane, lanes| {
            let holds = holds(pack, lane);
            pack.b.or(lanes, pack.b.shl_by(pack.b.bool_to(Type::I32, holds), lane))
        })
    }

    /// The result of a fold over the lanes, in order, from `start`.
    pub(super) fn accumulate(&mut self, start: Value, next: impl FnOnce(&mut Self, Value, Value) -> Value) -> Value {
        let so_far = self.b.var(self.b.type_of(start));
        self.b.set(so_far, start);
        self.for_each_lane(|pack, lane| {
            let after = next(pack, lane, pack.b.get(so_far));
            pack.b.set(so_far, after);
        });
        self.b.get(so_far)
    }

    /// Computes values of the old function for every lane; once for all where they are the same.
    pub(super) fn define_by_lane(&mut self, results: &[Value], compute: impl Fn(&mut Self, Value) -> Vec<Value>) {
        let is_used = |result: &(usize, Value)| self.uses.at(result.1).is_some_and(|uses| *uses > 0);
        let used = results.iter().copied().enumerate().filter(is_used);
        let (same, differ): (Vec<_>, Vec<_>) = used.partition(|(_, result)| self.uniform.value(*result));
        if !same.is_empty() {
            let computed = compute(self, self.b.i32(0));
            for (position, result) in same {
                let value = computed.get(position).copied().unwrap_or(result);
                self.set_slot(result, Slot::Same(value));
            }
        }
        if differ.is_empty() {
            return;
        }
        let arrays: Vec<Array> = differ.iter().map(|(_, result)| self.array_of(self.b.type_of(*result))).collect();
        self.for_each_lane(|pack, lane| {
            let computed = compute(pack, lane);
            for ((position, result), array) in differ.iter().zip(&arrays) {
                let value = computed.get(*position).copied().unwrap_or(*result);
                pack.set_element(*array, lane, value);
            }
        });
        for ((_, result), array) in differ.into_iter().zip(arrays) {
            self.set_slot(result, Slot::Array(array));
        }
    }

    /// The lanes that have exited; `None` if the kernel doesn't record exits.
    pub(super) fn exited_lanes(&mut self) -> Option<Value> {
        let exited = self.b.function(|function| function.exited)?;
        let array = (!self.uniform.var(exited)).then(|| self.var_array(exited));
        Some(self.lanes_where(|pack, lane| match array {
            Some(array) => pack.element(array, lane, Type::Bool),
            None => pack.b.get(exited),
        }))
    }

    /// Whether a value is the same for two lanes.
    pub(super) fn equals(&mut self, value: Value, lane: Value, other: Value) -> Value {
        let [own, theirs] = [lane, other].map(|lane| self.value_at(value, lane));
        self.b.eq(own, theirs)
    }
}
