//! Programs without a defined result.

/// The reason why a program has no defined result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Two threads used a word of shared memory between the same barriers, and one of them wrote it.
    Race,
    /// Threads wait for each other forever.
    Deadlock,
    /// The program takes too long.
    Long,
}
