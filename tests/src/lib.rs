//! What the end-to-end tests share: where the test material lies, devices, and random numbers.

pub mod device;
pub mod files;
pub mod random;
