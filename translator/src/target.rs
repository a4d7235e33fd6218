//! The description of a Vulkan device that the translator compiles for.
//!
//! A [`Target`] comes from a live device (the runtime fills it), from a named preset, or from a JSON file
//! that `ptx2spv devices --json` wrote on another machine. Nothing in the translator asks a driver.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

mod presets;

pub use presets::Preset;

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
    /// Clock reads at subgroup scope.
    ShaderSubgroupClock = "shaderSubgroupClock",
    /// Clock reads at device scope.
    ShaderDeviceClock = "shaderDeviceClock",
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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

/// What the device was *seen* to do, its arithmetic above all. Vulkan does not say, so what isn't known is assumed absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// `GLSL.std.450 Fma` on f32 rounds once.
    pub fma_f32_fused: bool,
    /// `GLSL.std.450 Fma` on f32 keeps denormal operands and results.
    pub fma_f32_denormals: bool,
    /// `GLSL.std.450 Fma` on f32 does what `fma.rn.ftz` does: subnormal operands count as zeros, the result is rounded once,
    /// to 24 bits of any exponent, and is zero of its sign if that is below the least normal number.
    pub fma_f32_flushes: bool,
    /// `OpDot` of (a, c) and (b, 1) on f32, with `AllowContract` where nothing else is allowed by default, is `a * b + c` rounded
    /// once. It keeps denormal operands and results, whatever else is done with the product.
    pub dot_f32_fused: bool,
    /// `GLSL.std.450 Fma` on f64 rounds once.
    pub fma_f64_fused: bool,
    /// `OpFDiv` on f32 is correctly rounded, denormals included.
    pub div_f32_rounded: bool,
    /// `OpFDiv` on f64 is correctly rounded, denormals included.
    pub div_f64_rounded: bool,
    /// `GLSL.std.450 Sqrt` on f32 is correctly rounded.
    pub sqrt_f32_rounded: bool,
    /// `GLSL.std.450 Sqrt` on f64 is correctly rounded.
    pub sqrt_f64_rounded: bool,
    /// Where `OpFAdd`, `OpFSub`, `OpFMul`, `OpFDiv`, `OpFConvert` and the functions of `GLSL.std.450` give f32's NaN, it is the one
    /// that NVIDIA's instructions give: 0x7fffffff; but of f64's NaN the sign and the upper bits, made quiet.
    pub nan_f32_nvidia: bool,
    /// Where those give f64's NaN, it is the one that NVIDIA's instructions give: an operand's, made quiet, and 0xfff8000000000000
    /// if no operand is NaN. Of several operands, `OpFAdd`, `OpFSub` and `OpFMul` take the second, `OpFDiv` the first, and
    /// `Fma` the second, else the third, else the first.
    pub nan_f64_nvidia: bool,
    /// f32 add, multiply, comparisons and conversions keep denormal operands and results.
    pub denormals_f32_kept: bool,
    /// f64 add, subtract and multiply, and conversions to f64 and from it to f32, are rounded to nearest even and keep denormals of
    /// f64, in operands and results; so do comparisons. Signs of zeros, infinities and NaNs are right.
    pub denormals_f64_kept: bool,
    /// f32 from integers of 32 and 64 bits is rounded to nearest even.
    pub convert_f32_exact: bool,
    /// f32 add, subtract, multiply and comparisons are right where neither operands nor the exact result are denormal: rounded to nearest even, with the signs of zeros, infinities and NaNs. Denormal operands are taken
    /// and denormal results given as they are or as zeros of their sign, one way or the other each time.
    pub normal_f32_exact: bool,
    /// f32 add, subtract and multiply do what PTX's do with `.ftz`.
    pub add_f32_flushes: bool,
    /// `OpFDiv` on f32 is correctly rounded where neither operands nor the exact result are denormal.
    pub div_f32_normal: bool,
    /// `GLSL.std.450 Sqrt` on f32 is correctly rounded but for denormals.
    pub sqrt_f32_normal: bool,
    /// f32 atomic add on buffers flushes denormals, as PTX's does.
    pub global_atomic_add_f32_flushes: bool,
    /// f32 atomic add on workgroup memory keeps denormals, as PTX's does.
    pub shared_atomic_add_f32_keeps: bool,
    /// `GLSL.std.450 Exp2` on f32 is within the error that PTX allows (2^-22.5 for a mantissa).
    pub exp2_f32_close: bool,
    /// `GLSL.std.450 Exp2` on f32 gives subnormal results.
    pub exp2_f32_denormals: bool,
    /// `GLSL.std.450 Log2` on f32 is within the error that PTX allows (2^-22.6 for a mantissa), zeros and infinities included.
    pub log2_f32_close: bool,
    /// `GLSL.std.450 Sin` and `Cos` on f32 are those of NVIDIA's hardware but for 2^-20.9, for angles of any size.
    pub sin_cos_f32_close: bool,
    /// `GLSL.std.450 Sqrt` and `InverseSqrt` on f32 are within the errors that PTX allows (2^-23 and 2^-22.9, relative).
    pub roots_f32_close: bool,
    /// Those functions are right about zeros, infinities, negative numbers and NaNs, where Vulkan leaves them undefined too:
    /// `InverseSqrt` of a zero is infinity of its sign, `Sqrt` of a zero that zero, of negative numbers both are NaN.
    pub roots_f32_ends: bool,
    /// `InverseSqrt` on f32 is so close that two `Fma` make the correctly rounded root of it (`legalize/sqrt.rs`), for
    /// operands from 2^-101.
    pub sqrt_f32_refined: bool,
    /// They are as close for subnormal operands, and NaN for negative ones.
    pub roots_f32_denormals: bool,
    /// They take subnormal operands for zeros of their sign, as `.ftz` does.
    pub roots_f32_flush: bool,
    /// Sums, differences, products, quotients and `Fma` on f32 that the facts vouch for give no other result where the driver's
    /// compiler knows that an operand is zero or NaN, or that two are the same value. Which NaN it is may differ where no fact says.
    pub known_specials_f32_right: bool,
    /// The same where it knows an operand to be another constant.
    pub known_constants_f32_right: bool,
    /// [`Facts::known_specials_f32_right`] on f64.
    pub known_specials_f64_right: bool,
    /// [`Facts::known_constants_f32_right`] on f64.
    pub known_constants_f64_right: bool,
    /// `Trunc`, `RoundEven`, `Floor` and `Ceil` keep NaNs and the sign of zeros, and treat no operand as zero that isn't.
    pub rounding_exact: bool,
    /// `NMin` and `NMax` on f32 take -0.0 for less than +0.0 and keep denormals.
    pub min_max_f32_exact: bool,
    /// `OpFNegate` on f32 changes the sign of what is not NaN, and nothing else.
    pub negate_f32_exact: bool,
    /// `OpConvertFToS` and `OpConvertFToU` from f32 to 32 bits give the nearest bound of what is out of range, and zero of NaN.
    pub to_integer_f32_saturates: bool,
    /// f64 atomic add is correctly rounded, and keeps denormals, NaNs and the sign of zeros.
    pub atomic_add_f64_exact: bool,
    /// Invocations of a subgroup that have parted meet again where the structure of control flow joins, also where no feature
    /// promises it ([`Target::convergence`]).
    pub subgroups_reconverge: bool,
}

