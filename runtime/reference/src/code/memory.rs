//! Variables, and accesses to memory.

use super::{Binary, Slot};

/// The memory that a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Device memory by address: `PhysicalStorageBuffer`.
    Device,
    Workgroup,
    /// `Function` and `Private`: the invocation's own memory.
    Private,
    PushConstant,
}

/// A variable in workgroup or private memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub class: Class,
    /// Offset of the first byte.
    pub offset: u32,
    /// Size in bytes. Aliased variables overlap.
    pub bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    pub op: AtomicOp,
    pub class: Class,
    /// Width of the scalar: 8, 16, 32 or 64.
    pub bits: u8,
    pub d: Slot,
    pub pointer: Slot,
    /// Operand; unused by loads.
    pub value: Slot,
    /// The comparand of a compare-exchange.
    pub comparator: Slot,
    pub scope: Scope,
    /// The memory semantics; for a compare-exchange, the semantics if equal.
    pub semantics: Semantics,
    /// Semantics of a compare-exchange if unequal.
    pub unequal: Semantics,
}

/// The effect of an atomic operation, named after SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Load,
    Store,
    Exchange,
    CompareExchange,
    /// Stores the result of an operation on the old value and the operand.
    Update(Binary),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Only the invocation itself.
    Invocation,
    Subgroup,
    Workgroup,
    /// The whole dispatch: `QueueFamily`, `Device` and `CrossDevice`.
    Device,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// Later accesses are ordered after it.
    pub acquire: bool,
    /// Earlier accesses are ordered before it.
    pub release: bool,
    /// `MakeAvailable`. Without the Vulkan memory model, every release.
    pub available: bool,
    /// `MakeVisible`. Without the Vulkan memory model, every acquire.
    pub visible: bool,
    /// Orders accesses to device memory (`UniformMemory`).
    pub device: bool,
    /// Orders accesses to workgroup memory (`WorkgroupMemory`).
    pub workgroup: bool,
    pub volatile: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// The scope in which invocations wait for each other; meaningless for memory barriers.
    pub execution: Scope,
    /// The scope in which memory is ordered.
    pub memory: Scope,
    pub semantics: Semantics,
}

/// Memory operands of a load or store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    /// `NonPrivatePointer`: the access takes part in synchronization between invocations. In a module without the
    /// Vulkan memory model, this applies to workgroup memory and `Coherent` memory.
    pub non_private: bool,
    /// `MakePointerAvailable` for this scope.
    pub available: Option<Scope>,
    /// `MakePointerVisible` for this scope.
    pub visible: Option<Scope>,
    pub volatile: bool,
    /// `Coherent`, in a module without the Vulkan memory model.
    pub coherent: bool,
}
