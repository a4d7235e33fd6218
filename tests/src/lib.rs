//! Code that the end-to-end tests share: paths of the test files, a `main`, devices, the command line, random texts,
//! random kernels, entry points of the fuzzers.

pub mod binary;
pub mod changes;
pub mod device;
pub mod files;
pub mod fuzz;
pub mod hostile;
pub mod loops;
pub mod program;
pub mod random;
pub mod suite;

/// FNV-1a, which is the same in every build and on every machine.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}
