//! Streams and events: order, waiting, and host functions.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use ptx2spv_runtime::{Arg, DeviceKind, Error, Graph, Kernel, LaunchConfig, Source, Stream, StreamOptions, Work};

use crate::{Context, Launch};

/// Launches `x = 3 x + by` on numbers at an address.
fn step(kernel: &Kernel, stream: &Stream, address: u64, by: u32) {
    let args = [Arg::Address(address), by.into()];
    // SAFETY: the tests' buffers have 256 numbers.
    unsafe { kernel.launch_on(stream, &LaunchConfig::linear(256, 64), &args) }.unwrap();
}

fn stepped(x: u32, by: u32) -> u32 {
    x.wrapping_mul(3).wrapping_add(by)
}

/// The numbers at an address, in a stream's order.
fn numbers(stream: &Stream, address: u64) -> Vec<u32> {
    let mut numbers = vec![0_u32; 256];
    stream.read(address, bytemuck::cast_slice_mut(&mut numbers)).unwrap();
    numbers
}

#[test]
fn commands_of_a_stream_are_in_order() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let device = &context.device;
        let streams = [device.stream(), device.non_blocking_stream(), device.default_stream()];
        let buffers = [(); 3].map(|()| device.alloc(2048).unwrap());
        let mut expected = [1; 3];
        for (stream, buffer) in streams.iter().zip(&buffers) {
            stream.set(buffer.address(), 1_u32, 256).unwrap();
        }
        // The streams' commands alternate, so that commands of other streams are between each stream's own.
        for by in 0..200 {
            for (number, (stream, buffer)) in streams.iter().zip(&buffers).enumerate() {
                step(&kernel, stream, buffer.address(), by);
                expected[number] = stepped(expected[number], by);
                if by % 50 == 7 {
                    // There and back.
                    stream.copy(buffer.address(), buffer.address() + 1024, 1024).unwrap();
                    stream.set(buffer.address(), 0xff_u8, 1024).unwrap();
                    stream.copy(buffer.address() + 1024, buffer.address(), 1024).unwrap();
                }
            }
        }
        for ((stream, buffer), expected) in streams.iter().zip(&buffers).zip(expected) {
            assert_eq!(numbers(stream, buffer.address()), [expected; 256]);
        }
    }
}

/// Data of writes in stream order is read at the call, in small and large pieces.
#[test]
fn writes_take_their_bytes_at_once() {
    for context in Context::several() {
        let (device, stream) = (&context.device, context.device.non_blocking_stream());
        for len in [1, 3, 4096, 32 << 10, (32 << 10) + 1, (9 << 20) + 5] {
            let buffer = device.alloc(len + 3).unwrap();
            let mut bytes: Vec<u8> = (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let expected = bytes.clone();
            stream.write(buffer.address() + 3, &bytes).unwrap();
            bytes.fill(0);
            let mut found = vec![0; len as usize];
            stream.read(buffer.address() + 3, &mut found).unwrap();
            assert!(found == expected, "{len} bytes");
        }
    }
}

#[test]
fn events_order_streams() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let device = &context.device;
        let (a, b) = (device.non_blocking_stream(), device.non_blocking_stream());
        let buffer = device.alloc(1024).unwrap();
        let event = device.event();
        a.set(buffer.address(), 5_u32, 256).unwrap();
        let mut expected = 5;
        for by in 0..100 {
            let (from, to) = if by % 2 == 0 { (&a, &b) } else { (&b, &a) };
            event.record(from).unwrap();
            to.wait_event(&event).unwrap();
            step(&kernel, to, buffer.address(), by);
            expected = stepped(expected, by);
        }
        // The last step was in `a`.
        assert_eq!(numbers(&a, buffer.address()), [expected; 256]);
    }
}

#[test]
fn the_default_stream_is_in_order_with_streams_that_block() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let device = &context.device;
        let (a, b) = (device.stream(), device.stream());
        let buffer = device.alloc(1024).unwrap();
        let mut expected = 0;
        buffer.fill(0).unwrap();
        for by in 0..60 {
            let stream = if by % 2 == 0 { &a } else { &b };
            step(&kernel, stream, buffer.address(), by);
            expected = stepped(expected, by);
            // In the default stream, between the two others.
            kernel.run(&LaunchConfig::linear(256, 64), &[(&buffer).into(), 1_u32.into()]).unwrap();
            expected = stepped(expected, 1);
        }
        step(&kernel, &a, buffer.address(), 9);
        assert_eq!(buffer.download::<u32>().unwrap(), [stepped(expected, 9); 256]);
    }
}

