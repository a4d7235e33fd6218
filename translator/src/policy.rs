//! Decisions about a device, made once from its description and from the required exactness of arithmetic. Passes get
//! the few switches that they read, and not the device.

use std::collections::BTreeSet;

use ptx2spv_target::{Facts, Feature, FloatControls, Generation, Math, MatrixTypes, Quirks, Target, Topic, Version};

/// Decisions about a device.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Float arithmetic.
    pub floats: Floats,
    /// Whether the device has sums of products of bytes.
    pub byte_dots: bool,
    /// The products of matrices that the device's matrix units compute.
    pub matrix_units: BTreeSet<MatrixTypes>,
    /// The generation whose products of matrices of floats are computed; `None` where the products are left to the
    /// device.
    pub generation: Option<Generation>,
    /// Integers of 64 bits.
    pub int64: Int64,
    /// Workgroups and their subgroups.
    pub workgroups: Workgroups,
    /// Accesses to memory.
    pub memory: Memory,
    /// Whether to hide exchanges of bytes within 16 bits by shifts, which the driver gets wrong.
    pub hide_byte_swaps: bool,
    /// Whether to hide from the driver that integer operations change the sign of a float.
    pub hide_signs: bool,
    /// Whether to test for NaNs of dot products by their bits, since the driver gets comparisons of a dot product with
    /// itself wrong.
    pub test_dot_nans: bool,
    /// Whether to hide from the driver that the bits of a float are a condition.
    pub hide_conditions: bool,
    /// Words of addresses whose sum may need a carry are hidden.
    pub hide_address_sums: bool,
    /// Whether to keep divisions of `F64` out of conditions in loops, although the device divides right.
    pub avoid_double_divisions: bool,
    /// Whether barriers that order shared memory alone are faster than others.
    pub relax_barriers: bool,
    /// The rounds after which the driver cuts loops short, if it does; then that must be reported.
    pub loop_budget: Option<u32>,
    /// The deepest nesting of control flow that the driver takes, if it has a limit.
    pub nesting: Option<u32>,
    /// Whether the driver takes long to compile many basic blocks. Functions with jumps are then rather shared than inlined.
    pub blocks_slow: bool,
    /// Most operations of a condition's arms together that are executed whatever it is.
    pub if_conversion: u32,
    /// Whether an arm that no thread takes costs next to nothing.
    pub branches_cheap: bool,
    /// The textures that the device's sampler reads.
    pub samplers: Samplers,
    /// Whether the device has a clock.
    pub has_clock: bool,
    /// Bytes of push constants.
    pub push_constants: u32,
    /// The properties of the device that emission reads.
    pub emission: Emission,
}

/// The properties of a device that emission reads. The resources of the device that kernels may take are settled
/// before.
#[derive(Clone, Debug)]
pub struct Emission {
    /// The device's version of SPIR-V.
    pub spirv: Version,
    /// Features that a module may ask for.
    pub features: BTreeSet<Feature>,
    /// Float controls that a module may ask for.
    pub float_controls: FloatControls,
    /// The features of atomic additions to floats that the device does right.
    pub float_adds: BTreeSet<Feature>,
    /// The features of fused multiply-adds that the device does right. Others are `Fma` of `GLSL.std.450`.
    pub fused: BTreeSet<Feature>,
    /// Whether NaNs of `F32` are NVIDIA's.
    pub nvidia_nans: bool,
    /// Whether a dot product is a fused multiplication and addition.
    pub dot_fma: bool,
    /// The feature by which subgroups are together where their control flow is uniform.
    pub convergence: Option<Feature>,
    /// Whether modules have to ask for the size of subgroups.
    pub subgroup_choice: bool,
    /// Whether modules have Vulkan's memory model, and not the older one of GLSL 4.50.
    pub vulkan_memory_model: bool,
    /// Whether Vulkan's memory model has the device as a scope.
    pub device_scope: bool,
    /// The scope of the clock that modules read.
    pub clock: ClockScope,
    /// Whether pointers are made of 64-bit integers, and not of two words.
    pub long_pointers: bool,
    /// Whether shared memory is declared as blocks, one for each type by which it is accessed.
    pub shared_blocks: bool,
    /// Whether shared memory may be declared as blocks of 8 bits.
    pub shared_bytes: bool,
    /// Whether shared memory may be declared as blocks of 16 bits.
    pub shared_halves: bool,
    /// Whether subgroups have ballots.
    pub ballots: bool,
    /// Whether subgroups have shuffles.
    pub shuffles: bool,
    /// The driver's bugs to work around.
    pub workarounds: Quirks,
}

