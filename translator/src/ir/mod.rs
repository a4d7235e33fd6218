//! The intermediate form between PTX and SPIR-V: a structured tree of small typed operations.
//!
//! Lowering turns each PTX instruction into these operations; passes rewrite them; emission maps them to SPIR-V one
//! to one. An operation here means the same on every device and leaves nothing undefined inside the preconditions
//! that its documentation names, which lowering upholds (such as "the shift amount is below the width").
//!
//! * A [`Value`] is assigned once, by the statement that defines it, and may be used after that statement in the same
//!   list and in lists nested there. Values carry the results of operations.
//! * A [`Var`] is a mutable variable of the function: a PTX register, or an auxiliary of the translator. Only variables
//!   carry data around loops and out of nested lists. They start as zero.
//! * 8- and 16-bit integers live in [`Type::I32`], zero-extended: whoever produces one clears the upper bits. Integers
//!   have no sign; operations do. Floats in registers live in integers of their width and are bitcast where arithmetic
//!   needs them, so that moving a NaN can't change it.

mod builder;
mod fold;
mod legal;
pub mod semantics;
pub(crate) mod text;
mod vars;
mod verify;
mod warp;

pub use builder::{Builder, bits_type};
pub use fold::{Folded, fold};
pub use legal::Legal;
pub use semantics::mask;
pub use text::ParseError;
pub use vars::{VarSet, for_each_assigned, for_each_read};
pub(crate) use verify::Checker;
pub use verify::{Stage, verify, verify_at};
pub use warp::{Reduction, Shuffle, SubgroupOp, Vote, WARP_SIZE, Warp, WarpOp};

use crate::diagnostic::Span;
use crate::target::{self, Cluster, Fault, Packing, Scratch};

/// Type of a [`Value`] or [`Var`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A truth value; PTX's `.pred`.
    Bool,
    /// 32 bits (or 8 or 16 zero-extended).
    I32,
    /// 64 bits.
    I64,
    /// Single precision; only for values, never for variables.
    F32,
    /// Double precision; only for values, never for variables.
    F64,
    /// Two words, the lower first, in place of an `I64` that a device without 64-bit integers can't have: an address in global
    /// memory, and what the clock gives. Only for values, never for variables.
    Pair,
}

/// Result of an operation, by number into [`Function::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// Mutable variable, by number into [`Function::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A list of statements.
pub type Block = Vec<Stmt>;

/// Statements of a list and those nested in it, without marks.
pub fn size(block: &Block) -> usize {
    let stmts = block.iter().map(|stmt| match stmt {
        Stmt::At(_) => 0,
        Stmt::If { then, otherwise, .. } => 1 + size(then) + size(otherwise),
        Stmt::Loop(body) => 1 + size(body),
        _ => 1,
    });
    stmts.sum()
}

/// Whether a loop with this body is one over all lanes of a warp, by the variables that count in such loops: if its last
/// statement, which alone leaves it, stands behind the counting.
pub fn is_lane_loop(body: &[Stmt], lane_numbers: &[Var]) -> bool {
    let Some((Stmt::If { .. }, rest)) = body.split_last() else { return false };
    let last = rest.iter().rfind(|stmt| !matches!(stmt, Stmt::At(_) | Stmt::Let(..)));
    matches!(last, Some(Stmt::Set(var, _)) if lane_numbers.contains(var))
}

/// How deep lists are nested in a list.
pub fn depth(block: &Block) -> usize {
    let mut deepest = 0;
    let mut todo = vec![(block, 0)];
    while let Some((block, depth)) = todo.pop() {
        deepest = deepest.max(depth);
        for stmt in block {
            match stmt {
                Stmt::If { then, otherwise, .. } => todo.extend([(then, depth + 1), (otherwise, depth + 1)]),
                Stmt::Loop(body) => todo.push((body, depth + 1)),
                _ => {}
            }
        }
    }
    deepest
}

