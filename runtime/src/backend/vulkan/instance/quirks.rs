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
const RADV_ADDRESSES: &str =
    "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/amd/common/ac_nir_lower_global_access.c";
const RADV_SCRATCH: &str = "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/amd/common/sid.h";
const ANV_SCRATCH: &str = "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/intel/compiler/brw_fs.cpp";
const DAWN: &str = "https://dawn.googlesource.com/dawn/+/refs/heads/main/src/dawn/native/vulkan/PhysicalDeviceVk.cpp";

/// The bugs: what avoids one in [`Quirks`], the affected drivers with how to tell them, a description, and the evidence.
macro_rules! rows {
    ($($name:ident = $value:expr, on $drivers:literal: $hits:expr, $description:literal, $evidence:expr;)*) => {
        const ROWS: &[Row] = &[$(Row {
            bug: KnownBug {
                name: stringify!($name),
                drivers: $drivers,
                description: $description,
                evidence: $evidence,
            },
            hits: $hits,
            avoid: |quirks| quirks.$name = $value,
        }),*];
    };
}

rows! {
    // Seen in 22.3. The workaround is cheap in versions that may not need it.
    loop_values_lost = true, on "Mesa llvmpipe": |device| device.is_llvmpipe(),
        "a value that a loop computes reaches the code after it wrong in invocations that left early",
        "runtime/tests/device/loops.rs";
    loop_values_lost = true, on "SwiftShader": |device| device.is_swiftshader(),
        "the same; seen in the version of Debian's chromium 156",
        "tests/kernels/sha256.json";
    conditions_slow = true, on "SwiftShader": |device| device.is_swiftshader(),
        "time to compile grows exponentially with the conditions in a loop (Function::ExistsPath)",
        SWIFTSHADER_FLOW;
    blocks_slow = true, on "Mesa llvmpipe": |device| device.is_llvmpipe(),
        "time to compile grows with the product of a kernel's basic blocks and variables (collectFrameAlloca)",
        LLVM_COROUTINES;
    stack_small = true, on "SwiftShader": |device| device.is_swiftshader(),
        "kernels crash that keep more than 512 KiB on the stack, with a slot for each value (setStackSizeLimit)",
        SWIFTSHADER_STACK;
    local_memory = Some(Quirks::SWIFTSHADER_LOCAL_MEMORY), on "SwiftShader": |device| device.is_swiftshader(),
        "its compiler ends the process at 128 KiB of local memory, which lie on that stack for four invocations",
        SWIFTSHADER_STACK;
    offsets_unchecked = true, on "Mesa llvmpipe, SwiftShader": |device| device.is_llvmpipe() || device.is_swiftshader(),
        "accesses past the end of shared and local memory hit what else the process has there",
        "runtime/tests/device/shared_memory.rs";
    // Not seen in 25.0.
    surplus_invocations_loop = true, on "Mesa llvmpipe 22.3": |device| device.is_llvmpipe() && is_mesa(device.driver_info, 22, 3),
        "loops run on for what a workgroup leaves of its last vector",
        "runtime/tests/device/loops.rs";
    // Later versions have real barriers, which must not be left out there.
    memory_barriers_wait = true, on "Mesa llvmpipe 22.3": |device| device.is_llvmpipe() && is_mesa(device.driver_info, 22, 3),
        "memory barriers wait for the whole workgroup, also in divergent control flow",
        "tests/instructions/fences.json";
    // Seen in 25.0. In 22.3 there are no barriers at all.
    subgroup_barriers_wait = true, on "Mesa llvmpipe": |device| device.is_llvmpipe(),
        "barriers of a subgroup wait for the whole workgroup, and lose what follows",
        "tests/kernels/warp_idioms.json";
    loop_budget = Some(65_535), on "Mesa llvmpipe": |device| device.is_llvmpipe(),
        "all loops end after 65,535 rounds together (LP_MAX_TGSI_LOOP_ITERATIONS)",
        MESA_LIMITS;
    local_memory = Some(Quirks::LLVMPIPE_LOCAL_MEMORY), on "Mesa llvmpipe": |device| device.is_llvmpipe(),
        "kernels with 400 KiB of local memory take minutes to compile; 32 KiB is quick",
        "tests/instructions/large_local.json";
    local_memory = Some(Quirks::RADV_LOCAL_MEMORY), on "Mesa RADV": |device| device.driver == vk::DriverId::MESA_RADV,
        "the size of local memory wraps at 128 KiB with subgroups of 64, and kernels overwrite each other's (WAVESIZE)",
        RADV_SCRATCH;
    local_memory = Some(Quirks::ANV_LOCAL_MEMORY), on "Mesa ANV": |device| device.driver == vk::DriverId::INTEL_OPEN_SOURCE_MESA,
        "no pipelines of kernels with more than 64 KiB of local memory in subgroups of 32 (max_scratch_size_per_thread)",
        ANV_SCRATCH;
    // The driver's own passes may use some of the levels.
    nesting = Some(64), on "Mesa llvmpipe": |device| device.is_llvmpipe(),
        "control flow nested deeper than 80 levels is ignored (LP_MAX_TGSI_NESTING)",
        MESA_LIMITS;
    subgroups_unreliable = true, on "Mesa llvmpipe with LP_NATIVE_VECTOR_WIDTH above 512": |device| device.is_llvmpipe() && device.subgroup_size > 16,
        "subgroups of 32 or 64 are reported, and 16 invocations run together",
        "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/gallium/drivers/llvmpipe/lp_screen.c";
    denorm_preserve_unadvertised = true, on "NVIDIA 580 and later": |device| device.is_nvidia() && !device.validation && is_measured_nvidia(device.driver_info),
        "DenormPreserve is honoured and needed, but not advertised",
        "docs/numerics.md";
    // Seen in 580. The workaround is free in versions that may not need it.
    byte_swaps_wrong = true, on "NVIDIA": |device| device.is_nvidia(),
        "two bytes that change places come out wrong when stored as 16 bits",
        "translator/src/legalize/driver/byte_swaps.rs";
    // Seen in 580.
    long_divisions_wrong = true, on "NVIDIA": |device| device.is_nvidia(),
        "64-bit divisions, or what stands beside them, come out wrong in some kernels",
        "tests/instructions/video_simd_division.json";
    // Seen in 580.
    double_divisions_wrong = true, on "NVIDIA": |device| device.is_nvidia(),
        "a division of f64 under a condition in a loop makes other values wrong in some kernels",
        "tests/kernels/divided_in_loops.json";
    // Seen in 580.
    nan_signs_wrong = true, on "NVIDIA": |device| device.is_nvidia(),
        "the sign of a NaN is lost where integers change it",
        "tests/kernels/float_signs.json";
    // Seen in 580.
    dot_nans_lost = true, on "NVIDIA": |device| device.is_nvidia(),
        "a comparison of a dot product with itself takes a NaN for a number",
        "tests/kernels/fused_nans.json";
    // Seen in 580.
    condition_bits_wrong = true, on "NVIDIA": |device| device.is_nvidia(),
        "a condition's 1 becomes 1.0 where its bits are read as a float, in some kernels",
        "tests/kernels/condition_bits.json";
    // Seen in 580.
    joined_signs_lost = true, on "NVIDIA": |device| device.is_nvidia(),
        "a word that is joined with its sign to 64 bits, times a power of two, loses its upper half in some sums",
        "tests/ptx/extended_signs.json";
    // Seen in RADV 22.3; Honeykrisp takes words out of sums too (`agx_nir_lower_address.c`). The workaround is cheap where nothing is wrong.
    address_carries_lost = true, on "Mesa RADV, and all but NVIDIA, Mesa llvmpipe and SwiftShader, where it was tried": |device| !(device.is_nvidia() || device.is_llvmpipe() || device.is_swiftshader()),
        "zero-extended words of an address are added on 32 bits, and the carry is lost (try_extract_additions)",
        RADV_ADDRESSES;
    device_memory_barriers_slow = true, on "NVIDIA": |device| device.is_nvidia(),
        "a barrier of the workgroup that orders device memory has a fence of its own",
        "docs/performance.md";
    local_memory = Some(Quirks::NVIDIA_LOCAL_MEMORY), on "NVIDIA": |device| device.is_nvidia(),
        "no pipelines of kernels with 16 KiB of local memory: \"unknown error\"; 12 KiB works",
        "docs/memory.md";
    subgroups_unreliable = true, on "MoltenVK on AMD": |device| device.driver == vk::DriverId::MOLTENVK && device.vendor == vendor::AMD,
        "subgroups of 64 are reported, and half of their invocations may be missing",
        "https://github.com/KhronosGroup/MoltenVK/issues/2750";
    maximal_reconvergence_wrong = true, on "Imagination": |device| device.driver == vk::DriverId::IMAGINATION_PROPRIETARY || device.vendor == vendor::IMAGINATION,
        "modules with MaximallyReconvergesKHR are not to be trusted; Dawn leaves it out there",
        DAWN;
    workgroup_atomic_stores_wrong = true, on "Samsung Xclipse": |device| device.driver == vk::DriverId::SAMSUNG_PROPRIETARY || device.vendor == vendor::SAMSUNG,
        "OpAtomicStore to workgroup memory is compiled wrong; Dawn writes an exchange there",
        DAWN;
}

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
            joined_signs_lost: true,
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
        let careful = || Quirks { address_carries_lost: true, ..Quirks::default() };
        assert_eq!(quirks(UNKNOWN), careful());
        let samsung = Quirks { workgroup_atomic_stores_wrong: true, ..careful() };
        assert_eq!(quirks(Identity { vendor: vendor::SAMSUNG, ..UNKNOWN }), samsung);
        assert_eq!(quirks(Identity { driver: vk::DriverId::SAMSUNG_PROPRIETARY, ..UNKNOWN }), samsung);
        let imagination = Quirks { maximal_reconvergence_wrong: true, ..careful() };
        assert_eq!(quirks(Identity { vendor: vendor::IMAGINATION, ..UNKNOWN }), imagination);
        let molten = Identity { driver: vk::DriverId::MOLTENVK, ..UNKNOWN };
        assert_eq!(quirks(molten), careful());
        let amd = Quirks { subgroups_unreliable: true, ..careful() };
        assert_eq!(quirks(Identity { vendor: vendor::AMD, ..molten }), amd);
        let radv = Quirks { local_memory: Some(Quirks::RADV_LOCAL_MEMORY), ..careful() };
        assert_eq!(quirks(Identity { vendor: vendor::AMD, driver: vk::DriverId::MESA_RADV, ..UNKNOWN }), radv);
        let anv = Quirks { local_memory: Some(Quirks::ANV_LOCAL_MEMORY), ..careful() };
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
