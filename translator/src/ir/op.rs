//! Operations that give a value.

use super::{Type, Value, Var};

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
    /// The same on `F32` as a dot product: see [`Facts::dot_f32_fused`](ptx2spv_target::Facts::dot_f32_fused).
    DotFma(Value, Value, Value),
    /// Float arithmetic that doesn't round to nearest even. No device has it: legalization replaces it.
    Rounded(Rounding, Arithmetic),
    /// Arithmetic on `F32` as `.ftz` has it: subnormal operands count as zeros of their sign; the result is rounded to 24
    /// bits of any exponent, and is zero of its sign if that is below the least normal number. Legalization replaces it.
    Flushed(Rounding, Arithmetic),
    /// Arithmetic on f16 in an `I32`, rounded once to nearest even, of sums, differences, products and `Fma`. NaN is 0x7fff.
    Half(Halves, Arithmetic),
    /// A step of a sum of products as matrix units compute it; gives an `I32`. Legalization replaces it.
    Matrix(MatrixStep, Value, Value, Value),
    /// 64 bits by their lower and upper half, `I32` both; gives [`Type::Pair`] or `F64`.
    Pair(Value, Value),
    /// A value that the launch or the thread's place in it gives.
    Builtin(Builtin),
    /// A channel of the texel that a sampler reads; `F32`.
    Sample(Sample),
    /// The result of a helper, by its number in [`Function::helpers`](super::Function::helpers), with as many operands
    /// as the helper has parameters.
    Call(u32, [Option<Value>; HELPER_PARAMETERS]),
}

impl Op {
    /// Whether the operation has some value and does no harm, whatever its operands are: such an operation may be
    /// computed even if the result is unused.
    pub fn is_speculatable(&self) -> bool {
        match self {
            Op::Binary(op, ..) => !op.traps(),
            // Each time gives another value.
            Op::Builtin(builtin) => builtin.varies() != Varies::InTime,
            Op::Const(_)
            | Op::Get(_)
            | Op::Unary(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Fma(..)
            | Op::DotFma(..)
            | Op::Matrix(..)
            | Op::Rounded(..)
            | Op::Flushed(..)
            | Op::Half(..)
            | Op::Pair(..)
            | Op::Call(..) => true,
            // There may be no image of that number.
            Op::Sample(_) => false,
        }
    }
}

/// A sampler's read of level 0 of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// The image's number in the table of those with as many dimensions; `I32`.
    pub image: Value,
    /// The first two coordinates; `F32` both.
    pub place: [Value; 2],
    /// The third coordinate, for images of three dimensions; `F32`.
    pub depth: Option<Value>,
    /// The number of the channel.
    pub channel: u8,
}

impl Sample {
    /// Its operands.
    pub fn operands(self) -> impl Iterator<Item = Value> {
        [self.image].into_iter().chain(self.place).chain(self.depth)
    }

    /// The same with every operand replaced by the result of `map`.
    pub fn map(self, mut map: impl FnMut(Value) -> Value) -> Sample {
        Sample { image: map(self.image), place: self.place.map(&mut map), depth: self.depth.map(map), ..self }
    }
}

/// The most parameters of a [`Helper`](super::Helper).
pub const HELPER_PARAMETERS: usize = 3;

/// Factors in an `I32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factors {
    /// Two f16.
    F16,
    /// Two bf16.
    Bf16,
    /// One f32, of which the lowest 13 bits don't count.
    Tf32,
    /// Four floats of eight bits.
    E4m3,
    /// Four e4m3 of the first matrix, or four e5m2 of the second.
    E4m3E5m2,
    /// Four e5m2 of the first matrix, or four e4m3 of the second.
    E5m2E4m3,
    /// Four e5m2.
    E5m2,
}

/// Floats of eight bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the format of its name")]
pub enum Minifloat {
    E4m3,
    E5m2,
}

/// The formats of a sum of products and an addend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// An f32, truncated.
    F32,
    /// An f16 in the lower half, rounded once to nearest even.
    F16,
    /// An f32 truncated to 13 bits behind the first one; no more are kept of terms.
    ShortF32,
    /// As `F16`, but no more than these 13 bits are kept of terms.
    ShortF16,
}

/// A step of a sum of products as matrix units compute it: exact products and an addend are aligned to the largest exponent among them, cut off
/// below, and added exactly (docs/numerics.md). The exponent of a product is the sum of its factors', that of zero is least.
///
/// *Scale* is an `I32` that passes between the steps: the largest exponent, biased, in the lower half; above, whether there
/// are infinities of each sign and NaNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixStep {
    /// The two floats in the lower half of a word (first operand) as f16; the other operands don't count.
    Halves(Minifloat),
    /// The scale of an addend (first operand); the others don't count.
    Start(Accumulator),
    /// Of two words of factors and a scale, the scale of their products too.
    Scale(Factors),
    /// Of two words of factors and a scale, the sum of their products, as an integer.
    Sum(Factors),
    /// Of an addend, a scale and the sum of products (`I64`), the result.
    Round(Accumulator),
    /// The product of three `F32`, given by their bits, as an integer: it is cut off towards zero. The third is a power
    /// of two, and the product of the others is exact. A number that isn't normal may be taken for zero; the result is
    /// in range.
    Aligned,
    /// Of two integers and a power of two (bits of `F32`), the bits of their sum's product with that as an `F32`, cut off towards zero, or made odd
    /// if the sums are f16. It is zero or a normal number. The sum's magnitude fits 32 bits.
    Total(Accumulator),
}

