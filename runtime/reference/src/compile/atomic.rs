//! Atomic operations, barriers and the clock.

use ptx2spv_target::Feature;
use rspirv::spirv::{MemorySemantics, Op, StorageClass};

use super::Result;
use super::compiler::Compiler;
use super::layout::Scalar;
use crate::code::{Atomic, AtomicOp, Barrier, Binary, Class, Inst, Scope, Semantics, Source};
use crate::module::{Instruction, rule};
use crate::requirements;

fn operation(op: Op) -> Option<AtomicOp> {
    match op {
        Op::AtomicLoad => Some(AtomicOp::Load),
        Op::AtomicStore => Some(AtomicOp::Store),
        Op::AtomicExchange => Some(AtomicOp::Exchange),
        Op::AtomicCompareExchange => Some(AtomicOp::CompareExchange),
        _ => Binary::of(Source::Atomic(op)).map(AtomicOp::Update),
    }
}

impl Compiler<'_> {
    /// Compiles an atomic operation, a barrier or a read of the clock. Returns whether it is one.
    pub(super) fn atomic(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        if let Some(op) = operation(inst.op) {
            self.atomic_operation(inst, op)?;
            return Ok(true);
        }
        match inst.op {
            Op::ControlBarrier => {
                let execution = self.scope(inst, inst.operand(0)?)?;
                if !matches!(execution, Scope::Subgroup | Scope::Workgroup) {
                    let message = format!("has execution scope {execution:?}");
                    return Err(inst.refuse("VUID-StandaloneSpirv-None-04636", message));
                }
                let barrier = self.barrier(inst, 1, execution)?;
                self.emit.emit(Inst::Barrier(barrier))?;
            }
            Op::MemoryBarrier => {
                let barrier = self.barrier(inst, 0, Scope::Invocation)?;
                self.emit.emit(Inst::Fence(barrier))?;
            }
            Op::ReadClockKHR => self.clock(inst)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn barrier(&mut self, inst: &Instruction<'_>, first: usize, execution: Scope) -> Result<u32> {
        let memory = self.scope(inst, inst.operand(first)?)?;
        let semantics = self.semantics(inst, inst.operand(first + 1)?)?;
        self.code.barriers.push(Barrier { execution, memory, semantics });
        Ok(self.code.barriers.len() as u32 - 1)
    }

    fn semantics(&mut self, inst: &Instruction<'_>, id: u32) -> Result<Semantics> {
        let bits = self.constant_operand(inst, id)?;
        let known = u32::try_from(bits).ok().and_then(MemorySemantics::from_bits);
        let mask =
            known.ok_or_else(|| inst.refuse(rule::INSTRUCTION, format!("unknown memory semantics {bits:#x}")))?;
        let has = |bit| mask.contains(bit);
        let vulkan = self.module.has_vulkan_memory_model();
        let strong = has(MemorySemantics::SEQUENTIALLY_CONSISTENT);
        if strong && vulkan {
            let message = "is sequentially consistent, which the Vulkan memory model doesn't support";
            return Err(inst.refuse(rule::UNIVERSAL, message));
        }
        let orders = MemorySemantics::ACQUIRE
            | MemorySemantics::RELEASE
            | MemorySemantics::ACQUIRE_RELEASE
            | MemorySemantics::SEQUENTIALLY_CONSISTENT;
        if (mask & orders).bits().count_ones() > 1 {
            return Err(inst.refuse(rule::INSTRUCTION, "has more than one memory order"));
        }
        let both = has(MemorySemantics::ACQUIRE_RELEASE) || strong;
        let acquire = has(MemorySemantics::ACQUIRE) || both;
        let release = has(MemorySemantics::RELEASE) || both;
        Ok(Semantics {
            acquire,
            release,
            available: if vulkan { has(MemorySemantics::MAKE_AVAILABLE) } else { release },
            visible: if vulkan { has(MemorySemantics::MAKE_VISIBLE) } else { acquire },
            device: has(MemorySemantics::UNIFORM_MEMORY),
            workgroup: has(MemorySemantics::WORKGROUP_MEMORY),
            volatile: has(MemorySemantics::VOLATILE),
        })
    }

    fn atomic_operation(&mut self, inst: &Instruction<'_>, op: AtomicOp) -> Result<()> {
        let id = inst.operand(0)?;
        let pointer = if op == AtomicOp::Load { self.pointer(inst, id)? } else { self.writable(inst, id)? };
        let (scalar, count) = self.layouts.vector(pointer.pointee)?;
        let float = op == AtomicOp::Update(Binary::FAdd);
        let bits = match scalar {
            Scalar::Int(bits @ (32 | 64)) if !float => bits,
            Scalar::Float(bits @ (32 | 64))
                if float || matches!(op, AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange) =>
            {
                bits
            }
            _ => return Err(inst.refuse(rule::UNIVERSAL, format!("works on {scalar:?}"))),
        };
        let wrong = count != 1 || (op != AtomicOp::Store && inst.ty != pointer.pointee);
        inst.refuse_if(wrong, "works on another type than its pointer points to")?;
        let place = match pointer.storage {
            StorageClass::PhysicalStorageBuffer => Class::Device,
            StorageClass::Workgroup => Class::Workgroup,
            other => return Err(inst.refuse("VUID-StandaloneSpirv-None-04686", format!("works on {other:?} memory"))),
        };
        self.need_atomic(inst, bits, float, place)?;
        let scope = self.scope(inst, inst.operand(1)?)?;
        let semantics = self.semantics(inst, inst.operand(2)?)?;
        let nothing = self.emit.constant(0);
        let (mut unequal, mut value, mut comparator) = (Semantics::default(), nothing, nothing);
        match op {
            AtomicOp::Load => {}
            AtomicOp::CompareExchange => {
                unequal = self.semantics(inst, inst.operand(3)?)?;
                value = self.atomic_operand(inst, 4, pointer.pointee)?;
                comparator = self.atomic_operand(inst, 5, pointer.pointee)?;
            }
            _ => value = self.atomic_operand(inst, 3, pointer.pointee)?,
        }
        let bytes = u32::from(bits / 8);
        let (slot, class, write) = (pointer.slot, pointer.class, op != AtomicOp::Load);
        self.emit.emit(Inst::Access { class, pointer: slot, bytes, align: bytes, write })?;
        let d = self.emit.fresh(1)?;
        self.emit.emit(Inst::Atomic(self.code.atomics.len() as u32))?;
        let atomic = Atomic { op, class, bits, d, pointer: slot, value, comparator, scope, semantics, unequal };
        self.code.atomics.push(atomic);
        if op == AtomicOp::Store { Ok(()) } else { self.result(inst, [d]) }
    }

    fn atomic_operand(&mut self, inst: &Instruction<'_>, index: usize, ty: u32) -> Result<u32> {
        let id = inst.operand(index)?;
        inst.refuse_if(self.type_of(id)? != ty, "has an operand of another type than its pointer points to")?;
        self.scalar(id)
    }

    /// Refuses atomics that the target doesn't support in this kind of memory.
    fn need_atomic(&self, inst: &Instruction<'_>, bits: u8, float: bool, class: Class) -> Result<()> {
        let shared = class == Class::Workgroup;
        let pair = match (float, bits) {
            (false, 64) => [Feature::ShaderBufferInt64Atomics, Feature::ShaderSharedInt64Atomics],
            (true, 32) => [Feature::ShaderBufferFloat32AtomicAdd, Feature::ShaderSharedFloat32AtomicAdd],
            (true, 64) => [Feature::ShaderBufferFloat64AtomicAdd, Feature::ShaderSharedFloat64AtomicAdd],
            _ => return Ok(()),
        };
        let message = format!("Op{:?} at word {} on {bits} bits", inst.op, inst.word);
        requirements::need(self.target, pair[usize::from(shared)], &message)
    }

    pub(super) fn need_device_scope(&self, inst: &Instruction<'_>) -> Result<()> {
        if !self.module.has_vulkan_memory_model() {
            return Ok(());
        }
        let message = format!("Op{:?} at word {} has device scope", inst.op, inst.word);
        requirements::need(self.target, Feature::VulkanMemoryModelDeviceScope, &message)
    }

    fn clock(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let id = inst.operand(0)?;
        // `scope` is not used here, because device scope requires another feature.
        let feature = match self.constant_operand(inst, id)? {
            1 => Feature::ShaderDeviceClock,
            3 => Feature::ShaderSubgroupClock,
            scope => {
                let rule = "VUID-StandaloneSpirv-OpReadClockKHR-04652";
                return Err(inst.refuse(rule, format!("has scope {scope}")));
            }
        };
        requirements::need(self.target, feature, &format!("OpReadClockKHR at word {}", inst.word))?;
        let d = self.emit.fresh(1)?;
        self.emit.emit(Inst::Clock { d })?;
        let wrong = self.layouts.vector(inst.ty)? != (Scalar::Int(64), 1);
        inst.refuse_if(wrong, "is no 64-bit integer")?;
        self.result(inst, [d])
    }
}
