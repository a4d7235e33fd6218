//! Operations between the threads of a warp, and the subgroup operations that replace them.
//!
//! [`Warp`] has PTX's operations, as lowering makes them: executed by every thread for itself, whatever threads the
//! device runs together. `crate::warp` replaces all of them, so that legalization and emission see [`SubgroupOp`] only.

use super::Value;
use ptx2spv_target::MatrixTypes;

/// Threads of a warp.
pub const WARP_SIZE: u32 = 32;

/// An operation between the threads of a warp (32 threads in a row of the block).
///
/// The threads that execute the operation together take part. With `members`, they are all threads that execute the
/// operation and are among the executing thread's members; a member that has exited ([`super::Function::exited`])
/// doesn't take part, and the others must come.
#[derive(Clone, Debug, PartialEq)]
pub struct Warp {
    /// The results: see [`WarpOp`].
    pub results: Vec<Value>,
    /// The operation.
    pub op: WarpOp,
    /// A bit for each lane that is to take part (`I32`); without it, the lanes that execute it together.
    pub members: Option<Value>,
}

/// The operation of a [`Warp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarpOp {
    /// A decision about a `Bool`; gives a `Bool`.
    Vote(Vote, Value),
    /// The lanes for which a `Bool` is true; gives an `I32`.
    Ballot(Value),
    /// Another lane's value; gives that `I32` and whether the lane was in range.
    Shuffle {
        /// The choice of the lane.
        mode: Shuffle,
        /// The value that each lane offers; `I32`.
        value: Value,
        /// PTX's operand `b`: the lane, or its distance; `I32`.
        lane: Value,
        /// PTX's operand `c`: the bound in bits 0 to 4, the mask of segments in bits 8 to 12; `I32`.
        clamp: Value,
    },
    /// The lanes that have the same integer; gives an `I32`.
    MatchAny(Value),
    /// All lanes that take part if they have the same integer, else none, and whether they have; gives `I32` and `Bool`.
    MatchAll(Value),
    /// All lanes' `I32` joined; gives one.
    Reduce(Reduction, Value),
    /// The lanes that execute it together; gives an `I32`.
    ActiveMask,
    /// The number of one of the lanes, and whether it is the executing one; gives `I32` and `Bool`.
    Elect,
    /// Whether all members that have not exited execute the operation together and with the same members; gives a
    /// `Bool`. Unlike all others, this operation doesn't need the members to come.
    Gathered,
    /// A product of matrices and a sum; gives four `I32`, the lane's elements of the result in the order of those added. All 32 lanes
    /// of a warp execute it together.
    MatrixProduct(MatrixTypes, Fragments),
    /// Nothing but that lanes wait for each other and see each other's earlier writes.
    Sync,
}

/// The parts that a lane holds of the matrices of a product, as `mma.sync` has them: `I32`, each with as many elements of a factor as fit. A
/// has 16 rows, B eight columns, and both have so many elements in the direction of the sum as eight words hold.
///
/// Lane `4 g + t` holds of rows `g` and `g + 8` of A, and of column `g` of B, words `t` and `t + 4`; and of the sums those in rows `g` and
/// `g + 8`, columns `2 t` and `2 t + 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fragments {
    /// Of A: words `t` of both rows, then words `t + 4`.
    pub a: [Value; 4],
    /// Of B: words `t` and `t + 4`.
    pub b: [Value; 2],
    /// The addends: two of row `g`, then two of row `g + 8`. Floats of 16 bits are alone in their words.
    pub c: [Value; 4],
}

impl Fragments {
    /// The fragments with every word replaced by the result of `map`.
    pub fn map(self, mut map: impl FnMut(Value) -> Value) -> Self {
        Self { a: self.a.map(&mut map), b: self.b.map(&mut map), c: self.c.map(map) }
    }
}

/// The question of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// All say yes.
    All,
    /// Someone says yes.
    Any,
    /// All say the same.
    Uniform,
}

/// The choice of a shuffle's lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// So many lanes below.
    Up,
    /// So many lanes above.
    Down,
    /// The lane whose number differs in these bits.
    Butterfly,
    /// The lane of that number in the segment.
    Index,
}

/// The operation of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Reduction {
    Add,
    And,
    Or,
    Xor,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
}

impl WarpOp {
    /// The operation with every operand replaced by the result of `map`.
    pub fn map(self, mut map: impl FnMut(Value) -> Value) -> WarpOp {
        match self {
            WarpOp::Vote(vote, a) => WarpOp::Vote(vote, map(a)),
            WarpOp::Ballot(a) => WarpOp::Ballot(map(a)),
            WarpOp::Shuffle { mode, value, lane, clamp } => {
                WarpOp::Shuffle { mode, value: map(value), lane: map(lane), clamp: map(clamp) }
            }
            WarpOp::MatchAny(a) => WarpOp::MatchAny(map(a)),
            WarpOp::MatchAll(a) => WarpOp::MatchAll(map(a)),
            WarpOp::Reduce(reduction, a) => WarpOp::Reduce(reduction, map(a)),
            WarpOp::MatrixProduct(types, fragments) => WarpOp::MatrixProduct(types, fragments.map(map)),
            WarpOp::ActiveMask | WarpOp::Elect | WarpOp::Gathered | WarpOp::Sync => self,
        }
    }

    /// The operation's operands.
    pub fn operands(self) -> Vec<Value> {
        let mut operands = Vec::new();
        self.map(|value| {
            operands.push(value);
            value
        });
        operands
    }
}

/// An operation of a subgroup. All invocations of the subgroup execute it together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SubgroupOp {
    /// The invocations for which a `Bool` is true, as words of 32 bits (`I32`), as many as the subgroup's size takes.
    Ballot(Value),
    /// The first value (`I32`) of the invocation of a number (`I32`, below the subgroup's size).
    Shuffle(Value, Value),
    /// The first value (`I32`) of the invocation whose number differs in the bits of a constant (`I32`, below the
    /// subgroup's size).
    ShuffleXor(Value, Value),
    /// [`WarpOp::MatrixProduct`], by the device's matrix units. The subgroup has 32 invocations.
    MatrixProduct(MatrixTypes, Fragments),
    /// Invocations wait for each other and see each other's earlier writes; gives nothing.
    Barrier,
}

impl SubgroupOp {
    /// The operation with every operand replaced by the result of `map`.
    pub fn map(self, mut map: impl FnMut(Value) -> Value) -> SubgroupOp {
        match self {
            SubgroupOp::Ballot(a) => SubgroupOp::Ballot(map(a)),
            SubgroupOp::Shuffle(a, lane) => SubgroupOp::Shuffle(map(a), map(lane)),
            SubgroupOp::ShuffleXor(a, bits) => SubgroupOp::ShuffleXor(map(a), map(bits)),
            SubgroupOp::MatrixProduct(types, fragments) => SubgroupOp::MatrixProduct(types, fragments.map(map)),
            SubgroupOp::Barrier => self,
        }
    }
}
