//! The devices to measure, as far as they are available.

use anyhow::{Result, bail};
use ptx2spv::cli;
use ptx2spv::cuda::Context;
use ptx2spv_runtime::{Device, DeviceSelector, Instance, InstanceOptions};

/// CUDA and Vulkan, at least one of them.
pub struct Devices {
    /// CUDA on the first device.
    pub cuda: Option<Context>,
    pub vulkan: Option<Device>,
}

impl Devices {
    /// Opens the available devices.
    pub fn open(selector: &DeviceSelector) -> Result<Self> {
        let cuda = note_error("CUDA", Context::new());
        // Not `Device::open`, which could return the reference device instead.
        let vulkan = Instance::new(&InstanceOptions::default()).and_then(|instance| instance.open(selector));
        let vulkan = note_error("Vulkan", vulkan);
        if cuda.is_none() && vulkan.is_none() {
            bail!("neither CUDA nor Vulkan is here");
        }
        Ok(Self { cuda, vulkan })
    }

    /// The devices' names, for the head of a report.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        if let Some(context) = &self.cuda {
            names.push(format!("CUDA: {}", context.device_name()?));
        }
        if let Some(device) = &self.vulkan {
            let info = device.info();
            names.push(format!("Vulkan: {}, {} {}", info.name, info.driver_name, info.driver_info));
        }
        Ok(names)
    }
}

fn note_error<T, E: std::fmt::Display>(name: &str, result: Result<T, E>) -> Option<T> {
    result.map_err(|error| cli::note(format_args!("note: without {name}: {error}"))).ok()
}
