//! Memory that is allocated and freed in stream order.

use ptx2spv_runtime::{Arg, Error, LaunchConfig, PoolUsage};

use crate::Context;

#[test]
fn freed_memory_is_kept_up_to_the_threshold() {
    for context in Context::several() {
        let device = &context.device;
        let (pool, stream, other) = (device.pool(), device.stream(), device.stream());
        let allocate = |bytes| stream.allocate_from(&pool, bytes).unwrap();
        // SAFETY: nothing uses the memory any more.
        let free = |address| unsafe { stream.free(address) };
        let usage = |used, used_high, reserved, reserved_high| {
            let PoolUsage { used: now, used_high: most, reserved: kept, reserved_high: most_kept, .. } = pool.usage();
            assert_eq!([now, most, kept, most_kept], [used, used_high, reserved, reserved_high]);
        };
        let first = allocate(1000);
        free(first).unwrap();
        usage(0, 1000, 0, 1000);
        assert_eq!(device.memory().find(first), None);
        pool.set_release_threshold(2000);
        let list = [500, 700, 900].map(allocate);
        usage(2100, 2100, 2100, 2100);
        list.into_iter().for_each(|address| free(address).unwrap());
        // The first was freed, so the others fit.
        usage(0, 2100, 1600, 2100);
        assert_eq!(list.map(|address| device.memory().find(address).is_some()), [false, true, true]);
        assert_eq!((allocate(900), pool.usage().reserved), (list[2], 1600));
        device.synchronize().unwrap();
        // Another stream gets memory that the device has finished with.
        assert_eq!(other.allocate_from(&pool, 700).unwrap(), list[1]);
        pool.reset_highs();
        usage(1600, 1600, 1600, 1600);
        // Freeing without a stream returns the memory.
        // SAFETY: nothing uses the memory any more.
        unsafe { device.memory().free(list[1]) }.unwrap();
        usage(900, 1600, 900, 1600);
        free(list[2]).unwrap();
        pool.trim_to(899);
        usage(0, 1600, 0, 1600);
        assert!(matches!(free(list[2]), Err(Error::NotAllocated { .. })));
        let kept = allocate(100);
        free(kept).unwrap();
        drop((pool.clone(), pool));
        assert_eq!(device.memory().find(kept), None, "the pool gives back what it keeps");
        drop((stream, other));
        context.finish();
    }
}

/// Memory goes from one kernel to the next while the first may still run.
#[test]
fn kept_memory_is_used_in_stream_order() {
    for context in Context::several() {
        let device = &context.device;
        let (kernel, stream) = (context.kernel("step"), device.non_blocking_stream());
        device.default_pool().set_release_threshold(u64::MAX);
        let results = device.alloc(50 * 1024).unwrap();
        for round in 0..50_u32 {
            let address = stream.allocate(1024).unwrap();
            stream.set_32(address, round, 256).unwrap();
            let args = [Arg::Address(address), 1_u32.into()];
            // SAFETY: there are 256 numbers.
            unsafe { kernel.launch_on(&stream, &LaunchConfig::linear(256, 64), &args) }.unwrap();
            stream.copy(address, results.address() + 1024 * u64::from(round), 1024).unwrap();
            // SAFETY: nothing uses the memory later.
            unsafe { stream.free(address) }.unwrap();
        }
        stream.synchronize().unwrap();
        let found: Vec<u32> = results.download().unwrap();
        assert_eq!(found, (0..50 * 256).map(|i| 3 * (i / 256) + 1).collect::<Vec<u32>>());
        assert_eq!(device.default_pool().usage().reserved_high, 1024);
        drop((kernel, stream, results));
        context.finish();
    }
}
