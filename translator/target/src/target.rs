//! A device as a whole.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::features::Feature;
use crate::float_controls::FloatControls;
use crate::matrix::{MatrixTypes, UnitTypes};
use crate::quirks::Quirks;

/// A major and minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Version(pub u32, pub u32);

/// Sizes that a kernel must fit in; Vulkan's `VkPhysicalDeviceLimits` by the same names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// `maxPushConstantsSize` in bytes.
    pub max_push_constants_size: u32,
    /// `maxComputeSharedMemorySize` in bytes.
    pub max_compute_shared_memory_size: u32,
    /// `maxComputeWorkGroupInvocations`.
    pub max_compute_work_group_invocations: u32,
    /// `maxComputeWorkGroupSize` per dimension.
    pub max_compute_work_group_size: [u32; 3],
    /// `maxComputeWorkGroupCount` per dimension.
    pub max_compute_work_group_count: [u32; 3],
}

/// Subgroup sizes (`VkPhysicalDeviceSubgroupProperties`, `…SubgroupSizeControlProperties`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subgroups {
    /// Size when none is asked for.
    pub size: u32,
    /// Smallest size that can be asked for.
    pub min_size: u32,
    /// Largest size that can be asked for.
    pub max_size: u32,
    /// Whether compute shaders can ask for a size.
    pub required_size: bool,
    /// Whether compute shaders have ballots (`VK_SUBGROUP_FEATURE_BALLOT_BIT`).
    #[serde(default)]
    pub ballot: bool,
    /// Whether compute shaders have shuffles (`VK_SUBGROUP_FEATURE_SHUFFLE_BIT`).
    #[serde(default)]
    pub shuffle: bool,
}

impl Subgroups {
    /// Whether there are several sizes, one of which a pipeline can ask for. Else pipelines get [`Subgroups::size`], if
    /// they don't allow it to vary and ask for full subgroups.
    pub fn has_choice(&self) -> bool {
        self.required_size && self.min_size != self.max_size
    }
}

/// Everything the translator knows of the device it compiles for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The preset's or the device's name.
    pub name: String,
    /// Vulkan version.
    pub vulkan: Version,
    /// Highest SPIR-V version that may be emitted.
    pub spirv: Version,
    /// Features that are present.
    pub features: BTreeSet<Feature>,
    /// Sizes.
    pub limits: Limits,
    /// Subgroup sizes.
    pub subgroups: Subgroups,
    /// The products that the device's matrix units have of matrices of these sizes ([`UnitTypes::shape`]; `VkCooperativeMatrixPropertiesKHR`, of
    /// subgroups).
    #[serde(default)]
    pub matrix_units: BTreeSet<MatrixTypes>,
    /// Float controls that shaders may declare.
    #[serde(default)]
    pub float_controls: FloatControls,
    /// Bugs of the driver.
    #[serde(default)]
    pub quirks: Quirks,
    /// Measured behaviour of its arithmetic.
    pub facts: Facts,
}

impl Target {
    /// Adds the facts that the device's float controls promise, which modules declare: for a device without
    /// measurements.
    pub fn with_promises(mut self) -> Target {
        let controls = &self.float_controls;
        if controls.rounding_mode_rte_float32 && controls.signed_zero_inf_nan_preserve_float32 {
            self.facts.normal_f32_exact = true;
            self.facts.convert_f32_exact = true;
            self.facts.denormals_f32_kept |= controls.denorm_preserve_float32;
            self.facts.fma_khr_f32_right |= controls.denorm_preserve_float32 && self.has(Feature::ShaderFmaFloat32);
        }
        // Of what a device doesn't have, a self-test finds nothing.
        self.facts.denormals_f64_kept |= self.features.contains(&Feature::ShaderFloat64)
            && controls.rounding_mode_rte_float64
            && controls.signed_zero_inf_nan_preserve_float64
            && controls.denorm_preserve_float64;
        self.facts.fma_khr_f64_right |= self.facts.denormals_f64_kept && self.has(Feature::ShaderFmaFloat64);
        self
    }

    /// Whether the device has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Whether the device has a feature that is a fused multiply-add, and rounds it once. Elsewhere `Fma` may do.
    pub fn fuses_right(&self, feature: Feature) -> bool {
        let right = match feature {
            Feature::ShaderFmaFloat32 => self.facts.fma_khr_f32_right,
            Feature::ShaderFmaFloat64 => self.facts.fma_khr_f64_right,
            _ => false,
        };
        right && self.has(feature)
    }

    /// Whether `Fma` on `F32` can be written as a dot product ([`Facts::dot_f32_fused`]). Modules then say by fast-math modes what
    /// may not be fused, and not by `NoContraction`.
    pub fn fuses_dot(&self) -> bool {
        self.has(Feature::ShaderFloatControls2) && self.facts.dot_f32_fused
    }

