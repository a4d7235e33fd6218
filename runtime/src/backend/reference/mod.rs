//! The reference back end: the interpreter of `ptx2spv-reference`, with the operations of a Vulkan device.
//!
//! Launches run during the call. A fault that stops one is stored until the host waits or reads.

mod backend;
mod config;
mod device;
mod info;
mod lent;
mod pipeline;

use std::sync::Arc;

use ptx2spv_reference::Config;

pub use device::ReferenceDevice;

use crate::backend::Backend;
use crate::error::Result;
use crate::info::DeviceInfo;
use crate::info::options::ReferenceOptions;

/// Opens a reference device with empty memory. Without options, it is the one that replaces missing devices.
pub(crate) fn open(options: Option<&ReferenceOptions>) -> Result<(Arc<dyn Backend>, DeviceInfo)> {
    Ok(with_config(config(options)?))
}

/// The information about a reference device with these options.
pub(crate) fn describe(options: Option<&ReferenceOptions>) -> Result<DeviceInfo> {
    Ok(DeviceInfo::reference(&config(options)?))
}

/// Opens a reference device with this configuration.
pub(crate) fn with_config(config: Config) -> (Arc<dyn Backend>, DeviceInfo) {
    let info = DeviceInfo::reference(&config);
    (Arc::new(ReferenceDevice::new(config)), info)
}

fn config(options: Option<&ReferenceOptions>) -> Result<Config> {
    options.map_or_else(|| Ok(Config::default()), ReferenceOptions::config)
}
