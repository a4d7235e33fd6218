//! Code that the end-to-end tests share: paths of the test files, a `main`, devices, the command line, random texts,
//! random kernels, entry points of the fuzzers.

pub mod binary;
pub mod device;
pub mod files;
pub mod fuzz;
pub mod hash;
pub mod hostile;
pub mod loops;
pub mod program;
pub mod random;
pub mod spirv;
pub mod suite;
