//! Results of kernels, their order, and the size of grids.

use std::sync::Mutex;
use std::thread;

use ptx2spv_runtime::{Arg, Config, Device, Error, Kernel, LaunchConfig, LoadOptions, Math, PreparationTimes, Source};
use ptx2spv_translator::interface::BlockSize;
use ptx2spv_translator::target::Version;

use crate::{Context, Launch, Load, basics, basics_interface, oldest};

/// Adds 1,000 numbers with blocks of 64 and checks every sum, and that nothing was written after them.
fn add_vectors(context: &Context) {
    let n = 1000_u32;
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..n).map(|i| 0.5 * i as f32 + 1.0).collect();
    let (a, b) = (context.device.upload(&a).unwrap(), context.device.upload(&b).unwrap());
    let c = context.device.upload(&[-1.0_f32; 1024]).unwrap();
    let kernel = context.kernel("vector_add");
    let config = LaunchConfig::linear(n, 64);
    assert_eq!(config.grid, [16, 1, 1]);
    kernel.run(&config, &[(&a).into(), (&b).into(), (&c).into(), n.into()]).unwrap();
    let c: Vec<f32> = c.download().unwrap();
    for (i, &sum) in c.iter().enumerate() {
        assert_eq!(sum, if i < 1000 { 1.5 * i as f32 + 1.0 } else { -1.0 }, "element {i}");
    }
}

#[test]
fn vector_add() {
    let context = Context::new();
    add_vectors(&context);
}

#[test]
fn older_vulkan_versions() {
    let oldest = if oldest() == "vulkan=1.1" { Version(1, 1) } else { Version(1, 2) };
    for version in [oldest, Version(1, 2), Version(1, 3)] {
        let context = Context::restricted(&format!("vulkan=1.{}", version.1));
        assert_eq!(context.device.target().vulkan, version);
        add_vectors(&context);
    }
}

/// `x = 3 * x + by`, whose result depends on the order of the launches.
#[track_caller]
fn launch_in_order(context: Context) {
    let n = 256_u32;
    let buffer = context.device.upload(&(0..n).collect::<Vec<u32>>()).unwrap();
    let kernel = context.kernel("step");
    let mut expected: Vec<u32> = (0..n).collect();
    for by in 0..5000_u32 {
        kernel.run(&LaunchConfig::linear(n, 64), &[(&buffer).into(), by.into()]).unwrap();
        expected.iter_mut().for_each(|x| *x = x.wrapping_mul(3).wrapping_add(by));
    }
    assert_eq!(buffer.download::<u32>().unwrap(), expected);
}

#[test]
fn launches_copies_and_fills_in_order() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let (a, b) = (context.device.alloc(1024).unwrap(), context.device.alloc(1024).unwrap());
        let step = |by: u32| kernel.run(&LaunchConfig::linear(256, 32), &[(&a).into(), by.into()]).unwrap();
        a.fill(0).unwrap();
        step(7);
        b.copy_from(0, &a, 0, 1024).unwrap();
        step(1);
        b.copy_from(512, &a, 0, 256).unwrap();
        a.fill(0xff).unwrap();
        step(0);
        // -1 * 3 is -3; 7 before, and 7 * 3 + 1 after the second step.
        assert_eq!(a.download::<i32>().unwrap(), [-3; 256]);
        let copied = b.download::<u32>().unwrap();
        assert_eq!(copied[..128], [7; 128]);
        assert_eq!(copied[128..192], [22; 64]);
        assert_eq!(copied[192..], [7; 64]);
    }
}

#[test]
fn many_launches_in_order() {
    launch_in_order(Context::new());
}

/// More submissions than may be in flight, waited for with fences, which are used again.
#[test]
fn many_launches_without_timeline_semaphores() {
    for restrictions in
        ["without=timelineSemaphore", &format!("{},without=timelineSemaphore+VK_KHR_timeline_semaphore", oldest())]
    {
        launch_in_order(Context::restricted(restrictions));
    }
}

/// lavapipe allows 65,535 blocks per dimension, CUDA 2,147,483,647 in x.
#[test]
fn grids_larger_than_the_device_allows() {
    let context = Context::new();
    let kernel = context.kernel("count_blocks");
    let out = context.device.upload(&[0_u32; 3]).unwrap();
    kernel.run(&LaunchConfig::new([70_000, 1, 1], [1, 1, 1]), &[(&out).into()]).unwrap();
    assert_eq!(out.download::<u32>().unwrap(), [70_000, 70_000 / 2 * 69_999, 70_000]);
    out.fill(0).unwrap();
    kernel.run(&LaunchConfig::new([70_000, 3, 2], [1, 1, 1]), &[(&out).into()]).unwrap();
    assert_eq!(out.download::<u32>().unwrap()[0], 6 * 70_000);
}

