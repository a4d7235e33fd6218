//! Pointers, loads and stores.

use rspirv::spirv::{Decoration, MemoryAccess as Operands, Op, StorageClass};

use super::Result;
use super::compiler::{Compiler, PointerFacts, Value};
use super::layout::{Kind, Member, Scalar};
use crate::code::{Binary, BuiltIn, Class, Conversion, Inst, MemoryAccess, Scope, Slot};
use crate::module::{Instruction, Refusal, rule};

#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    pub(super) class: Class,
    pub(super) storage: StorageClass,
    pub(super) slot: Slot,
    /// The type that it points to.
    pub(super) pointee: u32,
    pub(super) facts: PointerFacts,
}

/// The class of a storage class, if it is memory.
pub(super) fn class_of(class: StorageClass) -> Option<Class> {
    Some(match class {
        StorageClass::PhysicalStorageBuffer => Class::Device,
        StorageClass::Workgroup => Class::Workgroup,
        StorageClass::Function | StorageClass::Private => Class::Private,
        StorageClass::PushConstant => Class::PushConstant,
        _ => return None,
    })
}

impl Compiler<'_> {
    /// Compiles a memory instruction other than an atomic. Returns whether it is one.
    pub(super) fn memory_operation(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        match inst.op {
            Op::Variable => self.local_variable(inst)?,
            Op::AccessChain => self.access_chain(inst)?,
            Op::Load => self.load(inst)?,
            Op::Store => self.store(inst)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The facts about a pointer: those that it was derived with, and its own decorations.
    fn pointer_facts(&self, id: u32) -> PointerFacts {
        let mut facts = self.facts.get(&id).copied().unwrap_or_default();
        facts.coherent |= self.module.decoration(id, Decoration::Coherent).is_some();
        facts.volatile |= self.module.decoration(id, Decoration::Volatile).is_some();
        facts.read_only |= self.module.decoration(id, Decoration::NonWritable).is_some();
        facts
    }

    pub(super) fn pointer(&mut self, inst: &Instruction<'_>, id: u32) -> Result<Pointer> {
        let (storage, pointee) = self.pointer_type(self.type_of(id)?)?;
        let Some(class) = class_of(storage) else {
            return Err(inst.refuse(rule::UNSUPPORTED, format!("a pointer to {storage:?}")));
        };
        Ok(Pointer { class, storage, slot: self.scalar(id)?, pointee, facts: self.pointer_facts(id) })
    }

    /// A pointer plus a number of bytes.
    pub(super) fn offset(&mut self, a: Slot, bytes: u64) -> Result<Slot> {
        if bytes == 0 {
            return Ok(a);
        }
        if let Some(base) = self.emit.constant_bits(a) {
            return Ok(self.emit.constant(base.wrapping_add(bytes)));
        }
        match u32::try_from(bytes) {
            Ok(offset) => self.emit.compute(|d| Inst::Offset { d, a, offset }),
            Err(_) => {
                let b = self.emit.constant(bytes);
                self.emit.compute(|d| Inst::Binary { op: Binary::IAdd, bits: 64, d, a, b })
            }
        }
    }

    fn access_chain(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let base = inst.operand(0)?;
        if let Value::Input(builtin, component) = self.value(base)? {
            return self.input_chain(inst, builtin, component);
        }
        let mut pointer = self.pointer(inst, base)?;
        // Constant parts are added up and applied together.
        let mut constant = 0u64;
        for &index in inst.rest(1) {
            let ty = pointer.pointee;
            let layout = self.layouts.get(ty)?;
            let (part, count) = match &layout.kind {
                Kind::Struct(_) => {
                    let number = self.scalar_constant(index)?.and_then(|number| u32::try_from(number).ok());
                    let member = number.and_then(|number| Some((number, self.member(ty, number)?)));
                    let Some((number, member)) = member else {
                        return Err(
                            inst.refuse(rule::UNIVERSAL, format!("%{index} is not a constant member of the struct"))
                        );
                    };
                    constant = constant.saturating_add(member.offset);
                    pointer.pointee = member.ty;
                    let decorated = |kind| self.module.member_decoration(ty, number, kind).is_some();
                    pointer.facts.coherent |= decorated(Decoration::Coherent);
                    pointer.facts.volatile |= decorated(Decoration::Volatile);
                    pointer.facts.read_only |= decorated(Decoration::NonWritable);
                    continue;
                }
                &Kind::Vector { count, .. } => (self.module.component_type(ty), count),
                &Kind::Array { element, length, .. } => (element, length),
                &Kind::RuntimeArray { element, .. } => (element, 0),
                Kind::CooperativeMatrix { .. } | Kind::Scalar(_) | Kind::Other => {
                    return Err(inst.refuse(rule::UNIVERSAL, "indexes a type without parts"));
                }
            };
            let stride = self.layouts.part_stride(ty)?;
            self.step(inst, &mut pointer, &mut constant, index, stride, count)?;
            pointer.pointee = part;
        }
        let (storage, pointee) = self.pointer_type(inst.ty)?;
        let wrong = storage != pointer.storage || pointee != pointer.pointee;
        inst.refuse_if(wrong, "results in a pointer of another type")?;
        let slot = self.offset(pointer.slot, constant)?;
        self.facts.insert(inst.id, pointer.facts);
        self.result(inst, [slot])
    }

    /// Advances a pointer by an index. A `count` of 0 means an unknown number of elements.
    fn step(
        &mut self,
        inst: &Instruction<'_>,
        pointer: &mut Pointer,
        constant: &mut u64,
        index: u32,
        stride: u64,
        count: u32,
    ) -> Result<()> {
        let (Scalar::Int(bits), 1) = self.vector_of(index)? else {
            return Err(inst.refuse(rule::UNIVERSAL, format!("%{index} is not an integer")));
        };
        let index = self.scalar(index)?;
        if let Some(value) = self.emit.constant_bits(index) {
            let positive = value >> (bits - 1) == 0;
            if positive && (count == 0 || value < u64::from(count)) {
                *constant = constant.saturating_add(value.saturating_mul(stride));
                return Ok(());
            }
        }
        let stride = u32::try_from(stride).map_err(|_| {
            inst.refuse(rule::UNSUPPORTED, format!("elements of {stride} bytes with an index that is not a constant"))
        })?;
        let a = pointer.slot;
        pointer.slot = self.emit.compute(|d| Inst::Index { bits, d, a, index, stride, count })?;
        Ok(())
    }

    /// The value of a scalar, if it is constant.
    fn scalar_constant(&mut self, id: u32) -> Result<Option<u64>> {
        let slot = self.scalar(id)?;
        Ok(self.emit.constant_bits(slot))
    }

    fn member(&self, ty: u32, number: u32) -> Option<Member> {
        match &self.layouts.get(ty).ok()?.kind {
            Kind::Struct(members) => members.get(number as usize).copied(),
            _ => None,
        }
    }

    fn input_chain(&mut self, inst: &Instruction<'_>, builtin: BuiltIn, component: Option<u8>) -> Result<()> {
        let (None, &[index]) = (component, inst.rest(1)) else {
            return Err(inst.refuse(rule::UNIVERSAL, "indexes a component"));
        };
        let base = self.pointer_type(self.type_of(inst.operand(0)?)?)?;
        let (scalar, count) = self.layouts.vector(base.1)?;
        let (storage, pointee) = self.pointer_type(inst.ty)?;
        let wrong = storage != StorageClass::Input || self.layouts.vector(pointee)? != (scalar, 1);
        inst.refuse_if(wrong, "results in a pointer of another type")?;
        let component = match self.scalar_constant(index)? {
            Some(value) if value < u64::from(count) => value as u8,
            Some(_) => return Err(inst.refuse(rule::UNIVERSAL, "there is no such component")),
            None => return Err(inst.refuse(rule::UNSUPPORTED, "indexes an input by something that is not a constant")),
        };
        self.define(inst.id, Value::Input(builtin, Some(component)))
    }

    /// Loads from a built-in input, all components or one.
    fn load_input(&mut self, inst: &Instruction<'_>, builtin: BuiltIn, component: Option<u8>) -> Result<()> {
        let (_, count) = self.layouts.vector(inst.ty)?;
        let first = component.unwrap_or(0);
        // Built-ins have at most 4 components.
        let read = |component| self.emit.compute(|d| Inst::Builtin { builtin, component, d });
        let cells: Vec<Slot> = (first..first + count as u8).map(read).collect::<Result<_>>()?;
        self.result(inst, cells)
    }

    /// Reads memory operands, from an operand on: the number of the access, and its alignment. Scopes follow in the order of the bits.
    fn memory_operands(
        &mut self,
        inst: &Instruction<'_>,
        first: usize,
        pointer: &Pointer,
        write: bool,
    ) -> Result<(u16, u32)> {
        let bits = inst.operands.get(first).copied().unwrap_or(0);
        let mask = Operands::from_bits(bits)
            .ok_or_else(|| inst.refuse(rule::INSTRUCTION, format!("unknown memory operands {bits:#x}")))?;
        let mut next = first + usize::from(inst.operands.len() > first);
        let mut more = |present: bool| -> Result<Option<u32>> {
            if !present {
                return Ok(None);
            }
            next += 1;
            inst.operand(next - 1).map(Some)
        };
        let align = more(mask.contains(Operands::ALIGNED))?;
        let available = more(mask.contains(Operands::MAKE_POINTER_AVAILABLE))?;
        let visible = more(mask.contains(Operands::MAKE_POINTER_VISIBLE))?;
        let wrong = (write && visible.is_some()) || (!write && available.is_some());
        inst.refuse_if(wrong, "makes loads available or stores visible")?;
        let plain = self.plain_access(pointer);
        let mut scope = |id: Option<u32>| id.map(|id| self.scope(inst, id)).transpose();
        let access = MemoryAccess {
            non_private: plain.non_private || mask.contains(Operands::NON_PRIVATE_POINTER),
            available: scope(available)?,
            visible: scope(visible)?,
            volatile: plain.volatile || mask.contains(Operands::VOLATILE),
            ..plain
        };
        Ok((self.access_number(access)?, self.alignment(inst, pointer, align)?))
    }

    /// The access of an instruction without memory operands.
    fn plain_access(&self, pointer: &Pointer) -> MemoryAccess {
        let glsl = !self.module.has_vulkan_memory_model();
        let coherent = glsl && pointer.facts.coherent;
        // In the GLSL model, workgroup variables are implicitly coherent.
        let non_private = coherent || glsl && pointer.class == Class::Workgroup;
        MemoryAccess { non_private, coherent, volatile: pointer.facts.volatile, ..MemoryAccess::default() }
    }

    /// The alignment that an access promises.
    fn alignment(&self, inst: &Instruction<'_>, pointer: &Pointer, align: Option<u32>) -> Result<u32> {
        // Scalars have at most 8 bytes.
        let scalars = self.layouts.get(pointer.pointee)?.scalar_align as u32;
        if pointer.storage != StorageClass::PhysicalStorageBuffer {
            return Ok(scalars);
        }
        match align {
            Some(align) if align.is_power_of_two() && align >= scalars => Ok(align),
            Some(align) => {
                Err(inst.refuse("VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314", format!("Aligned {align}")))
            }
            None => Err(inst.refuse("VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708", "has no Aligned operand")),
        }
    }

    fn load(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let id = inst.operand(0)?;
        if let Value::Input(builtin, component) = self.value(id)? {
            return self.load_input(inst, builtin, component);
        }
        let pointer = self.pointer(inst, id)?;
        inst.refuse_if(pointer.pointee != inst.ty, "loads another type than its pointer points to")?;
        let (how, align) = self.memory_operands(inst, 1, &pointer, false)?;
        let leaves = self.layouts.leaves(pointer.pointee)?;
        let class = pointer.class;
        let first = self.emit.fresh(leaves.len() as u32)?;
        self.access(class, pointer.slot, &leaves, align, false)?;
        for (d, &(offset, scalar)) in (first..).zip(&leaves) {
            let (pointer, offset) = (pointer.slot, small(offset)?);
            let target = if scalar == Scalar::Bool { self.emit.fresh(1)? } else { d };
            self.emit.emit(Inst::Load { class, bytes: scalar.bytes(), how, d: target, pointer, offset })?;
            if scalar == Scalar::Bool {
                // Uninitialized memory may hold anything, but registers of booleans must be 0 or 1.
                self.emit.emit(Inst::Convert { op: Conversion::UConvert, from: 32, to: 1, d, a: target })?;
            }
        }
        self.result_at(inst, first)
    }

    /// Emits the check of an access to the scalars of a value.
    fn access(&mut self, class: Class, pointer: Slot, leaves: &[(u64, Scalar)], align: u32, write: bool) -> Result<()> {
        let end = leaves.iter().map(|(offset, scalar)| offset.saturating_add(u64::from(scalar.bytes()))).max();
        let bytes = small(end.unwrap_or(0))?;
        self.emit.emit(Inst::Access { class, pointer, bytes, align, write })
    }

    fn store(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let pointer = self.writable(inst, inst.operand(0)?)?;
        let value = inst.operand(1)?;
        inst.refuse_if(self.type_of(value)? != pointer.pointee, "stores another type than its pointer points to")?;
        let (how, align) = self.memory_operands(inst, 2, &pointer, true)?;
        let cells = self.cells(value)?;
        self.store_cells(pointer.class, pointer.slot, pointer.pointee, &cells, how, align)
    }

    pub(super) fn writable(&mut self, inst: &Instruction<'_>, id: u32) -> Result<Pointer> {
        let pointer = self.pointer(inst, id)?;
        if pointer.facts.read_only || pointer.class == Class::PushConstant {
            return Err(inst.refuse("SPIR-V 3.20 Decoration, NonWritable", format!("writes to read-only %{id}")));
        }
        Ok(pointer)
    }

    pub(super) fn store_cells(
        &mut self,
        class: Class,
        pointer: Slot,
        ty: u32,
        cells: &[Slot],
        how: u16,
        align: u32,
    ) -> Result<()> {
        let leaves = self.layouts.leaves(ty)?;
        self.access(class, pointer, &leaves, align, true)?;
        for (&value, &(offset, scalar)) in cells.iter().zip(&leaves) {
            let (bytes, offset) = (scalar.bytes(), small(offset)?);
            self.emit.emit(Inst::Store { class, bytes, how, value, pointer, offset })?;
        }
        Ok(())
    }

    /// The scope of an operand, which must be a constant.
    pub(super) fn scope(&mut self, inst: &Instruction<'_>, id: u32) -> Result<Scope> {
        use rspirv::spirv::Scope as Spirv;
        let number = self.constant_operand(inst, id)?;
        let scope = u32::try_from(number).ok().and_then(Spirv::from_u32);
        Ok(match scope {
            Some(Spirv::Invocation) => Scope::Invocation,
            Some(Spirv::Subgroup) => Scope::Subgroup,
            Some(Spirv::Workgroup) => Scope::Workgroup,
            Some(Spirv::QueueFamily) => Scope::Device,
            Some(Spirv::Device) => {
                self.need_device_scope(inst)?;
                Scope::Device
            }
            _ => {
                let rule = "VUID-StandaloneSpirv-None-04638";
                return Err(inst.refuse(rule, format!("has scope {number}, which Vulkan does not have")));
            }
        })
    }
}

/// A size that has to fit into 32 bits.
fn small(bytes: u64) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| Refusal::new(rule::OFFSETS, format!("an access of {bytes} bytes")))
}