/// Calls `visit` with the statements of a list and of those nested in it, list by list.
pub fn for_each_stmt<'b>(block: &'b Block, mut visit: impl FnMut(&'b Stmt)) {
    let mut lists = vec![block];
    while let Some(block) = lists.pop() {
        for stmt in block {
            visit(stmt);
            match stmt {
                Stmt::If { then, otherwise, .. } => lists.extend([then, otherwise]),
                Stmt::Loop(body) => lists.push(body),
                _ => {}
            }
        }
    }
}

/// A kernel's body together with the tables that its numbers refer to.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Types of all values.
    pub values: Vec<Type>,
    /// Types of all variables (never floats).
    pub vars: Vec<Type>,
    /// What it does.
    pub body: Block,
    /// Bytes of `.shared` memory that a block declares statically; the translator's own included, unless the function is
    /// for a cluster.
    pub shared_bytes: u32,
    /// How many of these, or after these, are the translator's own: a multiple of 16. At run time they lie after all others.
    pub own_shared_bytes: u32,
    /// The word that sequentially consistent fences of the block go by, once there is one.
    pub fence_word: Option<OwnShared>,
    /// Whether it uses dynamic shared memory.
    pub dynamic_shared: bool,
    /// Bytes of `.local` memory per thread.
    pub local_bytes: u32,
    /// Whether a thread has exited, where a [`Warp`] asks for it. Other threads look at it, even at one that has.
    pub exited: Option<Var>,
    /// How the block's threads lie on invocations: in functions that had warp operations or are made for large blocks.
    pub packing: Option<Packing>,
    /// The cluster of blocks that a workgroup is, if it is more than one.
    pub cluster: Option<Cluster>,
    /// What of local and shared memory lies in device memory, once there is anything.
    pub scratch: Option<Scratch>,
    /// What [`Op::Call`] calls.
    pub helpers: Vec<Helper>,
    /// The variables that count in loops over the lanes of a warp that lies in one invocation: see [`is_lane_loop`]. Once the
    /// kernel is legal, those of loops that are to be calls.
    pub lane_numbers: Vec<Var>,
}

/// Computes one operation that is long on the target, for all places where the kernel has that operation. A helper has no
/// effect, and calls only helpers of higher numbers.
#[derive(Clone, Debug)]
pub struct Helper {
    /// Types of the parameters, never floats.
    pub parameters: Vec<Type>,
    /// Type of the result, never a float.
    pub result: Type,
    /// The body, which ends in [`Stmt::Return`].
    pub function: Function,
}

/// Shared memory of the translator's own. Its address is made by [`Builder::own_shared`].
#[derive(Clone, Copy, Debug)]
pub struct OwnShared {
    /// From the start of all shared memory, or from the end of the kernel's if that is known at the launch only.
    offset: u32,
    /// Whether it is.
    behind: bool,
}

impl Function {
    /// Takes words of shared memory for the translator's own use.
    pub fn take_shared(&mut self, words: u32) -> OwnShared {
        let bytes = words.saturating_mul(4).next_multiple_of(16);
        if let Some(cluster) = &mut self.cluster {
            let offset = self.own_shared_bytes;
            self.own_shared_bytes = self.own_shared_bytes.saturating_add(bytes);
            cluster.own_shared_bytes = self.own_shared_bytes;
            return OwnShared { offset, behind: true };
        }
        if self.own_shared_bytes == 0 {
            // The kernel's dynamic memory begins there.
            self.shared_bytes = self.shared_bytes.next_multiple_of(16);
        }
        let offset = if self.dynamic_shared { self.own_shared_bytes } else { self.shared_bytes };
        self.own_shared_bytes = self.own_shared_bytes.saturating_add(bytes);
        self.shared_bytes = self.shared_bytes.saturating_add(bytes);
        OwnShared { offset, behind: self.dynamic_shared }
    }

    /// Bytes of shared memory of a workgroup that gets no dynamic memory.
    pub fn workgroup_shared_bytes(&self) -> u64 {
        self.cluster.map_or(self.shared_bytes.into(), |cluster| cluster.shared_bytes(self.shared_bytes, 0))
    }

    /// The same for one whose blocks get so many bytes, as the launch asks for them.
    pub fn launch_shared_bytes(&self, dynamic_bytes: u32) -> u64 {
        target::shared_bytes(self.shared_bytes, dynamic_bytes, self.cluster)
    }

