//! Operations of a subgroup.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op, Word};

use super::body::Body;
use super::module::Global;
use super::result::Result;
use crate::diagnostic::ErrorKind;
use crate::ir::{MemoryOrder, Scope, Type, Value};

impl Body<'_, '_, '_> {
    /// The words of a ballot.
    pub(super) fn ballot(&mut self, results: &[Value], predicate: Value) -> Result<()> {
        let scope = self.subgroup_scope()?;
        if !self.module.device.ballots {
            return Err(lacks("ballots"));
        }
        self.module.capability(Capability::GroupNonUniformBallot);
        let predicate = Operand::IdRef(self.value(predicate));
        let vector = self.module.u32_vector(4)?;
        let ballot = self.result(Op::GroupNonUniformBallot, vector, vec![scope, predicate]);
        let word = self.module.u32()?;
        for (index, result) in (0..).zip(results) {
            let part = vec![Operand::IdRef(ballot), Operand::LiteralBit32(index)];
            let id = self.result(Op::CompositeExtract, word, part);
            self.set_value(*result, id);
        }
        Ok(())
    }

    /// The value of the invocation of a number.
    pub(super) fn shuffle(&mut self, value: Value, lane: Value) -> Result<Word> {
        let device = self.module.device;
        // SwiftShader makes much less of a broadcast than of a shuffle; to compile it takes llvmpipe ten times as long.
        let simpler = device.workarounds.conditions_slow && device.ballots;
        let to_all = simpler && self.offsets.constant(self.value(lane)).is_some();
        self.exchange(if to_all { Op::GroupNonUniformBroadcast } else { Op::GroupNonUniformShuffle }, value, lane)
    }

    /// The value of another invocation, which an operation finds by a number.
    pub(super) fn exchange(&mut self, op: Op, value: Value, number: Value) -> Result<Word> {
        let scope = self.subgroup_scope()?;
        if !self.module.device.shuffles {
            return Err(lacks("shuffles"));
        }
        self.module.capability(match op {
            Op::GroupNonUniformBroadcast => Capability::GroupNonUniformBallot,
            _ => Capability::GroupNonUniformShuffle,
        });
        let (value, number) = (self.value(value), self.value(number));
        let ty = self.ty(Type::I32)?;
        Ok(self.result(op, ty, vec![scope, Operand::IdRef(value), Operand::IdRef(number)]))
    }

    fn subgroup_scope(&mut self) -> Result<Operand> {
        Ok(Operand::IdScope(self.module.u32_constant(rspirv::spirv::Scope::Subgroup as u32)?))
    }

    /// Orders all memory accesses of the subgroup's invocations.
    pub(super) fn subgroup_barrier(&mut self) -> Result<()> {
        let execution = self.subgroup_scope()?;
        // Such drivers run a subgroup in lockstep, and this would wait for other subgroups.
        if self.module.device.workarounds.memory_barriers_wait {
            return Ok(());
        }
        if self.module.device.workarounds.subgroup_barriers_wait {
            return self.fence(Scope::Cta);
        }
        let semantics = self.fence_semantics(MemoryOrder::AcquireRelease(Scope::Cta));
        // Threads of a block may have been told by one of this warp, so its order must reach them too. In Vulkan's memory model
        // what they do about that goes on where this ends.
        let memory = if self.module.has_vulkan_memory_model() {
            rspirv::spirv::Scope::Subgroup
        } else {
            rspirv::spirv::Scope::Workgroup
        };
        let memory = self.module.u32_constant(memory as u32)?;
        let semantics = self.module.u32_constant(semantics.bits())?;
        self.effect(
            Op::ControlBarrier,
            vec![execution, Operand::IdScope(memory), Operand::IdMemorySemantics(semantics)],
        );
        Ok(())
    }

    /// The value of an input that has one word, of those that tell an invocation's place in its subgroup.
    pub(super) fn subgroup_input(&mut self, builtin: rspirv::spirv::BuiltIn) -> Result<Word> {
        self.module.capability(Capability::GroupNonUniform);
        let ty = self.module.global(Global::Int(32))?;
        self.input(builtin, ty)
    }
}

fn lacks(what: &str) -> ErrorKind {
    ErrorKind::Unsupported(format!(
        "operations of a warp: the device has no {what} of its subgroups in compute shaders"
    ))
}
