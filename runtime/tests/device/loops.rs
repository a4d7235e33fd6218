//! Loops of any length compute right results, though lavapipe's driver ends loops after 65,535 iterations: threads are suspended before, and
//! go on in the next dispatch. Kernels that rely on threads in lockstep can't be suspended where threads loop differently. Such kernels report an error
//! there; on other devices they succeed.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread;
use std::time::Duration;

use ptx2spv_runtime::{Arg, Error, Graph, Kernel, LaunchConfig, Module, Stream, Work};
use ptx2spv_translator::{Options, Program, Source};

use crate::{Context, Launch, Load, oldest};

/// * `single(out, n)`: a loop of `n` rounds; each thread stores what it computed.
/// * `nest(out, n, m, every)`: threads whose number is a multiple of `every` do `n` times `m` rounds, the others one; then
///   all of the block meet, and each stores what it computed. A thread 99 would leave before.
/// * `chain(out, n)`: counts `n` and the thread's number down to zero, passes what is left through a volatile word of shared memory, and uses it
///   as an index with which only zero lies in memory. A thread 99 would do nothing of this.
/// * `other_chain(out, n)`: the same, but it stores what is left.
/// * `keep(out, n)`: each thread reads what it has stored before, does `n` rounds, and stores three times that plus one. It stops if that is 1.
/// * `swap(out, n)`: each thread adds one to a double `n` times: where the device has no such atomic, a loop around
///   compare-and-swap in a loop.
/// * `leave(out)`: threads do one to four rounds, and each stores what its last one computed.
/// * `await(flag, out)`: the first thread waits until the flag is set, then all of the block meet, and each adds one to `out`.
/// * `synchronize(out)`: threads synchronize, as far as the translator knows not all at once, and do two rounds; each stores how many it did.
/// * `recurse(out, n, depth)`: a function that calls itself, with `n` rounds in each of the calls; each thread stores what its neighbour computed.
/// * `loop_then_recurse(out, n, depth)`: `n` rounds, then a function that calls itself, in which threads exchange what they have; sums of that.
/// * `thrice(out)`: three loops of 1,000 rounds, and operations of warps between them; each thread stores what it computed.
const KERNELS: &str = include_str!("ptx/loops.ptx");

const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);
const ROW: LaunchConfig = LaunchConfig::new([1; 3], [32, 1, 1]);
/// Rounds that the driver of lavapipe allows, and as many less as the probes may take.
const BUDGET: u32 = 65_535;
const SURE: u32 = BUDGET - 8;

fn load(context: &Context) -> Module {
    context.device.load(&Source::new("loops.ptx", KERNELS)).unwrap()
}

/// The result of a thread of `single` (`n` is 1) or `nest`.
fn sum(n: u32, m: u32) -> u32 {
    (0..n).flat_map(|_| 0..m).fold(0_u32, |x, i| x.wrapping_mul(3).wrapping_add(i))
}

/// Checks the result of `chain` whose longest thread runs `rounds` iterations. A short loop must succeed. A long one
/// may fail with the error that names the kernel, or succeed. Afterwards the device must work as before.
fn check(context: &Context, kernel: &str, rounds: u32, result: Result<Vec<u32>, Error>, expected: &[u32]) {
    let limited = context.device.target().quirks.loop_budget.is_some();
    match result {
        Ok(sums) => {
            assert_eq!(sums, expected, "{kernel}, {rounds} rounds");
            assert!(!limited || rounds <= BUDGET, "{kernel}, {rounds} rounds");
        }
        Err(Error::Aborted { kernels, reason, .. }) => {
            assert_eq!(kernels, [kernel], "{rounds} rounds");
            assert!(limited && rounds > SURE, "{kernel}, {rounds} rounds");
            let device = &context.device.info().name;
            let why = format!("the driver of {device} ends loops after 65535 iterations of a thread's loops together");
            let advice = "which other devices don't: try `--device discrete` or `--device reference`";
            assert_eq!(reason, format!("{why}, {advice}"));
        }
        Err(other) => panic!("{kernel}, {rounds} rounds: {other}"),
    }
    context.device.synchronize().unwrap();
}

#[test]
fn single_loops() {
    for context in Context::several() {
        let module = load(&context);
        let kernel = module.kernel("single").unwrap();
        let out = context.device.alloc(4 * 32).unwrap();
        let lengths = [1, 65_000, SURE, 70_000, 1_000_000, 5].into_iter().chain(SURE..BUDGET + 5);
        for n in lengths {
            kernel.run(&ROW, &[(&out).into(), n.into()]).unwrap();
            assert_eq!(out.download::<u32>().unwrap(), [sum(1, n); 32], "{n} rounds");
        }
    }
}

