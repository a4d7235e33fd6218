//! The state of the compiler, and values by id.

use std::rc::Rc;

use ptx2spv_target::Target;
use rustc_hash::FxHashMap;

use super::Result;
use super::emit::{Emitter, Label};
use super::layout::{Layouts, Scalar};
use crate::code::{BuiltIn, Code, Inst, Slot};
use crate::module::{Instruction, Module, Refusal, rule};

/// Maximum number of registers named by values, so that a small module can't exhaust memory.
const NAMED_LIMIT: usize = 1 << 22;

/// The registers of a value, one for each scalar in it.
pub(super) type Cells = Rc<[Slot]>;

/// The value of an id.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Cells(Cells),
    /// A zero value of a type.
    Null(u32),
    /// A pointer to a built-in input, or to one component of it.
    Input(BuiltIn, Option<u8>),
}

/// The information about a function that its callers need.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// The function's first instruction.
    pub(super) label: Label,
    /// The registers of all parameters, in order.
    pub(super) parameters: Cells,
    pub(super) result: Cells,
    /// Whether the function, or one that it calls, waits for other invocations.
    pub(super) waits: bool,
}

/// Facts about a pointer other than its address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PointerFacts {
    pub(super) coherent: bool,
    pub(super) volatile: bool,
    /// Whether the module promises not to write through it.
    pub(super) read_only: bool,
}

/// The initial value of a `Private` variable, which is stored before the entry point begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Initial {
    pub(super) word: u32,
    pub(super) pointer: Slot,
    pub(super) ty: u32,
    pub(super) value: u32,
}

/// Workgroup memory allocated so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shared {
    /// Whether there are variables without an explicit layout.
    pub(super) plain: bool,
    /// Blocks with an explicit layout, and whether all of them are `Aliased`.
    pub(super) blocks: u32,
    pub(super) all_aliased: bool,
}

pub(super) struct Compiler<'m> {
    pub(super) module: &'m Module,
    pub(super) target: &'m Target,
    /// Everything except instructions and constants, which are in `emit` until the end.
    pub(super) code: Code,
    pub(super) emit: Emitter,
    pub(super) layouts: Layouts,
    pub(super) values: FxHashMap<u32, Value>,
    /// Number of registers named in `values`.
    pub(super) named: usize,
    pub(super) facts: FxHashMap<u32, PointerFacts>,
    /// Work to do before the entry point begins.
    pub(super) initials: Vec<Initial>,
    /// Functions by id, with the information that callers need.
    pub(super) callees: FxHashMap<u32, Callee>,
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
            initials: Vec::new(),
            callees: FxHashMap::default(),
            shared: Shared::default(),
        }
    }

    pub(super) fn definition(&self, id: u32) -> Result<Instruction<'m>> {
        self.module
            .instructions
            .definition(id)
            .ok_or_else(|| Refusal::new(rule::UNIVERSAL, format!("%{id} is not defined")))
    }

    pub(super) fn type_of(&self, id: u32) -> Result<u32> {
        match self.definition(id)?.ty {
            0 => Err(Refusal::new(rule::UNIVERSAL, format!("%{id} is not a value"))),
            ty => Ok(ty),
        }
    }

    /// The scalar type and count of a scalar or vector by its id.
    pub(super) fn vector_of(&self, id: u32) -> Result<(Scalar, u32)> {
        self.layouts.vector(self.type_of(id)?)
    }

    pub(super) fn value(&mut self, id: u32) -> Result<Value> {
        match self.values.get(&id) {
            Some(value) => Ok(value.clone()),
            None => self.global_value(id),
        }
    }

    pub(super) fn cells(&mut self, id: u32) -> Result<Cells> {
        match self.value(id)? {
            Value::Cells(cells) => Ok(cells),
            Value::Null(ty) => {
                let zero = self.emit.constant(0);
                Ok(vec![zero; self.layouts.cells(ty)? as usize].into())
            }
            Value::Input(..) => {
                Err(Refusal::new(rule::UNIVERSAL, format!("%{id} points to an input and is not a value here")))
            }
        }
    }

    pub(super) fn scalar(&mut self, id: u32) -> Result<Slot> {
        match *self.cells(id)? {
            [slot] => Ok(slot),
            _ => Err(Refusal::new(rule::UNIVERSAL, format!("%{id} is not a scalar"))),
        }
    }

    /// The registers of a value, made contiguous.
    pub(super) fn contiguous(&mut self, cells: &[Slot]) -> Result<Slot> {
        let Some(&first) = cells.first() else { return self.emit.fresh(0) };
        // Constants get their final registers later.
        let constant = cells.iter().any(|&slot| self.emit.constant_bits(slot).is_some());
        let in_order = !constant && cells.iter().zip(first..).all(|(&slot, expected)| slot == expected);
        if cells.len() == 1 || in_order {
            return Ok(first);
        }
        self.copies(cells)
    }

    /// Copies to new, contiguous registers.
    pub(super) fn copies(&mut self, cells: &[Slot]) -> Result<Slot> {
        let first = self.emit.fresh(cells.len() as u32)?;
        for (d, &a) in (first..).zip(cells) {
            self.emit.emit(Inst::Move { d, a })?;
        }
        Ok(first)
    }

    pub(super) fn define(&mut self, id: u32, value: Value) -> Result<()> {
        if let Value::Cells(cells) = &value {
            self.named += cells.len();
            if self.named > NAMED_LIMIT {
                return Err(Refusal::new(rule::UNSUPPORTED, format!("values of more than {NAMED_LIMIT} scalars")));
            }
        }
        self.values.insert(id, value);
        Ok(())
    }

    /// Defines an instruction's result by its registers.
    pub(super) fn result(&mut self, inst: &Instruction<'_>, cells: impl Into<Cells>) -> Result<()> {
        let cells = cells.into();
        inst.refuse_if(self.layouts.cells(inst.ty)? as usize != cells.len(), "does not fit its result type")?;
        self.define(inst.id, Value::Cells(cells))
    }

    /// Like [`Self::result`], for contiguous registers.
    pub(super) fn result_at(&mut self, inst: &Instruction<'_>, first: Slot) -> Result<()> {
        let count = self.layouts.cells(inst.ty)?;
        self.result(inst, (first..first + count).collect::<Cells>())
    }

    /// The value of an operand that must be an integer constant.
    pub(super) fn constant_operand(&mut self, inst: &Instruction<'_>, id: u32) -> Result<u64> {
        let slot = self.scalar(id)?;
        self.emit.constant_bits(slot).ok_or_else(|| inst.refuse(rule::UNIVERSAL, format!("%{id} must be a constant")))
    }
}
