//! Stops: where a thread waits for others, at the end of a basic block.

use crate::ir::{Value, Var};

/// A stop of a thread: other threads run on before the thread does.
#[derive(Clone, Debug)]
pub enum Stop {
    Barrier(Barrier),
    /// An iteration of a loop that waits for another thread.
    Yield {
        /// Whether the other thread may be one of another block: the loop looks at global memory.
        global: bool,
    },
    /// An iteration of a long loop, at which the thread has no rounds left in this dispatch.
    Pause,
    /// An iteration of waiting for threads of the warp, which may be in such a loop or at a barrier.
    Await,
}

impl Stop {
    /// Replaces every value that it uses by the result of `map`.
    pub fn map(&mut self, mut map: impl FnMut(Value) -> Value) {
        let Stop::Barrier(barrier) = self else { return };
        barrier.id = map(barrier.id);
        barrier.count = barrier.count.map(&mut map);
        if let Kind::Red(red) = &mut barrier.kind {
            red.predicate = map(red.predicate);
        }
    }
}

/// A barrier instruction (PTX section 9.7.12.1). Its values are computed in the block that it ends.
#[derive(Clone, Debug)]
pub struct Barrier {
    pub kind: Kind,
    /// Number of the barrier, from 0; of a [`Kind::Warpgroup`] that of the thread's warpgroup; [`Barrier::CLUSTER`] for the cluster's.
    pub id: Value,
    /// Threads that it waits for, rounded up to whole warps; `None` for all that have not exited.
    pub count: Option<Value>,
    /// Whether the barrier is one of all the cluster's threads rather than one of the block's.
    pub cluster: bool,
    /// Whether all threads of a warp must execute the barrier together, which the reference device checks.
    pub aligned: bool,
}

impl Barrier {
    /// The number of barriers of a block that programs can name.
    pub const NUMBERED: u32 = 16;
    /// Threads of a warpgroup.
    pub const WARPGROUP: u32 = 128;
    /// Warpgroups that a block may have, each with a barrier of its own.
    pub const WARPGROUPS: u32 = 8;
    /// The number that stands for the cluster's barrier: those below are the block's.
    pub const CLUSTER: u32 = Self::NUMBERED + Self::WARPGROUPS;

    /// Whether a thread arrives at the cluster's barrier, and will wait for it later.
    pub fn is_early(&self) -> bool {
        self.cluster && matches!(self.kind, Kind::Arrive)
    }
}

/// Kinds of barrier instructions.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Arrives and waits.
    Sync,
    /// Arrives and does not wait.
    Arrive,
    /// Waits for the barrier at which the thread has arrived: the cluster's.
    Wait,
    /// Arrives, and waits for the threads of the warpgroup.
    Warpgroup,
    /// Arrives, waits, and gives the reduction of the threads' predicates.
    Red(Red),
}

/// The reduction of a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Red {
    /// The combination of the predicates.
    pub reduction: Reduction,
    /// This thread's.
    pub predicate: Value,
    /// The variable for the result: an `I32` for a count, else a `Bool`.
    pub result: Option<Var>,
}

/// The combinations of predicates at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The number of true ones.
    Count,
    /// Whether all predicates are true.
    All,
    /// Whether one predicate is true.
    Any,
}
