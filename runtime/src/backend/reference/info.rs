//! The device information of the reference device.

use ptx2spv_reference::Config;

use crate::info::{DeviceInfo, DeviceKind, OwnFeatures};

/// Half of the reference device's address space, and more than the memory of most hosts.
pub(super) const MAX_BUFFER: u64 = 1 << 35;

impl DeviceInfo {
    /// The information of a reference device with this configuration.
    pub fn reference(config: &Config) -> Self {
        Self {
            index: None,
            name: config.target.name.clone(),
            kind: DeviceKind::Reference,
            driver_name: "ptx2spv".to_owned(),
            driver_info: env!("CARGO_PKG_VERSION").to_owned(),
            driver_version: 0,
            api_version: config.target.vulkan,
            uuid: [0; 16],
            bus: None,
            target: config.target.clone(),
            max_buffer_size: MAX_BUFFER,
            seen: Vec::new(),
            bugs: Vec::new(),
            ids: [0; 2],
            missing: Vec::new(),
            own: OwnFeatures::default(),
            keeps_pipelines: false,
        }
    }
}
