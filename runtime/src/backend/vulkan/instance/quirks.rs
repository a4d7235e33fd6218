//! Bugs of drivers, by the device's identity. Each row has the affected drivers, a description, evidence, and the
//! workaround. Facts about the device's arithmetic are not in this table: [`crate::open::probe`] measures them.
//!
//! `docs/devices.md` also lists bugs that can't affect translated modules, and why.

use ash::vk;
use ptx2spv_translator::target::Quirks;

use crate::info::KnownBug;

/// PCI vendors (`VkPhysicalDeviceProperties::vendorID`), for drivers that don't report a driver id.
mod vendor {
    pub const AMD: u32 = 0x1002;
    pub const IMAGINATION: u32 = 0x1010;
    pub const SAMSUNG: u32 = 0x144d;
}

/// What identifies a device before anything runs on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity<'a> {
    /// Zero if the driver doesn't report it.
    pub driver: vk::DriverId,
    /// `driverInfo`; empty if the driver doesn't report it.
    pub driver_info: &'a str,
    pub vendor: u32,
    /// `subgroupSize`.
    pub subgroup_size: u32,
    /// Whether to follow the letter of Vulkan's rules, at the price of slower arithmetic, because validation layers are
    /// enabled.
    pub validation: bool,
}

/// A bug and its workaround.
struct Row {
    bug: KnownBug,
    hits: fn(&Identity<'_>) -> bool,
    avoid: fn(&mut Quirks),
}

const MESA_LIMITS: &str =
    "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/gallium/auxiliary/gallivm/lp_bld_limits.h";
const LLVM_COROUTINES: &str =
    "https://github.com/llvm/llvm-project/blob/llvmorg-15.0.6/llvm/lib/Transforms/Coroutines/CoroFrame.cpp";
const SWIFTSHADER_STACK: &str =
    "https://swiftshader.googlesource.com/SwiftShader/+/refs/heads/master/src/Reactor/SubzeroReactor.cpp";
const SWIFTSHADER_FLOW: &str =
    "https://swiftshader.googlesource.com/SwiftShader/+/refs/heads/master/src/Pipeline/SpirvShaderControlFlow.cpp";
const RADV_SCRATCH: &str = "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/amd/common/sid.h";
const ANV_SCRATCH: &str = "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/intel/compiler/brw_fs.cpp";
const DAWN: &str = "https://dawn.googlesource.com/dawn/+/refs/heads/main/src/dawn/native/vulkan/PhysicalDeviceVk.cpp";

const ROWS: &[Row] = &[
    Row {
        bug: KnownBug {
            name: "loop_values_lost",
            drivers: "Mesa llvmpipe",
            description: "a value that a loop computes reaches the code after it wrong in invocations that left early",
            evidence: "runtime/tests/device/loops.rs",
        },
        // Seen in 22.3. The workaround is cheap in versions that may not need it.
        hits: |device| device.is_llvmpipe(),
        avoid: |quirks| quirks.loop_values_lost = true,
    },
    Row {
        bug: KnownBug {
            name: "loop_values_lost",
            drivers: "SwiftShader",
            description: "the same; seen in the version of Debian's chromium 156",
            evidence: "tests/kernels/sha256.json",
        },
        hits: |device| device.is_swiftshader(),
        avoid: |quirks| quirks.loop_values_lost = true,
    },
    Row {
        bug: KnownBug {
            name: "conditions_slow",
            drivers: "SwiftShader",
            description: "time to compile grows exponentially with the conditions in a loop (Function::ExistsPath)",
            evidence: SWIFTSHADER_FLOW,
        },
        hits: |device| device.is_swiftshader(),
        avoid: |quirks| quirks.conditions_slow = true,
    },
    Row {
        bug: KnownBug {
            name: "blocks_slow",
            drivers: "Mesa llvmpipe",
            description: "time to compile grows with the product of a kernel's basic blocks and variables (collectFrameAlloca)",
            evidence: LLVM_COROUTINES,
        },
        hits: |device| device.is_llvmpipe(),
        avoid: |quirks| quirks.blocks_slow = true,
    },
    Row {
        bug: KnownBug {
            name: "stack_small",
            drivers: "SwiftShader",
            description: "kernels crash that keep more than 512 KiB on the stack, with a slot for each value (setStackSizeLimit)",
            evidence: SWIFTSHADER_STACK,
        },
        hits: |device| device.is_swiftshader(),
        avoid: |quirks| quirks.stack_small = true,
    },
    Row {
        bug: KnownBug {
            name: "local_memory",
            drivers: "SwiftShader",
            description: "its compiler ends the process at 128 KiB of local memory, which lie on that stack for four invocations",
            evidence: SWIFTSHADER_STACK,
        },
        hits: |device| device.is_swiftshader(),
        avoid: |quirks| quirks.local_memory = Some(Quirks::SWIFTSHADER_LOCAL_MEMORY),
    },
    Row {
        bug: KnownBug {
            name: "offsets_unchecked",
            drivers: "Mesa llvmpipe, SwiftShader",
            description: "accesses past the end of shared and local memory hit what else the process has there",
            evidence: "runtime/tests/device/shared_memory.rs",
        },
        hits: |device| device.is_llvmpipe() || device.is_swiftshader(),
        avoid: |quirks| quirks.offsets_unchecked = true,
    },
    Row {
        bug: KnownBug {
            name: "surplus_invocations_loop",
            drivers: "Mesa llvmpipe 22.3",
            description: "loops run on for what a workgroup leaves of its last vector",
            evidence: "runtime/tests/device/loops.rs",
        },
        // Not seen in 25.0.
        hits: |device| device.is_llvmpipe() && is_mesa(device.driver_info, 22, 3),
        avoid: |quirks| quirks.surplus_invocations_loop = true,
    },
    Row {
        bug: KnownBug {
            name: "memory_barriers_wait",
            drivers: "Mesa llvmpipe 22.3",
            description: "memory barriers wait for the whole workgroup, also in divergent control flow",
            evidence: "tests/instructions/fences.json",
        },
        // Later versions have real barriers, which must not be left out there.
        hits: |device| device.is_llvmpipe() && is_mesa(device.driver_info, 22, 3),
        avoid: |quirks| quirks.memory_barriers_wait = true,
    },
    Row {
        bug: KnownBug {
            name: "subgroup_barriers_wait",
            drivers: "Mesa llvmpipe",
            description: "barriers of a subgroup wait for the whole workgroup, and lose what follows",
            evidence: "tests/kernels/warp_idioms.json",
        },
        // Seen in 25.0. In 22.3 there are no barriers at all.
        hits: |device| device.is_llvmpipe(),
        avoid: |quirks| quirks.subgroup_barriers_wait = true,
    },
    Row {
        bug: KnownBug {
            name: "loop_budget",
            drivers: "Mesa llvmpipe",
            description: "all loops end after 65,535 rounds together (LP_MAX_TGSI_LOOP_ITERATIONS)",
            evidence: MESA_LIMITS,
        },
        hits: |device| device.is_llvmpipe(),
        avoid: |quirks| quirks.loop_budget = Some(65_535),
    },
    Row {
        bug: KnownBug {
            name: "local_memory",
            drivers: "Mesa llvmpipe",
            description: "kernels with 400 KiB of local memory take minutes to compile; 32 KiB is quick",
            evidence: "tests/instructions/large_local.json",
        },
        hits: |device| device.is_llvmpipe(),
        avoid: |quirks| quirks.local_memory = Some(Quirks::LLVMPIPE_LOCAL_MEMORY),
    },
    Row {
        bug: KnownBug {
            name: "local_memory",
            drivers: "Mesa RADV",
            description: "the size of local memory wraps at 128 KiB with subgroups of 64, and kernels overwrite each other's (WAVESIZE)",
            evidence: RADV_SCRATCH,
        },
        hits: |device| device.driver == vk::DriverId::MESA_RADV,
        avoid: |quirks| quirks.local_memory = Some(Quirks::RADV_LOCAL_MEMORY),
    },
    Row {
        bug: KnownBug {
            name: "local_memory",
            drivers: "Mesa ANV",
            description: "no pipelines of kernels with more than 64 KiB of local memory in subgroups of 32 (max_scratch_size_per_thread)",
            evidence: ANV_SCRATCH,
        },
        hits: |device| device.driver == vk::DriverId::INTEL_OPEN_SOURCE_MESA,
        avoid: |quirks| quirks.local_memory = Some(Quirks::ANV_LOCAL_MEMORY),
    },
    Row {
        bug: KnownBug {
            name: "nesting",
            drivers: "Mesa llvmpipe",
            description: "control flow nested deeper than 80 levels is ignored (LP_MAX_TGSI_NESTING)",
            evidence: MESA_LIMITS,
        },
        // The driver's own passes may use some of the levels.
        hits: |device| device.is_llvmpipe(),
        avoid: |quirks| quirks.nesting = Some(64),
    },
    Row {
        bug: KnownBug {
            name: "subgroups_unreliable",
            drivers: "Mesa llvmpipe with LP_NATIVE_VECTOR_WIDTH above 512",
            description: "subgroups of 32 or 64 are reported, and 16 invocations run together",
            evidence: "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/gallium/drivers/llvmpipe/lp_screen.c",
        },
        hits: |device| device.is_llvmpipe() && device.subgroup_size > 16,
        avoid: |quirks| quirks.subgroups_unreliable = true,
    },
    Row {
        bug: KnownBug {
            name: "denorm_preserve_unadvertised",
            drivers: "NVIDIA 580 and later",
            description: "DenormPreserve is honoured and needed, but not advertised",
            evidence: "docs/numerics.md",
        },
        hits: |device| device.is_nvidia() && !device.validation && is_measured_nvidia(device.driver_info),
        avoid: |quirks| quirks.denorm_preserve_unadvertised = true,
    },
    Row {
        bug: KnownBug {
            name: "byte_swaps_wrong",
            drivers: "NVIDIA",
            description: "two bytes that change places come out wrong when stored as 16 bits",
            evidence: "translator/src/legalize/driver/byte_swaps.rs",
        },
        // Seen in 580. The workaround is free in versions that may not need it.
        hits: |device| device.is_nvidia(),
        avoid: |quirks| quirks.byte_swaps_wrong = true,
    },
    Row {
        bug: KnownBug {
            name: "long_divisions_wrong",
            drivers: "NVIDIA",
            description: "64-bit divisions, or what stands beside them, come out wrong in some kernels",
            evidence: "tests/instructions/video_simd_division.json",
        },
        // Seen in 580.
        hits: |device| device.is_nvidia(),
        avoid: |quirks| quirks.long_divisions_wrong = true,
    },
    Row {
        bug: KnownBug {
            name: "double_divisions_wrong",
            drivers: "NVIDIA",
            description: "a division of f64 under a condition in a loop makes other values wrong in some kernels",
            evidence: "tests/kernels/divided_in_loops.json",
        },
        // Seen in 580.
        hits: |device| device.is_nvidia(),
        avoid: |quirks| quirks.double_divisions_wrong = true,
    },
    Row {
        bug: KnownBug {
            name: "nan_signs_wrong",
            drivers: "NVIDIA",
            description: "the sign of a NaN is lost where integers change it",
            evidence: "tests/kernels/float_signs.json",
        },
        // Seen in 580.
        hits: |device| device.is_nvidia(),
        avoid: |quirks| quirks.nan_signs_wrong = true,
    },
    Row {
        bug: KnownBug {
            name: "dot_nans_lost",
            drivers: "NVIDIA",
            description: "a comparison of a dot product with itself takes a NaN for a number",
            evidence: "tests/kernels/fused_nans.json",
        },
        // Seen in 580.
        hits: |device| device.is_nvidia(),
        avoid: |quirks| quirks.dot_nans_lost = true,
    },
    Row {
        bug: KnownBug {
            name: "condition_bits_wrong",
            drivers: "NVIDIA",
            description: "a condition's 1 becomes 1.0 where its bits are read as a float, in some kernels",
            evidence: "tests/kernels/condition_bits.json",
        },
        // Seen in 580.
        hits: |device| device.is_nvidia(),
        avoid: |quirks| quirks.condition_bits_wrong = true,
    },
    Row {
        bug: KnownBug {
            name: "device_memory_barriers_slow",
            drivers: "NVIDIA",
            description: "a barrier of the workgroup that orders device memory has a fence of its own",
            evidence: "docs/performance.md",
        },
        hits: |device| device.is_nvidia(),
        avoid: |quirks| quirks.device_memory_barriers_slow = true,
    },
    Row {
        bug: KnownBug {
            name: "local_memory",
            drivers: "NVIDIA",
            description: "no pipelines of kernels with 16 KiB of local memory: \"unknown error\"; 12 KiB works",
            evidence: "docs/memory.md",
        },
        hits: |device| device.is_nvidia(),
        avoid: |quirks| quirks.local_memory = Some(Quirks::NVIDIA_LOCAL_MEMORY),
    },
    Row {
        bug: KnownBug {
            name: "subgroups_unreliable",
            drivers: "MoltenVK on AMD",
            description: "subgroups of 64 are reported, and half of their invocations may be missing",
            evidence: "https://github.com/KhronosGroup/MoltenVK/issues/2750",
        },
        hits: |device| device.driver == vk::DriverId::MOLTENVK && device.vendor == vendor::AMD,
        avoid: |quirks| quirks.subgroups_unreliable = true,
    },
    Row {
        bug: KnownBug {
            name: "maximal_reconvergence_wrong",
            drivers: "Imagination",
            description: "modules with MaximallyReconvergesKHR are not to be trusted; Dawn leaves it out there",
            evidence: DAWN,
        },
        hits: |device| device.driver == vk::DriverId::IMAGINATION_PROPRIETARY || device.vendor == vendor::IMAGINATION,
        avoid: |quirks| quirks.maximal_reconvergence_wrong = true,
    },
    Row {
        bug: KnownBug {
            name: "workgroup_atomic_stores_wrong",
            drivers: "Samsung Xclipse",
            description: "OpAtomicStore to workgroup memory is compiled wrong; Dawn writes an exchange there",
            evidence: DAWN,
        },
        hits: |device| device.driver == vk::DriverId::SAMSUNG_PROPRIETARY || device.vendor == vendor::SAMSUNG,
        avoid: |quirks| quirks.workgroup_atomic_stores_wrong = true,
    },
];

impl Identity<'_> {
    fn is_llvmpipe(&self) -> bool {
        self.driver == vk::DriverId::MESA_LLVMPIPE
    }

