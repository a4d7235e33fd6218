//! Turns an entry point of a module into [`Code`].
//!
//! Vectors and other composites are split here: a value is a list of registers, and extracting, inserting and constructing parts costs
//! nothing at run time. In a valid module a register of an earlier value may stand for a part of a later one, since no path from a
//! definition to its uses passes the definition again without redefining the later value too.

mod arithmetic;
mod atomic;
mod body;
mod composite;
mod constants;
mod dot;
mod emit;
mod flow;
mod glsl;
mod group;
mod layout;
mod matrix;
mod memory;
mod modes;
mod operations;
mod pack;
mod variables;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use ptx2spv_target::Target;
use rspirv::spirv::ExecutionModel;
use rustc_hash::FxHashMap;

use crate::code::{Builtin, Code, Slot};
use crate::finding::Refusal;
use crate::module::{Instruction, Module, rule};
use emit::Emitter;
use layout::{Layouts, Scalar};
use memory::PointerFacts;
use variables::Deferred;

type Result<T> = std::result::Result<T, Refusal>;

/// The registers of a value, one for each scalar in it.
type Cells = Rc<[Slot]>;

/// Most registers named by values, so that small modules can't take all memory.
const NAMED_LIMIT: usize = 1 << 22;

fn refuse(rule: &str, message: impl Into<String>) -> Refusal {
    Refusal { rule: rule.into(), message: message.into() }
}

/// What an id stands for.
#[derive(Clone, Debug)]
enum Value {
    /// Registers.
    Cells(Cells),
    /// All zeroes, of a type by id.
    Null(u32),
    /// A pointer to a built-in input or to a component of it.
    Input(Builtin, Component),
}

/// Which components of a built-in input a pointer means.
#[derive(Clone, Copy, Debug)]
enum Component {
    /// As many as the type says.
    All,
    /// One.
    One(u8),
    /// The one of `count` that a register says.
    Dynamic { index: Slot, count: u8 },
}

/// Specialises and compiles an entry point. `specialization` gives values for `SpecId`s.
///
/// # Errors
/// No such entry point, something the interpreter does not know, or sizes beyond the target's limits.
pub(crate) fn compile(module: &Module, entry: &str, specialization: &[(u32, u64)], target: &Target) -> Result<Code> {
    let compute = ExecutionModel::GLCompute as u32;
    let found = module.entry_points.iter().find(|point| point.name == entry && point.model == compute);
    let point = found.ok_or_else(|| {
        refuse("VUID-VkPipelineShaderStageCreateInfo-pName-00707", format!("no compute entry point `{entry}`"))
    })?;
    let mut compiler = Compiler::new(module, target);
    compiler.globals(specialization)?;
    compiler.modes(point)?;
    let start = compiler.functions(point.function)?;
    compiler.deferred(start)?;
    compiler.check_limits()?;
    let Compiler { emit, mut code, .. } = compiler;
    emit.finish(&mut code);
    Ok(code)
}

struct Compiler<'m> {
    module: &'m Module,
    target: &'m Target,
    /// Everything but instructions and constants, which `emit` has until the end.
    code: Code,
    emit: Emitter,
    layouts: Layouts,
    values: FxHashMap<u32, Value>,
    /// Registers that `values` names.
    named: usize,
    /// Facts about pointers besides their addresses.
    facts: FxHashMap<u32, PointerFacts>,
    /// Work to do before the entry point begins.
    deferred: Vec<Deferred>,
    /// Functions by id: what callers need to know about them.
    callees: FxHashMap<u32, body::Callee>,
    /// What has been placed in workgroup memory.
    shared: variables::Shared,
}

impl<'m> Compiler<'m> {
    fn new(module: &'m Module, target: &'m Target) -> Self {
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
            shared: variables::Shared::default(),
        }
    }

    /// The instruction that defines an id.
    fn definition(&self, id: u32) -> Result<Instruction<'m>> {
        self.module.definition(id).ok_or_else(|| refuse(rule::UNIVERSAL, format!("%{id} is not defined")))
    }

    /// The id of a value's type.
    fn type_of(&self, id: u32) -> Result<u32> {
        match self.definition(id)?.ty {
            0 => Err(refuse(rule::UNIVERSAL, format!("%{id} is no value"))),
            ty => Ok(ty),
        }
    }

    /// The scalar type and count of a scalar or vector by its id.
    fn vector_of(&self, id: u32) -> Result<(Scalar, u32)> {
        self.layouts.vector(self.type_of(id)?)
    }

    /// What an id stands for.
    fn value(&mut self, id: u32) -> Result<Value> {
        match self.values.get(&id) {
            Some(value) => Ok(value.clone()),
            None => self.global_value(id),
        }
    }

    /// The registers of a value.
    fn cells(&mut self, id: u32) -> Result<Cells> {
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
    fn scalar(&mut self, id: u32) -> Result<Slot> {
        match *self.cells(id)? {
            [slot] => Ok(slot),
            _ => Err(refuse(rule::UNIVERSAL, format!("%{id} is not a scalar"))),
        }
    }

    /// The registers of a value, one after another.
    fn contiguous(&mut self, cells: &[Slot]) -> Result<Slot> {
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
    fn copies(&mut self, cells: &[Slot]) -> Result<Slot> {
        let first = self.emit.fresh(cells.len() as u32)?;
        for (d, &a) in (first..).zip(cells) {
            self.emit.emit(crate::code::Inst::Move { d, a })?;
        }
        Ok(first)
    }

    /// Defines the value of an id.
    fn define(&mut self, id: u32, value: Value) -> Result<()> {
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
    fn result(&mut self, inst: &Instruction<'_>, cells: impl Into<Cells>) -> Result<()> {
        let cells = cells.into();
        if self.layouts.cells(inst.ty)? as usize != cells.len() {
            return Err(inst.refuse(rule::UNIVERSAL, "does not fit its result type"));
        }
        self.define(inst.id, Value::Cells(cells))
    }

    /// As [`Self::result`], for registers one after another.
    fn result_at(&mut self, inst: &Instruction<'_>, first: Slot) -> Result<()> {
        let count = self.layouts.cells(inst.ty)?;
        self.result(inst, (first..first + count).collect::<Cells>())
    }

    /// The value of an operand that must be a constant of an integer type.
    fn constant_operand(&mut self, inst: &Instruction<'_>, id: u32) -> Result<u64> {
        let slot = self.scalar(id)?;
        self.emit.constant_bits(slot).ok_or_else(|| inst.refuse(rule::UNIVERSAL, format!("%{id} must be a constant")))
    }
}
