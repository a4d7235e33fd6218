//! The reference back end: the interpreter of `ptx2spv-reference` with the operations of a Vulkan device.
//!
//! Launches run at the call. The fault that stopped one is kept until the host waits or reads.

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
use crate::error::Error;
use crate::info::DeviceInfo;
use crate::options::ReferenceOptions;

/// Opens a reference device with nothing in its memory; without options it is the one that stands in for others.
pub(crate) fn open(options: Option<&ReferenceOptions>) -> Result<(Arc<dyn Backend>, DeviceInfo), Error> {
    Ok(with_config(config(options)?))
}

/// What such a device says of itself.
pub(crate) fn describe(options: Option<&ReferenceOptions>) -> Result<DeviceInfo, Error> {
    Ok(DeviceInfo::reference(&config(options)?))
}

/// Opens a reference device of this configuration.
pub(crate) fn with_config(config: Config) -> (Arc<dyn Backend>, DeviceInfo) {
    let info = DeviceInfo::reference(&config);
    (Arc::new(ReferenceDevice::new(config)), info)
}

fn config(options: Option<&ReferenceOptions>) -> Result<Config, Error> {
    options.map_or_else(|| Ok(Config::default()), ReferenceOptions::config)
}
