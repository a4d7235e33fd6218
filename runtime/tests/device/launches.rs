//! Results of kernels, their order, and the size of grids.

use ptx2spv_runtime::LaunchConfig;
use ptx2spv_translator::target::Version;

use crate::{Context, Launch, oldest};

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
    context.finish();
}

#[test]
fn older_vulkan_versions() {
    let oldest = if oldest() == "vulkan=1.1" { Version(1, 1) } else { Version(1, 2) };
    for version in [oldest, Version(1, 2), Version(1, 3)] {
        let context = Context::restricted(&format!("vulkan=1.{}", version.1));
        assert_eq!(context.device.target().vulkan, version);
        add_vectors(&context);
        context.finish();
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
    drop((buffer, kernel));
    context.finish();
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
        drop((a, b, kernel));
        context.finish();
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
    drop((out, kernel));
    context.finish();
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
    drop((out, kernel));
    context.finish();
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
        drop(module);
        context.finish();
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
    drop((buffer, kernel));
    context.finish();
}