/// By whom a clock is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockScope {
    /// The invocations of a subgroup.
    Subgroup,
    /// The whole device.
    Device,
}

/// The float arithmetic that is left to the device.
#[derive(Clone, Debug)]
pub struct Floats {
    /// Facts about the device's arithmetic that hold: as they were measured, or because the math options leave the
    /// topic to the device.
    pub trusted: Facts,
    /// Whether `Fma` on `F32` is known to round once. Exact expansions rely on this fact, not on the arithmetic that
    /// the math options leave to the device.
    pub fma_f32_fused: bool,
    /// The same of `F64`.
    pub fma_f64_fused: bool,
    /// Whether to compute on `F64`: the device has `F64`, and treats denormals there as PTX does. Else f64 is computed
    /// on integers.
    pub doubles: bool,
    /// Whether `Fma` on `F32` is written as a dot product.
    pub dot_fma: bool,
    /// Whether the device does arithmetic on f16. Else `F32` serves.
    pub halves: bool,
    /// Whether `.ftz` has to flush.
    pub flush: bool,
    /// Whether the device does atomic additions to `F32` in global memory.
    pub global_atomic_add: bool,
}

/// The computation of 64-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int64 {
    /// By the device.
    Native,
    /// By the device, but for quotients and remainders, which the driver gets wrong.
    WithoutDivision,
    /// As pairs of words.
    Words,
}

/// The textures that the device's sampler reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samplers {
    /// None.
    Unused,
    /// The textures whose image is read as NVIDIA's hardware reads the texture.
    Exact,
    /// All textures that have an image.
    Any,
}

impl Samplers {
    fn new(target: &Target, math: Math) -> Self {
        let has_tables = target.has(Feature::RuntimeDescriptorArray)
            && target.has(Feature::ShaderSampledImageArrayNonUniformIndexing);
        match (has_tables, math.is_fast(Topic::Textures)) {
            (true, true) => Self::Any,
            (true, false) if target.facts.has_exact_samplers() => Self::Exact,
            _ => Self::Unused,
        }
    }
}

/// The workgroups that the device takes.
#[derive(Clone, Copy, Debug)]
pub struct Workgroups {
    /// Most invocations.
    pub invocations: u32,
    /// Most invocations in x, y and z.
    pub size: [u32; 3],
    /// The size of subgroups for operations of a warp; `None` where subgroups don't serve.
    pub subgroup: Option<u32>,
    /// Invocations that may run in lockstep.
    pub lockstep: u32,
}

/// A device's accesses to memory, and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Whether 64 bits are accessed as one in memory that other threads don't see.
    pub int64: bool,
    /// Whether 64 bits of global memory are accessed as one, by atomics too.
    pub global_long_atomics: bool,
    /// The same of shared memory, which may have to lie in device memory.
    pub shared_long_atomics: bool,
    /// Whether global memory is accessed by 8 and 16 bits; else by the whole words around.
    pub narrow_global: bool,
    /// Bytes of a workgroup's shared memory.
    pub shared_bytes: u32,
    /// Bytes of an invocation's local memory with which the driver makes pipelines, if it has a limit.
    pub local_bytes: Option<u32>,
    /// Whether accesses past the end of shared and local memory would hit other memory of the process.
    pub offsets_unchecked: bool,
}

/// The products of matrices that the device's units compute as they are wanted. Their sums of floats are the latest generation's.
fn matrix_units(target: &Target, math: Math) -> BTreeSet<MatrixTypes> {
    let mut units = target.exact_matrix_units();
    let has_floats = math.generation().is_none_or(|generation| generation == Generation::Hopper);
    units.retain(|types| has_floats || types.is_of_bytes());
    units
}

