//! Programs without a defined result.

/// Why anything may come out of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Two threads used a word of shared memory between the same barriers, and one of them wrote it.
    Race,
    /// Threads wait for each other for ever.
    Deadlock,
    /// It takes too long.
    Long,
}
