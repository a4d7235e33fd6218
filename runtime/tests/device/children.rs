//! Launches from kernels: faults of child kernels, limits, deep nesting, two streams. The launch cases check most
//! results.

use std::time::Duration;

use ptx2spv_runtime::{Device, Error, LaunchConfig, LoadOptions};
use ptx2spv_translator::interface::ServiceSizes;
use ptx2spv_translator::{Options, Program, Source};

use crate::{Context, Launch};

/// `cudaErrorLaunchPendingCountExceeded`
const TOO_MANY: usize = 69;

/// The device runtime's functions, named with a prefix, and two more: `take` returns a parameter buffer for one thread of a
/// kernel, and `start` launches the kernel of a buffer in the default stream, and returns the error.
const RUNTIME: &str = include_str!("ptx/children_runtime.ptx");

/// Kernels with the device runtime of CUDA 12.
fn current(name: &str, kernels: &str) -> Source {
    let text = format!(".version 8.0\n.target sm_70\n{}{kernels}", RUNTIME.replace("PREFIX", "__cudaCDP2"));
    Source::new(name, text)
}

/// Kernels with the device runtime before, which has `cudaDeviceSynchronize`.
fn older(name: &str, kernels: &str) -> Source {
    let text = format!(".version 6.0\n.target sm_60\n{}{kernels}", RUNTIME.replace("PREFIX", "cuda"));
    Source::new(name, text)
}

/// Each thread of `launch` launches `add` several times, `fail` launches a kernel that traps, and `down` launches itself
/// with one level less.
fn source() -> Source {
    current("children.ptx", include_str!("ptx/children_kernels.ptx"))
}

/// Kernels that wait for their launches: `down` waits for itself with one level less; of the two threads of `between`,
/// the second waits for its launch while the first one holds a parameter buffer and waits for the second.
fn waiting() -> Source {
    older("waiting.ptx", include_str!("ptx/children_waiting.ptx"))
}

/// Kernels that write to memory of the device runtime: `spoil` launches `add` and then writes a word at an offset from
/// the launch's parameter buffer. One thread of `signal` waits for its launch while the others wait for that thread's
/// word in shared memory, and all add the launch's result to the second word.
fn astray() -> Source {
    older("astray.ptx", include_str!("ptx/children_astray.ptx"))
}

/// `forever` launches itself endlessly. `set` sets a byte in each of some slices, made of rows of 4 bytes, to 7.
fn endless() -> Source {
    current("endless.ptx", include_str!("ptx/children_endless.ptx"))
}

fn with_capacity(launches: u32) -> LoadOptions {
    LoadOptions::default().sizes(ServiceSizes::default().launches(launches))
}

/// Runs a test, and checks that it leaves no work or memory behind.
fn on(contexts: impl IntoIterator<Item = Context>, test: impl Fn(&Device)) {
    for context in contexts {
        test(&context.device);
    }
}

#[test]
fn more_launches_than_there_is_room_for() {
    on([Context::new()], |device| {
        for (threads, capacity) in [(100_u32, 40_u32), (40, 40), (3, 1), (3000, 4000)] {
            let module = device.load_with(&source(), with_capacity(capacity)).unwrap();
            let sums = device.upload_slice(&[0_u32; 80]).unwrap();
            // Twice, because each grid frees its room.
            for round in 1..=2 {
                let config = LaunchConfig::linear(threads, threads.min(100));
                module.kernel("launch").unwrap().run(&config, &[(&sums).into(), 5_u32.into()]).unwrap();
                let seen = sums.to_vec().unwrap();
                let launched = threads.min(capacity);
                assert_eq!(seen[0], round * 5 * launched, "{threads} of {capacity}");
                let [fine, too_many] = [seen[1], seen[1 + TOO_MANY]];
                assert_eq!((fine, too_many), (round * launched, round * (threads - launched)));
            }
        }
    });
}

#[test]
fn nesting_has_no_end_of_its_own() {
    on([Context::new()], |device| {
        let module = device.load(&source()).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        let kernel = module.kernel("down").unwrap();
        // The module lives as long as a kernel that may need others of it.
        drop(module);
        kernel.run(&LaunchConfig::linear(1, 1), &[(&sums).into(), 100_u32.into()]).unwrap();
        assert_eq!(sums.to_vec().unwrap()[0], 5050);
    });
}

