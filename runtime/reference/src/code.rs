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
    /// What the entry point demands of float arithmetic.
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
    /// The source line that `OpLine` gives, 0 if none.
    pub line: u32,
    /// An index of [`Code::files`]; meaningless if there is no line.
    pub file: u32,
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
    /// A function's variable comes into being anew: these bytes of the invocation's own memory are uninitialised from here on.
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
    /// A loop is entered from outside: its round is 0 from here on. An index of [`Code::loops`].
    EnterLoop(u32),
    /// A back edge of a loop is taken: its round goes up by one.
    NextRound(u32),
}

/// Where a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Device memory by address: `PhysicalStorageBuffer`, `StorageBuffer`, `Uniform`.
    Device,
    /// `Workgroup`.
    Workgroup,
    /// `Function` and `Private`: the invocation's own memory.
    Private,
    /// `PushConstant`.
    PushConstant,
}

/// Scalar operations of one operand. Those without comment are the SPIR-V instruction (or `GLSL.std.450` one) of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    SNegate,
    Not,
    LogicalNot,
    BitReverse,
    /// The result has the operand's width.
    BitCount,
    FNegate,
    /// The result is a boolean, also of the next.
    IsNan,
    IsInf,
    Round,
    RoundEven,
    Trunc,
    FAbs,
    SAbs,
    FSign,
    SSign,
    Floor,
    Ceil,
    Fract,
    Radians,
    Degrees,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    InverseSqrt,
    FindILsb,
    FindSMsb,
    FindUMsb,
    /// `OpQuantizeToF16`, on 32 bits.
    QuantizeToF16,
    /// A float to a normalised integer of 8 or 16 bits, as in `PackSnorm4x8` and its kin; the result lies in the low bits.
    PackSnorm8,
    PackSnorm16,
    PackUnorm8,
    PackUnorm16,
    /// The inverse: from the low bits to a 32-bit float.
    UnpackSnorm8,
    UnpackSnorm16,
    UnpackUnorm8,
    UnpackUnorm16,
}

/// Scalar operations of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    IAdd,
    ISub,
    IMul,
    UDiv,
    SDiv,
    UMod,
    SRem,
    SMod,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
    FMod,
    /// The amount is unsigned and may be of any width.
    ShiftLeftLogical,
    ShiftRightLogical,
    ShiftRightArithmetic,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    LogicalAnd,
    LogicalOr,
    /// Comparisons have a boolean result and compare operands of `bits` width; booleans are compared with 1 bit.
    IEqual,
    INotEqual,
    UGreaterThan,
    UGreaterThanEqual,
    ULessThan,
    ULessThanEqual,
    SGreaterThan,
    SGreaterThanEqual,
    SLessThan,
    SLessThanEqual,
    FOrdEqual,
    FUnordEqual,
    FOrdNotEqual,
    FUnordNotEqual,
    FOrdLessThan,
    FUnordLessThan,
    FOrdLessThanEqual,
    FUnordLessThanEqual,
    FOrdGreaterThan,
    FUnordGreaterThan,
    FOrdGreaterThanEqual,
    FUnordGreaterThanEqual,
    Atan2,
    Pow,
    Step,
    /// The second operand is a signed integer of 32 bits.
    Ldexp,
    FMin,
    FMax,
    NMin,
    NMax,
    /// `OpAtomicFMinEXT` and `OpGroupNonUniformFMin`: like `NMin`, but bound by `SignedZeroInfNanPreserve`.
    AtomicFMin,
    AtomicFMax,
    UMin,
    UMax,
    SMin,
    SMax,
}

/// Scalar operations of three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ternary {
    /// `a` is the boolean, `bits` the width of the others.
    Select,
    Fma,
    FMix,
    SmoothStep,
    FClamp,
    UClamp,
    SClamp,
    NClamp,
    /// Base, offset, count; the latter two unsigned of any width.
    BitFieldSExtract,
    BitFieldUExtract,
}

/// Scalar operations with two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wide {
    /// Sum or difference, then carry or borrow (0 or 1).
    IAddCarry,
    ISubBorrow,
    /// Low half, then high half.
    UMulExtended,
    SMulExtended,
    /// Fraction, then whole part, of the first operand.
    Modf,
    /// Significand, then exponent as an integer of 32 bits, of the first operand.
    Frexp,
}

