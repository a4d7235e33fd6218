//! Targets by name, for translating without the device.
//!
//! Each is a file in this folder, in the format of `ptx2spv devices --device X --json`: the properties of a real device
//! with a certain driver. Features missing from a report count as absent. So modules for a preset also run on related
//! devices with more features.
//!
//! A fact about its arithmetic is *measured* on hardware (`"facts"`), *documented* by the vendor together with the driver's machine
//! code (`"documented"`, each with its evidence), or *likely*: there is evidence, but nobody vouches for it (`"likely"`). Targets have the
//! first two, and the likely ones only on request. All else counts as wrong, except for the promises of float controls.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::target::Target;

/// A target that has a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// What [`Target::preset`] takes.
    pub name: &'static str,
    /// The device and the driver that it describes.
    pub device: &'static str,
    /// Its description as JSON; empty for the reference device, which describes itself.
    json: &'static str,
}

impl Preset {
    /// The target with the facts that are measured or documented, unless the description is broken, which a test rules out.
    pub fn target(&self) -> Option<Target> {
        let described = self.described()?;
        Some(described.target.with_facts(described.documented.keys()))
    }

    /// The target with likely facts too. A module for it may be refused by such a device, or compute wrong results where nothing tests
    /// the device.
    pub fn likely_target(&self) -> Option<Target> {
        let likely = self.described()?.likely;
        Some(self.target()?.with_facts(likely.keys()))
    }

    /// What the file says.
    fn described(&self) -> Option<Described> {
        if self.json.is_empty() {
            let [documented, likely] = [BTreeMap::new(), BTreeMap::new()];
            return Some(Described { target: Target::reference(), documented, likely });
        }
        let described: Described = serde_json::from_str(self.json).ok()?;
        Some(Described { target: described.target.with_promises(), ..described })
    }
}

/// A preset's file.
#[derive(Debug, Deserialize)]
struct Described {
    #[serde(flatten)]
    target: Target,
    /// Facts with their evidence.
    #[serde(default)]
    documented: BTreeMap<String, String>,
    #[serde(default)]
    likely: BTreeMap<String, String>,
}

impl Target {
    /// Names that [`Target::preset`] takes.
    pub const PRESETS: &'static [&'static str] = &NAMES;

    /// The presets with what they describe.
    pub fn presets() -> &'static [Preset] {
        &ALL
    }

    /// A device by name, from its published properties; see [`Target::PRESETS`].
    pub fn preset(name: &str) -> Option<Target> {
        ALL.iter().find(|preset| preset.name == name)?.target()
    }

    /// The same with facts that are only likely: [`Preset::likely_target`].
    pub fn likely_preset(name: &str) -> Option<Target> {
        ALL.iter().find(|preset| preset.name == name)?.likely_target()
    }

    /// The target with these facts too, by their names.
    fn with_facts<'n>(mut self, names: impl Iterator<Item = &'n String>) -> Target {
        for name in names {
            self.facts.set(name, true);
        }
        self
    }
}

macro_rules! preset {
    ($name:literal, $device:literal) => {
        Preset { name: $name, device: $device, json: include_str!(concat!($name, ".json")) }
    };
}

