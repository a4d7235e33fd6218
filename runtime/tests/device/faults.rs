//! Exhausted time and memory. The device keeps working.

use std::sync::mpsc::channel;
use std::time::Duration;

use ptx2spv_runtime::{Arg, DeviceKind, Error, InstanceOptions, LaunchConfig, Stream};
use ptx2spv_translator::Source;

use crate::Context;

#[test]
fn waits_end_at_their_limit() {
    for context in Context::several() {
        let device = &context.device;
        let (stream, event, buffer) = (device.stream(), device.event(), device.alloc(64).unwrap());
        let (go, gone) = channel::<()>();
        stream.call(move || gone.recv().unwrap_or_default()).unwrap();
        event.record(&stream).unwrap();
        device.set_wait_limit(Some(Duration::from_millis(1)));
        let late = [
            stream.synchronize(),
            event.synchronize(),
            device.synchronize(),
            // Comes after the function.
            stream.set(buffer.address(), 1_u8, 64),
            buffer.read(0, &mut [0]),
        ];
        assert!(late.iter().all(|wait| matches!(wait, Err(Error::Timeout))), "{late:?}");
        // Other streams continue.
        let other = device.non_blocking_stream();
        device.set_wait_limit(None);
        other.set(buffer.address(), 2_u8, 64).unwrap();
        other.synchronize().unwrap();
        go.send(()).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(buffer.download::<u8>().unwrap(), [2; 64]);
    }
}

/// Each thread loops as long as drivers allow that end loops early, and the last one says how far it got. The loop is known not to be longer.
/// All stop after the loop if the number of rounds ends with three one bits.
const LONG: &str = include_str!("ptx/faults.ptx");

fn rounds(count: u32) -> u32 {
    (0..count).fold(1_u32, |x, i| x.wrapping_mul(1_664_525).wrapping_add(i))
}

