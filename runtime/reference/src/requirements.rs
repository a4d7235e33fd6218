//! Refuses modules that require something that the target lacks, with the violated rule.
//!
//! [`crate::compile`] checks single instructions, such as the memory of an atomic or the clock that is read.

use ptx2spv_target::{Feature, Target, Version};
use rspirv::spirv::{AddressingModel, Capability, ExecutionMode, MemoryModel};

use crate::module::{Mode, Module, Refusal, rule};

/// The requirement of a capability, an extension or a mode.
enum Need {
    Nothing,
    Vulkan(u32),
    /// One of these features. If there are several, instructions decide which.
    Features(&'static [Feature]),
    /// A feature that targets don't describe, so no target is known to have it.
    Unknown(&'static str),
}

use Need::{Features, Nothing, Unknown, Vulkan};

/// Checks capabilities, extensions, version, execution modes and float controls.
pub(crate) fn check(module: &Module, target: &Target) -> Result<(), Refusal> {
    let (Version(major, minor), Version(most, least)) = (module.instructions.version(), target.spirv);
    if module.instructions.version() > target.spirv {
        let message = format!("the module is SPIR-V {major}.{minor}, the target takes up to {most}.{least}");
        return Err(Refusal::new("VUID-VkShaderModuleCreateInfo-pCode-08737", message));
    }
    for &(number, word) in &module.capabilities {
        let Some(capability) = Capability::from_u32(number) else {
            let message = format!("unknown capability {number} at word {word}");
            return Err(Refusal::new("VUID-VkShaderModuleCreateInfo-pCode-08739", message));
        };
        let what = format!("capability {capability:?} at word {word}");
        match capability_need(capability) {
            Some(need) => require(target, need, &what)?,
            None => return Err(Refusal::new("VUID-VkShaderModuleCreateInfo-pCode-08740", what)),
        }
    }
    if !module.capabilities.iter().any(|capability| capability.0 == Capability::Shader as u32) {
        return Err(Refusal::new("VUID-VkShaderModuleCreateInfo-pCode-08738", "the module lacks capability Shader"));
    }
    for name in &module.extensions {
        let what = format!("extension {name}");
        match extension_need(name) {
            Some(need) => require(target, need, &what)?,
            None => return Err(Refusal::new("VUID-VkShaderModuleCreateInfo-pCode-08742", what)),
        }
    }
    if let Some(set) = module.set_names().find(|name| *name != "GLSL.std.450" && !name.starts_with("NonSemantic.")) {
        return Err(Refusal::new(rule::UNSUPPORTED, format!("extended instruction set {set}")));
    }
    models(module)?;
    for mode in module.entry_points.iter().flat_map(|entry| &entry.modes) {
        check_mode(target, mode)?;
    }
    Ok(())
}

/// Refuses the module if the target lacks a feature.
pub(crate) fn need(target: &Target, feature: Feature, what: &str) -> Result<(), Refusal> {
    if target.has(feature) { Ok(()) } else { Err(Refusal::new(feature.name(), what)) }
}

fn require(target: &Target, need: Need, what: &str) -> Result<(), Refusal> {
    match need {
        Nothing => Ok(()),
        Vulkan(minor) if target.vulkan >= Version(1, minor) => Ok(()),
        Vulkan(minor) => Err(Refusal::new(&format!("Vulkan 1.{minor}"), what)),
        Features(any) if any.iter().any(|&feature| target.has(feature)) => Ok(()),
        Features(any) => {
            let names: Vec<&str> = any.iter().map(|feature| feature.name()).collect();
            Err(Refusal::new(&names.join(" or "), what))
        }
        Unknown(name) => Err(Refusal::new(name, what)),
    }
}

/// The requirement of a capability; `None` if compute shaders can't use it or the reference device doesn't support it.
fn capability_need(capability: Capability) -> Option<Need> {
    use Capability as C;
    use Feature as F;
    Some(match capability {
        C::Shader => Nothing,
        C::Int64 => Features(&[F::ShaderInt64]),
        C::Int16 => Features(&[F::ShaderInt16]),
        C::Int8 => Features(&[F::ShaderInt8]),
        C::Float64 => Features(&[F::ShaderFloat64]),
        C::Float16 => Features(&[F::ShaderFloat16]),
        C::StorageBuffer8BitAccess => Features(&[F::StorageBuffer8BitAccess]),
        C::StorageBuffer16BitAccess => Features(&[F::StorageBuffer16BitAccess]),
        C::UniformAndStorageBuffer8BitAccess => Unknown("uniformAndStorageBuffer8BitAccess"),
        C::StoragePushConstant8 => Unknown("storagePushConstant8"),
        C::UniformAndStorageBuffer16BitAccess => Unknown("uniformAndStorageBuffer16BitAccess"),
        C::StoragePushConstant16 => Unknown("storagePushConstant16"),
        C::PhysicalStorageBufferAddresses => Features(&[F::BufferDeviceAddress]),
        C::VulkanMemoryModel => Features(&[F::VulkanMemoryModel]),
        C::VulkanMemoryModelDeviceScope => Features(&[F::VulkanMemoryModelDeviceScope]),
        C::Int64Atomics => Features(&[F::ShaderBufferInt64Atomics, F::ShaderSharedInt64Atomics]),
        C::AtomicFloat32AddEXT => Features(&[F::ShaderBufferFloat32AtomicAdd, F::ShaderSharedFloat32AtomicAdd]),
        C::AtomicFloat64AddEXT => Features(&[F::ShaderBufferFloat64AtomicAdd, F::ShaderSharedFloat64AtomicAdd]),
        C::WorkgroupMemoryExplicitLayoutKHR => Features(&[F::WorkgroupMemoryExplicitLayout]),
        C::WorkgroupMemoryExplicitLayout8BitAccessKHR => Features(&[F::WorkgroupMemoryExplicitLayout8BitAccess]),
        C::WorkgroupMemoryExplicitLayout16BitAccessKHR => Features(&[F::WorkgroupMemoryExplicitLayout16BitAccess]),
        C::CooperativeMatrixKHR => Features(&[F::CooperativeMatrix]),
        C::BFloat16TypeKHR | C::BFloat16CooperativeMatrixKHR => Features(&[F::ShaderBfloat16CooperativeMatrix]),
        C::FMAKHR => Features(&[F::ShaderFmaFloat32, F::ShaderFmaFloat64]),
        C::FloatControls2 => Features(&[F::ShaderFloatControls2]),
        C::ShaderClockKHR => Features(&[F::ShaderSubgroupClock, F::ShaderDeviceClock]),
        C::DotProduct | C::DotProductInput4x8BitPacked => Features(&[F::ShaderIntegerDotProduct]),
        // Targets don't describe subgroup operations. Those with Vulkan 1.1 are assumed to have all of them.
        C::GroupNonUniform | C::GroupNonUniformArithmetic | C::GroupNonUniformBallot | C::GroupNonUniformShuffle => {
            Vulkan(1)
        }
        // Execution modes decide about each width.
        C::DenormPreserve | C::DenormFlushToZero | C::SignedZeroInfNanPreserve => Vulkan(2),
        C::RoundingModeRTE | C::RoundingModeRTZ => Vulkan(2),
        _ => return None,
    })
}

/// The requirement of an extension; `None` if the reference device doesn't support it.
fn extension_need(name: &str) -> Option<Need> {
    use Feature as F;
    Some(match name {
        "SPV_KHR_8bit_storage"
        | "SPV_KHR_16bit_storage"
        | "SPV_KHR_float_controls"
        | "SPV_KHR_non_semantic_info"
        | "SPV_EXT_shader_atomic_float_add" => Nothing,
        "SPV_KHR_physical_storage_buffer" => Features(&[F::BufferDeviceAddress]),
        "SPV_KHR_vulkan_memory_model" => Features(&[F::VulkanMemoryModel]),
        "SPV_KHR_workgroup_memory_explicit_layout" => Features(&[F::WorkgroupMemoryExplicitLayout]),
        "SPV_KHR_cooperative_matrix" => Features(&[F::CooperativeMatrix]),
        "SPV_KHR_bfloat16" => Features(&[F::ShaderBfloat16CooperativeMatrix]),
        "SPV_KHR_fma" => Features(&[F::ShaderFmaFloat32, F::ShaderFmaFloat64]),
        "SPV_KHR_shader_clock" => Features(&[F::ShaderSubgroupClock, F::ShaderDeviceClock]),
        "SPV_KHR_float_controls2" => Features(&[F::ShaderFloatControls2]),
        "SPV_KHR_maximal_reconvergence" => Features(&[F::ShaderMaximalReconvergence]),
        "SPV_KHR_subgroup_uniform_control_flow" => Features(&[F::ShaderSubgroupUniformControlFlow]),
        "SPV_KHR_integer_dot_product" => Features(&[F::ShaderIntegerDotProduct]),
        _ => return None,
    })
}

/// Checks for Vulkan's addressing and memory models.
fn models(module: &Module) -> Result<(), Refusal> {
    let (addressing, memory) = module.memory_model;
    let (logical, physical) = (AddressingModel::Logical as u32, AddressingModel::PhysicalStorageBuffer64 as u32);
    if ![logical, physical].contains(&addressing) {
        let message = format!("addressing model {addressing} is neither Logical nor PhysicalStorageBuffer64");
        return Err(Refusal::new("VUID-StandaloneSpirv-None-04635", message));
    }
    if ![MemoryModel::GLSL450 as u32, MemoryModel::Vulkan as u32].contains(&memory) {
        let message = format!("memory model {memory} is neither GLSL450 nor Vulkan");
        return Err(Refusal::new("SPIR-V 3.5 Memory Model", message));
    }
    let declares = |capability: Capability| module.capabilities.iter().any(|found| found.0 == capability as u32);
    if memory == MemoryModel::Vulkan as u32 && !declares(Capability::VulkanMemoryModel) {
        return Err(Refusal::new("SPIR-V 3.5 Memory Model", "Vulkan without capability VulkanMemoryModel"));
    }
    if addressing == physical && !declares(Capability::PhysicalStorageBufferAddresses) {
        let message = "PhysicalStorageBuffer64 without capability PhysicalStorageBufferAddresses";
        return Err(Refusal::new("SPIR-V 3.4 Addressing Model", message));
    }
    Ok(())
}

/// Refuses an execution mode that the target lacks.
fn check_mode(target: &Target, mode: &Mode) -> Result<(), Refusal> {
    use ExecutionMode::*;
    let Some(kind) = ExecutionMode::from_u32(mode.mode) else { return Ok(()) };
    let what = format!("execution mode {kind:?}");
    let width = mode.operands.first().copied().unwrap_or(0);
    let control = match kind {
        MaximallyReconvergesKHR => return need(target, Feature::ShaderMaximalReconvergence, &what),
        SubgroupUniformControlFlowKHR => return need(target, Feature::ShaderSubgroupUniformControlFlow, &what),
        FPFastMathDefault => return need(target, Feature::ShaderFloatControls2, &what),
        DenormPreserve if target.quirks.denorm_preserve_unadvertised && [32, 64].contains(&width) => return Ok(()),
        DenormPreserve | DenormFlushToZero | SignedZeroInfNanPreserve | RoundingModeRTE | RoundingModeRTZ => {
            format!("shader{kind:?}Float{width}")
        }
        _ => return Ok(()),
    };
    if target.float_controls.has(&control) {
        return Ok(());
    }
    Err(Refusal::new(&control, format!("an execution mode at word {} requires it", mode.word)))
}