    fn is_swiftshader(&self) -> bool {
        self.driver == vk::DriverId::GOOGLE_SWIFTSHADER
    }

    /// Whether the data of pipeline caches is complete. It isn't on Samsung's and Imagination's drivers
    /// (<https://crbug.com/437807243>).
    pub fn keeps_pipelines(&self) -> bool {
        let drivers = [vk::DriverId::SAMSUNG_PROPRIETARY, vk::DriverId::IMAGINATION_PROPRIETARY];
        !drivers.contains(&self.driver) && ![vendor::SAMSUNG, vendor::IMAGINATION].contains(&self.vendor)
    }

    fn is_nvidia(&self) -> bool {
        self.driver == vk::DriverId::NVIDIA_PROPRIETARY
    }
}

/// The known bugs of a device's driver, and the workarounds for emission.
pub(crate) fn known(device: &Identity<'_>) -> (Vec<&'static KnownBug>, Quirks) {
    let mut quirks = Quirks::default();
    let hit = ROWS.iter().filter(|row| (row.hits)(device));
    let bugs = hit.inspect(|row| (row.avoid)(&mut quirks)).map(|row| &row.bug).collect();
    (bugs, quirks)
}

/// Whether a text such as `Mesa 22.3.6 (LLVM 15.0.6)` names this release series.
fn is_mesa(driver_info: &str, major: u32, minor: u32) -> bool {
    let version = driver_info.strip_prefix("Mesa ").unwrap_or_default();
    version.starts_with(&format!("{major}.{minor}.")) || version.starts_with(&format!("{major}.{minor} "))
}