/// The places of f16s in an `I32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Halves {
    /// One in the lower half, zeros in the upper half.
    Low,
    /// One in each half.
    Both,
}

/// The neighbour that stands for a number that a format doesn't have.
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
    /// The operation with every operand replaced by the result of `map`.
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
    /// The f16 in the lower half of an `I32` to `F32`, exact; a NaN becomes some NaN. The upper half doesn't count.
    WidenHalf,
    /// `F32` to f16 in an `I32`, to nearest even, with zeros in the upper half. NaN becomes 0x7fff.
    NarrowHalf,
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
    /// Binary logarithm within PTX's bound; `F32`. After legalization it is the device's, of anything but subnormals.
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
    /// Whether the result is one over the root.
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
    /// The smaller of two unsigned `I32`.
    MinUnsigned,
    /// The smaller of two signed `I32`.
    MinSigned,
    /// The larger of two unsigned `I32`.
    MaxUnsigned,
    /// The larger of two signed `I32`.
    MaxSigned,
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

impl Binary {
    /// Whether operands that break the operation's precondition may end the program, rather than give some value.
    pub fn traps(self) -> bool {
        use Binary::{
            Add, And, DivUnsigned, Mul, MulHighSigned, MulHighUnsigned, Or, RemUnsigned, Sar, Shl, Shr, Sub, Xor,
        };
        use Binary::{DotMixed, DotSigned, DotUnsigned, MaxSigned, MaxUnsigned, MinSigned, MinUnsigned};
        use Binary::{FAdd, FDiv, FDivApprox, FMax, FMin, FMul, FSub, OrNan};
        match self {
            DivUnsigned | RemUnsigned => true,
            Add | Sub | Mul | MulHighUnsigned | MulHighSigned | And | Or | Xor | Shl | Shr | Sar => false,
            DotSigned | DotUnsigned | DotMixed | MinUnsigned | MinSigned | MaxUnsigned | MaxSigned => false,
            FAdd | FSub | FMul | FDiv | FDivApprox | FMin | FMax | OrNan => false,
        }
    }
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
    /// The number of the thread's block within its cluster, x fastest; only in functions with [`Function::cluster`](super::Function::cluster).
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
    /// Bits that the records of all the launch's textures have (from a specialization constant): see
    /// [`TEXTURE_BITS`](ptx2spv_interface::spec_id::TEXTURE_BITS).
    TextureBits,
    /// A word of the push constant block at a byte offset; `I32` (offset a multiple of 4) or `I64` (of 8).
    PushConstant(u32),
    /// A counter that runs while the kernel does; `I64` or [`Type::Pair`].
    Clock,
    /// A parameter of a [`Helper`](super::Helper) by its number, in its body only.
    Parameter(u8),
}

/// The places in which a built-in has other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varies {
    /// Nowhere in a workgroup.
    Nowhere,
    /// In other blocks of the cluster that shares the workgroup.
    InBlocks,
    /// In other subgroups.
    InSubgroups,
    /// In other invocations of the subgroup.
    InInvocations,
    /// In other threads, of which an invocation may have several.
    InThreads,
    /// At another time.
    InTime,
    /// In another call of the helper.
    InCalls,
}

impl Builtin {
    /// The address of the module's variables, where a kernel's accesses are checked and an address is the kernel's own.
    /// Accesses of the translator's own code aren't checked, and their addresses are computed from the push constant
    /// itself.
    pub const CHECKED_VARIABLES: u32 = u32::MAX - 7;

    /// The places in which the built-in has other values.
    pub fn varies(self) -> Varies {
        match self {
            Builtin::ThreadId(_) | Builtin::ThreadIndex => Varies::InThreads,
            Builtin::InvocationIndex | Builtin::SubgroupLane => Varies::InInvocations,
            Builtin::SubgroupId => Varies::InSubgroups,
            Builtin::ClusterRank => Varies::InBlocks,
            Builtin::Clock => Varies::InTime,
            Builtin::Parameter(_) => Varies::InCalls,
            Builtin::BlockSize(_)
            | Builtin::WorkgroupId(_)
            | Builtin::WorkgroupCount(_)
            | Builtin::Invocations
            | Builtin::SharedBytes
            | Builtin::DynamicSharedBytes
            | Builtin::TextureBits
            | Builtin::PushConstant(_) => Varies::Nowhere,
        }
    }
}