/// Threads' own streams: the same for all calls of a thread, another one in each, and on each device.
#[test]
fn threads_have_streams_of_their_own() {
    for context in Context::several() {
        let (device, kernel) = (&context.device, context.kernel("step"));
        let name = || format!("{:?}", device.thread_stream());
        let own = name();
        assert_eq!(name(), own);
        let other = thread::scope(|scope| scope.spawn(name).join().unwrap());
        assert_ne!(other, own);
        assert!(own != format!("{:?}", device.default_stream()), "{own}");

        // Each waits only for its own work: the other thread's stream is held up by a function.
        let (release, wait) = channel::<()>();
        let held = thread::scope(|scope| {
            let hold = || {
                device.thread_stream().call(move || wait.recv().unwrap_or_default()).unwrap();
                device.thread_stream()
            };
            scope.spawn(hold).join().unwrap()
        });
        device.thread_stream().synchronize().unwrap();
        assert!(!held.is_idle().unwrap());
        drop(release);
        held.synchronize().unwrap();

        // In order with the legacy default stream.
        let buffer = device.alloc(1024).unwrap();
        let mut expected = 0;
        buffer.fill(0).unwrap();
        for by in 0..30 {
            step(&kernel, &device.thread_stream(), buffer.address(), by);
            kernel.run(&LaunchConfig::linear(256, 64), &[(&buffer).into(), 1_u32.into()]).unwrap();
            expected = stepped(stepped(expected, by), 1);
        }
        assert_eq!(numbers(&device.thread_stream(), buffer.address()), [expected; 256]);
    }
}

/// Steps on two buffers in streams of all kinds, each after the one before on its buffer: by the stream's own order, by an event,
/// or by a step in the default stream between them.
#[test]
fn streams_wait_for_each_other_in_all_ways() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let device = &context.device;
        let count = if device.info().kind == DeviceKind::Reference { 256 } else { 1 << 14 };
        let launch = |stream: &Stream, address: u64, by: u32| {
            let args = [Arg::Address(address), by.into()];
            // SAFETY: the buffers have `count` numbers.
            unsafe { kernel.launch_on(stream, &LaunchConfig::linear(count, 64), &args) }.unwrap();
        };
        let options = StreamOptions::default();
        let with = |non_blocking, urgent| device.stream_with(options.non_blocking(non_blocking).urgent(urgent));
        let streams = [with(false, false), with(true, false), with(false, true), with(true, true), with(false, false)];
        let blocks = [true, false, true, false, true];
        let (default, events) = (device.default_stream(), [device.event(), device.event()]);
        let buffers = [(); 2].map(|()| device.upload(&vec![1_u32; count as usize]).unwrap());
        let (mut expected, mut last) = ([1; 2], [0; 2]);
        // The upper bits of a linear congruential generator.
        let mut state = 7_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for by in 0..200 {
            let (buffer, next) = (random(2) as usize, random(5) as usize);
            let (address, before) = (buffers[buffer].address(), last[buffer]);
            if before != next && blocks[before] && blocks[next] && random(2) == 0 {
                launch(&default, address, by);
                expected[buffer] = stepped(expected[buffer], by);
            } else if before != next {
                events[buffer].record(&streams[before]).unwrap();
                streams[next].wait_event(&events[buffer]).unwrap();
            }
            launch(&streams[next], address, by + 1);
            expected[buffer] = stepped(expected[buffer], by + 1);
            last[buffer] = next;
            if random(40) == 0 {
                assert_eq!(numbers(&streams[next], address), [expected[buffer]; 256], "step {by}");
            }
        }
        device.synchronize().unwrap();
        for (buffer, expected) in buffers.iter().zip(expected) {
            assert!(buffer.download::<u32>().unwrap().iter().all(|x| *x == expected));
        }
    }
}

