//! Launches that are refused before the device sees anything.

use ptx2spv_runtime::{Arg, Error, Kernel, LaunchConfig};
use ptx2spv_translator::interface::BlockSize;

use crate::{Context, Launch, Load, basics, basics_interface};

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
    drop((buffer, kernel, foreign));
    context.finish();
    other.finish();
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
    drop((out, kernel, required, bounded));
    context.finish();
}