impl Facts {
    /// Whether f32 add, subtract and multiply are right but for denormals.
    pub fn are_normals_exact(&self) -> bool {
        self.denormals_f32_kept || self.normal_f32_exact
    }

    /// A device whose numbers are all exact, denormals included, and whose subgroups run in step; its NaNs may be any.
    pub const ALL: Facts = Facts {
        fma_f32_fused: true,
        fma_f32_denormals: true,
        fma_f32_flushes: false,
        dot_f32_fused: false,
        fma_f64_fused: true,
        div_f32_rounded: true,
        div_f64_rounded: true,
        sqrt_f32_rounded: true,
        sqrt_f64_rounded: true,
        nan_f32_nvidia: false,
        nan_f64_nvidia: false,
        denormals_f32_kept: true,
        denormals_f64_kept: true,
        convert_f32_exact: true,
        normal_f32_exact: true,
        add_f32_flushes: false,
        div_f32_normal: true,
        sqrt_f32_normal: true,
        global_atomic_add_f32_flushes: true,
        shared_atomic_add_f32_keeps: true,
        exp2_f32_close: true,
        exp2_f32_denormals: true,
        log2_f32_close: true,
        sin_cos_f32_close: true,
        roots_f32_close: true,
        roots_f32_ends: true,
        sqrt_f32_refined: true,
        roots_f32_denormals: true,
        roots_f32_flush: false,
        known_specials_f32_right: true,
        known_constants_f32_right: true,
        known_specials_f64_right: true,
        known_constants_f64_right: true,
        rounding_exact: true,
        min_max_f32_exact: true,
        negate_f32_exact: true,
        to_integer_f32_saturates: true,
        atomic_add_f64_exact: true,
        subgroups_reconverge: true,
    };

