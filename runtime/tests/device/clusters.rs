//! Clusters of blocks: sizes from the kernel or the launch, and clusters too large for a workgroup.

use ptx2spv_runtime::{Arg, Device, Error, Kernel, LaunchConfig, ReferenceOptions};
use ptx2spv_translator::Source;

use crate::Launch;

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
