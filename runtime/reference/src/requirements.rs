//! Refuses modules that require something that the target lacks, with the violated rule.
//!
//! [`crate::compile`] checks single instructions, such as the memory of an atomic or the clock that is read.

use ptx2spv_target::{Feature, Target, Version};
use rspirv::spirv::{AddressingModel, Capability, ExecutionMode, MemoryModel};

use crate::finding::Refusal;
use crate::module::{Mode, Module, rule};

/// The requirement of a capability, an extension or a mode.
enum Need {
    /// Nothing: all devices have it.
    Nothing,
    /// A version of Vulkan.
    Vulkan(u32),
    /// One of these features. If there are several, instructions decide which.
    Features(&'static [Feature]),
    /// A feature that targets don't describe, so no target is known to have it.
    Unknown(&'static str),
}

use Need::{Features, Nothing, Unknown, Vulkan};

/// Checks capabilities, extensions, version, execution modes and float controls.
pub(crate) fn check(module: &Module, target: &Target) -> Result<(), Refusal> {
    let (Version(major, minor), Version(most, least)) = (module.version(), target.spirv);
    if module.version() > target.spirv {
        let message = format!("the module is SPIR-V {major}.{minor}, the target takes up to {most}.{least}");
        return Err(refuse("VUID-VkShaderModuleCreateInfo-pCode-08737", message));
    }
    for &(number, word) in &module.capabilities {
        let Some(capability) = Capability::from_u32(number) else {
            let message = format!("unknown capability {number} at word {word}");
            return Err(refuse("VUID-VkShaderModuleCreateInfo-pCode-08739", message));
        };
        let what = format!("capability {capability:?} at word {word}");
        match capability_need(capability) {
            Some(need) => require(target, need, &what)?,
            None => return Err(refuse("VUID-VkShaderModuleCreateInfo-pCode-08740", what)),
        }
    }
    if !module.capabilities.iter().any(|capability| capability.0 == Capability::Shader as u32) {
        return Err(refuse("VUID-VkShaderModuleCreateInfo-pCode-08738", "the module lacks capability Shader"));
    }
    for name in &module.extensions {
        let what = format!("extension {name}");
        match extension_need(name) {
            Some(need) => require(target, need, &what)?,
            None => return Err(refuse("VUID-VkShaderModuleCreateInfo-pCode-08742", what)),
        }
    }
    if let Some(set) = module.set_names().find(|name| *name != "GLSL.std.450" && !name.starts_with("NonSemantic.")) {
        return Err(refuse(rule::UNSUPPORTED, format!("extended instruction set {set}")));
    }
    models(module)?;
    for mode in module.entry_points.iter().flat_map(|entry| &entry.modes) {
        check_mode(target, mode)?;
    }
    Ok(())
}

/// Refuses the module if the target lacks a feature.
pub(crate) fn need(target: &Target, feature: Feature, what: &str) -> Result<(), Refusal> {
    if target.has(feature) { Ok(()) } else { Err(refuse(feature.name(), what)) }
}

fn refuse(rule: &str, message: impl Into<String>) -> Refusal {
    Refusal { rule: rule.into(), message: message.into() }
}

fn require(target: &Target, need: Need, what: &str) -> Result<(), Refusal> {
    match need {
        Nothing => Ok(()),
        Vulkan(minor) if target.vulkan >= Version(1, minor) => Ok(()),
        Vulkan(minor) => Err(refuse(&format!("Vulkan 1.{minor}"), what)),
        Features(any) if any.iter().any(|&feature| target.has(feature)) => Ok(()),
        Features(any) => {
            let names: Vec<&str> = any.iter().map(|feature| feature.name()).collect();
            Err(refuse(&names.join(" or "), what))
        }
        Unknown(name) => Err(refuse(name, what)),
    }
}

/// The requirement of a capability; `None` if compute shaders can't use it or the reference device doesn't support it.
fn capability_need(capability: Capability) -> Option<Need> {
    use Feature::*;
    Some(match capability {
        Capability::Matrix | Capability::Shader => Nothing,
        Capability::Int64 => Features(&[ShaderInt64]),
        Capability::Int16 => Features(&[ShaderInt16]),
        Capability::Int8 => Features(&[ShaderInt8]),
        Capability::Float64 => Features(&[ShaderFloat64]),
        Capability::Float16 => Features(&[ShaderFloat16]),
        Capability::StorageBuffer8BitAccess => Features(&[StorageBuffer8BitAccess]),
        Capability::StorageBuffer16BitAccess => Features(&[StorageBuffer16BitAccess]),
        Capability::UniformAndStorageBuffer8BitAccess => Unknown("uniformAndStorageBuffer8BitAccess"),
        Capability::StoragePushConstant8 => Unknown("storagePushConstant8"),
        Capability::UniformAndStorageBuffer16BitAccess => Unknown("uniformAndStorageBuffer16BitAccess"),
        Capability::StoragePushConstant16 => Unknown("storagePushConstant16"),
        Capability::PhysicalStorageBufferAddresses => Features(&[BufferDeviceAddress]),
        Capability::VulkanMemoryModel => Features(&[VulkanMemoryModel]),
        Capability::VulkanMemoryModelDeviceScope => Features(&[VulkanMemoryModelDeviceScope]),
        Capability::Int64Atomics => Features(&[ShaderBufferInt64Atomics, ShaderSharedInt64Atomics]),
        Capability::AtomicFloat32AddEXT => Features(&[ShaderBufferFloat32AtomicAdd, ShaderSharedFloat32AtomicAdd]),
        Capability::AtomicFloat64AddEXT => Features(&[ShaderBufferFloat64AtomicAdd, ShaderSharedFloat64AtomicAdd]),
        Capability::WorkgroupMemoryExplicitLayoutKHR => Features(&[WorkgroupMemoryExplicitLayout]),
        Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR => Features(&[WorkgroupMemoryExplicitLayout8BitAccess]),
        Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR => {
            Features(&[WorkgroupMemoryExplicitLayout16BitAccess])
        }
        Capability::CooperativeMatrixKHR => Features(&[CooperativeMatrix]),
        Capability::FloatControls2 => Features(&[ShaderFloatControls2]),
        Capability::ShaderClockKHR => Features(&[ShaderSubgroupClock, ShaderDeviceClock]),
        // Targets don't describe subgroup operations. Those with Vulkan 1.1 are assumed to have all of them.
        Capability::GroupNonUniform | Capability::GroupNonUniformBallot | Capability::GroupNonUniformShuffle => {
            Vulkan(1)
        }
        // Execution modes decide about each width.
        Capability::DenormPreserve
        | Capability::DenormFlushToZero
        | Capability::SignedZeroInfNanPreserve
        | Capability::RoundingModeRTE
        | Capability::RoundingModeRTZ => Vulkan(2),
        Capability::DotProduct
        | Capability::DotProductInputAll
        | Capability::DotProductInput4x8Bit
        | Capability::DotProductInput4x8BitPacked => Features(&[ShaderIntegerDotProduct]),
        _ => return None,
    })
}

/// The requirement of an extension; `None` if the reference device doesn't support it.
fn extension_need(name: &str) -> Option<Need> {
    use Feature::*;
    Some(match name {
        "SPV_KHR_storage_buffer_storage_class"
        | "SPV_KHR_8bit_storage"
        | "SPV_KHR_16bit_storage"
        | "SPV_KHR_float_controls"
        | "SPV_KHR_no_integer_wrap_decoration"
        | "SPV_KHR_non_semantic_info"
        | "SPV_EXT_shader_atomic_float_add"
        | "SPV_GOOGLE_decorate_string"
        | "SPV_GOOGLE_hlsl_functionality1"
        | "SPV_GOOGLE_user_type" => Nothing,
        "SPV_KHR_physical_storage_buffer" | "SPV_EXT_physical_storage_buffer" => Features(&[BufferDeviceAddress]),
        "SPV_KHR_vulkan_memory_model" => Features(&[VulkanMemoryModel]),
        "SPV_KHR_workgroup_memory_explicit_layout" => Features(&[WorkgroupMemoryExplicitLayout]),
        "SPV_KHR_cooperative_matrix" => Features(&[CooperativeMatrix]),
        "SPV_KHR_shader_clock" => Features(&[ShaderSubgroupClock, ShaderDeviceClock]),
        "SPV_KHR_float_controls2" => Features(&[ShaderFloatControls2]),
        "SPV_KHR_maximal_reconvergence" => Features(&[ShaderMaximalReconvergence]),
        "SPV_KHR_subgroup_uniform_control_flow" => Features(&[ShaderSubgroupUniformControlFlow]),
        "SPV_KHR_integer_dot_product" => Features(&[ShaderIntegerDotProduct]),
        _ => return None,
    })
}

/// Checks for Vulkan's addressing and memory models.
fn models(module: &Module) -> Result<(), Refusal> {
    let (addressing, memory) = module.memory_model;
    let (logical, physical) = (AddressingModel::Logical as u32, AddressingModel::PhysicalStorageBuffer64 as u32);
    if ![logical, physical].contains(&addressing) {
        let message = format!("addressing model {addressing} is neither Logical nor PhysicalStorageBuffer64");
        return Err(refuse("VUID-StandaloneSpirv-None-04635", message));
    }
    if ![MemoryModel::GLSL450 as u32, MemoryModel::Vulkan as u32].contains(&memory) {
        let message = format!("memory model {memory} is neither GLSL450 nor Vulkan");
        return Err(refuse("SPIR-V 3.5 Memory Model", message));
    }
    let declares = |capability: Capability| module.capabilities.iter().any(|found| found.0 == capability as u32);
    if memory == MemoryModel::Vulkan as u32 && !declares(Capability::VulkanMemoryModel) {
        return Err(refuse("SPIR-V 3.5 Memory Model", "Vulkan without capability VulkanMemoryModel"));
    }
    if addressing == physical && !declares(Capability::PhysicalStorageBufferAddresses) {
        let message = "PhysicalStorageBuffer64 without capability PhysicalStorageBufferAddresses";
        return Err(refuse("SPIR-V 3.4 Addressing Model", message));
    }
    Ok(())
}

/// Refuses an execution mode that the target lacks.
fn check_mode(target: &Target, mode: &Mode) -> Result<(), Refusal> {
    let controls = &target.float_controls;
    let width = mode.operands.first().copied().unwrap_or(0);
    let kind = ExecutionMode::from_u32(mode.mode);
    let (has, name) = match (kind, width) {
        (Some(ExecutionMode::LocalSizeId), _) => return require(target, Vulkan(3), "execution mode LocalSizeId"),
        (Some(ExecutionMode::MaximallyReconvergesKHR), _) => {
            return need(target, Feature::ShaderMaximalReconvergence, "execution mode MaximallyReconvergesKHR");
        }
        (Some(ExecutionMode::SubgroupUniformControlFlowKHR), _) => {
            let what = "execution mode SubgroupUniformControlFlowKHR";
            return need(target, Feature::ShaderSubgroupUniformControlFlow, what);
        }
        (Some(ExecutionMode::FPFastMathDefault), _) => {
            return need(target, Feature::ShaderFloatControls2, "execution mode FPFastMathDefault");
        }
        (Some(ExecutionMode::DenormPreserve), 32 | 64) if target.quirks.denorm_preserve_unadvertised => return Ok(()),
        (Some(ExecutionMode::DenormPreserve), 16) => (controls.denorm_preserve_float16, "shaderDenormPreserve"),
        (Some(ExecutionMode::DenormPreserve), 32) => (controls.denorm_preserve_float32, "shaderDenormPreserve"),
        (Some(ExecutionMode::DenormPreserve), 64) => (controls.denorm_preserve_float64, "shaderDenormPreserve"),
        (Some(ExecutionMode::SignedZeroInfNanPreserve), 16) => {
            (controls.signed_zero_inf_nan_preserve_float16, "shaderSignedZeroInfNanPreserve")
        }
        (Some(ExecutionMode::SignedZeroInfNanPreserve), 32) => {
            (controls.signed_zero_inf_nan_preserve_float32, "shaderSignedZeroInfNanPreserve")
        }
        (Some(ExecutionMode::SignedZeroInfNanPreserve), 64) => {
            (controls.signed_zero_inf_nan_preserve_float64, "shaderSignedZeroInfNanPreserve")
        }
        (Some(ExecutionMode::RoundingModeRTE), 16) => (controls.rounding_mode_rte_float16, "shaderRoundingModeRTE"),
        (Some(ExecutionMode::RoundingModeRTE), 32) => (controls.rounding_mode_rte_float32, "shaderRoundingModeRTE"),
        (Some(ExecutionMode::RoundingModeRTE), 64) => (controls.rounding_mode_rte_float64, "shaderRoundingModeRTE"),
        // Targets don't describe more than the above, so none is known to have these.
        (Some(ExecutionMode::DenormPreserve), _) => (false, "shaderDenormPreserve"),
        (Some(ExecutionMode::DenormFlushToZero), _) => (false, "shaderDenormFlushToZero"),
        (Some(ExecutionMode::SignedZeroInfNanPreserve), _) => (false, "shaderSignedZeroInfNanPreserve"),
        (Some(ExecutionMode::RoundingModeRTE), _) => (false, "shaderRoundingModeRTE"),
        (Some(ExecutionMode::RoundingModeRTZ), _) => (false, "shaderRoundingModeRTZ"),
        _ => return Ok(()),
    };
    if has {
        return Ok(());
    }
    Err(refuse(&format!("{name}Float{width}"), format!("an execution mode at word {} requires it", mode.word)))
}
