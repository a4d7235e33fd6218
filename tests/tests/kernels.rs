//! Every launch case as a test of its own, on the default Vulkan device under the validation layers.
//!
//! A message of the layers fails the case that caused it. Without a device everything fails: nothing is skipped. A sample of
//! the cases also runs on the device as if it were one of older Vulkan versions, and one that lacks what kernels can do without,
//! if it can run kernels then.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use ptx2spv::cases::{Case, Verdict, find};
use ptx2spv_tests::device::Pool;
use ptx2spv_tests::files;

/// Of so many cases that drivers compile long one runs here.
const SLOW_ONE_OF: usize = 4;
/// And of these, random programs whose lanes meet in different places, for which they take longest.
const SLOWEST_ONE_OF: usize = 25;
/// Files of such cases, besides the random programs: kernels with all operations of a warp.
const SLOW_FILE: &str = "warp_operations.json";

/// Of so many cases one runs on each of these devices.
const RESTRICTED_ONE_OF: usize = 200;
/// Restrictions of the device, by name. Without `VK_KHR_spirv_1_4` Vulkan 1.1 has SPIR-V 1.3.
const RESTRICTED: [(&str, &str); 4] = [
    ("Vulkan 1.2", "vulkan=1.2"),
    ("Vulkan 1.1", "vulkan=1.1"),
    ("Vulkan 1.1, SPIR-V 1.3", "vulkan=1.1,without=VK_KHR_spirv_1_4"),
    ("poorest", POOREST),
];
const POOREST: &str = "vulkan=1.1,without=timelineSemaphore+shaderInt64+shaderInt16+shaderInt8+shaderFloat64+shaderFloat16\
    +storageBuffer8BitAccess+storageBuffer16BitAccess+vulkanMemoryModel+vulkanMemoryModelDeviceScope\
    +shaderBufferInt64Atomics+shaderSharedInt64Atomics+shaderBufferFloat32AtomicAdd+shaderSharedFloat32AtomicAdd\
    +subgroupSizeControl+computeFullSubgroups+shaderSubgroupClock+shaderDeviceClock\
    +VK_KHR_spirv_1_4+VK_KHR_shader_float_controls+VK_EXT_subgroup_size_control";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let found = match find(&files::case_directories()) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let mut cases = found.cases;
    // Some of these will do. The reference device runs them all, and so does `scripts/test-devices`.
    let mut number = 0;
    cases.retain(|case| {
        let slow = case.file.starts_with(files::random()) || case.file.ends_with(SLOW_FILE);
        number += usize::from(slow);
        let parted = slow && case.spec.name.starts_with("parted");
        !slow || number % (if parted { SLOWEST_ONE_OF } else { SLOW_ONE_OF }) == 0
    });
    let pool = Arc::new(Pool::default());
    let trial = |case: Case, pool: &Arc<Pool>, on: &str| {
        let pool = Arc::clone(pool);
        let name = format!("{on}{}: {}", files::short_name(&case.file), case.spec.name);
        Trial::test(name, move || match pool.with(|device| case.run(device))? {
            Verdict::Passed => Ok(()),
            Verdict::Failed(message) | Verdict::LeftOut(message) => Err(Failed::from(message)),
        })
    };
    let mut trials: Vec<Trial> = Vec::new();
    for (first, (name, restrictions)) in RESTRICTED.into_iter().enumerate() {
        let pool = match restrictions.parse().and_then(Pool::restricted) {
            Ok(Some(pool)) => Arc::new(pool),
            // SwiftShader has device addresses in Vulkan 1.2, and not as an extension.
            Ok(None) => continue,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        };
        let sample = cases.iter().skip(first * RESTRICTED_ONE_OF / RESTRICTED.len()).step_by(RESTRICTED_ONE_OF);
        trials.extend(sample.map(|case| trial(case.clone(), &pool, &format!("{name}: "))));
    }
    trials.extend(cases.into_iter().map(|case| trial(case, &pool, "")));
    if trials.is_empty() {
        eprintln!("no launch cases found");
        return ExitCode::FAILURE;
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