/// All presets. Where nothing else is said, the numbers are those of the device's report at vulkan.gpuinfo.org as
/// KhronosGroup/Vulkan-Profiles has it (`profiles/LunarG/…/vp_gpuinfo_*.json`). Left out is what would shut out older drivers
/// without making code better, such as maximal reconvergence where subgroups reconverge in uniform control flow anyway.
const ALL: [Preset; 16] = [
    // RADV asks for subgroups of 32 or 64.
    preset!("amd-rdna", "AMD Radeon RX 5700 XT (NAVI10), RADV, Mesa 26.1"),
    // No half precision, and subgroups of 64 only.
    preset!("amd-gcn", "AMD Radeon RX 570 (POLARIS10), RADV, Mesa 26.0.6"),
    // From the sources of Turnip in Mesa 26 (`tu_device.cc`): 8-bit storage and 64-bit atomics depend on the chip. Turnip 25.0 has no
    // clocks. Its `mad.f32` isn't known to round once: Qualcomm's OpenCL driver says neither CL_FP_FMA nor CL_FP_DENORM of f32, of Adreno 640, 750
    // and others (https://github.com/galloty/genefer22/issues/12), and Mesa's sources say nothing of it.
    preset!("adreno", "Qualcomm Adreno 740, Turnip, Mesa 26"),
    preset!("apple-moltenvk", "Apple M1, MoltenVK 1.4.1"),
    // No Vulkan memory model before MoltenVK 1.3.
    preset!("apple-moltenvk-1.2", "Apple M1, MoltenVK 1.2.7"),
    // From the sources of PowerVR's driver in Mesa (`pvr_physical_device.c`): one of the poorest there are. Imagination's own
    // drivers have more.
    preset!("imagination", "Imagination PowerVR BXS-4-64, PVR, Mesa 26"),
    // Double precision, which Xe lacks.
    preset!("intel-gen9", "Intel HD Graphics 620 (Kaby Lake GT2), ANV, Mesa 26.1.2"),
    preset!("intel-xe", "Intel Iris Xe Graphics (Tiger Lake GT2), ANV, Mesa 26.1.3"),
    // Measured: the code that it generates divides and takes roots exactly, but `Fma` is a multiplication and an addition,
    // atomic additions keep denormals everywhere, and `Exp2` is up to 3 units off. All quirks have been seen. What depends on the
    // processor is left out, so that modules run with any: half precision, which needs F16C, and the rounding of f64 to integral
    // values, which is wrong without AVX-512. Subgroups have 8 invocations with AVX, and elsewhere with `LP_NATIVE_VECTOR_WIDTH=256`.
    preset!("lavapipe", "llvmpipe of Mesa 22.3.6 (Debian 12), with vectors of 256 bits"),
    // Measured as well.
    preset!("lavapipe-25", "llvmpipe of Mesa 25.0.7, with vectors of 256 bits"),
    // From the sources of PanVK in Mesa 26 (`panvk_vX_physical_device.c`, architecture 10).
    preset!("mali", "Arm Mali-G610, PanVK, Mesa 26"),
    // Measured on an H200 with denormals preserved (see `Quirks::denorm_preserve_unadvertised`): `Fma` on f32, atomic
    // additions, `Exp2`, `Sqrt` and `InverseSqrt` flush all the same, and `Sqrt` on f32 is one unit off in a sixth of all cases.
    preset!("nvidia", "NVIDIA's driver 580 on data-centre and desktop chips since Volta"),
    Preset {
        name: "reference",
        device: "the reference device: exact, with everything, in sizes such as NVIDIA's",
        json: "",
    },
    // Limits and subgroups are those of a report (https://github.com/kde-yyds/android-vulkan-bridge/issues/2), features what
    // Vulkan 1.3 and Android 15 demand (`VP_ANDROID_15_minimums.json` of Vulkan-Profiles); 64-bit integers are in neither.
    preset!("samsung-xclipse", "Samsung Xclipse 940, Android 15"),
    // Measured: it flushes denormals, is right about normal numbers, and does hardly anything else exactly.
    preset!("swiftshader", "SwiftShader 5.0 (Subzero) on x86-64"),
    // No device: the least that Vulkan 1.1 lets a device have, and what no kernel can do without. It has the workarounds for all
    // drivers' bugs, so that its modules suit every device.
    preset!("vulkan1.1-minimum", "the least of Vulkan 1.1, with bufferDeviceAddress"),
];

