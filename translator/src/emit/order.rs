//! Memory order: how PTX's orders and scopes become SPIR-V's semantics, scopes and memory operands.
//!
//! All shared and all writable global memory is accessed as non-private, so that barriers and fences order it. Strong
//! accesses (relaxed and above) are atomic where SPIR-V has an atomic of their form; the others are volatile accesses that
//! are made available or visible in their scope, with a fence on the side where they order other accesses.
//!
//! Drivers whose memory barriers wait for the whole workgroup ([`crate::target::Quirks::memory_barriers_wait`]) get none
//! but in the block's barrier: there all atomics are relaxed in form, and one on shared memory takes a fence's place.

use rspirv::dr::Operand;
use rspirv::spirv::{MemoryAccess, MemorySemantics, Op, Word};

use super::Result;
use super::body::Body;
use super::module::Global;
use crate::ir::{Access, Order, Scope, Space};
use crate::target::Feature;

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Load,
    Store,
}

/// The scope of an order, `None` for weak ones.
pub(super) fn scope_of(order: Order) -> Option<Scope> {
    match order {
        Order::Weak => None,
        Order::Relaxed(scope) | Order::Acquire(scope) | Order::Release(scope) | Order::AcquireRelease(scope) => {
            Some(scope)
        }
    }
}

/// The order of an access that consists of several, which relaxed ones and a fence replace.
pub(super) fn relaxed(order: Order) -> Order {
    scope_of(order).map_or(Order::Weak, Order::Relaxed)
}

/// The storage classes that an order speaks of: all that other threads can see. Uniform memory includes buffers.
fn all_memory() -> MemorySemantics {
    MemorySemantics::UNIFORM_MEMORY | MemorySemantics::WORKGROUP_MEMORY
}

/// Semantics of a read-modify-write.
fn semantics(order: Order) -> MemorySemantics {
    let acquire = all_memory() | MemorySemantics::MAKE_VISIBLE;
    let release = all_memory() | MemorySemantics::MAKE_AVAILABLE;
    match order {
        Order::Weak | Order::Relaxed(_) => MemorySemantics::empty(),
        Order::Acquire(_) => MemorySemantics::ACQUIRE | acquire,
        Order::Release(_) => MemorySemantics::RELEASE | release,
        Order::AcquireRelease(_) => MemorySemantics::ACQUIRE_RELEASE | acquire | release,
    }
}

impl Body<'_, '_, '_> {
    /// Semantics of an order as the driver can stand them.
    fn safe_semantics(&self, order: Order) -> MemorySemantics {
        if self.module.target.quirks.memory_barriers_wait { MemorySemantics::empty() } else { semantics(order) }
    }

    /// The constant of a scope. Vulkan has no scope that includes the host, so the device stands for the system.
    pub(super) fn scope(&mut self, scope: Scope) -> Result<Word> {
        let scope = match scope {
            Scope::Cta => rspirv::spirv::Scope::Workgroup,
            Scope::Device | Scope::System => {
                self.module.need(Feature::VulkanMemoryModelDeviceScope, "memory order beyond the block")?;
                rspirv::spirv::Scope::Device
            }
        };
        self.module.u32_constant(scope as u32)
    }

    fn semantics_constant(&mut self, semantics: MemorySemantics) -> Result<Word> {
        self.module.u32_constant(semantics.bits())
    }

    /// Scope and semantics operands of an atomic operation.
    pub(super) fn atomic_order(&mut self, order: Order) -> Result<[Word; 2]> {
        let scope = self.scope(scope_of(order).unwrap_or(Scope::Device))?;
        Ok([scope, self.semantics_constant(self.safe_semantics(order))?])
    }

    /// Semantics operand of a compare-and-swap that fails: its reading half.
    pub(super) fn failure_semantics(&mut self, order: Order) -> Result<Word> {
        let order = match order {
            Order::AcquireRelease(scope) => Order::Acquire(scope),
            Order::Release(scope) => Order::Relaxed(scope),
            other => other,
        };
        self.semantics_constant(self.safe_semantics(order))
    }

    /// Scope and semantics operands of an atomic load or store. Volatile, because an order may stem from `.volatile`.
    pub(super) fn atomic_access_order(&mut self, order: Order) -> Result<[Word; 2]> {
        let [scope, _] = self.atomic_order(order)?;
        Ok([scope, self.semantics_constant(self.safe_semantics(order) | MemorySemantics::VOLATILE)?])
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
            mask |= MemoryAccess::NON_PRIVATE_POINTER;
            if let Some(scope) = scope_of(access.order) {
                mask |= MemoryAccess::VOLATILE;
                if !self.module.target.quirks.memory_barriers_wait {
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

    /// The block's barrier, which orders global memory too.
    pub(super) fn barrier(&mut self) -> Result<()> {
        let scope = self.scope(Scope::Cta)?;
        let semantics = self.semantics_constant(semantics(Order::AcquireRelease(Scope::Cta)))?;
        let operands = vec![Operand::IdScope(scope), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
        self.effect(Op::ControlBarrier, operands);
        Ok(())
    }

    /// Orders all accesses before against all behind.
    pub(super) fn fence(&mut self, scope: Scope) -> Result<()> {
        self.ordered_fence(Order::AcquireRelease(scope))
    }

    /// The fence that gives an order to relaxed accesses beside it; nothing for weak and relaxed orders.
    pub(super) fn ordered_fence(&mut self, order: Order) -> Result<()> {
        if semantics(order) == MemorySemantics::empty() {
            return Ok(());
        }
        if self.module.target.quirks.memory_barriers_wait {
            return self.atomic_fence();
        }
        let [scope, semantics] = self.atomic_order(order)?;
        self.effect(Op::MemoryBarrier, vec![Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)]);
        Ok(())
    }

    /// A fence in the form of an atomic that changes nothing.
    fn atomic_fence(&mut self) -> Result<()> {
        let array = self.shared_words()?;
        let first = self.module.u32_constant(0)?;
        let pointer = self.word_pointer(array, first)?;
        let nothing = self.module.global(Global::Null(array.word))?;
        if array.word_bytes == 8 {
            self.module.need(Feature::ShaderSharedInt64Atomics, "memory order")?;
        }
        let [scope, semantics] = self.atomic_order(Order::Relaxed(Scope::Cta))?;
        let operands = vec![
            Operand::IdRef(pointer),
            Operand::IdScope(scope),
            Operand::IdMemorySemantics(semantics),
            Operand::IdRef(nothing),
        ];
        self.result(Op::AtomicOr, array.word, operands);
        Ok(())
    }
}
