//! The Vulkan structure for each [`Feature`], and the version or extension that introduced it. A single table serves
//! for querying a device's features and for enabling them.
//!
//! The structures are those of the extensions, not the `VkPhysicalDeviceVulkan1XFeatures` that combine them: they are
//! valid on every Vulkan version from 1.1, so that one table is enough.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

use ash::{ext, khr, vk};
use ptx2spv_translator::target::Version;
use ptx2spv_translator::{Feature, Target};

use crate::backend::vulkan::instance::{Instance, newer};
use crate::error::{Error, Result};
use crate::info::OwnFeatures;
use crate::info::restrictions::TIMELINE_SEMAPHORE;

/// The features that a device offers.
pub(crate) struct Offer {
    /// The Vulkan version to use: the device's, or the instance's if that is lower.
    pub version: Version,
    extensions: BTreeSet<CString>,
}

impl Offer {
    /// Queries the features that are offered and not forbidden.
    pub fn query(instance: &Instance, device: vk::PhysicalDevice, version: Version) -> Result<Self> {
        // SAFETY: `device` was enumerated from `instance`.
        let list = unsafe { instance.raw().enumerate_device_extension_properties(device) }
            .map_err(Error::vulkan("vkEnumerateDeviceExtensionProperties"))?;
        let names = list.iter().filter_map(|extension| extension.extension_name_as_c_str().ok());
        Ok(Self::new(version, names.filter(|name| !instance.restrictions().forbids_extension(name))))
    }

    fn new<'a>(version: Version, extensions: impl IntoIterator<Item = &'a CStr>) -> Self {
        Self { version, extensions: extensions.into_iter().map(CStr::to_owned).collect() }
    }

    pub fn has_extension(&self, name: &CStr) -> bool {
        self.extensions.contains(name)
    }

    /// Whether something is part of the version, or of an available extension.
    pub fn has(&self, core: Option<Version>, extension: &CStr) -> bool {
        self.is_core(core) || self.has_extension(extension)
    }

    pub fn is_core(&self, core: Option<Version>) -> bool {
        core.is_some_and(|core| self.version >= core)
    }

    /// The newest SPIR-V version that the device accepts and the translator writes. `VK_KHR_spirv_1_4` requires the
    /// float controls, which must be enabled with it.
    pub fn newest_spirv(&self) -> Version {
        if self.version >= Version(1, 2) {
            Version(1, 5)
        } else if self.has_extension(khr::spirv_1_4::NAME) && self.has_extension(khr::shader_float_controls::NAME) {
            Version(1, 4)
        } else {
            Version(1, 3)
        }
    }
}

/// Extensions without a feature of their own. They are enabled if they are available and not part of the version.
const COMPANIONS: &[(Option<Version>, &CStr)] = &[
    // Vulkan requires that this one is enabled if it is offered.
    (None, c"VK_KHR_portability_subset"),
    (Some(Version(1, 2)), khr::shader_float_controls::NAME),
    (Some(Version(1, 2)), khr::spirv_1_4::NAME),
    (None, ext::memory_budget::NAME),
    (None, khr::map_memory2::NAME),
    // It depends on an extension that is part of Vulkan 1.1.
    (None, ext::external_memory_host::NAME),
];

/// Vulkan's structures, with those that `ash` lacks.
mod structures {
    pub(super) use super::super::newer::{PhysicalDeviceShaderBfloat16FeaturesKHR, PhysicalDeviceShaderFmaFeaturesKHR};
    pub(super) use ash::vk::*;
}

macro_rules! feature_structs {
    ($($field:ident: $ty:ident = $core:expr, $extension:expr;)*) => {
        /// Zeroed feature structures, to be filled by a query or by [`Structs::field`].
        #[derive(Default)]
        pub(crate) struct Structs {
            core: vk::PhysicalDeviceFeatures,
            $($field: structures::$ty<'static>,)*
        }

        impl Structs {
            /// Chains the structures that the device knows.
            pub fn chain<'a>(&'a mut self, offer: &Offer) -> vk::PhysicalDeviceFeatures2<'a> {
                let chain = vk::PhysicalDeviceFeatures2::default().features(self.core);
                $(let chain = if offer.has($core, $extension) { chain.push_next(&mut self.$field) } else { chain };)*
                chain
            }
        }

        /// Extensions to enable, so that every structure of [`Structs::chain`] is known to the device.
        pub(crate) fn extensions(offer: &Offer) -> Vec<&'static CStr> {
            let of_structs: &[(Option<Version>, &'static CStr)] = &[$(($core, $extension)),*];
            let wanted = of_structs.iter().chain(COMPANIONS);
            wanted.filter(|(core, name)| !offer.is_core(*core) && offer.has_extension(name)).map(|(_, name)| *name).collect()
        }
    };
}

