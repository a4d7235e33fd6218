//! A module's declarations for the features that it uses.

use rspirv::spirv::Capability;

use ptx2spv_target::{Feature, Version};

/// The declarations that the use of a feature asks for.
pub(super) struct Requirements {
    pub capabilities: &'static [Capability],
    /// Its name, and the version of SPIR-V that has it built in, if one has.
    pub extension: Option<(&'static str, Option<Version>)>,
}

/// The declarations that the use of a feature asks for.
pub(super) fn requirements(feature: Feature) -> Requirements {
    let core = |major, minor| Some(Version(major, minor));
    let (capabilities, extension): (&[Capability], _) = match feature {
        Feature::BufferDeviceAddress => {
            (&[Capability::PhysicalStorageBufferAddresses], Some(("SPV_KHR_physical_storage_buffer", core(1, 5))))
        }
        Feature::VulkanMemoryModel => {
            (&[Capability::VulkanMemoryModel], Some(("SPV_KHR_vulkan_memory_model", core(1, 5))))
        }
        Feature::VulkanMemoryModelDeviceScope => (&[Capability::VulkanMemoryModelDeviceScope], None),
        Feature::ShaderInt64 => (&[Capability::Int64], None),
        Feature::ShaderInt16 => (&[Capability::Int16], None),
        Feature::ShaderInt8 => (&[Capability::Int8], None),
        Feature::ShaderFloat64 => (&[Capability::Float64], None),
        Feature::StorageBuffer8BitAccess => {
            (&[Capability::StorageBuffer8BitAccess], Some(("SPV_KHR_8bit_storage", core(1, 5))))
        }
        Feature::StorageBuffer16BitAccess => {
            (&[Capability::StorageBuffer16BitAccess], Some(("SPV_KHR_16bit_storage", core(1, 3))))
        }
        Feature::ShaderBufferInt64Atomics | Feature::ShaderSharedInt64Atomics => (&[Capability::Int64Atomics], None),
        Feature::ShaderBufferFloat32AtomicAdd | Feature::ShaderSharedFloat32AtomicAdd => {
            (&[Capability::AtomicFloat32AddEXT], Some(("SPV_EXT_shader_atomic_float_add", None)))
        }
        Feature::ShaderBufferFloat64AtomicAdd | Feature::ShaderSharedFloat64AtomicAdd => {
            (&[Capability::AtomicFloat64AddEXT], Some(("SPV_EXT_shader_atomic_float_add", None)))
        }
        Feature::WorkgroupMemoryExplicitLayout => {
            (&[Capability::WorkgroupMemoryExplicitLayoutKHR], Some(("SPV_KHR_workgroup_memory_explicit_layout", None)))
        }
        Feature::WorkgroupMemoryExplicitLayout8BitAccess => {
            (&[Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR], None)
        }
        Feature::WorkgroupMemoryExplicitLayout16BitAccess => {
            (&[Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR], None)
        }
        Feature::ShaderFloatControls2 => (&[Capability::FloatControls2], Some(("SPV_KHR_float_controls2", None))),
        Feature::ShaderFloat16 => (&[Capability::Float16], None),
        Feature::ShaderFmaFloat32 | Feature::ShaderFmaFloat64 => (&[Capability::FMAKHR], Some(("SPV_KHR_fma", None))),
        Feature::ShaderIntegerDotProduct => {
            const DOT: &[Capability] = &[Capability::DotProductInput4x8BitPacked, Capability::DotProduct];
            (DOT, Some(("SPV_KHR_integer_dot_product", core(1, 6))))
        }
        Feature::CooperativeMatrix => (&[Capability::CooperativeMatrixKHR], Some(("SPV_KHR_cooperative_matrix", None))),
        Feature::ShaderBfloat16CooperativeMatrix => {
            const BFLOAT16: &[Capability] = &[Capability::BFloat16TypeKHR, Capability::BFloat16CooperativeMatrixKHR];
            (BFLOAT16, Some(("SPV_KHR_bfloat16", None)))
        }
        Feature::ShaderSubgroupClock | Feature::ShaderDeviceClock => {
            (&[Capability::ShaderClockKHR], Some(("SPV_KHR_shader_clock", None)))
        }
        Feature::RuntimeDescriptorArray => {
            (&[Capability::RuntimeDescriptorArray], Some(("SPV_EXT_descriptor_indexing", core(1, 5))))
        }
        Feature::ShaderSampledImageArrayNonUniformIndexing => {
            const NON_UNIFORM: &[Capability] =
                &[Capability::ShaderNonUniform, Capability::SampledImageArrayNonUniformIndexing];
            (NON_UNIFORM, Some(("SPV_EXT_descriptor_indexing", core(1, 5))))
        }
        // What a launch or an execution mode asks for has no capability.
        Feature::SubgroupSizeControl | Feature::ComputeFullSubgroups => (&[], None),
        Feature::ShaderMaximalReconvergence => (&[], Some(("SPV_KHR_maximal_reconvergence", None))),
        Feature::ShaderSubgroupUniformControlFlow => (&[], Some(("SPV_KHR_subgroup_uniform_control_flow", None))),
    };
    Requirements { capabilities, extension }
}