/// Modules that were translated ahead are suspended too.
#[test]
fn shipped_loops() {
    let context = Context::new();
    let program = Program::new(&Source::new("loops.ptx", KERNELS)).unwrap();
    let made = program.translate(&Options::new(context.device.target()).suspend_in_loops(true)).unwrap();
    let module = context.device.translated(&made).unwrap();
    let out = context.device.alloc(4 * 32).unwrap();
    for n in [5, 200_000] {
        module.kernel("single").unwrap().run(&ROW, &[(&out).into(), n.into()]).unwrap();
        assert_eq!(out.download::<u32>().unwrap(), [sum(1, n); 32], "{n} rounds");
    }
}

#[test]
fn nested_loops_in_some_threads() {
    let context = Context::new();
    let module = load(&context);
    let kernel = module.kernel("nest").unwrap();
    let out = context.device.alloc(4 * 32).unwrap();
    for (n, m) in [(3, 5), (200, 200), (250, 260), (256, 255), (400, 400), (1, 70_000), (70_000, 1)] {
        for every in [1, 3, 16, 32] {
            kernel.run(&ROW, &[(&out).into(), n.into(), m.into(), every.into()]).unwrap();
            let expected: Vec<u32> = (0..32_u32).map(|i| if i % every == 0 { sum(n, m) } else { sum(1, 1) }).collect();
            assert_eq!(out.download::<u32>().unwrap(), expected, "{n} times {m} rounds of one in {every}");
        }
    }
}

/// The stack of a recursive kernel takes none of the driver's rounds.
#[test]
fn loops_of_recursive_functions() {
    let context = Context::new();
    let module = load(&context);
    let out = context.device.alloc(4 * 32).unwrap();
    for (n, depth) in [(3, 4), (30_000, 4), (100_000, 2), (400, 300)] {
        module.kernel("recurse").unwrap().run(&ROW, &[(&out).into(), n.into(), depth.into()]).unwrap();
        let of = |thread: u32| (0..depth).flat_map(|_| 0..n).fold(thread, |x, i| x.wrapping_mul(3).wrapping_add(i));
        let expected: Vec<u32> = (0..32).map(|thread| of(thread ^ 1)).collect();
        assert_eq!(out.download::<u32>().unwrap(), expected, "{n} rounds, {depth} calls");
    }
    for (n, depth) in [(3_u32, 4_u32), (100_000, 20)] {
        module.kernel("loop_then_recurse").unwrap().run(&ROW, &[(&out).into(), n.into(), depth.into()]).unwrap();
        let first = (0..32_u32).map(|thread| (0..n).fold(thread, |x, i| x.wrapping_mul(3).wrapping_add(i)));
        let mut values: Vec<u32> = first.collect();
        let mut sums = vec![0_u32; 32];
        for depth in (1..=depth).rev() {
            sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
            values = (0..32).map(|thread| values[thread ^ 1].wrapping_mul(3).wrapping_add(depth)).collect();
        }
        sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
        assert_eq!(out.download::<u32>().unwrap(), sums, "{n} rounds, then {depth} calls");
    }
}

/// Code after a loop that was cut short must not run: here it would write far outside of all memory.
#[test]
fn code_after_cut_loops_is_skipped() {
    let context = Context::new();
    let module = load(&context);
    let kernel = module.kernel("chain").unwrap();
    for n in [1, 60_000, 70_000, 3_000_000] {
        let out = context.device.upload(&[0_u32]).unwrap();
        kernel.run(&ONE, &[(&out).into(), n.into()]).unwrap();
        check(&context, "chain", n, out.download(), &[7]);
    }
}

/// Results of an iteration are there after the loop, also in threads that leave it earlier.
#[test]
fn values_of_a_last_round() {
    for context in Context::several() {
        let module = load(&context);
        let kernel = module.kernel("leave").unwrap();
        let out = context.device.upload(&[0_u32; 32]).unwrap();
        kernel.run(&ROW, &[(&out).into()]).unwrap();
        let last = |thread: u32| {
            let rounds = (2..=(thread & 3) + 1).rev();
            5 * rounds.fold(thread, |x, left| 5 * x + left)
        };
        assert_eq!(out.download::<u32>().unwrap(), (0..32).map(last).collect::<Vec<_>>());
    }
}

