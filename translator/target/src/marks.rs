//! Instructions of SPIR-V that mean nothing but to the reference device's checks.

/// The name of their set.
pub const SET: &str = "NonSemantic.ptx2spv.Checks";

/// A thread stops at a barrier instruction that all threads of its warp must execute together. Operands: the thread's number,
/// of which the lowest five bits are its place in the warp; and a constant that tells one barrier instruction of PTX from
/// another.
pub const ARRIVE: u32 = 1;
