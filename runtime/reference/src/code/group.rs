//! Subgroup operations.

use super::Slot;

/// A subgroup operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The operation.
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

/// The kind of a group operation, named after `OpGroupNonUniform…`.
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
    /// Ballots are four 32-bit registers.
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
    /// Within clusters of this size, 0 for the whole subgroup.
    Rotate {
        cluster: u32,
    },
    Arithmetic(GroupArithmetic, Scan),
    QuadBroadcast,
    /// The product of two cooperative matrices, which `value` and `other` begin, and a sum.
    MatrixProduct(MatrixProduct),
    /// 0 horizontal, 1 vertical, 2 diagonal.
    QuadSwap(u8),
}

/// A product of cooperative matrices of 16 by 8 elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixProduct {
    /// Its types.
    pub kind: MatrixKind,
    /// The first register of what is added.
    pub addend: Slot,
}

/// Types of a product of cooperative matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixKind {
    /// f16.
    Halves {
        /// Whether sums are f16, and not f32.
        sums_are_halves: bool,
    },
    /// Bytes, of which the factors' may be signed.
    Bytes {
        /// The factors' signs.
        are_signed: [bool; 2],
    },
}

impl MatrixKind {
    /// Elements of a factor in 32 bits.
    pub fn elements_of_word(self) -> u32 {
        match self {
            Self::Halves { .. } => 2,
            Self::Bytes { .. } => 4,
        }
    }
}

/// The values that are combined into a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "SPIR-V's names")]
pub enum Scan {
    Reduce,
    Inclusive,
    Exclusive,
    Clustered(u32),
}

/// The operation that combines two values.
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