    /// Everything is left to the device, denormals that are kept and such that are flushed: as a self-test needs it.
    pub const TRUSTED: Facts = Facts {
        fma_f32_flushes: true,
        dot_f32_fused: true,
        add_f32_flushes: true,
        roots_f32_flush: true,
        nan_f32_nvidia: true,
        nan_f64_nvidia: true,
        ..Facts::ALL
    };

    /// The reference device where it decides nothing badly: all is exact, angles too, which NVIDIA's hardware rounds, and
    /// atomic additions keep denormals everywhere; of zeros either is the smaller one.
    pub const REFERENCE: Facts = Facts {
        global_atomic_add_f32_flushes: false,
        sin_cos_f32_close: false,
        min_max_f32_exact: false,
        ..Facts::ALL
    };

    /// The reference device where it looks for what Vulkan leaves undefined, such as the root of a negative number.
    pub const CHECKED: Facts = Facts {
        sqrt_f32_rounded: false,
        sqrt_f32_normal: false,
        sqrt_f32_refined: false,
        sqrt_f64_rounded: false,
        log2_f32_close: false,
        roots_f32_ends: false,
        to_integer_f32_saturates: false,
        ..Facts::REFERENCE
    };
}

/// Float controls that a shader may declare (`VkPhysicalDeviceFloatControlsProperties`, by the same names). A device whose
/// independence properties forbid a combination leaves out what it can't have together with the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FloatControls {
    /// `shaderSignedZeroInfNanPreserveFloat32`.
    pub signed_zero_inf_nan_preserve_float32: bool,
    /// `shaderSignedZeroInfNanPreserveFloat64`.
    pub signed_zero_inf_nan_preserve_float64: bool,
    /// `shaderDenormPreserveFloat32`.
    pub denorm_preserve_float32: bool,
    /// `shaderDenormPreserveFloat64`.
    pub denorm_preserve_float64: bool,
    /// `shaderRoundingModeRTEFloat32`.
    pub rounding_mode_rte_float32: bool,
    /// `shaderRoundingModeRTEFloat64`.
    pub rounding_mode_rte_float64: bool,
}

/// One of the float controls.
type Control = fn(&mut FloatControls) -> &mut bool;