#[test]
fn faults_of_children_reach_the_host() {
    on(Context::several(), |device| {
        let module = device.load(&source()).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        let config = LaunchConfig::linear(1, 1);
        let failed = module.kernel("fail").unwrap().run(&config, &[(&sums).into(), 1_u32.into()]);
        let failed = failed.and_then(|()| device.synchronize());
        assert!(matches!(&failed, Err(Error::Aborted { kernels, .. }) if kernels == &["trap_"]), "{failed:?}");
        module.kernel("launch").unwrap().run(&config, &[(&sums).into(), 7_u32.into()]).unwrap();
        assert_eq!(sums.to_vec().unwrap()[0], 7);
    });
}

#[test]
fn shipped_with_those_that_it_launches() {
    on([Context::new()], |device| {
        let source = source();
        let program = Program::new(&source).unwrap();
        let only = ["launch".to_owned()];
        let options = Options::new(device.target()).entries(Some(&only));
        let made = program.translate(&options).unwrap();
        // SAFETY: the translator has made it.
        let module = unsafe { device.load_translated(&made) }.unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        module.kernel("launch").unwrap().run(&LaunchConfig::linear(6, 3), &[(&sums).into(), 2_u32.into()]).unwrap();
        assert_eq!(sums.to_vec().unwrap()[..2], [12, 6]);
        // Without them, the launch names the missing kernel.
        let made = program.translate(&options.launched(false)).unwrap();
        // SAFETY: as above.
        let module = unsafe { device.load_translated(&made) }.unwrap();
        let failed = module.kernel("launch").unwrap().run(&LaunchConfig::linear(1, 1), &[(&sums).into(), 2_u32.into()]);
        assert!(matches!(failed, Err(Error::NoKernel { name, .. }) if name == "add"));
    });
}

#[test]
fn launches_of_several_streams_and_threads() {
    on([Context::new()], |device| {
        let module = device.load(&source()).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let kernel = module.kernel("launch").unwrap();
                    let stream = device.non_blocking_stream();
                    for _ in 0..5 {
                        // SAFETY: the kernels add to words of the buffer.
                        unsafe {
                            kernel.launch_on(&stream, &LaunchConfig::linear(8, 8), &[(&sums).into(), 3_u32.into()])
                        }
                        .unwrap();
                    }
                    stream.synchronize().unwrap();
                });
            }
        });
        assert_eq!(sums.to_vec().unwrap()[..2], [4 * 5 * 8 * 3, 4 * 5 * 8]);
    });
}

#[test]
fn grids_wait_for_grids() {
    on(Context::several(), |device| {
        let module = device.load(&waiting()).unwrap();
        let down = module.kernel("down").unwrap();
        let one = LaunchConfig::linear(1, 1);
        for depth in [0, 1, 20] {
            let sum = device.upload_slice(&[0_u32]).unwrap();
            down.run(&one, &[(&sum).into(), depth.into()]).unwrap();
            assert_eq!(sum.to_vec().unwrap(), [(1 << (depth + 1)) - 1]);
        }
        let sum = device.upload_slice(&[0_u32]).unwrap();
        let failed = down.run(&one, &[(&sum).into(), 60_u32.into()]);
        assert!(
            matches!(&failed, Err(Error::Aborted { reason, .. }) if reason.contains("24 nested grids")),
            "{failed:?}"
        );
        // All of it has been freed.
        let sum = device.upload_slice(&[0_u32]).unwrap();
        down.run(&one, &[(&sum).into(), 3_u32.into()]).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [15]);
    });
}

#[test]
fn parameter_buffers_stay_while_others_wait() {
    on(Context::several(), |device| {
        let module = device.load_with(&waiting(), with_capacity(2)).unwrap();
        let sum = device.upload_slice(&[0_u32]).unwrap();
        module.kernel("between").unwrap().run(&LaunchConfig::linear(2, 2), &[(&sum).into()]).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [1 + 107 + 1000]);
    });
}

#[test]
fn launches_without_end_are_stopped() {
    on([Context::new()], |device| {
        let module = device.load(&endless()).unwrap();
        device.set_wait_limit(Some(Duration::from_secs(2)));
        let failed = module.kernel("forever").unwrap().run(&LaunchConfig::linear(1, 1), &[]);
        assert!(matches!(failed, Err(Error::Timeout)), "{failed:?}");
        device.set_wait_limit(None);
        device.synchronize().unwrap();
    });
}