/// Loops whose condition is in memory end, however many lanes of the last vector the workgroup fills.
#[test]
fn loops_in_workgroups_of_any_size() {
    let context = Context::new();
    let module = load(&context);
    let kernel = module.kernel("synchronize").unwrap();
    for threads in 1..=40 {
        let out = context.device.upload(&vec![0_u32; threads as usize]).unwrap();
        let config = LaunchConfig::new(ONE.grid, [threads, 1, 1]);
        kernel.run(&config, &[(&out).into()]).unwrap();
        assert_eq!(out.download::<u32>().unwrap(), vec![2; threads as usize]);
    }
}

/// Loops are short only if they are for all threads that an invocation runs one after another: a whole warp where subgroups are of no use.
#[test]
fn short_loops_of_all_lanes() {
    let without_subgroups =
        format!("{},without=subgroupSizeControl+computeFullSubgroups+VK_EXT_subgroup_size_control", oldest());
    for context in [Context::new(), Context::restricted(&without_subgroups)] {
        let module = load(&context);
        let out = context.device.alloc(4 * 32).unwrap();
        module.kernel("thrice").unwrap().run(&ROW, &[(&out).into()]).unwrap();
        let rounds = |by: u32, x: u32| (0..1000).fold(x, |x, i| x.wrapping_mul(by).wrapping_add(i));
        let sums = |lanes: Vec<u32>, mask: usize| -> Vec<u32> {
            (0..lanes.len()).map(|lane| lanes[lane].wrapping_add(lanes[lane ^ mask])).collect()
        };
        let first = sums((0..32).map(|x| rounds(3, x)).collect(), 1);
        let second = sums(first.into_iter().map(|x| rounds(5, x)).collect(), 2);
        let third: Vec<u32> = second.into_iter().map(|x| rounds(7, x)).collect();
        assert_eq!(out.download::<u32>().unwrap(), third);
    }
}

/// Atomics that are loops use up rounds too.
#[test]
fn loops_of_atomics() {
    let context = Context::new();
    let module = load(&context);
    let kernel = module.kernel("swap").unwrap();
    for n in [1, 100, 20_000].into_iter().chain((7_270..7_295).chain(13_000..13_020)) {
        let out = context.device.upload(&[0_f64]).unwrap();
        kernel.run(&ROW, &[(&out).into(), n.into()]).unwrap();
        assert_eq!(out.download::<f64>().unwrap(), [32.0 * f64::from(n)], "{n} times");
    }
}

/// Rounds of several dispatches.
const MANY: u32 = 100_000;

/// The value that `keep` leaves after some launches.
fn kept(launches: u32) -> u32 {
    (0..launches).fold(1, |x: u32, _| x.wrapping_mul(3).wrapping_add(1))
}

/// Launches of several dispatches stay whole, whichever thread launches others in the same stream, or in one that is ordered with it.
#[test]
fn long_launches_of_several_threads() {
    let context = Context::new();
    let module = load(&context);
    let kernel = module.kernel("keep").unwrap();
    let out = context.device.upload(&[1_u32; 32]).unwrap();
    let (own, default) = (context.device.stream(), context.device.default_stream());
    thread::scope(|scope| {
        for stream in [&own, &own, &default] {
            scope.spawn(|| {
                for _ in 0..4 {
                    // SAFETY: the kernel changes 32 numbers.
                    unsafe { kernel.launch_on(stream, &ROW, &[(&out).into(), MANY.into()]) }.unwrap();
                }
            });
        }
    });
    assert_eq!(out.download::<u32>().unwrap(), [kept(12); 32]);
}

/// Host functions, copies in other streams and graphs see the results of long launches.
#[test]
fn long_launches_in_order() {
    let context = Context::new();
    let (device, module) = (&context.device, load(&context));
    let kernel = module.kernel("keep").unwrap();
    let [out, copy] = [(); 2].map(|()| device.upload(&[1_u32; 32]).unwrap());
    let [first, second] = [(); 2].map(|()| device.non_blocking_stream());
    let launch = |stream: &Stream| {
        // SAFETY: the kernel changes 32 numbers.
        unsafe { kernel.launch_on(stream, &ROW, &[(&out).into(), MANY.into()]) }.unwrap();
    };
    let (event, was_called) = (device.event(), Arc::new(AtomicBool::new(false)));
    let called = was_called.clone();
    launch(&first);
    first.call(move || called.store(true, SeqCst)).unwrap();
    launch(&first);
    assert!(was_called.load(SeqCst));
    event.record(&first).unwrap();
    second.wait_event(&event).unwrap();
    second.copy(out.address(), copy.address(), 128).unwrap();
    second.synchronize().unwrap();
    assert_eq!(copy.download::<u32>().unwrap(), [kept(2); 32]);
    let mut graph = Graph::new(device);
    let one = graph.add(&[], Work::kernel(&kernel, &ROW, &[(&out).into(), MANY.into()])).unwrap();
    graph.add(&[one], Work::kernel(&kernel, &ROW, &[(&out).into(), 5_u32.into()])).unwrap();
    let launchable = graph.instantiate().unwrap();
    // SAFETY: as above.
    unsafe { launchable.launch(&first) }.unwrap();
    first.synchronize().unwrap();
    assert_eq!(out.download::<u32>().unwrap(), [kept(4); 32]);
    // One that is stopped after its loop, behind which nothing runs.
    first.set(out.address(), 0_u8, 128).unwrap();
    // SAFETY: as above.
    let launched = unsafe { kernel.launch_on(&first, &ROW, &[(&out).into(), MANY.into()]) };
    let stopped = launched.and_then(|()| first.synchronize());
    assert!(matches!(stopped, Err(Error::Aborted { .. })), "{stopped:?}");
    assert_eq!(out.download::<u32>().unwrap(), [0; 32]);
}

