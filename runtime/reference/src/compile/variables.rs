//! The memory of variables. Variables outside of functions are allocated on first use.

use std::rc::Rc;

use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};

use super::Result;
use super::compiler::{Compiler, Initial, Value};
use super::emit::Label;
use super::layout::Kind;
use crate::code::{Block, Class, Inst, MemoryAccess, Slot, Variable};
use crate::module::{Instruction, Refusal, rule};

/// Maximum bytes of an invocation's own memory, so that a workgroup's memory fits into the host's.
const PRIVATE_LIMIT: u64 = 1 << 20;

impl Compiler<'_> {
    /// Defines an id outside of functions that has no value yet.
    pub(super) fn global_value(&mut self, id: u32) -> Result<Value> {
        let inst = self.definition(id)?;
        let global =
            self.module.globals.binary_search_by_key(&inst.word, |&at| self.module.instructions.get(at).word).is_ok();
        let value = match inst.op {
            Op::Variable if global => self.variable(&inst)?,
            _ => return Err(inst.refuse(rule::UNIVERSAL, format!("%{id} is used before it is defined"))),
        };
        self.define(id, value.clone())?;
        Ok(value)
    }

    pub(super) fn pointer_type(&self, ty: u32) -> Result<(StorageClass, u32)> {
        let pointer = self.module.instructions.definition(ty).filter(|inst| inst.op == Op::TypePointer);
        match pointer.map(|inst| inst.operands) {
            Some(&[class, pointee]) => Ok((StorageClass::from_u32(class).unwrap_or(StorageClass::Generic), pointee)),
            _ => Err(Refusal::new(rule::UNIVERSAL, format!("%{ty} is not a pointer type"))),
        }
    }

    /// A variable outside of functions.
    fn variable(&mut self, inst: &Instruction<'_>) -> Result<Value> {
        let (class, ty) = self.pointer_type(inst.ty)?;
        inst.refuse_if(inst.operand(0)? != class as u32, "differs from its type in its storage class")?;
        let initial = inst.operands.get(1).copied();
        let slot = match class {
            StorageClass::Input => return self.input(inst),
            StorageClass::Private => {
                let offset = self.private_variable(inst, ty)?;
                let pointer = self.emit.constant(u64::from(offset));
                if let Some(value) = initial {
                    inst.refuse_if(self.type_of(value)? != ty, "has an initial value of another type")?;
                    self.initials.push(Initial { word: inst.word, pointer, ty, value });
                }
                pointer
            }
            StorageClass::Workgroup => {
                let offset = self.workgroup_variable(inst, ty)?;
                self.emit.constant(u64::from(offset))
            }
            StorageClass::PushConstant => {
                let bytes = self.layouts.get(ty)?.bytes;
                let limit = self.target.limits.max_push_constants_size;
                if bytes > u64::from(limit) {
                    return Err(inst.refuse("maxPushConstantsSize", format!("{bytes} bytes, the limit is {limit}")));
                }
                self.emit.constant(0)
            }
            _ => return Err(inst.refuse(rule::UNSUPPORTED, format!("a variable in {class:?}"))),
        };
        Ok(Value::Cells(Rc::new([slot])))
    }

    pub(super) fn local_variable(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (class, ty) = self.pointer_type(inst.ty)?;
        let wrong = class != StorageClass::Function || inst.operand(0)? != class as u32;
        inst.refuse_if(wrong, "is not a variable of a function")?;
        let offset = self.private_variable(inst, ty)?;
        let pointer = self.emit.constant(u64::from(offset));
        if let Some(&value) = inst.operands.get(1) {
            inst.refuse_if(self.type_of(value)? != ty, "has an initial value of another type")?;
            self.initialise(pointer, ty, value)?;
        } else if self.emit.place.block != 0 {
            // The entry point, whose first block is number 0, runs only once. In other functions, an earlier call may
            // have left a value.
            let bytes = self.code.private_bytes - offset;
            self.emit.emit(Inst::Forget { offset, bytes })?;
        }
        self.result(inst, [pointer])
    }

    fn initialise(&mut self, pointer: Slot, ty: u32, value: u32) -> Result<()> {
        let cells = self.cells(value)?;
        self.store_cells(Class::Private, pointer, ty, &cells, 0, 1)
    }

    /// Allocates in the invocation's memory.
    fn private_variable(&mut self, inst: &Instruction<'_>, ty: u32) -> Result<u32> {
        let bytes = self.sized(inst, ty)?;
        let offset = u64::from(self.code.private_bytes).next_multiple_of(16);
        let end = offset.saturating_add(bytes);
        if end > PRIVATE_LIMIT {
            let message = format!("an invocation's variables take {end} bytes, {PRIVATE_LIMIT} is the most");
            return Err(inst.refuse(rule::UNSUPPORTED, message));
        }
        self.code.private_bytes = end as u32;
        self.note_variable(inst, Class::Private, offset as u32, bytes as u32);
        Ok(offset as u32)
    }

    /// Bytes of a variable, whose type must have a size.
    fn sized(&self, inst: &Instruction<'_>, ty: u32) -> Result<u64> {
        let layout = self.layouts.get(ty)?;
        match layout.kind {
            Kind::Other | Kind::RuntimeArray { .. } => Err(inst.refuse(rule::UNIVERSAL, "has a type without a size")),
            _ => Ok(layout.bytes),
        }
    }

    fn note_variable(&mut self, inst: &Instruction<'_>, class: Class, offset: u32, bytes: u32) {
        let name = self.module.name(inst.id);
        self.code.variables.push(Variable { name, class, offset, bytes });
    }

    /// Allocates in the workgroup's memory. Blocks with an explicit layout all begin at 0.
    fn workgroup_variable(&mut self, inst: &Instruction<'_>, ty: u32) -> Result<u32> {
        let bytes = self.sized(inst, ty)?;
        if inst.operands.len() > 1 {
            return Err(inst.refuse(rule::UNSUPPORTED, "has an initializer"));
        }
        let aliased = self.module.decoration(inst.id, Decoration::Aliased).is_some();
        let block = self.module.decoration(ty, Decoration::Block).is_some();
        let shared = &mut self.shared;
        if block {
            shared.all_aliased = aliased && (shared.blocks == 0 || shared.all_aliased);
            shared.blocks += 1;
        }
        shared.plain |= !block;
        if (shared.plain && shared.blocks != 0) || (shared.blocks > 1 && !shared.all_aliased) {
            let message = "is a block in workgroup memory beside others, not all of which are aliased blocks";
            return Err(inst.refuse("SPV_KHR_workgroup_memory_explicit_layout", message));
        }
        let before = u64::from(self.code.workgroup_bytes);
        let offset = if block { 0 } else { before.next_multiple_of(16) };
        let end = offset.saturating_add(bytes).max(before);
        let limit = self.target.limits.max_compute_shared_memory_size;
        if end > u64::from(limit) {
            let message = format!("workgroup variables take {end} bytes, the limit is {limit}");
            return Err(inst.refuse("maxComputeSharedMemorySize", message));
        }
        // No overflow: the limit has 32 bits.
        self.code.workgroup_bytes = end as u32;
        self.note_variable(inst, Class::Workgroup, offset as u32, bytes as u32);
        Ok(offset as u32)
    }

    fn input(&mut self, inst: &Instruction<'_>) -> Result<Value> {
        let number = self.module.decoration(inst.id, Decoration::BuiltIn);
        let Some(builtin) = number.and_then(BuiltIn::from_u32) else {
            return Err(inst.refuse(rule::UNIVERSAL, "is an input but no built-in of compute shaders"));
        };
        let Some(components) = components(builtin) else {
            return Err(inst.refuse(rule::UNSUPPORTED, format!("the built-in {builtin:?}")));
        };
        let (_, ty) = self.pointer_type(inst.ty)?;
        let (scalar, count) = self.layouts.vector(ty)?;
        let wrong = scalar.bits() != 32 || count != components;
        inst.refuse_if(wrong, format_args!("has a type that {builtin:?} has not"))?;
        Ok(Value::Input(builtin, None))
    }

    /// Emits the initial values of variables, followed by the jump to the entry point.
    pub(super) fn initials(&mut self, main: Label) -> Result<()> {
        let start = self.emit.label();
        self.emit.bind(start);
        // A block of its own before the entry point's first block.
        self.emit.place.block = self.code.blocks.len() as u32;
        self.emit.place.line = None;
        // A value may be the address of another variable, which has an initial value too.
        let mut next = 0;
        while let Some(&Initial { word, pointer, ty, value }) = self.initials.get(next) {
            next += 1;
            self.emit.place.word = word;
            self.initialise(pointer, ty, value)?;
        }
        if next == 0 {
            self.code.start = self.emit.position(main);
        } else {
            self.emit.emit(Inst::Jump(main))?;
            self.code.start = self.emit.position(start);
            self.code.blocks.push(Block { start: self.code.start, forward: vec![0], ..Block::default() });
        }
        Ok(())
    }

    /// The index of an access in [`Code::accesses`](crate::code::Code::accesses).
    pub(super) fn access_number(&mut self, access: MemoryAccess) -> Result<u16> {
        let found = self.code.accesses.iter().position(|other| *other == access);
        let number = found.unwrap_or_else(|| {
            self.code.accesses.push(access);
            self.code.accesses.len() - 1
        });
        u16::try_from(number).map_err(|_| Refusal::new(rule::UNSUPPORTED, "too many kinds of accesses"))
    }
}

/// The number of components of a built-in; `None` if it is not supported.
fn components(builtin: BuiltIn) -> Option<u32> {
    use BuiltIn::*;
    match builtin {
        NumWorkgroups | WorkgroupId | LocalInvocationId | GlobalInvocationId | WorkgroupSize => Some(3),
        SubgroupEqMask | SubgroupGeMask | SubgroupGtMask | SubgroupLeMask | SubgroupLtMask => Some(4),
        LocalInvocationIndex | SubgroupSize | NumSubgroups | SubgroupId | SubgroupLocalInvocationId => Some(1),
        _ => None,
    }
}