#[test]
fn what_was_not_waited_for_is_not_launched_later() {
    on(Context::several(), |device| {
        let module = device.load(&source()).unwrap();
        let sums = device.upload_slice(&[0_u32; 80]).unwrap();
        let launch = module.kernel("launch").unwrap();
        let config = LaunchConfig::linear(1, 1);
        device.set_wait_limit(Some(Duration::from_nanos(1)));
        let failed = launch.run(&config, &[(&sums).into(), 5_u32.into()]);
        assert!(matches!(failed, Err(Error::Timeout)), "{failed:?}");
        device.set_wait_limit(None);
        device.synchronize().unwrap();
        launch.run(&config, &[(&sums).into(), 8_u32.into()]).unwrap();
        assert_eq!(sums.to_vec().unwrap()[..2], [8, 2]);
    });
}

#[test]
fn sets_of_slices_are_checked_as_a_whole() {
    on(Context::several(), |device| {
        let module = device.load(&endless()).unwrap();
        let set = module.kernel("set").unwrap();
        let bytes = device.upload_slice(&[0_u8; 16]).unwrap();
        let config = LaunchConfig::linear(1, 1);
        let run = |rows: u64, depth: u64| set.run(&config, &[(&bytes).into(), rows.into(), depth.into()]);
        run(2, 2).unwrap();
        assert_eq!(bytes.to_vec().unwrap(), [7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        // All slices in the same place, too many of them, and beyond all addresses.
        for (rows, depth) in [(0, u64::MAX), (2, 3), (1 << 61, 4)] {
            let failed = run(rows, depth);
            let Err(error @ Error::Request { kernel, reason, .. }) = &failed else {
                panic!("{rows} {depth}: {failed:?}")
            };
            assert_eq!((kernel.as_str(), error.is_of_stopped_kernels()), ("set", true));
            assert!(matches!(**reason, Error::Pitch { .. } | Error::OutOfRange { .. }), "{rows} {depth}: {error:?}");
        }
        run(1, 4).unwrap();
        assert_eq!(bytes.to_vec().unwrap(), [7, 0, 0, 0].repeat(4));
    });
}

/// A launch needs the start of a parameter buffer: error 1 is that of an invalid value.
#[test]
fn buffers_are_launched_as_they_were_given() {
    on([Context::new()], |device| {
        let kernel = device.load(&source()).unwrap().kernel("astray").unwrap();
        for (distance, expected) in [(0, 0), (4, 1), (8, 1), (-4, 1), (-1 << 30, 1), (1 << 30, 1)] {
            let error = device.upload_slice(&[7_u32]).unwrap();
            kernel.run(&LaunchConfig::linear(1, 1), &[(&error).into(), (distance as u32).into()]).unwrap();
            assert_eq!(error.to_vec().unwrap(), [expected], "{distance} bytes away");
        }
    });
}

/// Hardware only requires that all threads make progress: thread 40 waits for its launch, and the others for thread 40.
#[test]
fn threads_wait_for_one_that_waits_for_its_launch() {
    on(Context::several(), |device| {
        let kernel = device.load(&astray()).unwrap().kernel("signal").unwrap();
        for threads in [64, 41] {
            let sums = device.upload_slice(&[0_u32; 2]).unwrap();
            kernel.run(&LaunchConfig::linear(threads, threads), &[(&sums).into()]).unwrap();
            assert_eq!(sums.to_vec().unwrap(), [5, 5 * threads]);
        }
    });
}

/// The kernel's own writes hit the record's kind and kernel number, 60 and 56 bytes before the parameters.
#[test]
fn overwritten_records_are_found() {
    on([Context::new()], |device| {
        let kernel = device.load(&astray()).unwrap().kernel("spoil").unwrap();
        let run = |distance: i32, word: u32| {
            let sum = device.upload_slice(&[0_u32]).unwrap();
            let ran = kernel.run(&LaunchConfig::linear(1, 1), &[(&sum).into(), distance.into(), word.into()]);
            (ran, sum.to_vec().unwrap()[0])
        };
        for (distance, word, found) in [(-60, 77, "the unknown kind 77"), (-56, 9000, "kernel 9000 of 3")] {
            let (failed, sum) = run(distance, word);
            let Err(error @ Error::Overwritten { kernel, reason }) = &failed else { panic!("{failed:?}") };
            assert_eq!((kernel.as_str(), sum, error.is_of_stopped_kernels()), ("spoil", 0, true));
            assert!(reason.contains(found), "{reason}");
            // All of it has been freed.
            assert!(matches!(run(8, 6), (Ok(()), 6)));
        }
    });
}