impl Policy {
    /// The decisions about a device, where some topics of arithmetic may be left to the device.
    pub fn new(target: &Target, math: Math) -> Self {
        let has = |feature| target.has(feature);
        let quirks = &target.quirks;
        let floats = Floats::new(target, math);
        Self {
            samplers: Samplers::new(target, math),
            floats,
            byte_dots: has(Feature::ShaderIntegerDotProduct),
            matrix_units: matrix_units(target, math),
            generation: math.generation(),
            int64: match (has(Feature::ShaderInt64), quirks.long_divisions_wrong) {
                (false, _) => Int64::Words,
                (true, true) => Int64::WithoutDivision,
                (true, false) => Int64::Native,
            },
            workgroups: Workgroups::new(target),
            memory: Memory::new(target),
            hide_byte_swaps: quirks.byte_swaps_wrong,
            hide_signs: quirks.nan_signs_wrong,
            test_dot_nans: quirks.dot_nans_lost,
            hide_conditions: quirks.condition_bits_wrong,
            hide_address_sums: quirks.address_carries_lost,
            avoid_double_divisions: quirks.double_divisions_wrong,
            relax_barriers: quirks.device_memory_barriers_slow,
            loop_budget: quirks.loop_budget,
            nesting: quirks.nesting,
            blocks_slow: quirks.blocks_slow,
            // Conditions that follow each other would take such a driver long to compile.
            if_conversion: if quirks.conditions_slow { 64 } else { 8 },
            branches_cheap: !quirks.conditions_slow && !quirks.blocks_slow,
            has_clock: has(Feature::ShaderSubgroupClock) || has(Feature::ShaderDeviceClock),
            push_constants: target.limits.max_push_constants_size,
            emission: Emission::new(target, math),
        }
    }
}

impl Emission {
    fn new(target: &Target, math: Math) -> Self {
        let mut float_controls = target.float_controls.clone();
        let mut workarounds = target.quirks.clone();
        if math.is_fast(Topic::Denormals) {
            // Functions and roots of the device take longer where they have to keep subnormals.
            float_controls.denorm_preserve_float32 = false;
            workarounds.denorm_preserve_unadvertised = false;
        }
        Self {
            spirv: target.spirv,
            features: target.features.clone(),
            float_controls,
            float_adds: target.features.iter().copied().filter(|&feature| target.adds_right(feature)).collect(),
            fused: target.features.iter().copied().filter(|&feature| target.fuses_right(feature)).collect(),
            nvidia_nans: target.facts.nan_f32_nvidia,
            dot_fma: target.fuses_dot(),
            convergence: target.convergence(),
            subgroup_choice: target.subgroups.has_choice(),
            vulkan_memory_model: target.has(Feature::VulkanMemoryModel),
            device_scope: target.has(Feature::VulkanMemoryModelDeviceScope),
            clock: if target.has(Feature::ShaderSubgroupClock) { ClockScope::Subgroup } else { ClockScope::Device },
            long_pointers: target.has(Feature::ShaderInt64),
            // The extension needs SPIR-V 1.4.
            shared_blocks: target.has(Feature::WorkgroupMemoryExplicitLayout) && target.spirv >= Version(1, 4),
            shared_bytes: target.has(Feature::WorkgroupMemoryExplicitLayout8BitAccess),
            shared_halves: target.has(Feature::WorkgroupMemoryExplicitLayout16BitAccess),
            ballots: target.subgroups.ballot,
            shuffles: target.subgroups.shuffle,
            workarounds,
        }
    }

    /// Whether a module may ask for a feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }
}