/// Conversions, named after the SPIR-V instruction without its `Op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convert {
    UToF,
    SToF,
    /// Undefined out of range.
    FToU,
    FToS,
    /// Between float widths. `rounding` of `FPRoundingMode`, if decorated, else what the entry point says.
    FToF(Option<Rounding>),
    /// Zero-extends or truncates.
    UToU,
    /// Sign-extends or truncates.
    SToS,
}

/// A rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest, ties to even.
    NearestEven,
    /// Toward zero.
    Zero,
}

/// Float controls of the entry point, for 16, 32 and 64 bits in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls(pub [FloatControl; 3]);

/// What an entry point demands of floats of one width. Nothing demanded: the device chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControl {
    /// Denormals: `Some(true)` kept, `Some(false)` flushed to zero.
    pub denormals_kept: Option<bool>,
    /// How results are rounded.
    pub rounding: Option<Rounding>,
    /// `SignedZeroInfNanPreserve`.
    pub signed_zero_inf_nan: bool,
}

/// What the module is entitled to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Convergence {
    /// `MaximallyReconvergesKHR`.
    pub maximal: bool,
    /// `SubgroupUniformControlFlowKHR`.
    pub subgroup_uniform: bool,
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
    /// What it does.
    pub op: AtomicOp,
    /// Where.
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
    /// Who waits for each other; meaningless for memory barriers.
    pub execution: Scope,
    /// Whose memory it orders.
    pub memory: Scope,
    /// How.
    pub semantics: Semantics,
}

/// How a load or store deals with memory other invocations see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryAccess {
    /// `NonPrivatePointer`, or in a module without the Vulkan memory model workgroup memory and what is `Coherent`: takes
    /// part in synchronisation between invocations.
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

/// An operation of the subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// What it does.
    pub op: GroupOp,
    /// Width of a component of `value`.
    pub bits: u8,
    /// Components of `value` and the result.
    pub components: u32,
    /// The result's first register.
    pub d: Slot,
    /// First register of the value; unused by `Elect`.
    pub value: Slot,
    /// Second operand: an invocation's number, a mask, a delta or an index; unused by others.
    pub other: Slot,
}

/// What a group operation does; named after `OpGroupNonUniform…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "SPIR-V's names")]
pub enum GroupOp {
    Elect,
    All,
    Any,
    AllEqual {
        float: bool,
    },
    Broadcast,
    BroadcastFirst,
    /// Ballots are four registers of 32 bits.
    Ballot,
    InverseBallot,
    BallotBitExtract,
    BallotBitCount(Scan),
    BallotFindLsb,
    BallotFindMsb,
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// Within clusters of so many, 0 for the whole subgroup.
    Rotate {
        cluster: u32,
    },
    Arithmetic(GroupArithmetic, Scan),
    QuadBroadcast,
    /// Horizontal 0, vertical 1, diagonal 2.
    QuadSwap(u8),
}

/// How many values a result is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "SPIR-V's names")]
pub enum Scan {
    Reduce,
    Inclusive,
    Exclusive,
    Clustered(u32),
}

/// What joins two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "SPIR-V's names")]
pub enum GroupArithmetic {
    IAdd,
    FAdd,
    IMul,
    FMul,
    SMin,
    UMin,
    FMin,
    SMax,
    UMax,
    FMax,
    And,
    Or,
    Xor,
}

/// A multiway branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// What it looks at.
    pub selector: Slot,
    /// Where to go for which value.
    pub cases: Vec<(u64, Pc)>,
    /// Where to go for all others.
    pub default: Pc,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its first instruction.
    pub start: Pc,
    /// The loops around it, outermost first: indices of [`Code::loops`]. A loop's header is in it, its merge block not.
    pub loops: Vec<u32>,
    /// Blocks that control can go to next, back edges left out: indices of [`Code::blocks`].
    pub forward: Vec<u32>,
    /// Number of its function, in the order of the module.
    pub function: u32,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its header, an index of [`Code::blocks`].
    pub header: u32,
}
