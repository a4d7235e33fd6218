//! Operations on scalars.

/// The memory that a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Device memory by address: `PhysicalStorageBuffer`.
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
    RoundEven,
    Trunc,
    FAbs,
    Floor,
    Ceil,
    Sin,
    Cos,
    Tanh,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    InverseSqrt,
    FindUMsb,
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
    SMod,
    FAdd,
    FSub,
    FMul,
    FDiv,
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
    FUnordNotEqual,
    FOrdLessThan,
    FOrdLessThanEqual,
    FOrdGreaterThan,
    FOrdGreaterThanEqual,
    FMin,
    FMax,
    NMin,
    NMax,
    /// `OpGroupNonUniformFMax`: like `NMax`, but bound by `SignedZeroInfNanPreserve`.
    GroupFMax,
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
                | Self::FUnordNotEqual
                | Self::FOrdLessThan
                | Self::FOrdLessThanEqual
                | Self::FOrdGreaterThan
                | Self::FOrdGreaterThanEqual
        )
    }
}

/// Scalar operations with three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ternary {
    /// `a` is the boolean, `bits` the width of the other operands.
    Select,
    Fma,
    SClamp,
    NClamp,
    /// Base, offset, count. The latter two are unsigned, of any width.
    BitFieldUExtract,
}

/// Scalar operations with two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wide {
    /// Low half, then high half.
    UMulExtended,
    SMulExtended,
}

/// Conversions, named after the SPIR-V instruction without its `Op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convert {
    UToF,
    SToF,
    /// Undefined out of range.
    FToU,
    FToS,
    /// Between float widths.
    FToF,
    /// Zero-extends or truncates.
    UToU,
    /// Sign-extends or truncates.
    SToS,
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
