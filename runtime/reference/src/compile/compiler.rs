//! The state of compilation, and values by their ids.

use ptx2spv_target::Target;
use rustc_hash::FxHashMap;

use super::emit::Emitter;
use super::facts::{Callee, Deferred, PointerFacts, Shared};
use super::layout::{Layouts, Scalar};
use super::refusal::{Result, refuse};
use super::value::{Cells, Value};
use crate::code::{Code, Slot};
use crate::module::{Instruction, Module, rule};

/// Most registers named by values, so that small modules can't take all memory.
const NAMED_LIMIT: usize = 1 << 22;

/// An entry point under compilation.
pub(super) struct Compiler<'m> {
    pub(super) module: &'m Module,
    pub(super) target: &'m Target,
    /// Everything but instructions and constants, which `emit` has until the end.
    pub(super) code: Code,
    pub(super) emit: Emitter,
    pub(super) layouts: Layouts,
    pub(super) values: FxHashMap<u32, Value>,
    /// Registers that `values` names.
    pub(super) named: usize,
    /// Facts about pointers besides their addresses.
    pub(super) facts: FxHashMap<u32, PointerFacts>,
    /// Work to do before the entry point begins.
    pub(super) deferred: Vec<Deferred>,
    /// Functions by id: what callers need to know about them.
    pub(super) callees: FxHashMap<u32, Callee>,
    /// What has been placed in workgroup memory.
    pub(super) shared: Shared,
}

impl<'m> Compiler<'m> {
    pub(super) fn new(module: &'m Module, target: &'m Target) -> Self {
        let code = Code { accesses: vec![Default::default()], ..Code::default() };
        Self {
            module,
            target,
            code,
            emit: Emitter::default(),
            layouts: Layouts::default(),
            values: FxHashMap::default(),
            named: 0,
            facts: FxHashMap::default(),
            deferred: Vec::new(),
            callees: FxHashMap::default(),
            shared: Shared::default(),
        }
    }

    /// The instruction that defines an id.
    pub(super) fn definition(&self, id: u32) -> Result<Instruction<'m>> {
        self.module.definition(id).ok_or_else(|| refuse(rule::UNIVERSAL, format!("%{id} is not defined")))
    }

    /// The id of a value's type.
    pub(super) fn type_of(&self, id: u32) -> Result<u32> {
        match self.definition(id)?.ty {
            0 => Err(refuse(rule::UNIVERSAL, format!("%{id} is no value"))),
            ty => Ok(ty),
        }
    }

    /// The scalar type and count of a scalar or vector by its id.
    pub(super) fn vector_of(&self, id: u32) -> Result<(Scalar, u32)> {
        self.layouts.vector(self.type_of(id)?)
    }

    /// What an id stands for.
    pub(super) fn value(&mut self, id: u32) -> Result<Value> {
        match self.values.get(&id) {
            Some(value) => Ok(value.clone()),
            None => self.global_value(id),
        }
    }

    /// The registers of a value.
    pub(super) fn cells(&mut self, id: u32) -> Result<Cells> {
        match self.value(id)? {
            Value::Cells(cells) => Ok(cells),
            Value::Null(ty) => {
                let zero = self.emit.constant(0);
                Ok(vec![zero; self.layouts.cells(ty)? as usize].into())
            }
            Value::Input(..) => Err(refuse(rule::UNIVERSAL, format!("%{id} points to an input and is no value here"))),
        }
    }

    /// The register of a scalar.
    pub(super) fn scalar(&mut self, id: u32) -> Result<Slot> {
        match *self.cells(id)? {
            [slot] => Ok(slot),
            _ => Err(refuse(rule::UNIVERSAL, format!("%{id} is not a scalar"))),
        }
    }

    /// The registers of a value, one after another.
    pub(super) fn contiguous(&mut self, cells: &[Slot]) -> Result<Slot> {
        let Some(&first) = cells.first() else { return self.emit.fresh(0) };
        // Constants get their places later.
        let constant = cells.iter().any(|&slot| self.emit.constant_bits(slot).is_some());
        let in_order = !constant && cells.iter().zip(first..).all(|(&slot, expected)| slot == expected);
        if cells.len() == 1 || in_order {
            return Ok(first);
        }
        self.copies(cells)
    }

    /// New registers with the same contents, one after another.
    pub(super) fn copies(&mut self, cells: &[Slot]) -> Result<Slot> {
        let first = self.emit.fresh(cells.len() as u32)?;
        for (d, &a) in (first..).zip(cells) {
            self.emit.emit(crate::code::Inst::Move { d, a })?;
        }
        Ok(first)
    }

    /// Defines the value of an id.
    pub(super) fn define(&mut self, id: u32, value: Value) -> Result<()> {
        if let Value::Cells(cells) = &value {
            self.named += cells.len();
            if self.named > NAMED_LIMIT {
                return Err(refuse(rule::UNSUPPORTED, format!("values of more than {NAMED_LIMIT} scalars")));
            }
        }
        self.values.insert(id, value);
        Ok(())
    }

    /// Defines an instruction's result as these registers.
    pub(super) fn result(&mut self, inst: &Instruction<'_>, cells: impl Into<Cells>) -> Result<()> {
        let cells = cells.into();
        if self.layouts.cells(inst.ty)? as usize != cells.len() {
            return Err(inst.refuse(rule::UNIVERSAL, "does not fit its result type"));
        }
        self.define(inst.id, Value::Cells(cells))
    }

    /// As [`Self::result`], for registers one after another.
    pub(super) fn result_at(&mut self, inst: &Instruction<'_>, first: Slot) -> Result<()> {
        let count = self.layouts.cells(inst.ty)?;
        self.result(inst, (first..first + count).collect::<Cells>())
    }

    /// The value of an operand that must be a constant of an integer type.
    pub(super) fn constant_operand(&mut self, inst: &Instruction<'_>, id: u32) -> Result<u64> {
        let slot = self.scalar(id)?;
        self.emit.constant_bits(slot).ok_or_else(|| inst.refuse(rule::UNIVERSAL, format!("%{id} must be a constant")))
    }
}