    /// Runs something on this and all helpers.
    pub fn each(&mut self, mut run: impl FnMut(&mut Function)) {
        self.helpers.iter_mut().for_each(|helper| run(&mut helper.function));
        run(self);
    }

    /// The bits of values that are constants, by their numbers.
    pub fn constants(&self) -> Vec<Option<u64>> {
        let mut constants = vec![None; self.values.len()];
        for_each_stmt(&self.body, |stmt| {
            if let Stmt::Let(value, Op::Const(bits)) = stmt
                && let Some(entry) = constants.get_mut(value.0 as usize)
            {
                *entry = Some(*bits);
            }
        });
        constants
    }

    /// A new value of a type.
    pub fn value(&mut self, ty: Type) -> Value {
        self.values.push(ty);
        Value(u32::try_from(self.values.len() - 1).unwrap_or(u32::MAX))
    }

    /// A new variable of a type.
    pub fn var(&mut self, ty: Type) -> Var {
        self.vars.push(ty);
        Var(u32::try_from(self.vars.len() - 1).unwrap_or(u32::MAX))
    }

    /// Type of a value; `I32` for a number that isn't one (the verifier reports those).
    pub fn type_of(&self, value: Value) -> Type {
        self.values.get(value.0 as usize).copied().unwrap_or(Type::I32)
    }

    /// Type of a variable; `I32` for a number that isn't one (the verifier reports those).
    pub fn var_type(&self, var: Var) -> Type {
        self.vars.get(var.0 as usize).copied().unwrap_or(Type::I32)
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// The following statements come from this PTX instruction: those of the same list up to its next mark, and those of
    /// lists nested there up to theirs; or from none.
    At(Option<Span>),
    /// Defines a value.
    Let(Value, Op),
    /// Assigns a variable.
    Set(Var, Value),
    /// Reads memory.
    Load {
        /// One value per element: `I32` for elements of up to 4 bytes (narrow ones zero-extended), else `I64`.
        results: Vec<Value>,
        /// How.
        access: Access,
        /// Where: `I64` for [`Space::Global`] and [`Space::Generic`], [`Type::Pair`] too for the former, a byte offset in `I32`
        /// for the others.
        address: Value,
    },
    /// Writes memory.
    Store {
        /// One value per element, types as for [`Stmt::Load`]; the upper bits of narrow ones are ignored.
        values: Vec<Value>,
        /// How.
        access: Access,
        /// Where, as for [`Stmt::Load`].
        address: Value,
    },
    /// Reads, changes and writes memory as one step.
    Atomic(Atomic),
    /// An operation between the threads of a warp; `crate::warp` replaces it.
    Warp(Warp),
    /// An operation of a subgroup, and what it gives.
    Subgroup(Vec<Value>, SubgroupOp),
    /// All threads of the workgroup wait for each other and see each other's earlier writes. Stands in control flow that
    /// is uniform over the workgroup.
    Barrier,
    /// Tells the host that the launch has failed, why, and that it was at the last mark; then the thread goes on. Of
    /// several reports the first one stays. The values are the fault's details, `I32` words as [`Fault`] has them.
    Report(Fault, Vec<Value>),
    /// Marks for the reference device's checks that this thread of the workgroup stops at the barrier instruction of the last
    /// mark, which all threads of its warp must execute together; nothing to other devices. The number, an `I32`, counts threads
    /// so that those of a warp differ in the lowest five bits.
    Arrive(Value),
    /// Orders this thread's earlier memory accesses against later ones, as seen from a scope.
    Fence(Scope),
    /// Runs one of two lists.
    If {
        /// A `Bool`.
        condition: Value,
        /// If true.
        then: Block,
        /// If false.
        otherwise: Block,
    },
    /// Runs the list again and again until a [`Stmt::Break`].
    Loop(Block),
    /// Leaves the innermost loop; the last statement of its list.
    Break,
    /// What a [`Helper`] gives; the last statement of its body, and nowhere else.
    Return(Value),
}

/// An operation that gives one value and has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant by its bits in the result's type (0 or 1 for `Bool`).
    Const(u64),
    /// The present content of a variable.
    Get(Var),
    /// One operand.
    Unary(Unary, Value),
    /// Two operands.
    Binary(Binary, Value, Value),
    /// Compares two operands of one type; gives `Bool`.
    Compare(Compare, Value, Value),
    /// `condition ? then : otherwise`; the latter two of one type.
    Select(Value, Value, Value),
    /// `a * b + c` rounded once.
    Fma(Value, Value, Value),
    /// The same on `F32` as a dot product: see [`Facts::dot_f32_fused`](crate::target::Facts::dot_f32_fused).
    DotFma(Value, Value, Value),
    /// Float arithmetic that doesn't round to nearest even. No device has it: legalization replaces it.
    Rounded(Rounding, Arithmetic),
    /// Arithmetic on `F32` as `.ftz` has it: subnormal operands count as zeros of their sign; the result is rounded to 24
    /// bits of any exponent, and is zero of its sign if that is below the least normal number. Legalization replaces it.
    Flushed(Rounding, Arithmetic),
    /// Arithmetic on f16 in an `I32`, rounded once to nearest even, of sums, differences, products and `Fma`. NaN is 0x7fff.
    Half(Halves, Arithmetic),
    /// 64 bits by their lower and upper half, `I32` both; gives [`Type::Pair`] or `F64`.
    Pair(Value, Value),
    /// A value that the launch or the thread's place in it gives.
    Builtin(Builtin),
    /// What a helper gives, by its number in [`Function::helpers`], with as many operands as that has parameters.
    Call(u32, [Option<Value>; HELPER_PARAMETERS]),
}

