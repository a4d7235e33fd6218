//! What the end-to-end tests share: where the test material lies, devices, the program, and random numbers.

pub mod binary;
pub mod device;
pub mod files;
pub mod hostile;
pub mod random;