#[test]
fn events_pass_and_take_the_time() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let device = &context.device;
        let stream = device.stream();
        let buffer = device.upload(&[0_u32; 256]).unwrap();
        let (start, end) = (device.timing_event().unwrap(), device.timing_event().unwrap());
        assert!(start.has_passed().unwrap());
        assert!(matches!(end.elapsed_since(&start), Err(Error::NoTime)));
        for _ in 0..3 {
            start.record(&stream).unwrap();
            (0..50).for_each(|by| step(&kernel, &stream, buffer.address(), by));
            end.record(&stream).unwrap();
            // A query alone makes it happen.
            while !end.has_passed().unwrap() {
                std::thread::yield_now();
            }
            assert!(start.has_passed().unwrap() && stream.is_idle().unwrap());
            assert!(!end.elapsed_since(&start).unwrap().is_zero());
            assert!(start.elapsed_since(&end).unwrap().is_zero());
        }
        let plain = device.event();
        plain.record(&stream).unwrap();
        plain.synchronize().unwrap();
        assert!(matches!(plain.elapsed_since(&start), Err(Error::NoTime)));
    }
}

#[test]
fn host_functions_are_in_stream_order() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let device = &context.device;
        let (stream, other) = (device.stream(), device.non_blocking_stream());
        let buffer = device.upload(&[1_u32; 256]).unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let note = |text: &'static str| {
            let log = log.clone();
            move || log.lock().unwrap().push(text)
        };
        let (go, gate) = channel::<()>();
        step(&kernel, &stream, buffer.address(), 1);
        stream
            .call(move || {
                // Returns also if the test fails, which drops the sender.
                let _ = gate.recv();
            })
            .unwrap();
        stream.call(note("after the gate")).unwrap();
        let event = device.event();
        event.record(&stream).unwrap();
        assert!(!event.has_passed().unwrap() && !stream.is_idle().unwrap());
        // Other streams continue.
        other.set(buffer.address(), 0_u8, 0).unwrap();
        assert!(other.is_idle().unwrap());
        assert!(log.lock().unwrap().is_empty());
        go.send(()).unwrap();
        step(&kernel, &stream, buffer.address(), 2);
        assert_eq!(*log.lock().unwrap(), ["after the gate"]);
        // A function's captures are freed with it, and a panic stays in the function.
        let owned = device.alloc(16).unwrap();
        other.call(move || drop(owned)).unwrap();
        other.call(|| panic!("expected by the test")).unwrap();
        other.call(note("after the panic")).unwrap();
        // An event passes a function's end on to another stream.
        event.record(&other).unwrap();
        stream.wait_event(&event).unwrap();
        step(&kernel, &stream, buffer.address(), 3);
        assert_eq!(*log.lock().unwrap(), ["after the gate", "after the panic"]);
        let expected = [1, 2, 3].into_iter().fold(1, stepped);
        assert_eq!(buffer.download::<u32>().unwrap(), [expected; 256]);
        device.synchronize().unwrap();
    }
}

#[test]
fn threads_with_streams_of_their_own() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let device = &context.device;
        std::thread::scope(|scope| {
            for seed in 1..5_u32 {
                let kernel = &kernel;
                scope.spawn(move || {
                    let (stream, buffer) = (device.non_blocking_stream(), device.alloc(1024).unwrap());
                    stream.set(buffer.address(), seed, 256).unwrap();
                    let mut expected = seed;
                    for by in 0..100 {
                        step(kernel, &stream, buffer.address(), by);
                        expected = stepped(expected, by);
                        if by % 20 == 3 {
                            stream.synchronize().unwrap();
                        }
                    }
                    assert_eq!(numbers(&stream, buffer.address()), [expected; 256]);
                });
            }
        });
    }
}

/// A loop of one thread, long on any device.
const LONG: &str = include_str!("ptx/streams.ptx");

