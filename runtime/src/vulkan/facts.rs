//! What is known of drivers that Vulkan has no words for, by driver and version: their arithmetic and their bugs.
//!
//! Vulkan lets division, square root and `Fma` round loosely and says nothing of drivers that do better. The translator
//! trusts an operation only where a fact says so, and emulates it elsewhere: a missing row costs speed, a wrong one costs results.

use ash::vk;
use ptx2spv_translator::target::{Facts, Quirks};

/// The facts of a driver, by its id and `driverInfo` text, where its modules are emitted with these quirks.
pub(crate) fn known(driver: vk::DriverId, driver_info: &str, quirks: &Quirks) -> Facts {
    match driver {
        vk::DriverId::MESA_LLVMPIPE if cfg!(target_arch = "x86_64") && is_mesa(driver_info, 22, 3) => {
            Facts::LLVMPIPE_22_3
        }
        // Measured on driver 580 with an H200, on tens of thousands of operands. What flushes denormals can't be right
        // for them: its f32 division is, where they are preserved.
        vk::DriverId::NVIDIA_PROPRIETARY if is_measured_nvidia(driver_info) => {
            let kept = quirks.denorm_preserve_unadvertised;
            Facts { div_f32_rounded: kept, denormals_f32_kept: kept, ..Facts::NVIDIA_580 }
        }
        // All chips that this driver supports have fused instructions and no others for `Fma`.
        vk::DriverId::NVIDIA_PROPRIETARY => Facts { fma_f32_fused: true, fma_f64_fused: true, ..Facts::default() },
        _ => Facts::default(),
    }
}

/// The bugs of a driver, by its id and `driverInfo` text. Under validation the letter of Vulkan's rules is kept, at the
/// price of slower arithmetic.
pub(crate) fn quirks(driver: vk::DriverId, driver_info: &str, validation: bool) -> Quirks {
    match driver {
        // Values were seen to get lost in 22.3; the workaround costs little in versions that may not need it. Barriers
        // were seen to wait in 22.3, and later versions have real ones, which must not be left out there. All versions
        // limit loops, and watching them does no harm where one should not.
        vk::DriverId::MESA_LLVMPIPE => Quirks {
            loop_values_lost: true,
            memory_barriers_wait: is_mesa(driver_info, 22, 3),
            loop_budget: Some(65_535),
            nesting: Some(64),
            denorm_preserve_unadvertised: false,
        },
        // Seen in 580: it doesn't advertise `DenormPreserve`, flushes f32 without it, and keeps denormals with it.
        vk::DriverId::NVIDIA_PROPRIETARY => {
            let measured = is_measured_nvidia(driver_info);
            Quirks { denorm_preserve_unadvertised: measured && !validation, ..Quirks::default() }
        }
        _ => Quirks::default(),
    }
}

/// Whether a text such as `Mesa 22.3.6 (LLVM 15.0.6)` names this release series.
fn is_mesa(driver_info: &str, major: u32, minor: u32) -> bool {
    let version = driver_info.strip_prefix("Mesa ").unwrap_or_default();
    version.starts_with(&format!("{major}.{minor}.")) || version.starts_with(&format!("{major}.{minor} "))
}

/// Whether a text such as `580.159.03` names a release of NVIDIA's driver that was measured, or a later one.
fn is_measured_nvidia(driver_info: &str) -> bool {
    let major = driver_info.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= 580)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mesa_series() {
        assert!(is_mesa("Mesa 22.3.6 (LLVM 15.0.6)", 22, 3));
        assert!(!is_mesa("Mesa 22.30.0 (LLVM 15.0.6)", 22, 3));
        assert!(!is_mesa("Mesa 25.0.7 (LLVM 19)", 22, 3));
        assert!(!is_mesa("", 22, 3));
    }

    #[test]
    fn quirks_are_those_of_the_version() {
        let all = Quirks {
            loop_values_lost: true,
            memory_barriers_wait: true,
            loop_budget: Some(65_535),
            nesting: Some(64),
            denorm_preserve_unadvertised: false,
        };
        assert_eq!(quirks(vk::DriverId::MESA_LLVMPIPE, "Mesa 22.3.6 (LLVM 15.0.6)", false), all);
        let newer = quirks(vk::DriverId::MESA_LLVMPIPE, "Mesa 25.0.7 (LLVM 19)", false);
        assert_eq!(newer, Quirks { memory_barriers_wait: false, ..all });
        let nvidia = |info, validation| quirks(vk::DriverId::NVIDIA_PROPRIETARY, info, validation);
        assert!(nvidia("580.95.05", false).denorm_preserve_unadvertised);
        assert_eq!(nvidia("580.95.05", true), Quirks::default());
        assert_eq!(nvidia("535.54.03", false), Quirks::default());
    }

    #[test]
    fn nvidia_is_trusted_with_denormals_only_where_they_are_preserved() {
        let facts = |info, validation| {
            let quirks = quirks(vk::DriverId::NVIDIA_PROPRIETARY, info, validation);
            known(vk::DriverId::NVIDIA_PROPRIETARY, info, &quirks)
        };
        assert_eq!(facts("580.159.03", false), Facts::NVIDIA_580);
        let flushing = Facts { div_f32_rounded: false, denormals_f32_kept: false, ..Facts::NVIDIA_580 };
        assert_eq!(facts("580.159.03", true), flushing);
        let unmeasured = facts("535.54.03", false);
        assert!(!unmeasured.div_f32_rounded && !unmeasured.sqrt_f64_rounded && !unmeasured.denormals_f32_kept);
    }

    #[test]
    fn unknown_drivers_are_not_trusted() {
        let facts = |driver, info| known(driver, info, &Quirks::default());
        assert_eq!(facts(vk::DriverId::MOLTENVK, "1.3"), Facts::default());
        assert_eq!(facts(vk::DriverId::MESA_LLVMPIPE, "Mesa 99.1.0"), Facts::default());
    }
}
