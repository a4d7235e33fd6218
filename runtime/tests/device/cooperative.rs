//! Cooperative launches: refused ones, and the progress of blocks for all kinds of dispatches. The launch cases check
//! the results.

use std::time::Duration;

use ptx2spv_runtime::{Arg, Device, Error, Kernel, LaunchConfig, ReferenceOptions};
use ptx2spv_translator::{Options, Program, Source};

use crate::{Context, Launch};

/// Every block waits for the next one, the last for none: in the order of their numbers, no block would end.
const CHAIN: &str = include_str!("ptx/cooperative.ptx");

fn source() -> Source {
    Source::new("chain.ptx", CHAIN)
}

#[test]
fn blocks_that_wait_for_later_ones() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let kernel = module.cooperative_kernel("chain", None).unwrap();
    assert!(kernel.is_cooperative());
    let expected: Vec<u32> = (1..=50).rev().collect();
    // Also if grids are submitted in parts.
    for most in [None, Some(Duration::from_micros(1))] {
        device.set_max_dispatch_time(most);
        let flags = device.alloc_slice::<u32>(50).unwrap();
        flags.fill(0).unwrap();
        kernel.run(&LaunchConfig::new([50, 1, 1], [1; 3]), &[(&flags).into()]).unwrap();
        assert_eq!(flags.to_vec().unwrap(), expected);
    }
}

#[test]
fn other_launches_have_no_workspace() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let out = device.alloc_slice::<u32>(1).unwrap();
    for (kernel, expected) in
        [(module.kernel("valid").unwrap(), 0), (module.cooperative_kernel("valid", None).unwrap(), 1)]
    {
        kernel.run(&LaunchConfig::new([1; 3], [1; 3]), &[(&out).into()]).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected]);
    }
}

#[test]
fn waiting_without_end_is_told() {
    let context = Context::new();
    let device = &context.device;
    let module = device.load(&source()).unwrap();
    let flag = device.alloc_slice::<u32>(1).unwrap();
    flag.fill(0).unwrap();
    let kernel = module.cooperative_kernel("forever", None).unwrap();
    let launched = kernel.run(&LaunchConfig::new([3, 1, 1], [1; 3]), &[(&flag).into()]);
    assert!(matches!(&launched, Err(Error::Aborted { reason, .. }) if reason.contains("3 of them")), "{launched:?}");
    // A time limit ends it sooner.
    device.set_wait_limit(Some(Duration::from_millis(50)));
    let launched = kernel.run(&LaunchConfig::new([3, 1, 1], [1; 3]), &[(&flag).into()]);
    assert!(matches!(launched, Err(Error::Timeout)), "{launched:?}");
    device.set_wait_limit(None);
}

#[test]
fn translations_are_for_one_kind_of_launch() {
    let context = Context::new();
    let device = &context.device;
    let source = source();
    let program = Program::new(&source).unwrap();
    let load = |cooperative| {
        let made = program.translate(&Options::new(device.target()).cooperative(cooperative)).unwrap();
        // SAFETY: the translation is as the translator made it.
        unsafe { device.load_translated(&made) }.unwrap()
    };
    assert!(load(true).cooperative_kernel("chain", None).unwrap().is_cooperative());
    assert!(matches!(load(false).cooperative_kernel("chain", None), Err(Error::Interface(_))));
}

/// Each block writes its place in its cluster and its cluster's number to `out`, and how many clusters there are.
/// * `either`: clusters of any size; `demanding` of two; `large`: with 4,096 bytes of shared memory each.
const KERNELS: &str = include_str!("ptx/clusters.ptx");

fn device() -> Device {
    Device::reference(ReferenceOptions::default().config().unwrap())
}

fn places(device: &Device, kernel: &Kernel, blocks: u32) -> Vec<[u32; 3]> {
    let out = device.alloc(12 * u64::from(blocks)).unwrap();
    kernel.run(&LaunchConfig::new([blocks, 1, 1], [3, 1, 1]), &[(&out).into()]).unwrap();
    out.download().unwrap()
}

#[test]
fn the_kernel_or_the_launch_says_the_size() {
    let device = device();
    let module = device.load(&Source::new("clusters.ptx", KERNELS)).unwrap();
    let expected = |size: u32| -> Vec<[u32; 3]> { (0..12).map(|n| [n % size, n / size, 12 / size]).collect() };
    for size in [1, 3, 6] {
        let kernel = module.cluster_kernel("either", [size, 1, 1]).unwrap();
        assert_eq!(places(&device, &kernel, 12), expected(size));
    }
    assert_eq!(places(&device, &module.kernel("either").unwrap(), 12), expected(1));
    assert_eq!(places(&device, &module.kernel("demanding").unwrap(), 12), expected(2));
    assert_eq!(places(&device, &module.cluster_kernel("demanding", [2, 1, 1]).unwrap(), 12), expected(2));
}

#[test]
fn what_does_not_fit_is_refused() {
    let device = device();
    let limits = device.target().limits.clone();
    let module = device.load(&Source::new("clusters.ptx", KERNELS)).unwrap();
    let translation = |name: &str, size| match module.cluster_kernel(name, size) {
        Err(Error::Translation(errors)) => errors.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(translation("demanding", [3, 1, 1]).contains("clusters of 3 x 1 x 1: the kernel demands 2 x 1 x 1"));
    assert!(translation("few", [5, 1, 1]).contains("blocks of a cluster: 5 needed"));
    assert!(translation("either", [0, 1, 1]).contains("no blocks"));
    let large = module.cluster_kernel("large", [16, 1, 1]).unwrap();
    let has_room = limits.max_compute_shared_memory_size >= 16 * 4096;
    assert_eq!(large.entry().scratch.is_none_or(|scratch| !scratch.shared), has_room);

    let kernel = module.cluster_kernel("either", [4, 1, 1]).unwrap();
    let none = [Arg::Address(0)];
    let launch = |grid, block| kernel.run(&LaunchConfig::new(grid, block), &none).unwrap_err();
    let error = launch([6, 1, 1], [32, 1, 1]);
    assert!(matches!(error, Error::Grid { .. }) && error.to_string().contains("4 x 1 x 1"), "{error}");
    let shared = LaunchConfig::new([4, 1, 1], [32, 1, 1]).with_shared(240_000);
    let error = kernel.run(&shared, &none).unwrap_err();
    assert!(matches!(error, Error::SharedMemory { needed: 240_000, available: 232_448, .. }), "{error}");
}