impl FloatControls {
    /// All of them by Vulkan's names.
    const NAMED: [(&'static str, Control); 6] = [
        ("shaderSignedZeroInfNanPreserveFloat32", |controls| &mut controls.signed_zero_inf_nan_preserve_float32),
        ("shaderSignedZeroInfNanPreserveFloat64", |controls| &mut controls.signed_zero_inf_nan_preserve_float64),
        ("shaderDenormPreserveFloat32", |controls| &mut controls.denorm_preserve_float32),
        ("shaderDenormPreserveFloat64", |controls| &mut controls.denorm_preserve_float64),
        ("shaderRoundingModeRTEFloat32", |controls| &mut controls.rounding_mode_rte_float32),
        ("shaderRoundingModeRTEFloat64", |controls| &mut controls.rounding_mode_rte_float64),
    ];

    /// Their names, as Vulkan has them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().map(|(name, _)| name)
    }

    /// Takes one away by its name; nothing happens if there is none.
    pub fn remove(&mut self, name: &str) {
        if let Some((_, control)) = Self::NAMED.into_iter().find(|(known, _)| *known == name) {
            *control(self) = false;
        }
    }
}

/// Bugs of the driver that emission works around. What isn't known is assumed to work as Vulkan says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// A value that a loop computes reaches the code behind the loop wrong, for invocations that left it before others.
    pub loop_values_lost: bool,
    /// Where a workgroup doesn't fill its last vector, what is left of that runs loops too, on values that it doesn't have,
    /// and may never leave them.
    pub surplus_invocations_loop: bool,
    /// Memory barriers, also those that atomics and loads and stores imply, wait for the whole workgroup, as if none of
    /// them stood in divergent control flow. In return all atomics are sequentially consistent.
    pub memory_barriers_wait: bool,
    /// It isn't known whether memory barriers wait: modules without the Vulkan memory model have them under a condition that the
    /// host decides.
    pub memory_barriers_optional: bool,
    /// Barriers of a subgroup wait for the whole workgroup, and what comes behind one that it doesn't reach is lost. A subgroup
    /// runs in step, and needs none.
    pub subgroup_barriers_wait: bool,
    /// Rounds of all its loops together after which an invocation's loops end, whether they are done or not; where
    /// invocations run side by side in one vector, a round of any of them counts for all. Mesa's llvmpipe has a limit of
    /// 65,535 (`LP_MAX_TGSI_LOOP_ITERATIONS` in `src/gallium/auxiliary/gallivm/lp_bld_limits.h`).
    pub loop_budget: Option<u32>,
    /// The driver runs all arms of conditions, under masks, and takes the longer to compile the more conditions follow each other
    /// within a loop, exponentially at worst.
    pub conditions_slow: bool,
    /// Each value that lives across blocks has a slot of its own on a stack of 512 KiB, and a kernel that needs more crashes when
    /// it runs.
    pub stack_small: bool,
    /// Nested conditionals and loops that the driver gets right; it ignores deeper ones. llvmpipe stops at 80
    /// (`LP_MAX_TGSI_NESTING`), of which its own passes may take some.
    pub nesting: Option<u32>,
    /// The driver honours `DenormPreserve` for f32 and f64, and flushes f32 without it, but doesn't say that it has it
    /// (`shaderDenormPreserveFloat32`). Modules then declare it all the same, which validation layers complain of.
    pub denorm_preserve_unadvertised: bool,
    /// Bytes that change places within 16 bits come out wrong: `x << 8 | x >> 8`, stored as 16 bits, or `prmt` with
    /// 0x4401 of a 16-bit load. Seen in NVIDIA's driver 580.159, with any of several ways to write the shifts; a
    /// multiplication and an addition instead of them are right.
    pub byte_swaps_wrong: bool,
    /// Quotients and remainders of 64 bits, or what stands beside them, come out wrong in some kernels. Seen in NVIDIA's driver 580.159.
    pub long_divisions_wrong: bool,
    /// Subgroups are not what the device says: of other sizes, or not full. Kernels with operations of a warp do without.
    pub subgroups_unreliable: bool,
    /// Modules that declare `MaximallyReconvergesKHR` are compiled wrong.
    pub maximal_reconvergence_wrong: bool,
    /// `OpAtomicStore` to workgroup memory is compiled wrong; `OpAtomicExchange` is right.
    pub workgroup_atomic_stores_wrong: bool,
    /// Most bytes of local memory for each invocation with which the driver makes pipelines.
    pub local_memory: Option<u32>,
}

