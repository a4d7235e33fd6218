//! Bugs of drivers, by driver and version. What the arithmetic of a device does right is no table: [`crate::probe`] finds it out.

use ash::vk;
use ptx2spv_translator::target::Quirks;

/// The bugs of a driver, by its id and `driverInfo` text. Under validation the letter of Vulkan's rules is kept, at the
/// price of slower arithmetic.
pub(crate) fn known(driver: vk::DriverId, driver_info: &str, validation: bool) -> Quirks {
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
            byte_swaps_wrong: false,
        },
        // Bytes were seen to be swapped wrong in 580; the workaround costs nothing in versions that may not need it. Seen
        // in 580 as well: it doesn't advertise `DenormPreserve`, flushes f32 without it, and keeps denormals with it.
        vk::DriverId::NVIDIA_PROPRIETARY => {
            let measured = is_measured_nvidia(driver_info);
            Quirks {
                denorm_preserve_unadvertised: measured && !validation,
                byte_swaps_wrong: true,
                ..Quirks::default()
            }
        }
        // Seen in the version that Debian's chromium 156 has.
        vk::DriverId::GOOGLE_SWIFTSHADER => Quirks { loop_values_lost: true, ..Quirks::default() },
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
            byte_swaps_wrong: false,
        };
        assert_eq!(known(vk::DriverId::MESA_LLVMPIPE, "Mesa 22.3.6 (LLVM 15.0.6)", false), all);
        let newer = known(vk::DriverId::MESA_LLVMPIPE, "Mesa 25.0.7 (LLVM 19)", false);
        assert_eq!(newer, Quirks { memory_barriers_wait: false, ..all });
        let nvidia = |info, validation| known(vk::DriverId::NVIDIA_PROPRIETARY, info, validation);
        assert!(nvidia("580.95.05", false).denorm_preserve_unadvertised);
        let careful = Quirks { byte_swaps_wrong: true, ..Quirks::default() };
        assert_eq!(nvidia("580.95.05", true), careful);
        assert_eq!(nvidia("535.54.03", false), careful);
    }
}
