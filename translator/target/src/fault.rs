//! What kernels find out about themselves.

use serde::{Deserialize, Serialize};

/// Why a launch failed, as a kernel itself finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The driver may have ended a loop before it was done ([`crate::Quirks::loop_budget`]), and threads have
    /// left out what follows.
    LoopCutShort,
    /// A thread executed `trap`.
    Trap,
    /// A thread executed `brkpt`, and there is no debugger.
    Breakpoint,
    /// A thread called `__assertfail`. The details are its arguments, as 64-bit addresses the message, the file and the
    /// function, then 32-bit words: the line, the block's `%ctaid` and the thread's `%tid`, three each.
    Assertion,
    /// Recursive calls went deeper than the thread's stack.
    StackOverflow,
    /// A call or branch through a register went to none of those that it may go to.
    BadTarget,
    /// Threads that an operation of a warp names as members are elsewhere, and never come.
    DivergedMembers,
    /// Threads wait for each other in a way that never ends.
    Deadlock,
    /// A thread called `free` with an address that `malloc` hasn't given, or has and was given back already.
    InvalidFree,
    /// A thread accessed a surface outside of its bounds with `.trap`, or not aligned to the access's size.
    SurfaceAccess,
}

impl Fault {
    const ALL: [Fault; 10] = [
        Fault::LoopCutShort,
        Fault::Trap,
        Fault::Breakpoint,
        Fault::Assertion,
        Fault::StackOverflow,
        Fault::BadTarget,
        Fault::DivergedMembers,
        Fault::Deadlock,
        Fault::InvalidFree,
        Fault::SurfaceAccess,
    ];

    /// The number that stands for it in the record's first word: from 1, below 2^31.
    pub fn code(self) -> u32 {
        self as u32 + 1
    }

    /// The fault of that number.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.code() == code)
    }
}
