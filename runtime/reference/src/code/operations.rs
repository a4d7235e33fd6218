//! Operations on scalars: the types of their operands, and the instructions that they come from.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core, Op as Atomic, Op as Group};

/// An instruction that an operation may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Core(Core),
    /// A function of `GLSL.std.450`.
    Glsl(Glsl),
    /// The update of memory by an atomic.
    Atomic(Core),
    /// The combination of values in a reduction or scan of a subgroup.
    Group(Core),
}

/// The types that an operation accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Bool,
    Int,
    Float,
    BoolOrInt,
}

/// Defines operations: in groups with the family of their operands, named after their instructions, and other instructions of the same
/// meaning.
macro_rules! operations {
    (
        $(#[$about:meta])* $name:ident:
        $($family:ident $set:ident { $($op:ident),* })*
        $(=> { $($same:ident = $other:ident $from:ident),* })?
    ) => {
        $(#[$about])*
        #[allow(missing_docs, reason = "SPIR-V's names")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Hash)]
        pub enum $name {
            $($($op,)*)*
        }

        impl $name {
            #[cfg(test)]
            #[allow(dead_code, reason = "not all are tested as lists")]
            pub const ALL: &[Self] = &[$($(Self::$op),*),*];

            /// The operation of an instruction.
            pub fn of(source: Source) -> Option<Self> {
                match source {
                    $($(Source::$set($set::$op) => Some(Self::$op),)*)*
                    $($(Source::$other($other::$from) => Some(Self::$same),)*)?
                    _ => None,
                }
            }

            pub fn family(self) -> Family {
                match self {
                    $($(Self::$op => Family::$family,)*)*
                }
            }
        }
    };
}

operations! {
    /// Scalar operations with one operand. The result of `BitCount` has the operand's width.
    Unary:
    Int Core { SNegate, Not, BitReverse, BitCount }
    Int Glsl { FindUMsb }
    Bool Core { LogicalNot }
    Float Core { FNegate }
    Float Glsl {
        FAbs, RoundEven, Trunc, Floor, Ceil, Sin, Cos, Tanh, Exp, Log, Exp2, Log2, Sqrt, InverseSqrt
    }
}

operations! {
    /// Scalar operations with two operands. Amounts of shifts are unsigned and may be of any width. Comparisons, from `IEqual` to
    /// `FOrdGreaterThanEqual`, have a boolean result and operands of width `bits`; booleans are compared with 1 bit.
    Binary:
    Int Core { IAdd, ISub, IMul, UDiv, SDiv, UMod, SMod }
    Int Core { ShiftLeftLogical, ShiftRightLogical, ShiftRightArithmetic }
    Int Core { BitwiseAnd, BitwiseOr, BitwiseXor }
    Int Glsl { UMin, UMax, SMin, SMax }
    Bool Core { LogicalAnd, LogicalOr }
    Float Core { FAdd, FSub, FMul, FDiv }
    Float Glsl { FMin, FMax, NMin, NMax }
    Float Group { GroupNonUniformFMax }
    BoolOrInt Core { IEqual, INotEqual }
    Int Core { UGreaterThan, UGreaterThanEqual, ULessThan, ULessThanEqual }
    Int Core { SGreaterThan, SGreaterThanEqual, SLessThan, SLessThanEqual }
    Float Core { FOrdEqual, FUnordNotEqual, FOrdLessThan, FOrdLessThanEqual, FOrdGreaterThan, FOrdGreaterThanEqual }
    => {
        IEqual = Core LogicalEqual, INotEqual = Core LogicalNotEqual,
        IAdd = Atomic AtomicIAdd, FAdd = Atomic AtomicFAddEXT,
        BitwiseAnd = Atomic AtomicAnd, BitwiseOr = Atomic AtomicOr, BitwiseXor = Atomic AtomicXor,
        UMin = Atomic AtomicUMin, UMax = Atomic AtomicUMax, SMin = Atomic AtomicSMin, SMax = Atomic AtomicSMax,
        IAdd = Group GroupNonUniformIAdd, FAdd = Group GroupNonUniformFAdd, UMin = Group GroupNonUniformUMin
    }
}

operations! {
    /// Scalar operations with three operands. `Select` has a boolean first, and `bits` is the width of the others; `BitFieldUExtract` has
    /// the base, the offset and the count, of which the latter are unsigned and of any width.
    Ternary:
    Float Core { FmaKHR }
    Float Glsl { Fma, NClamp }
    Int Glsl { SClamp }
    BoolOrInt Core { Select }
    Int Core { BitFieldUExtract }
}

operations! {
    /// Scalar operations with two results: the low half, then the high one.
    Wide:
    Int Core { UMulExtended, SMulExtended }
}

operations! {
    /// Conversions. Those between floats and integers are undefined out of range; the others extend by zeros or the sign, or truncate.
    Conversion:
    Int Core { ConvertUToF, ConvertSToF, UConvert, SConvert }
    Float Core { ConvertFToU, ConvertFToS, FConvert }
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