/// The most parameters of a [`Helper`].
pub const HELPER_PARAMETERS: usize = 3;

/// Where f16s lie in an `I32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Halves {
    /// One in the lower half, zeros in the upper half.
    Low,
    /// One in each half.
    Both,
}

/// Which of its neighbours stands for a number that a format doesn't have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// The nearest; of two, the one with an even significand.
    NearestEven,
    /// The one nearer to zero.
    TowardZero,
    /// The lower one.
    Down,
    /// The higher one.
    Up,
    /// The one with an odd significand. Rounding again to a precision of at least two bits less is then as if only that
    /// had been done (Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums", 2008).
    Odd,
}

/// Operations on floats of one type that rounding makes a difference to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// Sum.
    Add(Value, Value),
    /// Difference.
    Sub(Value, Value),
    /// Product.
    Mul(Value, Value),
    /// Quotient.
    Div(Value, Value),
    /// The first two's product and the third's sum.
    Fma(Value, Value, Value),
    /// Square root.
    Sqrt(Value),
    /// `F64` to `F32`.
    Narrow(Value),
}

impl Arithmetic {
    /// The operation with every operand replaced by what `map` gives for it.
    pub fn map(self, mut map: impl FnMut(Value) -> Value) -> Arithmetic {
        match self {
            Arithmetic::Add(a, b) => Arithmetic::Add(map(a), map(b)),
            Arithmetic::Sub(a, b) => Arithmetic::Sub(map(a), map(b)),
            Arithmetic::Mul(a, b) => Arithmetic::Mul(map(a), map(b)),
            Arithmetic::Div(a, b) => Arithmetic::Div(map(a), map(b)),
            Arithmetic::Fma(a, b, c) => Arithmetic::Fma(map(a), map(b), map(c)),
            Arithmetic::Sqrt(a) => Arithmetic::Sqrt(map(a)),
            Arithmetic::Narrow(a) => Arithmetic::Narrow(map(a)),
        }
    }

    /// Whether `holds` is true of some operand.
    pub fn any(self, mut holds: impl FnMut(Value) -> bool) -> bool {
        let mut any = false;
        self.map(|value| {
            any |= holds(value);
            value
        });
        any
    }
}

