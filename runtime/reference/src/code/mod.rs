//! The compact form that the interpreter runs. [`crate::compile`] makes it from SPIR-V once for each pipeline, and
//! resolves all ids.
//!
//! Every invocation has a *register file* of 64-bit cells. Each scalar component of each SPIR-V result has its own cell
//! ([`Slot`]), and the components of composites are contiguous. SPIR-V has no recursion, so the registers of all
//! functions are side by side and calls need no frames. Constants are registers too, filled in before an invocation
//! starts.
//!
//! Conventions for the 64 bits of a cell:
//! * Booleans are 0 or 1. Integers and floats of width `bits` are in the low bits, and the bits above are zero.
//! * A *pointer* is one cell. For `PhysicalStorageBuffer` it is a device address, for `Workgroup` a byte offset into the workgroup's
//!   memory, for `Function` and `Private` a byte offset into the invocation's memory, for `PushConstant` an offset into
//!   the push constants. `Input` variables have no addresses: loads from them are [`Inst::Builtin`].
//!
//! There are no vectors: the compiler unrolls them into scalar instructions.

mod memory;
mod operations;

pub use memory::{Atomic, AtomicOp, Barrier, Class, MemoryAccess, Scope, Semantics, Variable};
pub use operations::{Binary, Conversion, Family, Source, Ternary, Unary, Wide};
pub use rspirv::spirv::BuiltIn;

pub type Slot = u32;

/// The index of an instruction in [`Code::insts`].
pub type Pc = u32;

/// All code and tables that an invocation needs.
#[derive(Debug, Default)]
pub struct Code {
    /// The instructions of all functions. The instructions of each function lie together.
    pub insts: Vec<Inst>,
    /// The origin of each instruction.
    pub places: Vec<Origin>,
    /// The first instruction of the entry point.
    pub start: Pc,
    /// The initial contents of the first registers: the constants.
    pub constants: Vec<u64>,
    /// The number of registers of an invocation, including constants.
    pub slots: u32,
    /// Bytes of an invocation's memory for `Function` and `Private` variables, initially uninitialized.
    pub private_bytes: u32,
    pub workgroup_bytes: u32,
    pub workgroup_size: [u32; 3],
    /// The variables in `Workgroup`, `Private` and `Function` memory, for messages and bounds.
    pub variables: Vec<Variable>,
    /// Atomic operations ([`Inst::Atomic`]).
    pub atomics: Vec<Atomic>,
    /// Operations of a subgroup ([`Inst::Group`]).
    pub groups: Vec<Group>,
    /// Barriers ([`Inst::Barrier`], [`Inst::Fence`]).
    pub barriers: Vec<Barrier>,
    /// Memory operands of loads and stores; 0 is an ordinary access.
    pub accesses: Vec<MemoryAccess>,
    pub blocks: Vec<Block>,
    /// The header of each loop of all functions, an index of [`Code::blocks`].
    pub loops: Vec<u32>,
    /// Source files, indexed by [`Origin::file`].
    pub files: Vec<String>,
    pub floats: FloatControls,
    /// The entry point's modes that concern reconvergence.
    pub convergence: Convergence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub word: u32,
    /// The block of the instruction, an index of [`Code::blocks`].
    pub block: u32,
    pub line: Option<SourceLine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// An index of [`Code::files`].
    pub file: u32,
    /// The line, counted from 1.
    pub line: u32,
}

