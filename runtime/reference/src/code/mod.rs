//! The compact form that the interpreter runs. [`crate::compile`] makes it from SPIR-V once for each pipeline; nothing is
//! looked up by id afterwards.
//!
//! Every invocation has a *register file* of 64-bit cells. Each scalar component of each SPIR-V result has a cell of its own
//! ([`Slot`]), components of composites one after another. SPIR-V has no recursion, so the registers of all functions lie
//! side by side and a call needs no frame. Constants are registers too, filled in before an invocation starts.
//!
//! Conventions for the 64 bits of a cell:
//! * Booleans are 0 or 1. Integers and floats of `bits` width lie in the low bits, those above are zero.
//! * A *pointer* is one cell. To `PhysicalStorageBuffer`, `StorageBuffer` and `Uniform` it is a device address (that of the
//!   descriptor's first byte, and on from there), to `Workgroup` a byte offset into the workgroup's memory, to `Function`
//!   and `Private` a byte offset into the invocation's memory, to `PushConstant` an offset into the push constants.
//!   `Input` variables are not addressed: loads from them are [`Inst::Builtin`].
//!
//! Vectors never appear: the compiler unrolls them into scalar instructions.

mod flow;
mod group;
mod memory;
mod operations;

pub use flow::{Block, Convergence, Loop, Switch};
pub use group::{Group, GroupArithmetic, GroupOp, Scan};
pub use memory::{Atomic, AtomicOp, Barrier, Binding, MemoryAccess, Scope, Semantics, Variable};
pub use operations::{Binary, Class, Convert, FloatControl, FloatControls, Rounding, Ternary, Unary, Wide};

/// A register of an invocation.
pub type Slot = u32;

/// The index of an instruction in [`Code::insts`].
pub type Pc = u32;

/// Everything that an invocation runs.
#[derive(Debug, Default)]
pub struct Code {
    /// The instructions of all functions, each function's together.
    pub insts: Vec<Inst>,
    /// Where each of [`Code::insts`] comes from.
    pub places: Vec<Origin>,
    /// Where the entry point begins.
    pub start: Pc,
    /// What the first registers hold before an invocation starts: the constants.
    pub constants: Vec<u64>,
    /// How many registers an invocation has, constants included.
    pub slots: u32,
    /// Bytes of memory that an invocation has for `Function` and `Private` variables, uninitialised before it starts.
    pub private_bytes: u32,
    /// Bytes of `Workgroup` memory.
    pub workgroup_bytes: u32,
    /// Whether `Workgroup` memory starts as zeroes (all its variables have a null initialiser) rather than undefined.
    pub workgroup_zeroed: bool,
    /// The size of a workgroup.
    pub workgroup_size: [u32; 3],
    /// The variables in `Workgroup`, `Private` and `Function` memory, for messages and bounds.
    pub variables: Vec<Variable>,
    /// Descriptors that the entry point uses.
    pub bindings: Vec<Binding>,
    /// Atomic operations ([`Inst::Atomic`]).
    pub atomics: Vec<Atomic>,
    /// Operations of a subgroup ([`Inst::Group`]).
    pub groups: Vec<Group>,
    /// Barriers ([`Inst::Barrier`], [`Inst::Fence`]).
    pub barriers: Vec<Barrier>,
    /// Memory operands of loads and stores; 0 is an ordinary access.
    pub accesses: Vec<MemoryAccess>,
    /// Multiway branches ([`Inst::Switch`]).
    pub switches: Vec<Switch>,
    /// Basic blocks of all functions.
    pub blocks: Vec<Block>,
    /// Loops of all functions.
    pub loops: Vec<Loop>,
    /// Source files that [`Origin::file`] counts.
    pub files: Vec<String>,
    /// The entry point's float controls.
    pub floats: FloatControls,
    /// The modes of the entry point that bear on reconvergence.
    pub convergence: Convergence,
}

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Index of the first word of the SPIR-V instruction.
    pub word: u32,
    /// Its block, an index of [`Code::blocks`].
    pub block: u32,
    /// The source line that `OpLine` gives.
    pub line: Option<SourceLine>,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// An index of [`Code::files`].
    pub file: u32,
    /// The line, from 1 on.
    pub line: u32,
}