/// Operations on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Inverts every bit (integers) or the truth value (`Bool`).
    Not,
    /// Two's complement.
    Neg,
    /// Number of one bits; `I32` to `I32`.
    BitCount,
    /// Bits in opposite order; `I32`.
    BitReverse,
    /// Number of the highest one bit, all ones if there is none; `I32`.
    FindHighBit,
    /// `I32` to `I64` by zeros.
    ZeroExtend,
    /// `I32` to `I64` by the sign.
    SignExtend,
    /// `I64` to `I32`, upper half dropped.
    Truncate,
    /// The lower half of a [`Type::Pair`] or an `F64`; `I32`.
    LowWord,
    /// The upper half of a [`Type::Pair`] or an `F64`; `I32`.
    HighWord,
    /// Same bits as another type of the same width.
    Bitcast(Type),
    /// Signed integer to float, to nearest even.
    SignedToFloat(Type),
    /// Unsigned integer to float, to nearest even.
    UnsignedToFloat(Type),
    /// Float to signed integer towards zero; the operand is in range and not NaN.
    FloatToSigned(Type),
    /// Float to unsigned integer towards zero; the operand is in range (above -1) and not NaN.
    FloatToUnsigned(Type),
    /// `F32` to a signed `I32` towards zero; the nearest bound if it is out of range, zero if it is NaN.
    SaturateToSigned,
    /// `F32` to an unsigned `I32` in the same way.
    SaturateToUnsigned,
    /// `F32` of the other sign; a NaN stays one.
    FNeg,
    /// `F32` clamped to [0.0, 1.0]; NaN and -0.0 become +0.0. Legalization replaces it.
    Saturate,
    /// The same, but subnormals may become +0.0 too.
    Clamp,
    /// `F32` to `F64`, exact.
    Widen,
    /// `F64` to `F32`, to nearest even.
    Narrow,
    /// To an integral value towards zero.
    Trunc,
    /// To an integral value, to nearest even.
    RoundEven,
    /// To an integral value towards minus infinity.
    Floor,
    /// To an integral value towards plus infinity.
    Ceil,
    /// Square root, correctly rounded.
    Sqrt,
    /// Square root of a positive, normal number as the device gives it; of others where facts vouch for that.
    SqrtApprox,
    /// `1 / sqrt(x)` in the same way, within Vulkan's bound; `F32`.
    InverseSqrtApprox,
    /// An approximate root as PTX has it, within its bound and of any `F32`. Legalization replaces it.
    Root(Root),
    /// `2^x` within PTX's bound; `F32`.
    Exp2Approx,
    /// The same with subnormal operands as zeros and subnormal results as +0.0, as with `.ftz`. Legalization replaces it.
    Exp2Flushed,
    /// Binary logarithm within PTX's bound, of anything but subnormals; `F32`.
    Log2Approx,
    /// Sine within PTX's bound; `F32`.
    SinApprox,
    /// Cosine within PTX's bound; `F32`.
    CosApprox,
    /// Hyperbolic tangent within PTX's bound; `F32`. No device's own is used.
    TanhApprox,
}

/// An approximate root of an `F32`: `sqrt.approx` or `rsqrt.approx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    /// Whether it is one over the root.
    pub inverse: bool,
    /// Whether subnormal operands count as zeros of their sign.
    pub flush: bool,
}

/// Operations on two operands. Integer ones take two of one type, shifts an `I32` amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Modulo 2^width.
    Add,
    /// Modulo 2^width.
    Sub,
    /// Lower half of the product.
    Mul,
    /// Upper half of the unsigned product; `I32` or `I64`.
    MulHighUnsigned,
    /// Upper half of the signed product; `I32` or `I64`.
    MulHighSigned,
    /// The sum of the products of the four signed bytes of each; `I32`.
    DotSigned,
    /// The same of unsigned bytes.
    DotUnsigned,
    /// The same of the first's signed and the second's unsigned bytes.
    DotMixed,
    /// Unsigned quotient; the divisor isn't zero.
    DivUnsigned,
    /// Unsigned remainder; the divisor isn't zero.
    RemUnsigned,
    /// Bitwise, or logical for `Bool`.
    And,
    /// Bitwise, or logical for `Bool`.
    Or,
    /// Bitwise, or logical for `Bool`.
    Xor,
    /// Left shift; the amount is below the width.
    Shl,
    /// Right shift by zeros; the amount is below the width.
    Shr,
    /// Right shift by the sign; the amount is below the width.
    Sar,
    /// Float sum, to nearest even.
    FAdd,
    /// Float difference, to nearest even.
    FSub,
    /// Float product, to nearest even.
    FMul,
    /// Float quotient, correctly rounded to nearest even.
    FDiv,
    /// Quotient within two units in the last place; `F32`.
    FDivApprox,
    /// The smaller of two `F32`, of zeros the negative one; of a NaN and a number the number.
    FMin,
    /// The larger of two `F32`, of zeros the positive one; of a NaN and a number the number.
    FMax,
    /// The first float, or the second, which is a NaN, if the first is one. Legalization replaces it.
    OrNan,
}

