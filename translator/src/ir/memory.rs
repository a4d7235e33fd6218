//! Accesses to memory, and their order.

use super::Value;

/// The kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Device memory by 64-bit address; also `.const` and parameters in a buffer.
    Global,
    /// The block's memory by byte offset.
    Shared,
    /// The thread's memory by byte offset.
    Local,
    /// Not known before run time: a 64-bit address whose top two bits say which ([`GENERIC_TAG_SHIFT`]).
    Generic,
}

/// Position of the two tag bits of a generic address: 0 and 3 global, 1 shared, 2 local.
pub const GENERIC_TAG_SHIFT: u32 = 62;

/// Tag of a generic address of shared memory; the low 32 bits are the offset.
pub const GENERIC_SHARED: u64 = 1;

/// Tag of a generic address of local memory; the low 32 bits are the offset.
pub const GENERIC_LOCAL: u64 = 2;

/// The memory that a barrier orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// All memory that threads share, as PTX has it.
    All,
    /// The block's shared memory.
    Shared,
}

/// The properties of an access to memory. The address is a multiple of `bytes` times the number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Where.
    pub space: Space,
    /// Bytes of one element: 1, 2, 4 or 8. There are 1, 2 or 4 elements (for 8-byte ones 1 or 2).
    pub bytes: u8,
    /// The order of other threads' accesses relative to this one.
    pub order: MemoryOrder,
    /// Nobody writes this memory while the kernel runs (`ld.const`, `.nc`, parameters).
    pub read_only: bool,
}

/// Memory order of an access (PTX "Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// Ordinary; races are undefined. Ordered by barriers and fences.
    Weak,
    /// `.relaxed`, or `.volatile` (which is relaxed at system scope and not left out or merged).
    Relaxed(Scope),
    /// `.acquire`; loads and atomics.
    Acquire(Scope),
    /// `.release`; stores and atomics.
    Release(Scope),
    /// `.acq_rel`; atomics only.
    AcquireRelease(Scope),
}

impl MemoryOrder {
    /// The scope that it speaks of; `None` for weak accesses.
    pub fn scope(self) -> Option<Scope> {
        match self {
            MemoryOrder::Weak => None,
            MemoryOrder::Relaxed(scope)
            | MemoryOrder::Acquire(scope)
            | MemoryOrder::Release(scope)
            | MemoryOrder::AcquireRelease(scope) => Some(scope),
        }
    }

    /// The order of each part of an access that consists of several, beside which a fence stands.
    #[must_use]
    pub fn relaxed(self) -> MemoryOrder {
        self.scope().map_or(MemoryOrder::Weak, MemoryOrder::Relaxed)
    }
}

/// Set of threads that an order speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The block.
    Cta,
    /// All threads of the device.
    Device,
    /// And the host.
    System,
}

/// A read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    /// The old content; `None` for a reduction.
    pub result: Option<Value>,
    /// The operation.
    pub op: AtomicOp,
    /// The access (to one element of 4 or 8 bytes, or of 2 for compare-and-swap and [`AtomicOp::Half`]).
    pub access: Access,
    /// Address as for [`Stmt::Load`](super::Stmt::Load).
    pub address: Value,
    /// The operand, or the new content for compare-and-swap; `I32` or `I64` (floats by their bits).
    pub operand: Value,
    /// The value that compare-and-swap compares with.
    pub compare: Option<Value>,
}

/// The operation of an atomic on the old content `old` and the operand `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    /// `old >= x ? 0 : old + 1`, unsigned; 4 bytes.
    Increment,
    /// `old == 0 || old > x ? x : old - 1`, unsigned; 4 bytes.
    Decrement,
    /// Float sum on the bits, to nearest even.
    FAdd,
    /// On a 16-bit float, or on each of two by itself, as PTX's `.noftz` operations; 2 or 4 bytes. No device has it:
    /// legalization replaces it.
    Half(HalfFormat, HalfOp),
}

/// Formats of 16-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum HalfFormat {
    F16,
    Bf16,
}

/// The operation of an atomic on 16-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfOp {
    /// The sum, to nearest even.
    Add,
    /// The smaller one; a number rather than NaN.
    Min,
    /// The larger one; a number rather than NaN.
    Max,
}
