//! The Vulkan back end. All calls of Vulkan are in this folder.

mod backend;
mod batch;
mod dependencies;
mod device;
mod drivers;
mod error;
#[cfg(test)]
mod failing;
mod fault;
mod features;
mod handles;
mod held;
mod host_memory;
mod images;
mod import;
mod info;
mod instance;
mod kept_pipelines;
mod live;
mod memory;
mod mirrored;
mod order;
mod physical;
mod pipeline;
mod pipeline_cache;
mod placed;
mod placed_maps;
mod progress;
mod queue;
mod queues;
mod quirks;
mod raw;
mod regions;
mod spin;
mod staging;
mod status;
mod texture_image;
mod timing;
mod transfer;
mod watched;

pub(crate) use device::Device;
pub use held::hold as survive_kernel_faults;
pub use instance::{Instance, InstanceOptions, QUEUES_VARIABLE, VALIDATION_VARIABLE, ValidationLog};
pub(crate) use physical::PhysicalDevice;
