//! Features of Vulkan that matter to modules.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// A Vulkan device feature by its name in the Vulkan specification (chapter "Features").
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Feature {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Feature {
            /// Every feature the translator knows.
            pub const ALL: &'static [Feature] = &[$(Feature::$variant),*];

            /// Vulkan's name.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$variant => $name,)* }
            }
        }
    };
}

features! {
    /// 64-bit device addresses: every kernel needs them.
    BufferDeviceAddress = "bufferDeviceAddress",
    /// 64-bit integers in shaders.
    ShaderInt64 = "shaderInt64",
    /// 16-bit integers in shaders.
    ShaderInt16 = "shaderInt16",
    /// 8-bit integers in shaders.
    ShaderInt8 = "shaderInt8",
    /// Double precision.
    ShaderFloat64 = "shaderFloat64",
    /// Half precision.
    ShaderFloat16 = "shaderFloat16",
    /// 8-bit loads and stores through buffers.
    StorageBuffer8BitAccess = "storageBuffer8BitAccess",
    /// 16-bit loads and stores through buffers.
    StorageBuffer16BitAccess = "storageBuffer16BitAccess",
    /// The Vulkan memory model.
    VulkanMemoryModel = "vulkanMemoryModel",
    /// Its device scope.
    VulkanMemoryModelDeviceScope = "vulkanMemoryModelDeviceScope",
    /// 64-bit integer atomics on buffers.
    ShaderBufferInt64Atomics = "shaderBufferInt64Atomics",
    /// 64-bit integer atomics on workgroup memory.
    ShaderSharedInt64Atomics = "shaderSharedInt64Atomics",
    /// f32 atomic add on buffers.
    ShaderBufferFloat32AtomicAdd = "shaderBufferFloat32AtomicAdd",
    /// f32 atomic add on workgroup memory.
    ShaderSharedFloat32AtomicAdd = "shaderSharedFloat32AtomicAdd",
    /// f64 atomic add on buffers.
    ShaderBufferFloat64AtomicAdd = "shaderBufferFloat64AtomicAdd",
    /// f64 atomic add on workgroup memory.
    ShaderSharedFloat64AtomicAdd = "shaderSharedFloat64AtomicAdd",
    /// Workgroup memory declared as aliased blocks with explicit layout.
    WorkgroupMemoryExplicitLayout = "workgroupMemoryExplicitLayout",
    /// … with 8-bit members.
    WorkgroupMemoryExplicitLayout8BitAccess = "workgroupMemoryExplicitLayout8BitAccess",
    /// … with 16-bit members.
    WorkgroupMemoryExplicitLayout16BitAccess = "workgroupMemoryExplicitLayout16BitAccess",
    /// Divergent invocations reconverge where structured control flow says so.
    ShaderMaximalReconvergence = "shaderMaximalReconvergence",
    /// Subgroups that branch uniformly stay converged.
    ShaderSubgroupUniformControlFlow = "shaderSubgroupUniformControlFlow",
    /// A subgroup size can be asked for.
    SubgroupSizeControl = "subgroupSizeControl",
    /// Subgroups can be asked to be full.
    ComputeFullSubgroups = "computeFullSubgroups",
    /// Fast-math modes of single instructions, with none as the default.
    ShaderFloatControls2 = "shaderFloatControls2",
    /// `OpFmaKHR` on f32, which rounds once.
    ShaderFmaFloat32 = "shaderFmaFloat32",
    /// The same on f64.
    ShaderFmaFloat64 = "shaderFmaFloat64",
    /// Sums of products of bytes.
    ShaderIntegerDotProduct = "shaderIntegerDotProduct",
    /// Matrices whose elements lie in the invocations of a subgroup, and their products.
    CooperativeMatrix = "cooperativeMatrix",
    /// Such matrices of bf16.
    ShaderBfloat16CooperativeMatrix = "shaderBFloat16CooperativeMatrix",
    /// Clock reads at subgroup scope.
    ShaderSubgroupClock = "shaderSubgroupClock",
    /// Clock reads at device scope.
    ShaderDeviceClock = "shaderDeviceClock",
    /// Arrays of descriptors whose length the module doesn't say, some of them missing, changed while launches run.
    RuntimeDescriptorArray = "runtimeDescriptorArray",
    /// Indices of sampled images that differ between invocations.
    ShaderSampledImageArrayNonUniformIndexing = "shaderSampledImageArrayNonUniformIndexing",
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
