//! Blocks larger than the device's workgroups, and grids in several submissions.

use std::time::Duration;

use ptx2spv_runtime::{Device, Error, LaunchConfig, Module, ReferenceOptions};
use ptx2spv_translator::target::Packing;
use ptx2spv_translator::{Options, Program, Source};

use crate::{Context, Launch, Load};

/// * `numbers(out)`: each thread writes its number in the grid, after a barrier.
/// * `trapped(out)`: thread 700 executes a trap; the others write.
/// * `prints(out)`: every hundredth thread prints its number.
/// * `tiny()`: nothing.
/// * `gathers(count)`: a thread of each block waits until all blocks have come. `spreads` does it with 400 KiB of local memory.
/// * `locks(lock)`: a thread of each block takes a lock and counts after it.
/// * `signals()`: a warp waits for another one of its block.
/// * `shared(out)`: 40,000 bytes of shared memory, and a barrier that needs some more.
const KERNELS: &str = include_str!("ptx/blocks.ptx");

fn small(invocations: u32) -> Device {
    let text = format!("invocations={invocations}");
    Device::reference(text.parse::<ReferenceOptions>().unwrap().config().unwrap())
}

fn load(device: &Device) -> Module {
    device.load(&Source::new("blocks.ptx", KERNELS)).unwrap()
}

#[test]
fn blocks_that_fit_are_not_packed() {
    let device = small(256);
    let kernel = load(&device).kernel("numbers").unwrap();
    let out = device.alloc(4 * 3 * 1024).unwrap();
    for block in [1024, 100, 256, 257, 1000] {
        out.fill(0xff).unwrap();
        kernel.run(&LaunchConfig::new([3, 1, 1], [block, 1, 1]), &[(&out).into()]).unwrap();
        let numbers = out.download::<u32>().unwrap();
        let all = 3 * block as usize;
        assert!(numbers[..all].iter().zip(0..).all(|(&number, thread)| number == thread), "{block}");
        assert!(numbers[all..].iter().all(|&number| number == u32::MAX), "{block}");
    }
    assert_eq!(kernel.entry().packing, None);
    let error = kernel.run(&LaunchConfig::new([1; 3], [1025, 1, 1]), &[(&out).into()]).unwrap_err();
    assert!(error.to_string().contains("CUDA allows 1024 threads, not 1025"), "{error}");
}

#[test]
fn packed_threads_report_and_print() {
    let device = small(128);
    let module = load(&device);
    let out = device.upload(&[0_u32; 1024]).unwrap();
    let config = LaunchConfig::new([1; 3], [1024, 1, 1]);
    module.kernel("trapped").unwrap().run(&config, &[(&out).into()]).unwrap();
    let error = out.download::<u32>().unwrap_err().to_string();
    let line = KERNELS.lines().position(|line| line.contains("trap;")).unwrap() + 1;
    assert!(error.contains(&format!("line {line}")) && error.contains("`trap`"), "{error}");
    // The other threads continue, including those of the same invocation.
    let written = out.download::<u32>().unwrap();
    assert!(written.iter().zip(0..).all(|(&value, thread)| value == if thread == 700 { 0 } else { thread }));
    module.kernel("prints").unwrap().run(&config, &[(&out).into()]).unwrap();
    device.synchronize().unwrap();
    let text = String::from_utf8(device.take_output()).unwrap();
    let mut lines: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..1024).step_by(100).collect::<Vec<_>>());
}

#[test]
fn translated_modules_take_the_blocks_that_they_are_for() {
    let device = small(128);
    let source = Source::new("blocks.ptx", KERNELS);
    let program = Program::new(&source).unwrap();
    let out = device.alloc(4 * 512).unwrap();
    let launch = |block_threads, block| {
        let only = ["numbers".to_owned()];
        let options = Options::new(device.target()).entries(Some(&only)).block_threads(block_threads);
        let translation = program.translate(&options).unwrap();
        let kernel = device.translated(&translation).unwrap().kernel("numbers").unwrap();
        let packing = kernel.entry().packing;
        kernel.run(&LaunchConfig::new([1; 3], [block, 1, 1]), &[(&out).into()]).map(|()| packing)
    };
    assert_eq!(launch(None, 128).unwrap(), None);
    let error = launch(None, 512).unwrap_err();
    assert!(matches!(error, Error::Block { .. }), "{error}");
    let expected =
        "the device allows 128 threads, not 512; as it was translated, it takes blocks of up to 128 threads here";
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(launch(Some(512), 512).unwrap(), Some(Packing { subgroup_size: 1, lanes: 4 }));
    assert_eq!(out.download::<u32>().unwrap(), (0..512).collect::<Vec<_>>());
    let error = launch(Some(512), 513).unwrap_err().to_string();
    assert!(error.contains("its 513 threads take 129 invocations, the device allows 128"), "{error}");
}

