//! Faults that kernels detect themselves.

use serde::{Deserialize, Serialize};

/// Why a launch failed, as a kernel itself finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The driver may have ended a loop before it was done ([`crate::Quirks::loop_budget`]), and threads have left out
    /// the statements after it.
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
    /// A checked access to memory that isn't there, or that isn't aligned; it was not performed. The details are the address (64
    /// bits), a word with the access's bytes, its [`CheckedAccess`] from bit 8 and its [`CheckedSpace`] from bit 16 on, the size of
    /// shared or local memory, then the block's `%ctaid` and the thread's `%tid`, three words each.
    IllegalAccess,
    /// A thread accessed shared or local memory past the end, and got another place there.
    AccessPastEnd,
}

impl Fault {
    const ALL: [Fault; 12] = [
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
        Fault::IllegalAccess,
        Fault::AccessPastEnd,
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

/// The kind of a checked access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CheckedAccess {
    Read,
    Write,
    Atomic,
}

/// The memory that a checked access is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CheckedSpace {
    Global,
    Shared,
    Local,
    /// The address says which, in its top two bits: 1 shared, 2 local, else global.
    Generic,
}

impl CheckedAccess {
    /// The access of a number in [`Fault::IllegalAccess`], which is its position.
    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Read, Self::Write, Self::Atomic].into_iter().find(|access| *access as u32 == code)
    }
}

impl CheckedSpace {
    /// The space of a number in [`Fault::IllegalAccess`], which is its position.
    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Global, Self::Shared, Self::Local, Self::Generic].into_iter().find(|space| *space as u32 == code)
    }
}
