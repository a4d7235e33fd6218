//! Memory order: how PTX's orders and scopes become SPIR-V's semantics, scopes and memory operands.
//!
//! All shared and all writable global memory is accessed as non-private, so that barriers and fences order it. Strong
//! accesses (relaxed and above) are atomic where SPIR-V has an atomic of their form; the others are volatile accesses that
//! are made available or visible in their scope, with a fence on the side where they order other accesses.
//!
//! Drivers whose memory barriers wait for the whole workgroup ([`ptx2spv_target::Quirks::memory_barriers_wait`]) get none
//! but in the block's barrier: there all atomics are relaxed in form, and one on shared memory takes a fence's place. Where
//! it isn't known of the driver, a specialization constant chooses between the two
//! ([`ptx2spv_interface::spec_id::MEMORY_BARRIERS`]).
//!
//! Targets without the Vulkan memory model get the model of GLSL 4.50. In kernels that order anything, global memory is
//! `Coherent` there (shared memory always is), all atomics are relaxed, and fences beside them are what orders, in the form
//! of GLSL's `memoryBarrier`.

use rspirv::dr::Operand;
use rspirv::spirv::{MemoryAccess, MemorySemantics, Op, SelectionControl, Word};

use super::body::Body;
use super::module::Global;
use super::result::Result;
use super::select::{Access, Space};
use crate::ir::{MemoryOrder, Ordered, Scope};
use ptx2spv_target::Feature;

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Load,
    Store,
}

/// The storage classes that an order speaks of: all that other threads can see. Uniform memory includes buffers.
fn all_memory() -> MemorySemantics {
    MemorySemantics::UNIFORM_MEMORY | MemorySemantics::WORKGROUP_MEMORY
}

/// Semantics of a read-modify-write.
fn semantics(order: MemoryOrder) -> MemorySemantics {
    let acquire = all_memory() | MemorySemantics::MAKE_VISIBLE;
    let release = all_memory() | MemorySemantics::MAKE_AVAILABLE;
    match order {
        MemoryOrder::Weak | MemoryOrder::Relaxed(_) => MemorySemantics::empty(),
        MemoryOrder::Acquire(_) => MemorySemantics::ACQUIRE | acquire,
        MemoryOrder::Release(_) => MemorySemantics::RELEASE | release,
        MemoryOrder::AcquireRelease(_) => MemorySemantics::ACQUIRE_RELEASE | acquire | release,
    }
}

/// Semantics of a fence or a barrier in the model of GLSL 4.50.
fn glsl_semantics() -> MemorySemantics {
    MemorySemantics::ACQUIRE_RELEASE | all_memory()
}