/// Comparisons. Float ones are false if an operand is NaN, but for `FNotEqual`, which is then true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Compare {
    Equal,
    NotEqual,
    LessUnsigned,
    LessEqualUnsigned,
    LessSigned,
    LessEqualSigned,
    FEqual,
    FNotEqual,
    FLess,
    FLessEqual,
}

/// Values that the launch or the thread's place in it gives; all `I32` unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `%tid` in dimension 0, 1 or 2.
    ThreadId(u8),
    /// `%ntid` in dimension 0, 1 or 2.
    BlockSize(u8),
    /// The dispatch's own workgroup id in dimension 0, 1 or 2 (without the base of a split grid).
    WorkgroupId(u8),
    /// Workgroups of the dispatch in dimension 0, 1 or 2.
    WorkgroupCount(u8),
    /// Invocations of the workgroup (from specialization constants).
    Invocations,
    /// The thread's number within its block, x fastest.
    ThreadIndex,
    /// The number of the thread's block within its cluster, x fastest; only in functions with [`Function::cluster`].
    ClusterRank,
    /// The invocation's number within its workgroup.
    InvocationIndex,
    /// The subgroup's number within the workgroup.
    SubgroupId,
    /// The invocation's number within its subgroup.
    SubgroupLane,
    /// Shared memory of the launch in bytes (from a specialization constant), without the translator's own.
    SharedBytes,
    /// Dynamic shared memory of the launch in bytes, as it was asked for (from a specialization constant).
    DynamicSharedBytes,
    /// A word of the push constant block at a byte offset; `I32` (offset a multiple of 4) or `I64` (of 8).
    PushConstant(u32),
    /// A counter that runs while the kernel does; `I64` or [`Type::Pair`].
    Clock,
    /// A parameter of a [`Helper`] by its number, in its body only.
    Parameter(u8),
}

/// Where memory is.
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

/// How memory is accessed. The address is a multiple of `bytes` times the number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Where.
    pub space: Space,
    /// Bytes of one element: 1, 2, 4 or 8. There are 1, 2 or 4 elements (for 8-byte ones 1 or 2).
    pub bytes: u8,
    /// How other threads' accesses relate to this one.
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

/// The last mark of a list: which instruction what stands behind it comes from, if any.
pub fn last_mark(block: &[Stmt]) -> Option<Option<Span>> {
    block.iter().rev().find_map(|stmt| match stmt {
        Stmt::At(at) => Some(*at),
        _ => None,
    })
}

/// A read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atomic {
    /// The old content; `None` for a reduction.
    pub result: Option<Value>,
    /// What it does.
    pub op: AtomicOp,
    /// Where (one element of 4 or 8 bytes, or of 2 for compare-and-swap and [`AtomicOp::Half`]).
    pub access: Access,
    /// Address as for [`Stmt::Load`].
    pub address: Value,
    /// The operand, or the new content for compare-and-swap; `I32` or `I64` (floats by their bits).
    pub operand: Value,
    /// What compare-and-swap compares with.
    pub compare: Option<Value>,
}

/// What an atomic does with the old content `old` and the operand `x`.
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

/// What an atomic does with 16-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfOp {
    /// The sum, to nearest even.
    Add,
    /// The smaller one; a number rather than NaN.
    Min,
    /// The larger one; a number rather than NaN.
    Max,
}