feature_structs! {
    storage_16bit: PhysicalDevice16BitStorageFeatures = Some(Version(1, 1)), khr::_16bit_storage::NAME;
    storage_8bit: PhysicalDevice8BitStorageFeatures = Some(Version(1, 2)), khr::_8bit_storage::NAME;
    float16_int8: PhysicalDeviceShaderFloat16Int8Features = Some(Version(1, 2)), khr::shader_float16_int8::NAME;
    atomic_int64: PhysicalDeviceShaderAtomicInt64Features = Some(Version(1, 2)), khr::shader_atomic_int64::NAME;
    device_address: PhysicalDeviceBufferDeviceAddressFeatures = Some(Version(1, 2)), khr::buffer_device_address::NAME;
    memory_model: PhysicalDeviceVulkanMemoryModelFeatures = Some(Version(1, 2)), khr::vulkan_memory_model::NAME;
    timeline: PhysicalDeviceTimelineSemaphoreFeatures = Some(Version(1, 2)), khr::timeline_semaphore::NAME;
    subgroup_size: PhysicalDeviceSubgroupSizeControlFeatures = Some(Version(1, 3)), ext::subgroup_size_control::NAME;
    atomic_float: PhysicalDeviceShaderAtomicFloatFeaturesEXT = None, ext::shader_atomic_float::NAME;
    workgroup_layout: PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR
        = None, khr::workgroup_memory_explicit_layout::NAME;
    reconvergence: PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR = None, khr::shader_maximal_reconvergence::NAME;
    uniform_flow: PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR
        = None, khr::shader_subgroup_uniform_control_flow::NAME;
    float_controls2: PhysicalDeviceShaderFloatControls2FeaturesKHR
        = Some(Version(1, 4)), khr::shader_float_controls2::NAME;
    integer_dot: PhysicalDeviceShaderIntegerDotProductFeatures
        = Some(Version(1, 3)), khr::shader_integer_dot_product::NAME;
    matrices: PhysicalDeviceCooperativeMatrixFeaturesKHR = None, khr::cooperative_matrix::NAME;
    bfloat16: PhysicalDeviceShaderBfloat16FeaturesKHR = None, newer::BFLOAT16;
    fma: PhysicalDeviceShaderFmaFeaturesKHR = None, newer::FMA;
    clock: PhysicalDeviceShaderClockFeaturesKHR = None, khr::shader_clock::NAME;
    descriptors: PhysicalDeviceDescriptorIndexingFeatures = Some(Version(1, 2)), ext::descriptor_indexing::NAME;
    fault: PhysicalDeviceFaultFeaturesEXT = None, ext::device_fault::NAME;
    placed_maps: PhysicalDeviceMapMemoryPlacedFeaturesEXT = None, ext::map_memory_placed::NAME;
}