/// A kernel that takes longer than its stream is waited for.
#[test]
fn waits_for_a_long_kernel_end_at_their_limit() {
    let [context, other_context] = [Context::new(), Context::new()];
    let device = &context.device;
    if device.as_reference().is_some() {
        // Launches there have ended when they return.
        return;
    }
    // Seconds of one processor, or as many blocks as keep other devices busy for a while.
    let blocks = if device.info().kind == DeviceKind::Cpu { 10_000 } else { 1_000_000 };
    let kernel = device.load(&Source::new("long.ptx", LONG)).unwrap().kernel("long").unwrap();
    let (stream, event, out) = (device.non_blocking_stream(), device.event(), device.upload(&[0_u32]).unwrap());
    let launch = |blocks: u32, rounds: u32| {
        let args = [(&out).into(), rounds.into()];
        // SAFETY: the kernel writes one number.
        unsafe { kernel.launch_on(&stream, &LaunchConfig::linear(blocks, 1), &args) }.unwrap();
    };
    launch(1, 1);
    stream.synchronize().unwrap();
    let short = Duration::from_millis(1);
    launch(blocks, 30_000);
    event.record(&stream).unwrap();
    let late = [stream.synchronize_for(short), event.synchronize_for(short), stream.synchronize_for(Duration::ZERO)];
    assert!(late.iter().all(|wait| matches!(wait, Err(Error::Timeout))), "{late:?}");
    assert!(!event.has_passed().unwrap());
    // Another device isn't concerned.
    let others = other_context.device.upload(&[3_u32; 4]).unwrap();
    let other_stream = other_context.device.stream();
    other_stream.set(others.address(), 4_u32, 4).unwrap();
    other_stream.synchronize_for(Duration::from_secs(600)).unwrap();
    assert_eq!(others.download::<u32>().unwrap(), [4; 4]);
    // Nor is another stream, or a later wait.
    let (second, numbers) = (device.non_blocking_stream(), device.alloc(64).unwrap());
    second.set(numbers.address(), 2_u8, 64).unwrap();
    second.synchronize().unwrap();
    event.synchronize_for(Duration::from_secs(600)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(out.download::<u32>().unwrap(), [rounds(30_000)]);
    assert_eq!(numbers.download::<u8>().unwrap(), [2; 64]);
    // What a kernel reports after a wait has ended is told by the next one.
    launch(blocks / 10, 29_999);
    let late = stream.synchronize_for(short);
    assert!(matches!(late, Err(Error::Timeout)), "{late:?}");
    let stopped = stream.synchronize();
    assert!(matches!(stopped, Err(Error::Aborted { .. })), "{stopped:?}");
    stream.synchronize().unwrap();
}

/// Kernels of one module in two streams on two queues. Who is told of the one that stops is open, but not that somebody is.
#[test]
fn reports_are_not_lost_between_streams() {
    let context = Context::with(&crate::options().queues(Some(4)));
    let device = &context.device;
    let kernel = device.load(&Source::new("long.ptx", LONG)).unwrap().kernel("long").unwrap();
    let [first, second] = [(); 2].map(|()| device.non_blocking_stream());
    let out = device.upload(&[0_u32]).unwrap();
    let launch = |stream: &Stream, blocks: u32, rounds: u32| {
        let args = [(&out).into(), rounds.into()];
        // SAFETY: the kernel writes one number.
        unsafe { kernel.launch_on(stream, &LaunchConfig::linear(blocks, 1), &args) }.unwrap();
    };
    for _ in 0..3 {
        launch(&first, 1, 1);
        launch(&second, 100, 30_000);
        launch(&second, 1, 7);
        let told = [first.synchronize(), second.synchronize(), first.synchronize(), second.synchronize()];
        let stopped = told.iter().filter(|told| matches!(told, Err(Error::Aborted { .. }))).count();
        assert!(stopped == 1 && told.iter().filter(|told| told.is_ok()).count() == 3, "{told:?}");
        // One that stops beside another.
        launch(&second, 100, 30_000);
        launch(&first, 1, 7);
        let stopped = first.synchronize();
        assert!(matches!(stopped, Err(Error::Aborted { .. })), "{stopped:?}");
        second.synchronize().unwrap();
    }
}

#[test]
fn memory_that_is_not_there() {
    for context in Context::several() {
        let device = &context.device;
        let (memory, stream) = (device.memory(), device.stream());
        for bytes in [1 << 50, u64::MAX] {
            let refused = [
                device.alloc(bytes).map(|_| ()),
                device.alloc_pinned(bytes).map(|_| ()),
                memory.allocate_managed(bytes).map(|_| ()),
                stream.allocate(bytes).map(|_| ()),
            ];
            let is_right = |result: &Result<(), Error>| {
                matches!(result, Err(Error::BufferTooLarge { .. } | Error::OutOfMemory(_)))
            };
            assert!(refused.iter().all(is_right), "{refused:?}");
        }
        assert_eq!(device.default_pool().usage().reserved_high, 0);
        assert_eq!(device.upload(&[7_u8; 3]).unwrap().download::<u8>().unwrap(), [7; 3]);
    }
}

/// Loads modules and launches their kernels, and drops them.
fn churn(context: &Context, loads: u32, launches: u32) {
    let (device, stream) = (&context.device, context.device.stream());
    let buffer = device.alloc(1024).unwrap();
    stream.set(buffer.address(), 0_u32, 256).unwrap();
    let mut expected = 0_u32;
    for _ in 0..loads {
        let kernel = context.kernel("step");
        for by in 0..launches {
            let args = [Arg::Address(buffer.address()), by.into()];
            // SAFETY: the buffer has 256 numbers.
            unsafe { kernel.launch_on(&stream, &LaunchConfig::linear(256, 64), &args) }.unwrap();
            expected = expected.wrapping_mul(3).wrapping_add(by);
        }
    }
    stream.synchronize().unwrap();
    assert_eq!(buffer.download::<u32>().unwrap(), [expected; 256]);
}

#[test]
fn launches_and_loads_leave_nothing() {
    for context in Context::several() {
        let free = context.device.memory().info().free;
        churn(&context, 40, 10);
        // A driver's memory figures include other programs.
        if context.device.info().kind == DeviceKind::Reference {
            assert_eq!(context.device.memory().info().free, free);
        }
    }
}

/// Pages of memory that the process has.
#[cfg(target_os = "linux")]
fn resident_pages() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "measures the memory of the process, which other tests use too"]
fn a_hundred_thousand_launches_do_not_grow() {
    let context = Context::with(&InstanceOptions::default().validation(Some(false)));
    churn(&context, 1000, 10);
    churn(&context, 10_000, 10);
    // How many batches there are at most depends on how fast the device is: the first rounds make them.
    let pages: [u64; 6] = std::array::from_fn(|_| {
        churn(&context, 1, 100_000);
        resident_pages()
    });
    churn(&context, 10_000, 10);
    let after = resident_pages();
    println!("{pages:?} pages after launches, {after} after loads");
    // Less than the smallest leak of a launch, or of a load.
    let [.., before, last] = pages;
    assert!(last < before + 256 && after < last + 1024, "{pages:?} pages after launches, {after} after loads");
}