const NAMES: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut index = 0;
    while index < ALL.len() {
        names[index] = ALL[index].name;
        index += 1;
    }
    names
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Feature, Version};

    #[test]
    fn each_has_its_name_and_makes_sense() {
        for preset in ALL {
            let name = preset.name;
            let target =
                preset.target().unwrap_or_else(|| panic!("{name}: {:?}", serde_json::from_str::<Target>(preset.json)));
            assert_eq!(target.name, name);
            assert!(target.has(Feature::BufferDeviceAddress), "{name}");
            let newest = if target.vulkan >= Version(1, 3) { Version(1, 6) } else { Version(1, 5) };
            let oldest = if target.vulkan >= Version(1, 2) { Version(1, 5) } else { Version(1, 3) };
            assert!((oldest..=newest).contains(&target.spirv), "{name}");
            let sizes = &target.subgroups;
            assert!(sizes.min_size <= sizes.size && sizes.size <= sizes.max_size, "{name}");
            let limits = &target.limits;
            assert!(limits.max_push_constants_size >= 128 && limits.max_compute_shared_memory_size >= 16384, "{name}");
            assert!(limits.max_compute_work_group_invocations >= 128, "{name}");
            // A scope of the Vulkan memory model, and parts of explicit layout, don't come alone.
            for (part, whole) in [
                (Feature::VulkanMemoryModelDeviceScope, Feature::VulkanMemoryModel),
                (Feature::WorkgroupMemoryExplicitLayout8BitAccess, Feature::WorkgroupMemoryExplicitLayout),
                (Feature::WorkgroupMemoryExplicitLayout16BitAccess, Feature::WorkgroupMemoryExplicitLayout),
            ] {
                assert!(!target.has(part) || target.has(whole), "{name}");
            }
        }
        assert_eq!(
            NAMES.map(|name| Target::preset(name).map(|target| target.name)),
            NAMES.map(|name| Some(name.to_owned()))
        );
    }

    #[test]
    fn float_controls_are_promises() {
        let facts = |name| Target::preset(name).map(|target| target.facts).unwrap_or_default();
        assert!(facts("mali").denormals_f32_kept && facts("mali").normal_f32_exact);
        let minimum = facts("vulkan1.1-minimum");
        assert!(!minimum.denormals_f32_kept && !minimum.normal_f32_exact);
        // No f64, no promise about it.
        assert!(facts("amd-gcn").denormals_f64_kept && !facts("intel-xe").denormals_f64_kept);
    }

    #[test]
    fn likely_facts_are_taken_on_request() {
        let facts = |target: Option<Target>| target.map(|target| target.facts).unwrap_or_default();
        let [rdna, likely] = [Target::preset("amd-rdna"), Target::likely_preset("amd-rdna")].map(facts);
        assert!(rdna.fma_f32_fused && !rdna.rounding_exact);
        assert!(likely.fma_f32_fused && likely.rounding_exact);
        // Polaris multiplies, rounds, and adds.
        assert!(!facts(Target::likely_preset("amd-gcn")).fma_f32_fused);
        for preset in ALL {
            let without: Vec<&str> = preset.json.lines().filter(|line| line.contains("\"likely\"")).collect();
            assert_eq!(preset.target() == preset.likely_target(), without.is_empty(), "{}", preset.name);
        }
    }

    /// An unknown key in a file would be a typing error.
    #[test]
    fn files_say_nothing_else() {
        for preset in ALL {
            let Some(target) = preset.target().filter(|_| !preset.json.is_empty()) else { continue };
            let written = serde_json::to_value(target).expect("it can be written");
            let read: serde_json::Value = serde_json::from_str(preset.json).expect("it is JSON");
            for (key, value) in read.as_object().expect("an object") {
                if ["documented", "likely"].contains(&key.as_str()) {
                    let facts = value.as_object().expect("facts with evidence");
                    for (fact, evidence) in facts {
                        assert_eq!(written["facts"][fact], key == "documented", "{}: {fact}", preset.name);
                        assert!(evidence.as_str().is_some_and(|text| text.len() > 9), "{}: {fact}", preset.name);
                    }
                    continue;
                }
                let Some(parts) = value.as_object() else {
                    assert!(written.get(key).is_some(), "{}: {key}", preset.name);
                    continue;
                };
                assert!(parts.keys().all(|part| written[key].get(part).is_some()), "{}: {key}", preset.name);
            }
        }
    }
}
