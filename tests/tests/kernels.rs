//! Every launch case as a test of its own, on the default Vulkan device under the validation layers.
//!
//! A message of the layers fails the case that caused it. Without a device everything fails: nothing is skipped.

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
    let trial = |case: Case| {
        let pool = Arc::clone(&pool);
        let name = format!("{}: {}", files::short_name(&case.file), case.spec.name);
        Trial::test(name, move || match pool.with(|device| case.run(device))? {
            Verdict::Passed => Ok(()),
            Verdict::Failed(message) | Verdict::LeftOut(message) => Err(Failed::from(message)),
        })
    };
    let trials: Vec<Trial> = cases.into_iter().map(trial).collect();
    if trials.is_empty() {
        eprintln!("no launch cases found");
        return ExitCode::FAILURE;
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
