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
    /// 0 horizontal, 1 vertical, 2 diagonal.
    QuadSwap(u8),
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
