//! Environments for `spirv-val`.

use ptx2spv_translator::Target;
use ptx2spv_translator::target::Version;

/// The environment for a target's modules, by its name on the command line.
pub fn environment(target: &Target) -> &'static str {
    match (target.vulkan, target.spirv) {
        (Version(1, 0..=1), Version(1, 4..)) => "vulkan1.1spv1.4",
        (Version(1, 0..=1), _) => "vulkan1.1",
        (Version(1, 2), _) => "vulkan1.2",
        _ => "vulkan1.3",
    }
}
