//! What Vulkan commands return, as errors.

use ash::vk;

use crate::error::Error;

impl Error {
    /// Turns a Vulkan command's result into an error, for `map_err`.
    pub(super) fn vulkan(call: &'static str) -> impl FnOnce(vk::Result) -> Self {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost { report: None },
            vk::Result::TIMEOUT => Self::Timeout,
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => Self::OutOfMemory(format!("{call}: no device memory left")),
            vk::Result::ERROR_OUT_OF_HOST_MEMORY => Self::OutOfMemory(format!("{call}: no host memory left")),
            result => Self::Vulkan { call, result: result.to_string() },
        }
    }
}
