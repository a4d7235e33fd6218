//! Variables, and accesses to memory.

use super::Slot;
use super::operations::Class;

/// A variable in workgroup or private memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its `OpName`, or `%id`.
    pub name: String,
    /// Where it lies.
    pub class: Class,
    /// Its first byte.
    pub offset: u32,
    /// Its size in bytes. Aliased variables overlap.
    pub bytes: u32,
}

/// A descriptor of a storage or uniform buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its `OpName`, or `%id`.
    pub name: String,
    /// `DescriptorSet`.
    pub set: u32,
    /// `Binding`.
    pub binding: u32,
    /// Whether the module may not write it.
    pub read_only: bool,
}

/// An atomic operation on one scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    /// The operation.
    pub op: AtomicOp,
    /// The memory.
    pub class: Class,
    /// Width of the scalar: 8, 16, 32 or 64.
    pub bits: u8,
    /// Where the old value goes; unused by stores.
    pub d: Slot,
    /// Pointer.
    pub pointer: Slot,
    /// Operand; unused by loads, increments and decrements.
    pub value: Slot,
    /// What a compare-exchange compares with.
    pub comparator: Slot,
    /// Its memory scope.
    pub scope: Scope,
    /// Its memory semantics; for compare-exchange if equal.
    pub semantics: Semantics,
    /// Semantics of a compare-exchange if unequal.
    pub unequal: Semantics,
}

/// What an atomic does to memory; named after SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "SPIR-V's names")]
pub enum AtomicOp {
    Load,
    Store,
    Exchange,
    CompareExchange,
    IIncrement,
    IDecrement,
    IAdd,
    ISub,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
}

/// A scope of execution or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Only the invocation itself.
    Invocation,
    /// Its subgroup.
    Subgroup,
    /// Its workgroup.
    Workgroup,
    /// All of the dispatch: `QueueFamily` and `Device`; also `CrossDevice`.
    Device,
}

/// Memory semantics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Semantics {
    /// Later accesses stay after it.
    pub acquire: bool,
    /// Earlier accesses stay before it.
    pub release: bool,
    /// `MakeAvailable`; without the Vulkan memory model, every release.
    pub available: bool,
    /// `MakeVisible`; without the Vulkan memory model, every acquire.
    pub visible: bool,
    /// Orders accesses to device memory (`UniformMemory`).
    pub device: bool,
    /// Orders accesses to workgroup memory (`WorkgroupMemory`).
    pub workgroup: bool,
    /// `Volatile`.
    pub volatile: bool,
}

/// A control or memory barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// The scope in which invocations wait for each other; meaningless for memory barriers.
    pub execution: Scope,
    /// The scope in which memory is ordered.
    pub memory: Scope,
    /// The memory semantics.
    pub semantics: Semantics,
}

/// Memory operands of a load or store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    /// `NonPrivatePointer`, or in a module without the Vulkan memory model, workgroup memory and `Coherent` memory: the access takes part
    /// in synchronisation between invocations.
    pub non_private: bool,
    /// `MakePointerAvailable` for this scope.
    pub available: Option<Scope>,
    /// `MakePointerVisible` for this scope.
    pub visible: Option<Scope>,
    /// `Volatile`.
    pub volatile: bool,
    /// `Coherent`, in a module without the Vulkan memory model.
    pub coherent: bool,
}
