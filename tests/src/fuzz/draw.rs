//! Targets and options drawn at random.

use std::num::NonZeroUsize;

use ptx2spv_runtime::ReferenceOptions;
use ptx2spv_translator::interface::ServiceSizes;
use ptx2spv_translator::target::{Facts, FloatControls, Quirks, Version};
use ptx2spv_translator::{Feature, Math, Options, Target, Topic};

use crate::random::Random;

/// A preset, often with a feature removed or a limit reduced.
pub fn target(random: &mut Random) -> Target {
    let name = *random.pick(Target::PRESETS);
    let mut target = Target::preset(name).expect("a preset");
    if random.chance(40) {
        return target;
    }
    let lost = [0, 3, 20, 60][random.below(4)];
    target.features.retain(|feature| *feature == Feature::BufferDeviceAddress || !random.chance(lost));
    for control in FloatControls::names() {
        if random.chance(lost) {
            target.float_controls.remove(control);
        }
    }
    if random.chance(30) {
        let size = 1 << random.below(8);
        let subgroups = &mut target.subgroups;
        (subgroups.size, subgroups.min_size, subgroups.max_size) = (size, size, size);
    }
    if random.chance(20) {
        (target.vulkan, target.spirv) = (Version(1, 1), Version(1, 3 + random.below(2) as u32));
    }
    if random.chance(20) {
        target.limits.max_push_constants_size = *random.pick(&[40, 128, 256]);
    }
    if random.chance(20) {
        target.limits.max_compute_work_group_invocations = 128;
        target.limits.max_compute_work_group_size = [128, 128, 64];
    }
    if random.chance(20) {
        target.limits.max_compute_shared_memory_size = *random.pick(&[16 << 10, 32 << 10, 48 << 10]);
    }
    if random.chance(30) {
        target.facts = Facts::default();
    }
    if random.chance(30) {
        target.quirks = Quirks {
            loop_values_lost: random.chance(50),
            surplus_invocations_loop: random.chance(50),
            memory_barriers_wait: random.chance(50),
            memory_barriers_optional: random.chance(50),
            subgroup_barriers_wait: random.chance(50),
            loop_budget: random.chance(50).then_some(65_535),
            conditions_slow: random.chance(50),
            blocks_slow: random.chance(50),
            device_memory_barriers_slow: random.chance(50),
            stack_small: random.chance(50),
            nesting: random.chance(50).then_some(70),
            byte_swaps_wrong: random.chance(50),
            long_divisions_wrong: random.chance(50),
            double_divisions_wrong: random.chance(50),
            nan_signs_wrong: random.chance(50),
            dot_nans_lost: random.chance(50),
            condition_bits_wrong: random.chance(50),
            joined_signs_lost: random.chance(50),
            address_carries_lost: random.chance(50),
            offsets_unchecked: random.chance(50),
            subgroups_unreliable: random.chance(50),
            workgroup_atomic_stores_wrong: random.chance(50),
            ..Quirks::default()
        };
    }
    target.with_promises()
}

/// Options for all kernels of a module, without options that the target doesn't allow.
pub fn options<'a>(random: &mut Random, target: &'a Target) -> Options<'a> {
    let mut math = Math::EXACT;
    let fast = [0, 0, 30, 100][random.below(4)];
    for topic in Topic::ALL {
        math = math.with(*topic, random.chance(fast));
    }
    Options::new(target)
        .keep_going(true)
        .launched(random.chance(50))
        .math(math)
        .block_threads(random.chance(20).then(|| *random.pick(&[1, 33, 256, 1024])))
        .cluster(random.chance(10).then(|| *random.pick(&[[2, 1, 1], [1, 2, 2], [8, 1, 1]])))
        .cooperative(random.chance(20))
        .dynamic_shared_bytes(if random.chance(20) { *random.pick(&[4, 1000, 100_000]) } else { 0 })
        .sizes(ServiceSizes::default().launches(1 + random.below(100) as u32))
        .line_info(random.chance(30))
        .checks(random.chance(20))
        .check_accesses(random.chance(20))
}

/// A reference device that stops endless kernels early.
pub fn reference(random: &mut Random) -> ReferenceOptions {
    ReferenceOptions::default()
        .check(random.chance(50))
        .seed(random.chance(50).then(|| random.word()))
        .subgroup(random.chance(50).then(|| 1 << random.below(8)))
        .target(random.chance(50).then(|| (*random.pick(Target::PRESETS)).to_owned()))
        .without(Feature::ALL.iter().copied().filter(|_| random.chance(3)).collect())
        .threads(NonZeroUsize::new(1))
        .steps(Some(200_000))
}