impl Structs {
    /// The structure member of a feature.
    fn field(&mut self, feature: Feature) -> &mut vk::Bool32 {
        match feature {
            Feature::BufferDeviceAddress => &mut self.device_address.buffer_device_address,
            Feature::ShaderInt64 => &mut self.core.shader_int64,
            Feature::ShaderInt16 => &mut self.core.shader_int16,
            Feature::ShaderInt8 => &mut self.float16_int8.shader_int8,
            Feature::ShaderFloat64 => &mut self.core.shader_float64,
            Feature::ShaderFloat16 => &mut self.float16_int8.shader_float16,
            Feature::StorageBuffer8BitAccess => &mut self.storage_8bit.storage_buffer8_bit_access,
            Feature::StorageBuffer16BitAccess => &mut self.storage_16bit.storage_buffer16_bit_access,
            Feature::VulkanMemoryModel => &mut self.memory_model.vulkan_memory_model,
            Feature::VulkanMemoryModelDeviceScope => &mut self.memory_model.vulkan_memory_model_device_scope,
            Feature::ShaderBufferInt64Atomics => &mut self.atomic_int64.shader_buffer_int64_atomics,
            Feature::ShaderSharedInt64Atomics => &mut self.atomic_int64.shader_shared_int64_atomics,
            Feature::ShaderBufferFloat32AtomicAdd => &mut self.atomic_float.shader_buffer_float32_atomic_add,
            Feature::ShaderSharedFloat32AtomicAdd => &mut self.atomic_float.shader_shared_float32_atomic_add,
            Feature::ShaderBufferFloat64AtomicAdd => &mut self.atomic_float.shader_buffer_float64_atomic_add,
            Feature::ShaderSharedFloat64AtomicAdd => &mut self.atomic_float.shader_shared_float64_atomic_add,
            Feature::WorkgroupMemoryExplicitLayout => &mut self.workgroup_layout.workgroup_memory_explicit_layout,
            Feature::WorkgroupMemoryExplicitLayout8BitAccess => {
                &mut self.workgroup_layout.workgroup_memory_explicit_layout8_bit_access
            }
            Feature::WorkgroupMemoryExplicitLayout16BitAccess => {
                &mut self.workgroup_layout.workgroup_memory_explicit_layout16_bit_access
            }
            Feature::ShaderMaximalReconvergence => &mut self.reconvergence.shader_maximal_reconvergence,
            Feature::ShaderSubgroupUniformControlFlow => &mut self.uniform_flow.shader_subgroup_uniform_control_flow,
            Feature::SubgroupSizeControl => &mut self.subgroup_size.subgroup_size_control,
            Feature::ComputeFullSubgroups => &mut self.subgroup_size.compute_full_subgroups,
            Feature::ShaderFloatControls2 => &mut self.float_controls2.shader_float_controls2,
            Feature::ShaderFmaFloat32 => &mut self.fma.shader_fma_float32,
            Feature::ShaderFmaFloat64 => &mut self.fma.shader_fma_float64,
            Feature::ShaderIntegerDotProduct => &mut self.integer_dot.shader_integer_dot_product,
            Feature::CooperativeMatrix => &mut self.matrices.cooperative_matrix,
            Feature::ShaderBfloat16CooperativeMatrix => &mut self.bfloat16.shader_bfloat16_cooperative_matrix,
            Feature::ShaderSubgroupClock => &mut self.clock.shader_subgroup_clock,
            Feature::ShaderDeviceClock => &mut self.clock.shader_device_clock,
            Feature::RuntimeDescriptorArray => &mut self.descriptors.runtime_descriptor_array,
            Feature::ShaderSampledImageArrayNonUniformIndexing => {
                &mut self.descriptors.shader_sampled_image_array_non_uniform_indexing
            }
        }
    }

    /// What the runtime needs for tables of descriptors, besides what modules ask for.
    fn tables(&mut self) -> [&mut vk::Bool32; 3] {
        let descriptors = &mut self.descriptors;
        [
            &mut descriptors.descriptor_binding_partially_bound,
            &mut descriptors.descriptor_binding_sampled_image_update_after_bind,
            &mut descriptors.descriptor_binding_update_unused_while_pending,
        ]
    }

    /// Structures that enable exactly these features.
    pub fn enabling(features: &BTreeSet<Feature>, own: OwnFeatures) -> Self {
        let mut structs = Self::default();
        structs.timeline.timeline_semaphore = own.timeline.into();
        structs.fault.device_fault = own.fault.into();
        structs.placed_maps.memory_map_placed = own.placed_maps.into();
        structs.device_address.buffer_device_address_capture_replay = own.replayed_addresses.into();
        structs.core.sparse_binding = own.sparse_binding.into();
        for &feature in features {
            *structs.field(feature) = vk::TRUE;
        }
        let has_tables = features.contains(&Feature::RuntimeDescriptorArray);
        structs.tables().into_iter().for_each(|feature| *feature = has_tables.into());
        // The elements of matrices are of a type that has a feature of its own.
        structs.bfloat16.shader_bfloat16_type = structs.bfloat16.shader_bfloat16_cooperative_matrix;
        structs
    }
}

