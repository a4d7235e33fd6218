//! Operations on scalars: the types of their operands, and the instructions that they come from.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core, Op as Atomic};

/// An instruction that an operation may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Core(Core),
    /// A function of `GLSL.std.450`.
    Glsl(Glsl),
    /// The update of memory by an atomic.
    Atomic(Core),
}

/// The types that an operation accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Bool,
    Int,
    Float,
    BoolOrInt,
}

/// Defines operations: each with the family of its operands, and the instructions of that meaning.
macro_rules! operations {
    ($(#[$about:meta])* $name:ident: $($(#[$note:meta])* $op:ident($family:ident) = $($set:ident $from:ident),*;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Hash)]
        pub enum $name {
            $($(#[$note])* $op,)*
        }

        impl $name {
            #[cfg(test)]
            #[allow(dead_code, reason = "not all are tested as lists")]
            pub const ALL: &[Self] = &[$(Self::$op),*];

            /// The operation of an instruction.
            pub fn of(source: Source) -> Option<Self> {
                match source {
                    $($(Source::$set($set::$from) => Some(Self::$op),)*)*
                    _ => None,
                }
            }

            pub fn family(self) -> Family {
                match self {
                    $(Self::$op => Family::$family,)*
                }
            }
        }
    };
}

operations! {
    /// Scalar operations with one operand.
    Unary:
    SNegate(Int) = Core SNegate;
    Not(Int) = Core Not;
    LogicalNot(Bool) = Core LogicalNot;
    BitReverse(Int) = Core BitReverse;
    /// The result has the operand's width.
    BitCount(Int) = Core BitCount;
    FindUMsb(Int) = Glsl FindUMsb;
    FNegate(Float) = Core FNegate;
    FAbs(Float) = Glsl FAbs;
    RoundEven(Float) = Glsl RoundEven;
    Trunc(Float) = Glsl Trunc;
    Floor(Float) = Glsl Floor;
    Ceil(Float) = Glsl Ceil;
    Sin(Float) = Glsl Sin;
    Cos(Float) = Glsl Cos;
    Tanh(Float) = Glsl Tanh;
    Exp(Float) = Glsl Exp;
    Log(Float) = Glsl Log;
    Exp2(Float) = Glsl Exp2;
    Log2(Float) = Glsl Log2;
    Sqrt(Float) = Glsl Sqrt;
    InverseSqrt(Float) = Glsl InverseSqrt;
}

operations! {
    /// Scalar operations with two operands.
    Binary:
    IAdd(Int) = Core IAdd, Atomic AtomicIAdd;
    ISub(Int) = Core ISub;
    IMul(Int) = Core IMul;
    UDiv(Int) = Core UDiv;
    SDiv(Int) = Core SDiv;
    UMod(Int) = Core UMod;
    SMod(Int) = Core SMod;
    FAdd(Float) = Core FAdd, Atomic AtomicFAddEXT;
    FSub(Float) = Core FSub;
    FMul(Float) = Core FMul;
    FDiv(Float) = Core FDiv;
    /// The amount is unsigned and may be of any width.
    ShiftLeftLogical(Int) = Core ShiftLeftLogical;
    ShiftRightLogical(Int) = Core ShiftRightLogical;
    ShiftRightArithmetic(Int) = Core ShiftRightArithmetic;
    BitwiseAnd(Int) = Core BitwiseAnd, Atomic AtomicAnd;
    BitwiseOr(Int) = Core BitwiseOr, Atomic AtomicOr;
    BitwiseXor(Int) = Core BitwiseXor, Atomic AtomicXor;
    LogicalAnd(Bool) = Core LogicalAnd;
    LogicalOr(Bool) = Core LogicalOr;
    /// Comparisons, from here to `FOrdGreaterThanEqual`, have a boolean result and operands of width `bits`. Booleans are
    /// compared with 1 bit.
    IEqual(BoolOrInt) = Core IEqual, Core LogicalEqual;
    INotEqual(BoolOrInt) = Core INotEqual, Core LogicalNotEqual;
    UGreaterThan(Int) = Core UGreaterThan;
    UGreaterThanEqual(Int) = Core UGreaterThanEqual;
    ULessThan(Int) = Core ULessThan;
    ULessThanEqual(Int) = Core ULessThanEqual;
    SGreaterThan(Int) = Core SGreaterThan;
    SGreaterThanEqual(Int) = Core SGreaterThanEqual;
    SLessThan(Int) = Core SLessThan;
    SLessThanEqual(Int) = Core SLessThanEqual;
    FOrdEqual(Float) = Core FOrdEqual;
    FUnordNotEqual(Float) = Core FUnordNotEqual;
    FOrdLessThan(Float) = Core FOrdLessThan;
    FOrdLessThanEqual(Float) = Core FOrdLessThanEqual;
    FOrdGreaterThan(Float) = Core FOrdGreaterThan;
    FOrdGreaterThanEqual(Float) = Core FOrdGreaterThanEqual;
    FMin(Float) = Glsl FMin;
    FMax(Float) = Glsl FMax;
    NMin(Float) = Glsl NMin;
    NMax(Float) = Glsl NMax;
    UMin(Int) = Glsl UMin, Atomic AtomicUMin;
    UMax(Int) = Glsl UMax, Atomic AtomicUMax;
    SMin(Int) = Glsl SMin, Atomic AtomicSMin;
    SMax(Int) = Glsl SMax, Atomic AtomicSMax;
}

operations! {
    /// Scalar operations with three operands.
    Ternary:
    /// `a` is the boolean, `bits` the width of the other operands.
    Select(BoolOrInt) =;
    Fma(Float) = Glsl Fma;
    SClamp(Int) = Glsl SClamp;
    NClamp(Float) = Glsl NClamp;
    /// Base, offset, count. The latter two are unsigned, of any width.
    BitFieldUExtract(Int) =;
}

operations! {
    /// Scalar operations with two results.
    Wide:
    /// Low half, then high half.
    UMulExtended(Int) = Core UMulExtended;
    SMulExtended(Int) = Core SMulExtended;
}

operations! {
    /// Conversions; the type of the operand is given.
    Convert:
    UToF(Int) = Core ConvertUToF;
    SToF(Int) = Core ConvertSToF;
    /// Undefined out of range.
    FToU(Float) = Core ConvertFToU;
    FToS(Float) = Core ConvertFToS;
    /// Between float widths.
    FToF(Float) = Core FConvert;
    /// Zero-extends or truncates.
    UToU(Int) = Core UConvert;
    /// Sign-extends or truncates.
    SToS(Int) = Core SConvert;
}

impl Binary {
    /// Whether the result is a boolean.
    pub fn compares(self) -> bool {
        (Self::IEqual..=Self::FOrdGreaterThanEqual).contains(&self)
    }

    /// Whether the second operand may have another width.
    pub fn shifts(self) -> bool {
        (Self::ShiftLeftLogical..=Self::ShiftRightArithmetic).contains(&self)
    }
}
