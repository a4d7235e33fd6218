//! The reference device: a strict interpreter for Vulkan compute shaders.
//!
//! It runs SPIR-V modules on the host, needs no driver, and can be any device: a [`Target`](ptx2spv_target::Target) says which subgroup
//! size, features and limits it has, and a module that uses more is refused. In *plain* mode it computes as an exact device would,
//! workgroups in parallel. In *checked* mode it also looks for what Vulkan leaves undefined and reports it as [`Finding`]s. In
//! *adversarial* mode, seeded and repeatable, it decides everything that Vulkan leaves open in the worst permitted ways.
//!
//! How a module runs: [`module`] reads the words, [`requirements`] refuses what the target lacks, [`compile`] turns an entry point into
//! [`code`], [`run`] runs it with the operations of [`arithmetic`] on the memory of [`memory`].

#![forbid(unsafe_code)]

mod arithmetic;
mod code;
mod compile;
mod config;
mod device;
mod dispatch;
mod finding;
mod memory;
mod module;
mod requirements;
mod run;

pub use config::{Choice, Config, Mode, Plain, Seeded, Trace};
pub use device::{Device, Pipeline, Shader};
pub use dispatch::{Bound, Dispatch};
pub use finding::{Finding, FindingKind, Refusal, Site, SpirvInstruction};
pub use memory::device::Pool;
