//! What the end-to-end tests share: where the test material lies, a `main`, devices, the command line, random texts,
//! random kernels, what fuzzers call.

pub mod binary;
pub mod device;
pub mod files;
pub mod fuzz;
pub mod hash;
pub mod hostile;
pub mod program;
pub mod random;
pub mod spirv;
pub mod suite;
