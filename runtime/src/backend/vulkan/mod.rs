//! The Vulkan back end. All calls of Vulkan are in this folder. Its rooms, each of which imports from those before it: `instance`, `raw`
//! (the device's handle), `memory`, `submit`, `transfer`, `device`, `pipeline`, `backend`.

mod backend;
mod device;
mod instance;
mod memory;
mod pipeline;
mod raw;
mod submit;
mod transfer;

pub(crate) use crate::backend::vulkan::instance::info::PhysicalDevice;
pub(crate) use device::Device;
pub use instance::held::hold as survive_kernel_faults;
pub use instance::{Instance, InstanceOptions, QUEUES_VARIABLE, VALIDATION_VARIABLE, ValidationLog};