    /// The products of [`Target::matrix_units`] whose results are those of NVIDIA's instructions.
    pub fn exact_matrix_units(&self) -> BTreeSet<MatrixTypes> {
        let has_units = self.has(Feature::CooperativeMatrix) && self.has(Feature::VulkanMemoryModel);
        let is_exact = |types: MatrixTypes| match types.for_unit() {
            Some(UnitTypes::Halves { .. }) => {
                self.has(Feature::ShaderFloat16) && self.has(Feature::ShaderInt16) && self.facts.matrix_f16_exact
            }
            Some(UnitTypes::Bfloats) => {
                self.has(Feature::ShaderBfloat16CooperativeMatrix)
                    && self.has(Feature::ShaderInt16)
                    && self.facts.matrix_bf16_exact
            }
            Some(UnitTypes::Bytes { .. }) => self.has(Feature::ShaderInt8) && self.facts.matrix_bytes_exact,
            None => false,
        };
        self.matrix_units.iter().copied().filter(|&types| has_units && is_exact(types)).collect()
    }

    /// Whether global memory can be accessed by 8 and 16 bits. Without 64-bit integers a bit cast makes the pointers for them, which
    /// SPIR-V wants the types' whole arithmetic for. Elsewhere accesses reach the whole words around.
    pub fn has_narrow_global(&self) -> bool {
        use Feature::{ShaderInt8, ShaderInt16, ShaderInt64, StorageBuffer8BitAccess, StorageBuffer16BitAccess};
        let has = |features: &[Feature]| features.iter().all(|feature| self.has(*feature));
        let casts = self.has(ShaderInt64) || has(&[ShaderInt8, ShaderInt16]);
        casts && has(&[StorageBuffer8BitAccess, StorageBuffer16BitAccess])
    }

    /// The feature by which Vulkan promises that a subgroup whose control flow is uniform is together, if the device has one that
    /// works. Modules with operations of subgroups declare it.
    pub fn convergence(&self) -> Option<Feature> {
        let works = |feature: &Feature| {
            let wrong = *feature == Feature::ShaderMaximalReconvergence && self.quirks.maximal_reconvergence_wrong;
            self.has(*feature) && !wrong
        };
        [Feature::ShaderMaximalReconvergence, Feature::ShaderSubgroupUniformControlFlow].into_iter().find(works)
    }

    /// Whether it has a feature that is an atomic addition of floats, and treats denormals and the like there as PTX does. What
    /// the device leaves in memory can't be changed afterwards, so that its NaNs have to be right too.
    pub fn adds_right(&self, feature: Feature) -> bool {
        let facts = &self.facts;
        let right = match feature {
            Feature::ShaderBufferFloat32AtomicAdd => facts.global_atomic_add_f32_flushes && facts.nan_f32_nvidia,
            Feature::ShaderSharedFloat32AtomicAdd => facts.shared_atomic_add_f32_keeps && facts.nan_f32_nvidia,
            _ => facts.atomic_add_f64_exact,
        };
        right && self.has(feature)
    }

    /// The reference device: an exact one that has everything but images, in sizes such as NVIDIA's, and all subgroup sizes to ask for.
    pub fn reference() -> Target {
        let images = [Feature::RuntimeDescriptorArray, Feature::ShaderSampledImageArrayNonUniformIndexing];
        Target {
            name: "reference".into(),
            vulkan: Version(1, 3),
            spirv: Version(1, 6),
            features: Feature::ALL.iter().copied().filter(|feature| !images.contains(feature)).collect(),
            limits: Limits {
                max_push_constants_size: 256,
                max_compute_shared_memory_size: 49152,
                max_compute_work_group_invocations: 1024,
                max_compute_work_group_size: [1024, 1024, 64],
                max_compute_work_group_count: [2_147_483_647, 65535, 65535],
            },
            subgroups: Subgroups {
                size: 32,
                min_size: 1,
                max_size: 128,
                required_size: true,
                ballot: true,
                shuffle: true,
            },
            matrix_units: [
                MatrixTypes::F16,
                MatrixTypes::F16Alone,
                MatrixTypes::Bf16,
                MatrixTypes::S8,
                MatrixTypes::U8,
            ]
            .into(),
            float_controls: FloatControls {
                signed_zero_inf_nan_preserve_float16: true,
                signed_zero_inf_nan_preserve_float32: true,
                signed_zero_inf_nan_preserve_float64: true,
                denorm_preserve_float16: true,
                denorm_preserve_float32: true,
                denorm_preserve_float64: true,
                rounding_mode_rte_float16: true,
                rounding_mode_rte_float32: true,
                rounding_mode_rte_float64: true,
            },
            quirks: Quirks::default(),
            facts: Facts::REFERENCE,
        }
    }
}