/// The features that a device supports and that are not forbidden.
pub(crate) fn supported(
    instance: &Instance,
    device: vk::PhysicalDevice,
    offer: &Offer,
) -> (BTreeSet<Feature>, OwnFeatures) {
    let mut structs = Structs::default();
    let mut chain = structs.chain(offer);
    // SAFETY: `device` was enumerated from `instance`, and the chain has only structures that the device knows.
    unsafe { instance.raw().get_physical_device_features2(device, &mut chain) };
    structs.core = chain.features;
    let allowed = |name| !instance.restrictions().forbids(name);
    if structs.tables().into_iter().any(|feature| *feature != vk::TRUE) {
        *structs.field(Feature::RuntimeDescriptorArray) = vk::FALSE;
    }
    let has = |&feature: &Feature| *structs.field(feature) == vk::TRUE && allowed(feature.name());
    let features = Feature::ALL.iter().copied().filter(has).collect();
    let placed_maps = structs.placed_maps.memory_map_placed == vk::TRUE && offer.has_extension(khr::map_memory2::NAME);
    let own = OwnFeatures {
        timeline: structs.timeline.timeline_semaphore == vk::TRUE && allowed(TIMELINE_SEMAPHORE),
        fault: structs.fault.device_fault == vk::TRUE,
        placed_maps,
        // Only placed maps need them.
        replayed_addresses: placed_maps && structs.device_address.buffer_device_address_capture_replay == vk::TRUE,
        sparse_binding: structs.core.sparse_binding == vk::TRUE,
    };
    (features, own)
}

/// Whether a device with these features has tables of images.
pub(crate) fn has_tables(target: &Target) -> bool {
    target.has(Feature::RuntimeDescriptorArray) && target.has(Feature::ShaderSampledImageArrayNonUniformIndexing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chained(offer: &Offer) -> Vec<vk::StructureType> {
        let mut structs = Structs::default();
        let chain = structs.chain(offer);
        let mut next = chain.p_next.cast_const().cast::<vk::BaseInStructure<'_>>();
        let mut types = Vec::new();
        // SAFETY: all structures in the chain begin with these fields, and `structs` owns them.
        while let Some(structure) = unsafe { next.as_ref() } {
            types.push(structure.s_type);
            next = structure.p_next;
        }
        types
    }

    #[test]
    fn nothing_is_chained_or_enabled_that_the_device_does_not_know() {
        use vk::StructureType as S;
        let bare = Offer::new(Version(1, 1), []);
        assert_eq!(chained(&bare), [S::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES]);
        assert_eq!(extensions(&bare), [c""; 0]);
        assert_eq!(bare.newest_spirv(), Version(1, 3));
        // Vulkan 1.1 with some extensions. An extension that is not in the table is ignored.
        let names = [khr::buffer_device_address::NAME, ext::shader_atomic_float::NAME, khr::swapchain::NAME];
        let some = Offer::new(Version(1, 1), names);
        assert_eq!(extensions(&some), [khr::buffer_device_address::NAME, ext::shader_atomic_float::NAME]);
        let types = chained(&some);
        assert_eq!(types.len(), 3);
        assert!(types.contains(&S::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES));
        assert!(types.contains(&S::PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT));
        // Extensions that are part of the version are not enabled.
        let newer = Offer::new(Version(1, 2), names);
        assert_eq!(extensions(&newer), [ext::shader_atomic_float::NAME]);
        assert_eq!(chained(&newer).len(), 9);
        assert_eq!(newer.newest_spirv(), Version(1, 5));
        assert_eq!(chained(&Offer::new(Version(1, 3), [])).len(), 10);
    }

    #[test]
    fn companions() {
        let subset = Offer::new(Version(1, 3), [c"VK_KHR_portability_subset"]);
        assert_eq!(extensions(&subset), [c"VK_KHR_portability_subset"]);
        let both = [khr::spirv_1_4::NAME, khr::shader_float_controls::NAME];
        let complete = Offer::new(Version(1, 1), both);
        assert_eq!((extensions(&complete).len(), complete.newest_spirv()), (2, Version(1, 4)));
        assert_eq!(Offer::new(Version(1, 1), [khr::spirv_1_4::NAME]).newest_spirv(), Version(1, 3));
    }
}