/// One step of an invocation. `d` is where the result goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inst {
    /// A scalar operation of one operand; see [`Unary`]. `bits` is the width of the operand.
    Unary { op: Unary, bits: u8, d: Slot, a: Slot },
    /// A scalar operation of two operands of `bits` width.
    Binary { op: Binary, bits: u8, d: Slot, a: Slot, b: Slot },
    /// A scalar operation of three operands.
    Ternary { op: Ternary, bits: u8, d: Slot, a: Slot, b: Slot, c: Slot },
    /// A scalar operation with two results, at `d` and `d + 1`.
    Wide { op: Wide, bits: u8, d: Slot, a: Slot, b: Slot },
    /// A conversion between widths or between integers and floats.
    Convert { op: Convert, from: u8, to: u8, d: Slot, a: Slot },
    /// `OpBitFieldInsert` into what `d` holds already.
    InsertBits { bits: u8, d: Slot, insert: Slot, offset: Slot, count: Slot },
    /// Copies a register, undefined bits as they are.
    Move { d: Slot, a: Slot },
    /// `OpUndef`: `count` registers of arbitrary value, each of `bits` width.
    Undef { bits: u8, d: Slot, count: u32 },
    /// `OpVectorExtractDynamic`: component `index` of `count`; undefined if there is none.
    Extract { bits: u8, d: Slot, from: Slot, index: Slot, count: u32 },
    /// `OpVectorInsertDynamic` into the `count` registers at `d`, which hold the vector already; all become undefined if
    /// there is no such component.
    Insert { bits: u8, d: Slot, value: Slot, index: Slot, count: u32 },

    /// `d = a + offset`, for pointers.
    Offset { d: Slot, a: Slot, offset: u32 },
    /// `d = a + index * stride`, for pointers; `index` is signed and of `bits` width. `count` is the number of elements, 0
    /// if unknown: an index outside is a fault once the pointer is used.
    Index { bits: u8, d: Slot, a: Slot, index: Slot, stride: u32, count: u32 },
    /// `OpArrayLength`: elements of `stride` bytes that fit into the binding's range from `offset` on.
    ArrayLength { d: Slot, binding: u32, offset: u32, stride: u32 },
    /// The address of a binding ([`Code::bindings`]) as a pointer.
    BindingAddress { d: Slot, binding: u32 },

    /// Says that the instructions which follow access `bytes` bytes at a pointer in memory that promises `align`
    /// alignment (1 if nothing is promised): where bounds and alignment are checked as a whole. Before every SPIR-V load, store and atomic.
    Access { class: Class, pointer: Slot, bytes: u32, align: u32, write: bool },
    /// Loads a scalar of `bytes` bytes at `pointer + offset`, zero-extended. `how` is an index of [`Code::accesses`].
    Load { class: Class, bytes: u8, how: u16, d: Slot, pointer: Slot, offset: u32 },
    /// Stores a scalar.
    Store { class: Class, bytes: u8, how: u16, value: Slot, pointer: Slot, offset: u32 },
    /// A function's variable is created anew: these bytes of the invocation's own memory become uninitialised.
    Forget { offset: u32, bytes: u32 },
    /// An atomic operation, an index of [`Code::atomics`].
    Atomic(u32),
    /// Reads a component of a built-in variable.
    Builtin { builtin: Builtin, component: u8, d: Slot },
    /// `OpReadClockKHR`: 64 bits at `d`.
    Clock { d: Slot },

    /// An operation of the subgroup, an index of [`Code::groups`]. The invocation waits for the others of its tangle.
    Group(u32),
    /// `OpControlBarrier`, an index of [`Code::barriers`].
    Barrier(u32),
    /// `OpMemoryBarrier`, an index of [`Code::barriers`].
    Fence(u32),
    /// A thread arrives at a barrier instruction of PTX: see [`ptx2spv_target::marks::ARRIVE`].
    Arrive { thread: Slot, place: u32 },

    /// Goes on elsewhere.
    Jump(Pc),
    /// Goes to `yes` if the boolean is true, else to `no`.
    Branch { condition: Slot, yes: Pc, no: Pc },
    /// A multiway branch, an index of [`Code::switches`].
    Switch(u32),
    /// Calls a function: arguments are in its registers already.
    Call(Pc),
    /// Returns to after the call, or ends the invocation where there was none.
    Return,
    /// `OpUnreachable`: a fault.
    Unreachable,
    /// A loop is entered from outside: its iteration count becomes 0. An index of [`Code::loops`].
    EnterLoop(u32),
    /// A back edge of a loop is taken: its iteration count goes up by one.
    NextRound(u32),
}

/// Built-in inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    NumWorkgroups,
    WorkgroupId,
    LocalInvocationId,
    GlobalInvocationId,
    LocalInvocationIndex,
    SubgroupSize,
    NumSubgroups,
    SubgroupId,
    SubgroupLocalInvocationId,
    /// Masks of four 32-bit components.
    SubgroupEqMask,
    SubgroupGeMask,
    SubgroupGtMask,
    SubgroupLeMask,
    SubgroupLtMask,
    /// Constant: `WorkgroupSize` where it is an input rather than a constant.
    WorkgroupSize,
}
