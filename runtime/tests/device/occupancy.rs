//! How many blocks of a kernel run at a time. The reference device holds 1,024 threads, 16 blocks and 64 KiB of shared memory.

use ptx2spv_runtime::{Config, Device, Kernel, Source};

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
