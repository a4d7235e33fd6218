//! CUDA C++ from source, without NVIDIA's toolkit: clang compiles, and this library has what else is needed. That is nvcc's command line
//! as clang's ([`nvcc`]), a folder of the shape of a toolkit with headers and the device's mathematics ([`Toolkit`]), and what clang calls
//! NVIDIA's programs for ([`FatBinary`], [`registration`]).

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

mod clang;
mod dialect;
mod fat_binary;
pub mod files;
mod folder;
mod missing;
pub mod nvcc;
mod options;
mod used;

pub use clang::{CLANG_VARIABLE, Clang, Error};
pub use dialect::with_linkage;
pub use fat_binary::{FatBinary, registration};
pub use folder::Toolkit;
