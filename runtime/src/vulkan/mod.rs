//! The Vulkan back end: everything that calls Vulkan lies in here.

mod allocation;
mod device;
mod drivers;
mod features;
mod info;
mod instance;
mod memory;
mod pipeline;
mod process;
mod progress;
mod queue;
mod quirks;
mod raw;
mod staging;
mod status;
mod timing;

pub(crate) use allocation::Allocation;
pub(crate) use device::Device;
pub use instance::{Instance, InstanceOptions, VALIDATION_VARIABLE, ValidationLog};
pub(crate) use pipeline::{Pipeline, Shader};
pub(crate) use status::StatusRecord;