impl Body<'_, '_, '_> {
    /// Whether atomics are relaxed in form, and fences beside them order accesses.
    pub(super) fn has_fences_apart(&self) -> bool {
        self.module.device.workarounds.memory_barriers_wait || !self.module.has_vulkan_memory_model()
    }

    /// Semantics of an atomic of an order, as the target can stand them.
    fn safe_semantics(&self, order: MemoryOrder) -> MemorySemantics {
        if self.has_fences_apart() { MemorySemantics::empty() } else { semantics(order) }
    }

    /// Semantics of a fence or a barrier of an order.
    pub(super) fn fence_semantics(&self, order: MemoryOrder) -> MemorySemantics {
        if self.module.has_vulkan_memory_model() { semantics(order) } else { glsl_semantics() }
    }

    /// The constant of a scope. Vulkan has no scope that includes the host, so the device stands for the system. All
    /// dispatches run on queues of one family, so that is enough where its memory model lacks the device as a scope.
    pub(super) fn scope(&mut self, scope: Scope) -> Result<Word> {
        use rspirv::spirv::Scope as Spirv;
        let scope = match scope {
            Scope::Cta => Spirv::Workgroup,
            Scope::Device | Scope::System if !self.module.has_vulkan_memory_model() => Spirv::Device,
            Scope::Device | Scope::System if !self.module.device.device_scope => Spirv::QueueFamily,
            Scope::Device | Scope::System => {
                self.module.need(Feature::VulkanMemoryModelDeviceScope, "memory order beyond the block")?;
                Spirv::Device
            }
        };
        self.module.u32_constant(scope as u32)
    }

    fn semantics_constant(&mut self, semantics: MemorySemantics) -> Result<Word> {
        self.module.u32_constant(semantics.bits())
    }

    /// Scope and semantics operands of an atomic operation.
    pub(super) fn atomic_order(&mut self, order: MemoryOrder) -> Result<[Word; 2]> {
        let scope = self.scope(order.scope().unwrap_or(Scope::Device))?;
        Ok([scope, self.semantics_constant(self.safe_semantics(order))?])
    }

    /// Semantics operand of a compare-and-swap that fails: its reading half.
    pub(super) fn failure_semantics(&mut self, order: MemoryOrder) -> Result<Word> {
        let order = match order {
            MemoryOrder::AcquireRelease(scope) => MemoryOrder::Acquire(scope),
            MemoryOrder::Release(scope) => MemoryOrder::Relaxed(scope),
            other => other,
        };
        self.semantics_constant(self.safe_semantics(order))
    }

    /// Scope and semantics operands of an atomic load or store. Volatile, because an order may stem from `.volatile`.
    pub(super) fn atomic_access_order(&mut self, order: MemoryOrder) -> Result<[Word; 2]> {
        let [scope, _] = self.atomic_order(order)?;
        let volatile = if self.module.has_vulkan_memory_model() {
            MemorySemantics::VOLATILE
        } else {
            // Semantics of the Vulkan memory model alone. `Coherent` blocks in global memory are volatile instead.
            MemorySemantics::empty()
        };
        Ok([scope, self.semantics_constant(self.safe_semantics(order) | volatile)?])
    }

    /// Memory operands of an ordinary load or store; `align` in bytes where the storage class asks for it.
    pub(super) fn memory_operands(
        &mut self,
        access: Access,
        direction: Direction,
        align: Option<u32>,
    ) -> Result<Vec<Operand>> {
        let mut mask = MemoryAccess::NONE;
        let mut extra = Vec::new();
        if let Some(align) = align {
            mask |= MemoryAccess::ALIGNED;
            extra.push(Operand::LiteralBit32(align));
        }
        if !access.read_only && access.space != Space::Local {
            let vulkan = self.module.has_vulkan_memory_model();
            if vulkan {
                mask |= MemoryAccess::NON_PRIVATE_POINTER;
            }
            if let Some(scope) = access.order.scope() {
                mask |= MemoryAccess::VOLATILE;
                if vulkan && !self.module.device.workarounds.memory_barriers_wait {
                    mask |= match direction {
                        Direction::Load => MemoryAccess::MAKE_POINTER_VISIBLE,
                        Direction::Store => MemoryAccess::MAKE_POINTER_AVAILABLE,
                    };
                    extra.push(Operand::IdScope(self.scope(scope)?));
                }
            }
        }
        if mask == MemoryAccess::NONE {
            return Ok(extra);
        }
        extra.insert(0, Operand::MemoryAccess(mask));
        Ok(extra)
    }

    /// The block's barrier.
    pub(super) fn barrier(&mut self, ordered: Ordered) -> Result<()> {
        let scope = self.scope(Scope::Cta)?;
        let mut semantics = self.fence_semantics(MemoryOrder::AcquireRelease(Scope::Cta));
        if ordered == Ordered::Shared {
            semantics.remove(MemorySemantics::UNIFORM_MEMORY);
        }
        let semantics = self.semantics_constant(semantics)?;
        let operands = vec![Operand::IdScope(scope), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
        self.effect(Op::ControlBarrier, operands);
        Ok(())
    }

    /// Orders all earlier accesses against all later ones.
    pub(super) fn fence(&mut self, scope: Scope) -> Result<()> {
        self.ordered_fence(MemoryOrder::AcquireRelease(scope))
    }

    /// The fence that gives an order to relaxed accesses beside it; nothing for weak and relaxed orders.
    pub(super) fn ordered_fence(&mut self, order: MemoryOrder) -> Result<()> {
        if semantics(order) == MemorySemantics::empty() {
            return Ok(());
        }
        let quirks = &self.module.device.workarounds;
        if quirks.memory_barriers_wait {
            return self.atomic_fence();
        }
        if !quirks.memory_barriers_optional {
            return self.memory_barrier(order);
        }
        let condition = self.module.memory_barriers()?;
        let [barrier, atomic, merge] = [(); 3].map(|()| self.module.id());
        let control = Operand::SelectionControl(SelectionControl::NONE);
        self.effect(Op::SelectionMerge, vec![Operand::IdRef(merge), control]);
        self.branch_if(condition, barrier, atomic);
        self.begin_block(barrier);
        self.memory_barrier(order)?;
        self.branch(merge);
        self.begin_block(atomic);
        self.atomic_fence()?;
        self.branch(merge);
        self.begin_block(merge);
        Ok(())
    }

    fn memory_barrier(&mut self, order: MemoryOrder) -> Result<()> {
        let scope = self.scope(order.scope().unwrap_or(Scope::Device))?;
        let semantics = self.semantics_constant(self.fence_semantics(order))?;
        self.effect(Op::MemoryBarrier, vec![Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)]);
        Ok(())
    }

    /// Emits a read-modify-write of an order, which `emit` gets in the form that the target can stand: where fences order,
    /// it is relaxed and stands between them. Drivers whose barriers wait need none, as their atomics are all in order.
    pub(super) fn with_fences(
        &mut self,
        order: MemoryOrder,
        emit: impl FnOnce(&mut Self, MemoryOrder) -> Result<Word>,
    ) -> Result<Word> {
        if self.module.has_vulkan_memory_model() || self.module.device.workarounds.memory_barriers_wait {
            return emit(self, order);
        }
        if matches!(order, MemoryOrder::Release(_) | MemoryOrder::AcquireRelease(_)) {
            self.ordered_fence(order)?;
        }
        let old = emit(self, order.relaxed())?;
        if matches!(order, MemoryOrder::Acquire(_) | MemoryOrder::AcquireRelease(_)) {
            self.ordered_fence(order)?;
        }
        Ok(old)
    }

    /// A fence in the form of an atomic that changes nothing.
    fn atomic_fence(&mut self) -> Result<()> {
        let (pointer, word) = if self.has_shared_scratch() {
            (self.fence_word()?, self.module.u32()?)
        } else {
            let array = self.shared_words()?;
            if array.word_bytes == 8 {
                self.module.need(Feature::ShaderSharedInt64Atomics, "memory order")?;
            }
            let first = self.module.u32_constant(0)?;
            (self.word_pointer(array, first)?, array.word)
        };
        let nothing = self.module.global(Global::Null(word))?;
        let [scope, semantics] = self.atomic_order(MemoryOrder::Relaxed(Scope::Cta))?;
        let operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(scope),
            Operand::IdMemorySemantics(semantics),
            Operand::IdRef(nothing),
        ];
        self.result(Op::AtomicOr, word, operands);
        Ok(())
    }
}