/// A step of an invocation. `d` is the register of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inst {
    /// A scalar operation with one operand; see [`Unary`]. `bits` is the width of the operand.
    Unary { op: Unary, bits: u8, d: Slot, a: Slot },
    /// A scalar operation with two operands of width `bits`.
    Binary { op: Binary, bits: u8, d: Slot, a: Slot, b: Slot },
    /// A scalar operation with three operands.
    Ternary { op: Ternary, bits: u8, d: Slot, a: Slot, b: Slot, c: Slot },
    /// A scalar operation with two results, at `d` and `d + 1`.
    Wide { op: Wide, bits: u8, d: Slot, a: Slot, b: Slot },
    /// A conversion between widths or between integers and floats.
    Convert { op: Conversion, from: u8, to: u8, d: Slot, a: Slot },
    /// `OpBitFieldInsert` into the contents of `d`.
    InsertBits { bits: u8, d: Slot, insert: Slot, offset: Slot, count: Slot },
    /// Copies a register, including undefined bits.
    Move { d: Slot, a: Slot },

    /// `d = a + offset`, for pointers.
    Offset { d: Slot, a: Slot, offset: u32 },
    /// `d = a + index * stride`, for pointers. `index` is signed and has width `bits`. `count` is the number of
    /// elements, or 0 if unknown. An index out of range is a fault once the pointer is used.
    Index { bits: u8, d: Slot, a: Slot, index: Slot, stride: u32, count: u32 },

    /// Announces that the next instructions access `bytes` bytes at a pointer with a promised alignment of `align` (1
    /// for none). Bounds and alignment are checked here for the whole access. Precedes every SPIR-V load, store and
    /// atomic.
    Access { class: Class, pointer: Slot, bytes: u32, align: u32, write: bool },
    /// Loads a scalar of `bytes` bytes at `pointer + offset`, zero-extended. `how` is an index of [`Code::accesses`].
    Load { class: Class, bytes: u8, how: u16, d: Slot, pointer: Slot, offset: u32 },
    /// Stores a scalar.
    Store { class: Class, bytes: u8, how: u16, value: Slot, pointer: Slot, offset: u32 },
    /// Re-creates a function's variable: these bytes of the invocation's memory become uninitialized.
    Forget { offset: u32, bytes: u32 },
    /// An atomic operation, an index of [`Code::atomics`].
    Atomic(u32),
    /// Reads a component of a built-in variable.
    Builtin { builtin: BuiltIn, component: u8, d: Slot },
    /// `OpReadClockKHR`: 64 bits at `d`.
    Clock { d: Slot },

    /// A subgroup operation, an index of [`Code::groups`]. The invocation waits for the others of its tangle.
    Group(u32),
    /// `OpControlBarrier`, an index of [`Code::barriers`].
    Barrier(u32),
    /// `OpMemoryBarrier`, an index of [`Code::barriers`].
    Fence(u32),
    /// A thread arrives at a barrier instruction of PTX: see [`ptx2spv_target::marks::ARRIVE`].
    Arrive { thread: Slot, place: u32 },

    /// Continues elsewhere.
    Jump(Pc),
    /// Continues at `yes` if the boolean is true, else at `no`.
    Branch { condition: Slot, yes: Pc, no: Pc },
    /// Calls a function. The arguments are already in its registers.
    Call(Pc),
    /// Returns from a call, or ends the invocation.
    Return,
    /// `OpUnreachable`: a fault.
    Unreachable,
    /// Enters a loop from outside, which resets its iteration count. An index of [`Code::loops`].
    EnterLoop(u32),
    /// Takes a back edge of a loop, which increases its iteration count.
    NextRound(u32),
}

/// The reconvergence guarantees of the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Convergence {
    /// `MaximallyReconvergesKHR`.
    pub maximal: bool,
    /// `SubgroupUniformControlFlowKHR`.
    pub subgroup_uniform: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The block's first instruction.
    pub start: Pc,
    /// The loops around it, outermost first: indices of [`Code::loops`]. A loop contains its header but not its merge
    /// block.
    pub loops: Vec<u32>,
    /// The successors without back edges: indices of [`Code::blocks`].
    pub forward: Vec<u32>,
}

/// Float controls of the entry point, for 16, 32 and 64 bits in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls(pub [FloatControl; 3]);

/// The entry point's requirements for floats of one width. Without a requirement, the device chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControl {
    /// `DenormPreserve`.
    pub denormals_kept: bool,
    /// `RoundingModeRTE`.
    pub nearest_even: bool,
    /// `SignedZeroInfNanPreserve`.
    pub signed_zero_inf_nan: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub op: GroupOp,
    /// Width of a component of `value`.
    pub bits: u8,
    /// Components of `value` and the result.
    pub components: u32,
    /// The result's first register.
    pub d: Slot,
    /// First register of the value.
    pub value: Slot,
    /// The number of another invocation, or the difference from it, or the first register of a second factor; unused by others.
    pub other: Slot,
}

/// The kind of a group operation, named after `OpGroupNonUniform…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOp {
    Broadcast,
    /// Ballots are four 32-bit registers.
    Ballot,
    Shuffle,
    ShuffleXor,
    /// Combines the values of several invocations by an operation.
    Arithmetic(Binary, Scan),
    /// The product of two cooperative matrices, which `value` and `other` begin, and a sum.
    MatrixProduct(MatrixProduct),
}

/// The values that are combined into a result, named after SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    Reduce,
    Inclusive,
    Exclusive,
}

/// A product of cooperative matrices, of 16 rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixProduct {
    pub kind: MatrixKind,
    /// The first register of the addend.
    pub addend: Slot,
}

/// Types of a product of cooperative matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixKind {
    /// f16, with sums of f16 or of f32.
    Halves { sums_are_halves: bool },
    /// bf16, with sums of f32.
    Bfloats,
    /// Bytes, with the signs of the factors.
    Bytes { are_signed: [bool; 2] },
}

impl MatrixKind {
    /// Elements of a factor in 32 bits.
    pub fn elements_of_word(self) -> u32 {
        match self {
            Self::Halves { .. } | Self::Bfloats => 2,
            Self::Bytes { .. } => 4,
        }
    }

    /// Columns of the second factor.
    pub fn columns(self) -> u32 {
        match self {
            Self::Halves { .. } | Self::Bytes { .. } => 8,
            Self::Bfloats => 16,
        }
    }
}