#[test]
fn shared_memory_has_its_limit_on_all_ways() {
    const MOST: u32 = 227 << 10;
    let device = small(128);
    let available = device.target().limits.max_compute_shared_memory_size;
    let kernel = load(&device).kernel("shared").unwrap();
    let own = kernel.entry().shared.own_bytes;
    assert!(own > 0 && kernel.entry().shared.static_bytes == 40_000 + own);
    let out = device.alloc(4).unwrap();
    let launch = |dynamic_shared_bytes| {
        let config = LaunchConfig::new([1; 3], [32, 1, 1]).with_shared(dynamic_shared_bytes);
        kernel.run(&config, &[(&out).into()])
    };
    launch(available - 40_000 - own).unwrap();
    // From here on, all shared memory is in device memory.
    launch(available - 40_000).unwrap();
    launch(MOST - 40_000).unwrap();
    let message = launch(MOST - 40_000 + 1).unwrap_err().to_string();
    assert!(message.contains("needs 232449 bytes of shared memory, there are 232448"), "{message}");
    // Declared memory that just fits, but leaves no room for the translator's own.
    let mut target = device.target().clone();
    target.limits.max_compute_shared_memory_size = 40_000;
    let source = Source::new("blocks.ptx", KERNELS);
    let only = ["shared".to_owned()];
    let options = Options::new(&target).entries(Some(&only));
    let entry = Program::new(&source).unwrap().translate(&options).unwrap().interface.entries.remove(0);
    assert_eq!(entry.shared.static_bytes, 40_000 + own);
    assert!(entry.scratch.is_some_and(|scratch| scratch.shared));
}

#[test]
fn long_grids_are_submitted_in_parts() {
    for context in Context::several() {
        let device = &context.device;
        let kernel = load(device).kernel("numbers").unwrap();
        let out = device.alloc(4 * 64 * 500).unwrap();
        let launch = || {
            out.fill(0).unwrap();
            device.synchronize().unwrap();
            let before = device.submissions();
            kernel.run(&LaunchConfig::new([500, 1, 1], [64, 1, 1]), &[(&out).into()]).unwrap();
            device.synchronize().unwrap();
            let submissions = device.submissions() - before;
            assert!(out.download::<u32>().unwrap().into_iter().eq(0..64 * 500));
            submissions
        };
        assert_eq!(launch(), 1);
        // One block is submitted first, and then at most eight times as many as before.
        device.set_max_dispatch_time(Some(Duration::from_secs(3600)));
        assert_eq!(launch(), 4);
        assert_eq!(launch(), 1);
        // A limit so short that one block takes longer.
        device.set_max_dispatch_time(Some(Duration::from_nanos(1)));
        launch();
        assert_eq!(launch(), 500);
        device.set_max_dispatch_time(None);
        assert_eq!(launch(), 1);
    }
}

#[test]
fn grids_that_wait_for_their_blocks_stay_whole() {
    // One thread per block: a block that waits keeps its processor thread busy for long before others begin there.
    let device = Device::reference("target=lavapipe,threads=12".parse::<ReferenceOptions>().unwrap().config().unwrap());
    let module = load(&device);
    for (name, waits) in
        [("gathers", true), ("spreads", true), ("locks", false), ("signals", false), ("numbers", false)]
    {
        assert_eq!(module.kernel(name).unwrap().entry().waits, waits, "{name}");
    }
    let launch = |name: &str, blocks: u32, threads: u32| {
        let counts = device.upload(&[0_u32; 2]).unwrap();
        let before = device.submissions();
        let config = LaunchConfig::new([blocks, 1, 1], [threads, 1, 1]);
        module.kernel(name).unwrap().run(&config, &[(&counts).into()]).unwrap();
        device.synchronize().unwrap();
        (device.submissions() - before, counts.download::<u32>().unwrap())
    };
    device.set_max_dispatch_time(Some(Duration::from_nanos(1)));
    assert_eq!(launch("gathers", 12, 1), (1, vec![12, 0]));
    assert_eq!(launch("locks", 9, 1), (9, vec![0, 9]));
    // More scratch memory than a dispatch has elsewhere.
    assert_eq!(launch("spreads", 12, 128), (1, vec![12 * 128, 128 * (12 * 11 / 2)]));
}

#[test]
fn the_largest_grid_begins_at_once() {
    let device = Device::reference("steps=300000".parse::<ReferenceOptions>().unwrap().config().unwrap());
    let kernel = load(&device).kernel("tiny").unwrap();
    // It would take forever; its budget of instructions ends it soon.
    kernel.run(&LaunchConfig::new([i32::MAX as u32, 65_535, 65_535], [1; 3]), &[]).unwrap();
    let error = device.synchronize().unwrap_err().to_string();
    assert!(error.contains("300000"), "{error}");
}