/// Whether a version such as `580.159.03` is a release of NVIDIA's driver that was measured, or a later one.
fn is_measured_nvidia(driver_info: &str) -> bool {
    let major = driver_info.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= 580)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: Identity<'_> =
        Identity { driver: vk::DriverId::from_raw(0), driver_info: "", vendor: 0, subgroup_size: 8, validation: false };

    fn quirks(device: Identity<'_>) -> Quirks {
        known(&device).1
    }

    #[test]
    fn mesa_series() {
        assert!(is_mesa("Mesa 22.3.6 (LLVM 15.0.6)", 22, 3));
        assert!(!is_mesa("Mesa 22.30.0 (LLVM 15.0.6)", 22, 3));
        assert!(!is_mesa("Mesa 25.0.7 (LLVM 19)", 22, 3));
        assert!(!is_mesa("", 22, 3));
    }

    #[test]
    fn llvmpipe() {
        let device = Identity { driver: vk::DriverId::MESA_LLVMPIPE, ..UNKNOWN };
        let all = Quirks {
            loop_values_lost: true,
            surplus_invocations_loop: true,
            memory_barriers_wait: true,
            subgroup_barriers_wait: true,
            loop_budget: Some(65_535),
            local_memory: Some(Quirks::LLVMPIPE_LOCAL_MEMORY),
            nesting: Some(64),
            blocks_slow: true,
            offsets_unchecked: true,
            ..Quirks::default()
        };
        assert_eq!(quirks(Identity { driver_info: "Mesa 22.3.6 (LLVM 15.0.6)", ..device }), all);
        let newer = Identity { driver_info: "Mesa 25.0.7 (LLVM 19)", ..device };
        let fewer = Quirks { surplus_invocations_loop: false, memory_barriers_wait: false, ..all };
        assert_eq!(quirks(newer), fewer);
        let lying = Identity { subgroup_size: 32, ..newer };
        assert_eq!(quirks(lying), Quirks { subgroups_unreliable: true, ..fewer });
    }

    #[test]
    fn nvidia() {
        let device = Identity { driver: vk::DriverId::NVIDIA_PROPRIETARY, ..UNKNOWN };
        let careful = Quirks {
            byte_swaps_wrong: true,
            long_divisions_wrong: true,
            double_divisions_wrong: true,
            nan_signs_wrong: true,
            dot_nans_lost: true,
            condition_bits_wrong: true,
            device_memory_barriers_slow: true,
            local_memory: Some(Quirks::NVIDIA_LOCAL_MEMORY),
            ..Quirks::default()
        };
        let new = Identity { driver_info: "580.95.05", ..device };
        assert_eq!(quirks(new), Quirks { denorm_preserve_unadvertised: true, ..careful.clone() });
        assert_eq!(quirks(Identity { validation: true, ..new }), careful);
        assert_eq!(quirks(Identity { driver_info: "535.54.03", ..device }), careful);
    }

    #[test]
    fn swiftshader() {
        let device = Identity { driver: vk::DriverId::GOOGLE_SWIFTSHADER, ..UNKNOWN };
        assert_eq!(
            quirks(device),
            Quirks {
                loop_values_lost: true,
                conditions_slow: true,
                stack_small: true,
                offsets_unchecked: true,
                local_memory: Some(Quirks::SWIFTSHADER_LOCAL_MEMORY),
                ..Quirks::default()
            }
        );
    }

    /// Also by vendor, since Vulkan 1.1 has no driver ids.
    #[test]
    fn others() {
        assert_eq!(quirks(UNKNOWN), Quirks::default());
        let samsung = Quirks { workgroup_atomic_stores_wrong: true, ..Quirks::default() };
        assert_eq!(quirks(Identity { vendor: vendor::SAMSUNG, ..UNKNOWN }), samsung);
        assert_eq!(quirks(Identity { driver: vk::DriverId::SAMSUNG_PROPRIETARY, ..UNKNOWN }), samsung);
        let imagination = Quirks { maximal_reconvergence_wrong: true, ..Quirks::default() };
        assert_eq!(quirks(Identity { vendor: vendor::IMAGINATION, ..UNKNOWN }), imagination);
        let molten = Identity { driver: vk::DriverId::MOLTENVK, ..UNKNOWN };
        assert_eq!(quirks(molten), Quirks::default());
        let amd = Quirks { subgroups_unreliable: true, ..Quirks::default() };
        assert_eq!(quirks(Identity { vendor: vendor::AMD, ..molten }), amd);
        let radv = Quirks { local_memory: Some(Quirks::RADV_LOCAL_MEMORY), ..Quirks::default() };
        assert_eq!(quirks(Identity { vendor: vendor::AMD, driver: vk::DriverId::MESA_RADV, ..UNKNOWN }), radv);
        let anv = Quirks { local_memory: Some(Quirks::ANV_LOCAL_MEMORY), ..Quirks::default() };
        assert_eq!(quirks(Identity { driver: vk::DriverId::INTEL_OPEN_SOURCE_MESA, ..UNKNOWN }), anv);
    }

    #[test]
    fn the_documentation_has_every_row() {
        let text = include_str!("../../../../../docs/devices.md");
        for KnownBug { name, drivers, evidence, .. } in ROWS.iter().map(|row| &row.bug) {
            let row = text.lines().find(|line| line.contains(&format!("`{name}`")) && line.contains(drivers));
            assert!(row.is_some_and(|row| row.contains(evidence)), "{name} of {drivers}");
        }
    }
}
