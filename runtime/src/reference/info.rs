//! What the reference device says of itself.

use ptx2spv_reference::Config;

use crate::info::{DeviceInfo, DeviceKind, OwnFeatures};

/// Half of what the reference device's addresses have room for, and more than most hosts have.
pub(super) const MAX_BUFFER: u64 = 1 << 35;

impl DeviceInfo {
    /// The reference device as it is configured.
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
            target: config.target.clone(),
            max_buffer_size: MAX_BUFFER,
            seen: Vec::new(),
            bugs: Vec::new(),
            missing: Vec::new(),
            own: OwnFeatures::default(),
            keeps_pipelines: false,
        }
    }
}