impl Quirks {
    /// NVIDIA's driver 580.159 makes pipelines of kernels with 12 KiB of local memory, and answers "unknown error" at 16 KiB.
    pub const NVIDIA_LOCAL_MEMORY: u32 = (16 << 10) - 4;
    /// llvmpipe compiles kernels with 400 KiB of local memory for minutes.
    pub const LLVMPIPE_LOCAL_MEMORY: u32 = 32 << 10;
    /// SwiftShader has a stack of 512 KiB for four invocations, of which other things take a little.
    pub const SWIFTSHADER_LOCAL_MEMORY: u32 = 127 << 10;
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
    /// Names that [`Target::preset`] takes.
    pub const PRESETS: &'static [&'static str] = &presets::NAMES;

    /// The presets with what they describe.
    pub fn presets() -> &'static [Preset] {
        &presets::ALL
    }

    /// With the facts that float controls promise, which modules declare: for a device that nobody has measured.
    pub fn with_promises(mut self) -> Target {
        let controls = &self.float_controls;
        if controls.rounding_mode_rte_float32 && controls.signed_zero_inf_nan_preserve_float32 {
            self.facts.normal_f32_exact = true;
            self.facts.convert_f32_exact = true;
            self.facts.denormals_f32_kept |= controls.denorm_preserve_float32;
        }
        // Of what a device doesn't have, a self-test finds nothing.
        self.facts.denormals_f64_kept |= self.features.contains(&Feature::ShaderFloat64)
            && controls.rounding_mode_rte_float64
            && controls.signed_zero_inf_nan_preserve_float64
            && controls.denorm_preserve_float64;
        self
    }

    /// Whether the device has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Whether it is to compute on `F64`: it has it, and treats denormals there as PTX does. Elsewhere f64 is computed on integers.
    pub(crate) fn computes_doubles(&self) -> bool {
        self.has(Feature::ShaderFloat64) && self.facts.denormals_f64_kept
    }

    /// Whether `Fma` on `F32` can be written as a dot product ([`Facts::dot_f32_fused`]). Modules then say by fast-math modes what
    /// may not be fused, and not by `NoContraction`.
    pub fn fuses_dot(&self) -> bool {
        self.has(Feature::ShaderFloatControls2) && self.facts.dot_f32_fused
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
    pub(crate) fn adds_right(&self, feature: Feature) -> bool {
        let facts = &self.facts;
        let right = match feature {
            Feature::ShaderBufferFloat32AtomicAdd => facts.global_atomic_add_f32_flushes && facts.nan_f32_nvidia,
            Feature::ShaderSharedFloat32AtomicAdd => facts.shared_atomic_add_f32_keeps && facts.nan_f32_nvidia,
            _ => facts.atomic_add_f64_exact,
        };
        right && self.has(feature)
    }

    /// A device by name, from its published properties; see [`Target::PRESETS`].
    pub fn preset(name: &str) -> Option<Target> {
        presets::ALL.iter().find(|preset| preset.name == name)?.target()
    }

    /// The reference device: an exact one that has everything, in sizes such as NVIDIA's, and all subgroup sizes to ask for.
    pub fn reference() -> Target {
        Target {
            name: "reference".into(),
            vulkan: Version(1, 3),
            spirv: Version(1, 6),
            features: Feature::ALL.iter().copied().collect(),
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
            float_controls: FloatControls {
                signed_zero_inf_nan_preserve_float32: true,
                signed_zero_inf_nan_preserve_float64: true,
                denorm_preserve_float32: true,
                denorm_preserve_float64: true,
                rounding_mode_rte_float32: true,
                rounding_mode_rte_float64: true,
            },
            quirks: Quirks::default(),
            facts: Facts::REFERENCE,
        }
    }
}
