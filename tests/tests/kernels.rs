//! Every launch case as a test of its own, on the default Vulkan device under the validation layers.
//!
//! A message of the layers fails the case that caused it. Without a device all tests fail; none is skipped. A sample of
//! the cases also runs on the device as if it had an older Vulkan version, as if its loops were short, and as if it had only the features that
//! kernels require, if it can run kernels then.
//!
//! `PTX2SPV_ONE_OF` is a number: one of this many cases runs (1). It is for devices whose compiler is slow.

use std::env;
use std::num::NonZeroU64;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use libtest_mimic::{Failed, Trial};
use ptx2spv::cases::Verdict;
use ptx2spv_tests::device::Pool;
use ptx2spv_tests::hash;
use ptx2spv_tests::suite::{self, Launch};

/// Files of cases that take long to compile: kernels with all warp operations, filters of textures, and long ones.
const SLOW_FILES: [&str; 18] = [
    "instructions/matrix_generations.json",
    "instructions/matrix_products.json",
    "instructions/matrix_products_sparse.json",
    "instructions/matrix_products_wmma.json",
    "instructions/matrix_warpgroups.json",
    "instructions/matrix_warpgroups_sparse.json",
    "instructions/tiles.json",
    "nvcc/groups.json",
    "nvcc/tiles.json",
    "shared_aliases.json",
    "texture_batches.json",
    "texture_cubes.json",
    "texture_levels.json",
    "texture_many.json",
    "texture_sample.json",
    "warp_convergence.json",
    "warp_masks.json",
    "warp_operations.json",
];
/// A file of cases that become too long where code is added to each warp operation: where threads are suspended, SwiftShader's compiler runs
/// out of stack for products of matrices.
const TOO_LONG: [&str; 1] = ["tensor_cores/products.json"];
/// One of this many slow cases runs.
const SLOW_ONE_OF: u64 = 4;
/// One of this many random programs runs.
const RANDOM_ONE_OF: u64 = 10;
/// One of this many programs runs whose lanes execute warp operations in different places, which take longest to compile.
const DIVERGENT_ONE_OF: u64 = 25;

/// One of this many cases runs on each of these devices.
const RESTRICTED_ONE_OF: u64 = 200;
/// Restrictions of the device, by name. Without `VK_KHR_spirv_1_4` Vulkan 1.1 has SPIR-V 1.3.
const RESTRICTED: [(&str, &str); 5] = [
    ("Vulkan 1.2", "vulkan=1.2"),
    ("Vulkan 1.1", "vulkan=1.1"),
    ("Vulkan 1.1, SPIR-V 1.3", "vulkan=1.1,without=VK_KHR_spirv_1_4"),
    // Threads are suspended in nearly each round of long loops.
    ("loops of 64 rounds", SHORT_LOOPS),
    ("poorest", POOREST),
];
const SHORT_LOOPS: &str = "loops=64";
const POOREST: &str = "vulkan=1.1,without=timelineSemaphore+shaderInt64+shaderInt16+shaderInt8+shaderFloat64+shaderFloat16\
    +storageBuffer8BitAccess+storageBuffer16BitAccess+vulkanMemoryModel+vulkanMemoryModelDeviceScope\
    +shaderBufferInt64Atomics+shaderSharedInt64Atomics+shaderBufferFloat32AtomicAdd+shaderSharedFloat32AtomicAdd\
    +subgroupSizeControl+computeFullSubgroups+shaderSubgroupClock+shaderDeviceClock\
    +VK_KHR_spirv_1_4+VK_KHR_shader_float_controls+VK_EXT_subgroup_size_control";

fn main() -> ExitCode {
    suite::main(trials)
}

fn trials() -> Result<Vec<Trial>> {
    let one_of = one_of()?;
    let mut launches = Launch::all()?;
    launches.retain(|launch| is_drawn("slow", launch, slow_one_of(launch)) && is_drawn("all", launch, one_of));
    let trial = |launch: &Launch, pool: &Arc<Pool>, on: &str| {
        let (launch, pool) = (launch.clone(), Arc::clone(pool));
        Trial::test(format!("{on}{}", launch.name()), move || match pool.with(|device| launch.run(device))? {
            Verdict::Passed => Ok(()),
            Verdict::Failed(message) | Verdict::LeftOut(message) => Err(Failed::from(message)),
        })
    };
    let mut trials = Vec::new();
    for (name, restrictions) in RESTRICTED {
        // Without subgroups, warp operations run for each lane in turn, and Mesa's compiler takes many minutes for some kernels. With suspended
        // threads, SwiftShader's compiler runs out of stack for some.
        let makes_long = [SHORT_LOOPS, POOREST].contains(&restrictions);
        // SwiftShader has device addresses in Vulkan 1.2, and not as an extension.
        let restrictions = restrictions.parse().map_err(Error::msg)?;
        let Some(pool) = Pool::restricted(restrictions)?.map(Arc::new) else { continue };
        let is_too_slow = |launch: &&Launch| makes_long && (is_slow(launch) || is_of(launch, &TOO_LONG));
        let some = launches.iter().filter(|launch| !is_too_slow(launch) && is_drawn(name, launch, RESTRICTED_ONE_OF));
        trials.extend(some.map(|launch| trial(launch, &pool, &format!("{name}: "))));
    }
    let pool = Arc::new(Pool::default());
    trials.extend(launches.iter().map(|launch| trial(launch, &pool, "")));
    Ok(trials)
}

/// The number of cases of which one runs.
fn one_of() -> Result<u64> {
    let Ok(number) = env::var("PTX2SPV_ONE_OF") else { return Ok(1) };
    let number: NonZeroU64 = number.parse().context("PTX2SPV_ONE_OF")?;
    Ok(number.get())
}

/// The number of launches like this one of which one runs. A sample of the slow ones is enough: the reference device and
/// `scripts/test-devices` run them all.
fn slow_one_of(launch: &Launch) -> u64 {
    match launch {
        Launch::Random(program) if program.divergent() => DIVERGENT_ONE_OF,
        Launch::Random(_) => RANDOM_ONE_OF,
        Launch::Case(_) if is_slow(launch) => SLOW_ONE_OF,
        Launch::Case(_) => 1,
    }
}

/// Whether a launch is in the sample. The launch's name decides, so that a new case changes nothing about the others.
fn is_drawn(sample: &str, launch: &Launch, one_of: u64) -> bool {
    hash(sample.bytes().chain(launch.name().bytes())).is_multiple_of(one_of)
}

/// Whether a launch is of a file of slow cases, or of a program whose lanes execute warp operations in different places.
fn is_slow(launch: &Launch) -> bool {
    is_of(launch, &SLOW_FILES) || matches!(launch, Launch::Random(program) if program.divergent())
}

/// Whether a launch is a case of one of these files.
fn is_of(launch: &Launch, files: &[&str]) -> bool {
    matches!(launch, Launch::Case(case) if files.iter().any(|file| case.file.ends_with(file)))
}
