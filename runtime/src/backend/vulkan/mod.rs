//! The Vulkan back end. All calls of Vulkan are in this folder.

mod device;
#[cfg(test)]
mod failing;
mod instance;
mod memory;
mod pipeline;
mod submit;

pub(crate) use crate::backend::vulkan::instance::info::PhysicalDevice;
pub(crate) use device::Device;
pub use device::held::hold as survive_kernel_faults;
pub use instance::{Instance, InstanceOptions, QUEUES_VARIABLE, VALIDATION_VARIABLE, ValidationLog};
