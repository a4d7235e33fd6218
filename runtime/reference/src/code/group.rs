//! Subgroup operations.

use super::{Binary, Slot};

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
    /// First register of the value.
    pub value: Slot,
    /// The number of another invocation, or what it differs by, or the first register of a second factor; unused by others.
    pub other: Slot,
}

/// The kind of a group operation, named after `OpGroupNonUniform…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "SPIR-V's names")]
pub enum GroupOp {
    Broadcast,
    /// Ballots are four 32-bit registers.
    Ballot,
    Shuffle,
    ShuffleXor,
    /// Combines values by an operation: `IAdd`, `FAdd`, `UMin` or `GroupFMax`.
    Arithmetic(Binary, Scan),
    /// The product of two cooperative matrices, which `value` and `other` begin, and a sum.
    MatrixProduct(MatrixProduct),
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
}
