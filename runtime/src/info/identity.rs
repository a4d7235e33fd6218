//! What tells one device and driver from another.

use ptx2spv_translator::Target;
use ptx2spv_translator::target::Facts;

use crate::info::{DeviceInfo, DeviceKind};

impl DeviceInfo {
    /// Everything that translations and compiled kernels depend on, without the results of the self-test. The target includes the driver's workarounds and float controls. On CPU
    /// devices, results depend on the processor's instructions, and several machines may share the folder.
    pub(crate) fn identity(&self) -> String {
        let processor = if self.kind == DeviceKind::Cpu { processor() } else { Vec::new() };
        let target = Target { facts: Facts::default(), ..self.target.clone() };
        let target = serde_json::to_string(&target).unwrap_or_default();
        let uuid = hex::encode(self.uuid);
        format!(
            "{}: {} {} {} {uuid} {} {target}",
            env!("CARGO_PKG_VERSION"),
            self.driver_name,
            self.driver_info,
            self.driver_version,
            processor.join("+"),
        )
    }
}

/// The properties by which CPU drivers choose instructions: the processor's features, and Mesa's override of them.
fn processor() -> Vec<String> {
    let overridden = std::env::var("GALLIUM_OVERRIDE_CPU_CAPS").ok();
    instructions().into_iter().map(str::to_owned).chain(overridden).collect()
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> Vec<&'static str> {
    let known = [
        ("sse4.1", is_x86_feature_detected!("sse4.1")),
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    known.into_iter().filter_map(|(name, present)| present.then_some(name)).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> Vec<&'static str> {
    vec![std::env::consts::ARCH]
}
