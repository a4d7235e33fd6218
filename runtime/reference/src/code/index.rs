//! Indices of registers and instructions.

/// A register of an invocation.
pub type Slot = u32;

/// The index of an instruction in [`Code::insts`](super::Code::insts).
pub type Pc = u32;
