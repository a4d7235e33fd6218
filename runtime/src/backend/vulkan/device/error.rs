//! Errors from the results of Vulkan commands.

use ash::vk;

use crate::error::Error;

impl Error {
    /// For `map_err`: turns a Vulkan command's result into an error.
    pub(crate) fn vulkan(call: &'static str) -> impl FnOnce(vk::Result) -> Self {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost { report: None, address: None },
            vk::Result::TIMEOUT => Self::Timeout,
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => Self::OutOfMemory(format!("{call}: no device memory left")),
            vk::Result::ERROR_OUT_OF_HOST_MEMORY => Self::OutOfMemory(format!("{call}: no host memory left")),
            result => Self::Vulkan { call, result: result.to_string() },
        }
    }
}
