//! The reference device: a strict interpreter for Vulkan compute shaders.
//!
//! It runs SPIR-V modules on the host without a driver, and can imitate any device: a
//! [`Target`](ptx2spv_target::Target) has subgroup sizes, features and limits, and modules that exceed them are
//! refused. In *plain* mode it computes like an exact device, workgroups in parallel. In *checked* mode it also detects
//! undefined behavior and reports it as [`Finding`]s. In *adversarial* mode, which a seed makes repeatable, it chooses
//! the worst permitted behavior wherever Vulkan leaves a choice.
//!
//! The stages of a run: `module` reads the words, `requirements` refuses features that the target lacks, `compile` turns an entry point
//! into `code`, and `run` runs the code with the operations of `arithmetic` on the memory of `memory`.
//!
//! Without the feature `interpreter`, the crate has only the types of findings.

// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]
#![forbid(unsafe_code)]

#[cfg(feature = "interpreter")]
mod arithmetic;
#[cfg(feature = "interpreter")]
mod code;
#[cfg(feature = "interpreter")]
mod compile;
#[cfg(feature = "interpreter")]
mod config;
#[cfg(feature = "interpreter")]
mod device;
mod finding;
#[cfg(feature = "interpreter")]
mod memory;
#[cfg(feature = "interpreter")]
mod module;
#[cfg(feature = "interpreter")]
mod requirements;
#[cfg(feature = "interpreter")]
mod run;

#[cfg(feature = "interpreter")]
pub use config::{Choice, Config, Mode, Plain, Seeded, Trace};
#[cfg(feature = "interpreter")]
pub use device::{Device, Dispatch, Pipeline, Shader};
pub use finding::{Finding, FindingKind, Site, SpirvInstruction};
#[cfg(feature = "interpreter")]
pub use memory::device::Pool;
#[cfg(feature = "interpreter")]
pub use module::Refusal;
