//! Every launch case as a separate test on the reference device: plainly at subgroup sizes from 1 to 128 and as the
//! device of a preset, and with checks and the worst choices that Vulkan allows: some seeds have workgroups smaller
//! than blocks, some have no Vulkan memory model, and some use the device of a preset.
//!
//! A case of a single instruction runs at some of the sizes only, and each case with some of the presets and seeds.
//! They are drawn by the case's name, so that all cases together cover them all. With `PTX2SPV_REFERENCE=all`, each
//! case runs with all of them.

use std::num::{NonZeroU32, NonZeroUsize};
use std::process::ExitCode;

use anyhow::Result;
use libtest_mimic::{Failed, Trial};
use ptx2spv::cases::{DeviceBackend, Verdict, find};
use ptx2spv_runtime::ReferenceOptions;
use ptx2spv_tests::files;
use ptx2spv_tests::hash;
use ptx2spv_tests::suite::{self, Launch};
use ptx2spv_translator::{Feature, Target};

/// Subgroup sizes that Vulkan devices have.
const SIZES: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Number of subgroup sizes for a case of one instruction, unless all are tested. Presets have several sizes too.
const SIZES_OF_A_CASE: usize = 1;
/// Number of presets for a case, unless all are tested.
const PRESETS_OF_A_CASE: usize = 1;
/// Invocations of workgroups, if fewer than usual; at least as many as those of a subgroup.
const INVOCATIONS: [Option<u32>; 4] = [None, Some(32), None, Some(128)];
/// Driver bugs whose workarounds are harmless without the bug. Adversarial runs have them in every other group of eight
/// seeds.
const QUIRKS: [&str; 18] = [
    "address_carries_lost",
    "blocks_slow",
    "byte_swaps_wrong",
    "conditions_slow",
    "device_memory_barriers_slow",
    "double_divisions_wrong",
    "long_divisions_wrong",
    "condition_bits_wrong",
    "dot_nans_lost",
    "joined_signs_lost",
    "loop_values_lost",
    "maximal_reconvergence_wrong",
    "memory_barriers_optional",
    "nan_signs_wrong",
    "offsets_unchecked",
    "stack_small",
    "surplus_invocations_loop",
    "workgroup_atomic_stores_wrong",
];
/// Upper bound of the seeds of adversarial runs.
const SEEDS: u64 = 50;
/// Number of seeds for a case, unless all are tested.
const SEEDS_OF_A_CASE: u64 = 1;
/// One seed of this many runs on a preset's device.
const SEEDS_TO_A_PRESET: u64 = 3;

fn main() -> ExitCode {
    suite::main(trials)
}

fn trials() -> Result<Vec<Trial>> {
    let all = std::env::var_os("PTX2SPV_REFERENCE").is_some_and(|value| value == "all");
    let between = find(&[files::between_blocks()])?.cases.into_iter().map(|case| Launch::Case(case.into()));
    let trial = |launch: Launch| {
        let name = launch.name();
        let devices = devices(&name, all);
        Trial::test(name, move || devices.iter().try_for_each(|device| run(&launch, device)))
    };
    Ok(Launch::all()?.into_iter().chain(between).map(trial).collect())
}

/// The devices that a case runs on.
fn devices(name: &str, all: bool) -> Vec<ReferenceOptions> {
    let drawn = hash(name.bytes());
    let sizes = match all || name.starts_with("kernels/") {
        true => SIZES.len(),
        false => SIZES_OF_A_CASE,
    };
    let spread = SIZES.len() / sizes;
    let sizes = (0..sizes).map(|i| SIZES[(drawn as usize % SIZES.len() + i * spread) % SIZES.len()]);
    // Tests run in parallel already, so blocks run in parallel at one size only.
    let threads = |size| NonZeroUsize::new(if size == 32 { 2 } else { 1 });
    let plain = sizes.map(|size| ReferenceOptions::default().subgroup(Some(size)).threads(threads(size)));
    let first = drawn % SEEDS;
    let seeds: Vec<u64> = if all {
        (0..SEEDS).collect()
    } else {
        (0..SEEDS_OF_A_CASE).map(|i| (first + i * SEEDS / SEEDS_OF_A_CASE) % SEEDS).collect()
    };
    let memory_model = [Feature::VulkanMemoryModel, Feature::VulkanMemoryModelDeviceScope];
    let fused = [Feature::ShaderFmaFloat32, Feature::ShaderFmaFloat64];
    let preset = |number: usize| Some(Target::PRESETS[number % Target::PRESETS.len()].to_owned());
    let (of_presets, others): (Vec<u64>, Vec<u64>) = seeds.into_iter().partition(|seed| seed % SEEDS_TO_A_PRESET == 0);
    let adversarial_presets = of_presets.into_iter().map(|seed| {
        ReferenceOptions::default()
            .check(true)
            .seed(Some(seed))
            .target(preset(drawn as usize / SEEDS as usize + seed as usize))
    });
    let adversarial = others.into_iter().map(|seed| {
        ReferenceOptions::default()
            .check(true)
            .seed(Some(seed))
            .subgroup(Some(SIZES[(seed % 8) as usize]))
            .invocations(
                INVOCATIONS[(seed / 8 % 4) as usize].and_then(|most| NonZeroU32::new(most.max(1 << (seed % 8)))),
            )
            .without(
                (memory_model.into_iter().filter(|_| seed / 16 % 2 == 1))
                    .chain(fused.into_iter().filter(|_| seed % SEEDS_TO_A_PRESET == 1))
                    .collect(),
            )
            .quirks(QUIRKS.iter().filter(|_| seed / 8 % 2 == 1).map(|quirk| quirk.to_string()).collect())
    });
    let presets = if all { Target::PRESETS.len() } else { PRESETS_OF_A_CASE };
    let first = drawn as usize / SIZES.len();
    let as_presets =
        (0..presets).map(|i| ReferenceOptions::default().target(preset(first + i)).threads(NonZeroUsize::new(1)));
    plain.chain(as_presets).chain(adversarial).chain(adversarial_presets).collect()
}

fn run(launch: &Launch, options: &ReferenceOptions) -> Result<(), Failed> {
    match launch.run(&mut DeviceBackend::reference(options.config()?)?) {
        Verdict::Passed => Ok(()),
        // A preset's device may be too small for it.
        Verdict::LeftOut(_) if options.target.is_some() => Ok(()),
        Verdict::Failed(message) | Verdict::LeftOut(message) => {
            Err(Failed::from(format!("reference:{options}: {message}")))
        }
    }
}