#[test]
fn block_and_shared_sizes_reach_the_kernel() {
    let context = Context::new();
    let kernel = context.kernel("sizes");
    let out = context.device.alloc(20).unwrap();
    let run = |block, dynamic_shared_bytes| {
        kernel.run(&LaunchConfig::new([1; 3], block).with_shared(dynamic_shared_bytes), &[(&out).into()]).unwrap();
        out.download::<u32>().unwrap()
    };
    // 20 static bytes are rounded up to 32; so is the sum.
    assert_eq!(run([4, 2, 1], 0), [4, 2, 1, 32, 42]);
    assert_eq!(run([1, 3, 5], 1), [1, 3, 5, 48, 42]);
    assert_eq!(run([8, 1, 1], 1000), [8, 1, 1, 1040, 42]);
    assert_eq!(run([4, 2, 1], 0), [4, 2, 1, 32, 42]);
}

#[test]
fn threads_share_a_device() {
    for context in Context::several() {
        let module = context.basics();
        let results: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=4_u32)
                .map(|by| {
                    let (module, device) = (module.clone(), &context.device);
                    scope.spawn(move || {
                        let kernel = module.kernel("step").unwrap();
                        let buffer = device.upload(&[0_u32; 64]).unwrap();
                        for _ in 0..200 {
                            kernel.run(&LaunchConfig::linear(64, 64), &[(&buffer).into(), by.into()]).unwrap();
                        }
                        buffer.download().unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (result, by) in results.into_iter().zip(1_u32..) {
            let expected = (0..200).fold(0_u32, |x, _| x.wrapping_mul(3).wrapping_add(by));
            assert_eq!(result, [expected; 64]);
        }
    }
}

#[test]
fn times_of_launches() {
    let context = Context::new();
    let kernel = context.kernel("step");
    let buffer = context.device.upload(&[1_u32; 1 << 16]).unwrap();
    let config = LaunchConfig::linear(1 << 16, 64);
    let begin = std::time::Instant::now();
    let times = kernel.timed(&config, &[(&buffer).into(), 0_u32.into()], 20).unwrap();
    let elapsed = begin.elapsed();
    assert_eq!(times.len(), 20);
    assert!(times.iter().all(|time| !time.is_zero()), "{times:?}");
    assert!(times.iter().sum::<std::time::Duration>() <= elapsed, "{times:?} in {elapsed:?}");
    assert_eq!(buffer.download::<u32>().unwrap(), vec![3_u32.pow(20); 1 << 16]);
    assert!(kernel.timed(&config, &[(&buffer).into(), 0_u32.into()], 0).unwrap().is_empty());
}

// Launches that are refused before the device sees anything.

const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);

#[test]
fn wrong_arguments() {
    let context = Context::new();
    let other = Context::new();
    let kernel = context.kernel("vector_add");
    let (buffer, foreign) = (context.device.alloc(16).unwrap(), other.device.alloc(16).unwrap());
    let p = Arg::Pointer(&buffer);
    let refuse = |args: &[Arg<'_>]| kernel.run(&ONE, args).unwrap_err();

    assert!(matches!(refuse(&[]), Error::ArgumentCount { expected: 4, given: 0, .. }));
    assert!(matches!(refuse(&[p, p, p]), Error::ArgumentCount { expected: 4, given: 3, .. }));
    assert!(matches!(refuse(&[p, p, p, Arg::U32(0), p]), Error::ArgumentCount { expected: 4, given: 5, .. }));
    assert!(matches!(refuse(&[p, p, p, p]), Error::ArgumentPointer { index: 3, size: 4, .. }));
    assert!(matches!(refuse(&[p, p, p, Arg::Address(0)]), Error::ArgumentPointer { index: 3, size: 4, .. }));
    for (value, given) in [(Arg::U64(0), 8), (Arg::S16(0), 2), (Arg::F64(0.0), 8), (Arg::Bytes(&[0; 5]), 5)] {
        let error = refuse(&[p, p, p, value]);
        assert!(
            matches!(&error, Error::ArgumentSize { index: 3, expected: 4, given: g, .. } if *g == given),
            "{error}"
        );
    }
    assert!(matches!(refuse(&[p, Arg::F32(0.0), p, Arg::U32(0)]), Error::ArgumentSize { index: 1, expected: 8, .. }));
    assert!(matches!(refuse(&[p, Arg::Pointer(&foreign), p, Arg::U32(0)]), Error::ForeignBuffer(_)));
    let message = refuse(&[p, p, p, Arg::U8(1)]).to_string();
    assert_eq!(message, "kernel `vector_add`, argument 3: parameter `n` has 4 bytes, the argument 1");
    // Valid arguments: every type of four bytes.
    for value in [Arg::U32(0), Arg::S32(0), Arg::F32(0.0), Arg::Bytes(&[0; 4])] {
        kernel.run(&ONE, &[p, Arg::U64(buffer.address()), Arg::Address(0), value]).unwrap();
    }
}

#[test]
fn wrong_sizes() {
    let context = Context::new();
    let kernel = context.kernel("count_blocks");
    let out = context.device.upload(&[0_u32; 3]).unwrap();
    let launch = |kernel: &Kernel, grid, block, dynamic_shared_bytes| {
        kernel.run(&LaunchConfig::new(grid, block).with_shared(dynamic_shared_bytes), &[(&out).into()])
    };
    for grid in [[0, 1, 1], [1, 0, 1], [1, 1, 0], [1 << 31, 1, 1], [1, 65_536, 1], [1, 1, u32::MAX]] {
        assert!(matches!(launch(&kernel, grid, [1; 3], 0), Err(Error::Grid { .. })), "{grid:?}");
    }
    let limits = context.device.target().limits.clone();
    let most = limits.max_compute_work_group_invocations;
    for block in [
        [0, 1, 1],
        [1, 1, 0],
        [most + 1, 1, 1],
        [most, 2, 1],
        [1, 1, 65],
        [1, 1, u32::MAX],
        [u32::MAX; 3],
        [most / 2 + 1, 2, 1],
    ] {
        assert!(matches!(launch(&kernel, [1; 3], block, 0), Err(Error::Block { .. })), "{block:?}");
    }
    let available = limits.max_compute_shared_memory_size;
    for dynamic in [available + 1, u32::MAX] {
        let error = launch(&kernel, [1; 3], [1; 3], dynamic).unwrap_err();
        assert!(
            matches!(error, Error::SharedMemory { needed, available: a, .. } if needed == u64::from(dynamic) && a == available)
        );
    }
    // The largest valid launches; each thread counts one.
    launch(&kernel, [1; 3], [most, 1, 1], available).unwrap();
    assert_eq!(out.download::<u32>().unwrap()[0], most);

    let mut interface = basics_interface();
    interface.entries[1].block = BlockSize { required: Some([4, 2, 1]), ..BlockSize::default() };
    let required = context.device.spirv(basics(), &interface).unwrap().kernel("count_blocks").unwrap();
    interface.entries[1].block = BlockSize { max: Some([4, 2, 1]), ..BlockSize::default() };
    let bounded = context.device.spirv(basics(), &interface).unwrap().kernel("count_blocks").unwrap();
    let message = launch(&required, [1; 3], [8, 1, 1], 0).unwrap_err().to_string();
    assert_eq!(
        message,
        "kernel `count_blocks` can't be launched with a block of 8 x 1 x 1: its .reqntid demands 4 x 2 x 1"
    );
    launch(&required, [1; 3], [4, 2, 1], 0).unwrap();
    let message = launch(&bounded, [1; 3], [3, 3, 1], 0).unwrap_err().to_string();
    assert_eq!(
        message,
        "kernel `count_blocks` can't be launched with a block of 3 x 3 x 1: its .maxntid allows 8 threads, not 9"
    );
    launch(&bounded, [1; 3], [1, 1, 8], 0).unwrap();
    assert_eq!(out.download::<u32>().unwrap()[0], most + 16);
}

// How many blocks of a kernel run at a time. The reference device holds 1,024 threads, 16 blocks and 64 KiB of shared memory.

const KERNELS: &str = include_str!("ptx/occupancy.ptx");

/// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`.
const MULTIPROCESSORS: u32 = 16;

#[test]
fn blocks_that_fit() {
    let device = Device::reference(Config::default());
    let module = device.load(&Source::new("occupancy.ptx", KERNELS)).unwrap();
    let (free, full) = (module.kernel("free").unwrap(), module.kernel("full").unwrap());
    for (threads, blocks) in [(0, 0), (1, 16), (32, 16), (33, 16), (96, 10), (256, 4), (1024, 1), (1025, 0)] {
        assert_eq!(free.active_blocks(threads, 0), blocks, "{threads} threads");
    }
    for (bytes, blocks) in [(0, 16), (20_000, 3), (65_536, 1), (65_537, 0), (u32::MAX, 0)] {
        assert_eq!(free.active_blocks(64, bytes), blocks, "{bytes} bytes");
    }
    for (threads, bytes, blocks) in [(64, 0, 4), (128, 0, 4), (129, 0, 0), (128, 16_384, 2)] {
        assert_eq!(full.active_blocks(threads, bytes), blocks, "{threads} threads, {bytes} bytes");
    }
    for (blocks, bytes) in [(0, 0), (1, 49_152), (2, 16_384), (5, 0)] {
        assert_eq!(full.available_shared(blocks), bytes, "{blocks} blocks");
    }
}

#[test]
fn sizes_that_keep_a_device_busy() {
    let device = Device::reference(Config::default());
    let module = device.load(&Source::new("occupancy.ptx", KERNELS)).unwrap();
    let (free, full) = (module.kernel("free").unwrap(), module.kernel("full").unwrap());
    let multiprocessors = u32::try_from(device.cuda_attribute(MULTIPROCESSORS).unwrap()).unwrap();
    // A block's threads, and how many blocks a multiprocessor holds.
    let sizes = |kernel: &Kernel, limit, shared: fn(u32) -> u32| {
        kernel.occupancy(limit, shared).map(|sizes| (sizes.block, sizes.grid / multiprocessors))
    };
    assert_eq!(sizes(&free, None, |_| 0), Some((1024, 1)));
    // 992 threads are less than twice 512.
    assert_eq!(sizes(&free, Some(1000), |_| 0), Some((512, 2)));
    assert_eq!(sizes(&free, Some(5), |_| 0), Some((5, 16)));
    assert_eq!(sizes(&free, Some(0), |_| 0), None);
    // 512 threads have all of the shared memory.
    assert_eq!(sizes(&free, None, |threads| 128 * threads), Some((512, 1)));
    assert_eq!(sizes(&free, None, |_| 65_537), None);
    assert_eq!(sizes(&full, None, |_| 0), Some((128, 4)));
}

// Kernels that are prepared ahead, by many threads.

const KERNEL_COUNT: u32 = 6;

/// A module whose kernel `k3` writes three, and so on.
fn source() -> Source {
    let head = ".version 7.0\n.target sm_50\n.address_size 64\n".to_owned();
    let kernel = |number: u32| {
        format!(
            ".visible .entry k{number}(.param .u64 out)
            {{
                .reg .b64 %rd<2>;
                ld.param.u64 %rd1, [out];
                st.global.u32 [%rd1], {number};
                ret;
            }}\n"
        )
    };
    Source::new("prepare.ptx", head + &(0..KERNEL_COUNT).map(kernel).collect::<String>())
}

fn names() -> Vec<String> {
    (0..KERNEL_COUNT).map(|number| format!("k{number}")).collect()
}

#[test]
fn many_threads_prepare_each_kernel_once() {
    for context in Context::several() {
        let module = context.device.load_with(&source(), LoadOptions::uncached(Math::EXACT)).unwrap();
        let (names, config) = (names(), LaunchConfig::linear(1, 1));
        let prepare = |first: usize| {
            let mut times = vec![PreparationTimes::default(); names.len()];
            for index in (0..names.len()).map(|index| (first + index) % names.len()) {
                times[index] = module.kernel(&names[index]).unwrap().prepare(&config).unwrap();
            }
            times
        };
        let times: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|first| scope.spawn(move || prepare(first))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // What was done twice would have taken another time.
        assert!(times.iter().all(|other| *other == times[0]), "{times:?}");
        assert!(times[0].iter().all(|times| !times.translation.is_zero() && !times.pipeline.is_zero()));
        let out = context.device.upload(&[99_u32]).unwrap();
        for (number, name) in (0..).zip(&names) {
            module.kernel(name).unwrap().run(&config, &[(&out).into()]).unwrap();
            assert_eq!(out.download::<u32>().unwrap(), [number]);
        }
    }
}

#[test]
fn a_module_prepares_its_kernels() {
    for context in Context::several() {
        let module = context.device.load_with(&source(), LoadOptions::uncached(Math::EXACT)).unwrap();
        let config = LaunchConfig::linear(1, 1);
        let names = names();
        let mut launches: Vec<_> = names.iter().map(|name| (name.as_str(), config)).collect();
        launches.insert(2, ("nothing", config));
        launches.push(("k0", LaunchConfig::new([1; 3], [1, 1, 65])));
        let seen = Mutex::new(Vec::new());
        let times =
            module.prepare(&launches, |name, times| seen.lock().unwrap().push((name.to_owned(), times.is_ok())));
        assert!(matches!(times[2], Err(Error::NoKernel { .. })), "{:?}", times[2]);
        assert!(matches!(times[7], Err(Error::Block { .. })), "{:?}", times[7]);
        for (times, name) in [0, 1, 3, 4, 5, 6].map(|index| (&times[index], launches[index].0)) {
            // Nothing is left to be done.
            let again = module.kernel(name).unwrap().prepare(&config).unwrap();
            assert_eq!(*times.as_ref().unwrap(), again);
        }
        let mut seen = seen.into_inner().unwrap();
        seen.sort();
        let mut expected: Vec<_> = names.iter().map(|name| (name.clone(), true)).collect();
        expected.extend([("k0".to_owned(), false), ("nothing".to_owned(), false)]);
        expected.sort();
        assert_eq!(seen, expected);
        let kernels: Vec<_> = module.kernels().into_iter().map(|kernel| kernel.unwrap().name().to_owned()).collect();
        assert_eq!(kernels, names);
    }
}