impl Floats {
    fn new(target: &Target, math: Math) -> Self {
        let computes_doubles = |facts: &Facts| target.has(Feature::ShaderFloat64) && facts.denormals_f64_kept;
        let mut trusted = math.relax(&target.facts);
        trusted.convert_f16_exact &= target.has(Feature::ShaderFloat16);
        trusted.nan_conversions_f16_nvidia &= trusted.convert_f16_exact;
        let [single, double] =
            [Feature::ShaderFmaFloat32, Feature::ShaderFmaFloat64].map(|feature| target.fuses_right(feature));
        if single {
            trusted.fma_f32_fused = true;
            trusted.fma_f32_denormals = true;
            trusted.fma_f32_flushes = false;
        }
        trusted.fma_f64_fused |= double;
        if !computes_doubles(&target.facts) {
            // Emulated floats give no NaN of their own accord.
            trusted.nan_f64_nvidia = math.is_fast(Topic::Nan);
        }
        Self {
            fma_f32_fused: target.facts.fma_f32_fused || single,
            fma_f64_fused: target.facts.fma_f64_fused || double,
            doubles: computes_doubles(&trusted),
            dot_fma: target.fuses_dot(),
            halves: target.has(Feature::ShaderFloat16) && trusted.arithmetic_f16_exact,
            flush: !math.is_fast(Topic::Denormals),
            global_atomic_add: target.has(Feature::ShaderBufferFloat32AtomicAdd)
                && trusted.global_atomic_add_f32_flushes
                && trusted.nan_f32_nvidia,
            trusted,
        }
    }
}

impl Workgroups {
    pub(crate) fn new(target: &Target) -> Self {
        let limits = &target.limits;
        Self {
            invocations: limits.max_compute_work_group_invocations,
            size: limits.max_compute_work_group_size,
            subgroup: subgroup_size(target),
            lockstep: target.subgroups.size.max(target.subgroups.max_size).max(1),
        }
    }

    /// Invocations of the largest workgroup of one dimension.
    pub fn row(&self) -> u32 {
        self.invocations.min(self.size[0])
    }
}

/// The size of the subgroups to use, if the target has all that operations of a warp need.
fn subgroup_size(target: &Target) -> Option<u32> {
    let sizes = &target.subgroups;
    // Where sizes vary and none can be asked for, full subgroups have the device's own: modules before SPIR-V 1.6 don't allow
    // others.
    let (choice, asks) = (sizes.has_choice(), target.has(Feature::SubgroupSizeControl));
    let size = if choice { 32.clamp(sizes.min_size, sizes.max_size.max(sizes.min_size)) } else { sizes.size };
    let known = (asks || !choice) && !target.quirks.subgroups_unreliable;
    let able = known && target.has(Feature::ComputeFullSubgroups) && sizes.ballot && sizes.shuffle;
    // Otherwise threads that diverged earlier may be missing in a subgroup operation.
    let able = able && (target.convergence().is_some() || target.facts.subgroups_reconverge);
    (able && size.is_power_of_two() && size <= 128).then_some(size)
}

impl Memory {
    fn new(target: &Target) -> Self {
        use Feature::{ShaderBufferInt64Atomics, ShaderInt64, ShaderSharedInt64Atomics};
        let has = |features: &[Feature]| features.iter().all(|feature| target.has(*feature));
        Self {
            int64: has(&[ShaderInt64]),
            global_long_atomics: has(&[ShaderInt64, ShaderBufferInt64Atomics]),
            shared_long_atomics: has(&[ShaderInt64, ShaderSharedInt64Atomics, ShaderBufferInt64Atomics]),
            narrow_global: target.has_narrow_global(),
            shared_bytes: target.limits.max_compute_shared_memory_size,
            local_bytes: target.quirks.local_memory,
            offsets_unchecked: target.quirks.offsets_unchecked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_are_exact_or_asked_for() {
        let mut target = Target::preset("nvidia").unwrap();
        let fast = Math::EXACT.with(Topic::Textures, true);
        let of = |target: &Target| [Math::EXACT, fast].map(|math| Policy::new(target, math).samplers);
        target.facts.sampled_filters_exact = true;
        assert_eq!(of(&target), [Samplers::Unused; 2]);
        target.features.extend([Feature::RuntimeDescriptorArray, Feature::ShaderSampledImageArrayNonUniformIndexing]);
        assert_eq!(of(&target), [Samplers::Exact, Samplers::Any]);
        target.facts.sampled_filters_exact = false;
        assert_eq!(of(&target), [Samplers::Unused, Samplers::Any]);
    }
}
