//! Operations on scalars.

/// The memory that a pointer points to.
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

/// Scalar operations with one operand. Those without a comment are the SPIR-V (or `GLSL.std.450`) instruction of that
/// name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    SNegate,
    Not,
    LogicalNot,
    BitReverse,
    /// The result has the operand's width.
    BitCount,
    FNegate,
    /// The result is a boolean, here and below.
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
    Tanh,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    InverseSqrt,
    FindILsb,
    FindSMsb,
    FindUMsb,
    /// A float to a normalized integer of 8 or 16 bits in the low bits, as in `PackSnorm4x8` and similar.
    PackSnorm8,
    PackSnorm16,
    PackUnorm8,
    PackUnorm16,
    /// The inverse, from the low bits to a 32-bit float.
    UnpackSnorm8,
    UnpackSnorm16,
    UnpackUnorm8,
    UnpackUnorm16,
}

/// Scalar operations with two operands.
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
    /// Comparisons have a boolean result and operands of width `bits`. Booleans are compared with 1 bit.
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
    /// The second operand is a signed 32-bit integer.
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

impl Binary {
    /// Whether the result is a boolean.
    pub fn compares(self) -> bool {
        matches!(
            self,
            Self::IEqual
                | Self::INotEqual
                | Self::UGreaterThan
                | Self::UGreaterThanEqual
                | Self::ULessThan
                | Self::ULessThanEqual
                | Self::SGreaterThan
                | Self::SGreaterThanEqual
                | Self::SLessThan
                | Self::SLessThanEqual
                | Self::FOrdEqual
                | Self::FUnordEqual
                | Self::FOrdNotEqual
                | Self::FUnordNotEqual
                | Self::FOrdLessThan
                | Self::FUnordLessThan
                | Self::FOrdLessThanEqual
                | Self::FUnordLessThanEqual
                | Self::FOrdGreaterThan
                | Self::FUnordGreaterThan
                | Self::FOrdGreaterThanEqual
                | Self::FUnordGreaterThanEqual
        )
    }
}

/// Scalar operations with three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ternary {
    /// `a` is the boolean, `bits` the width of the other operands.
    Select,
    Fma,
    FMix,
    SmoothStep,
    FClamp,
    UClamp,
    SClamp,
    NClamp,
    /// Base, offset, count. The latter two are unsigned, of any width.
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
    /// Significand, then exponent as a 32-bit integer, of the first operand.
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
    /// Between float widths, with the rounding of an `FPRoundingMode` decoration, or else of the entry point.
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

/// The entry point's requirements for floats of one width. Without a requirement, the device chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControl {
    /// Denormals: `Some(true)` preserved, `Some(false)` flushed to zero.
    pub denormals_kept: Option<bool>,
    /// The rounding of results.
    pub rounding: Option<Rounding>,
    /// `SignedZeroInfNanPreserve`.
    pub signed_zero_inf_nan: bool,
}