/// Every call that waits for results reports once, and names all kernels of the module since the last report.
#[test]
fn reports_of_stopped_kernels() {
    for context in Context::several() {
        if context.device.target().quirks.loop_budget.is_none() {
            continue;
        }
        let (module, other) = (load(&context), load(&context));
        let (first, chain) = (module.kernel("other_chain").unwrap(), module.kernel("chain").unwrap());
        let (other_first, out) = (other.kernel("other_chain").unwrap(), context.device.alloc(4 * 32).unwrap());
        let launch = |kernel: &Kernel, n: u32| {
            kernel.run(&ONE, &[(&out).into(), n.into()]).unwrap();
        };
        let names = |result: Result<(), Error>| match result {
            Ok(()) => vec![],
            Err(Error::Aborted { kernels, .. }) => kernels,
            Err(other) => panic!("{other}"),
        };
        let device = &context.device;
        let nothing: &[String] = &[];

        launch(&first, 70_000);
        launch(&chain, 3);
        launch(&other_first, 3);
        assert_eq!(names(device.synchronize()), ["other_chain", "chain"]);
        assert_eq!(names(device.synchronize()), nothing);
        // Both modules: one after the other.
        launch(&other_first, 70_000);
        launch(&chain, 70_000);
        assert_eq!(names(out.read(0, &mut [0; 4])), ["other_chain"]);
        assert_eq!(names(out.read(0, &mut [0; 4])), ["chain"]);
        assert_eq!(names(out.read(0, &mut [0; 4])), nothing);
        // Only the first of several sets the word, which stays until it is read.
        launch(&first, 70_000);
        launch(&first, 3);
        launch(&first, 70_000);
        out.write(0, &[0; 4]).unwrap();
        assert_eq!(names(module.read_variable("seen", 0, &mut [0; 4])), ["other_chain"]);
        assert_eq!(names(module.read_variable("seen", 0, &mut [0; 4])), nothing);
        let times = first.timed(&ONE, &[(&out).into(), 70_000_u32.into()], 3);
        assert_eq!(names(times.map(drop)), ["other_chain"]);
        // The module may have been dropped by then.
        launch(&chain, 70_000);
        drop((module, first, chain));
        assert_eq!(names(device.synchronize()), ["chain"]);
        launch(&other_first, 70_000);
    }
}

/// A kernel that waits for the host goes on when the host has answered, and ends with an error if no answer comes.
#[test]
fn a_kernel_waits_for_the_host() {
    let context = Context::new();
    let (device, module) = (&context.device, load(&context));
    let kernel = module.kernel("await").unwrap();
    let (mut flag, out) = (device.alloc_pinned(4).unwrap(), device.upload(&[0_u32]).unwrap());
    // SAFETY: the memory is aligned, and only this word is accessed while the kernel runs.
    let word = unsafe { AtomicU32::from_ptr(flag.bytes_mut().as_mut_ptr().cast()) };
    // SAFETY: the kernel reads the flag and changes a number. The host sets the flag, or the launch waits for the kernel.
    let launch = || unsafe { kernel.launch(&ROW, &[Arg::Address(flag.address()), (&out).into()]) };
    thread::scope(|scope| {
        let launched = scope.spawn(launch);
        thread::sleep(Duration::from_millis(50));
        word.store(1, SeqCst);
        launched.join().unwrap().unwrap();
    });
    assert_eq!(out.download::<u32>().unwrap(), [32]);
    if device.target().quirks.loop_budget.is_some() {
        word.store(0, SeqCst);
        let waited = launch();
        assert!(matches!(&waited, Err(Error::Aborted { kernels, .. }) if kernels == &["await"]), "{waited:?}");
        assert_eq!(out.download::<u32>().unwrap(), [32]);
    }
}