#[test]
#[ignore = "needs a device with several queues"]
fn a_stream_goes_on_beside_a_long_kernel_of_another() {
    let context = Context::new();
    let device = &context.device;
    let long = device.load(&Source::new("long.ptx", LONG)).unwrap().kernel("long").unwrap();
    let step_kernel = context.kernel("step");
    let (first, second) = (device.stream(), device.stream());
    let (out, buffer) = (device.alloc(4).unwrap(), device.upload(&[1_u32; 256]).unwrap());
    let begin = |count: u32| {
        let args = [Arg::Address(out.address()), count.into()];
        // SAFETY: the kernel writes one number.
        unsafe { long.launch_on(&first, &LaunchConfig::linear(1, 1), &args) }.unwrap();
        (0..10).for_each(|by| step(&step_kernel, &second, buffer.address(), by));
        second.synchronize().unwrap();
    };
    // The first launch makes the pipelines.
    begin(1);
    device.synchronize().unwrap();
    begin(1 << 28);
    assert!(!first.is_idle().unwrap(), "the short kernels waited for the long one");
    device.synchronize().unwrap();
}

#[test]
fn what_belongs_to_other_devices_is_refused() {
    let [first, second] = [Context::new(), Context::new()];
    let (stream, event) = (first.device.stream(), second.device.event());
    assert!(matches!(event.record(&stream), Err(Error::ForeignBuffer(_))));
    // A stream may wait for events of other devices.
    stream.wait_event(&event).unwrap();
    let kernel = second.kernel("step");
    // SAFETY: nothing is launched.
    let launched = unsafe { kernel.launch_on(&stream, &LaunchConfig::linear(1, 1), &[]) };
    assert!(matches!(launched, Err(Error::ForeignBuffer(_))));
    let (kernel, buffer) = (first.kernel("step"), second.device.alloc(1024).unwrap());
    let work = || Work::kernel(&kernel, &LaunchConfig::linear(1, 1), &[(&buffer).into(), 1_u32.into()]);
    let mut graph = Graph::new(&first.device);
    assert!(matches!(graph.add(&[], work()), Err(Error::ForeignBuffer(_))));
    let node = graph.add(&[], Work::Empty).unwrap();
    assert!(graph.instantiate().unwrap().set(node, work()).is_err());
}

/// Event 0 by all warps, 1 and 7 by those of threads below 40, 3 by each warp once more than by the one before, and 9 by a
/// single thread of each.
const KERNELS: &str = include_str!("ptx/events.ptx");

fn events(counts: &[(usize, u64)]) -> [u64; 16] {
    let mut all = [0; 16];
    for &(event, count) in counts {
        all[event] = count;
    }
    all
}

#[test]
fn events_count_once_for_each_warp() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("events.ptx", KERNELS)).unwrap();
        let kernel = module.kernel("counting").unwrap();
        assert_eq!(module.counters().unwrap(), [0; 16]);
        let launch = LaunchConfig::new([5, 1, 1], [96, 1, 1]);
        kernel.run(&launch, &[]).unwrap();
        assert_eq!(module.counters().unwrap(), events(&[(0, 15), (1, 10), (7, 10), (3, 30), (9, 15)]));
        // Counters keep counting until they are reset, and don't affect variables.
        kernel.run(&launch, &[]).unwrap();
        assert_eq!(module.counters().unwrap(), events(&[(0, 30), (1, 20), (7, 20), (3, 60), (9, 30)]));
        module.reset_counters().unwrap();
        // A block whose last warp is not full.
        kernel.run(&LaunchConfig::new([1; 3], [35, 1, 1]), &[]).unwrap();
        assert_eq!(module.counters().unwrap(), events(&[(0, 2), (1, 2), (7, 2), (3, 3), (9, 1)]));
        let mut before = [0; 4];
        module.read_variable("before", 0, &mut before).unwrap();
        assert_eq!(before, [7, 0, 0, 0]);
    }
}

#[test]
fn kernels_without_events_pay_nothing() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("events.ptx", KERNELS)).unwrap();
        assert!(module.kernel("nothing").unwrap().entry().packing.is_none());
        let text = KERNELS.replace("pmevent", "// pmevent");
        let without = context.device.load(&Source::new("none.ptx", text)).unwrap();
        assert!(without.kernel("counting").unwrap().entry().packing.is_none());
        assert_eq!(without.counters().unwrap(), [0; 16]);
        without.reset_counters().unwrap();
    }
}
