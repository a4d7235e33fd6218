//! Memory by plain addresses.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use ptx2spv_runtime::{Arg, Device, Error, LaunchConfig, MemoryRange, PoolUsage};
use ptx2spv_translator::Source;

use crate::{Context, Launch};

#[test]
fn copies_by_interior_addresses() {
    for context in Context::several() {
        let memory = context.device.memory();
        let (a, b) = (memory.allocate(1000).unwrap(), memory.allocate(77).unwrap());
        let mut expected: Vec<u8> = (0..1000_u32).map(|i| ((i * 7) >> 2) as u8).collect();
        memory.write(a, &expected).unwrap();
        memory.write(a + 997, &[1, 2, 3]).unwrap();
        expected[997..].copy_from_slice(&[1, 2, 3]);
        memory.copy(a + 333, b, 77).unwrap();
        memory.copy(b + 5, a + 13, 72).unwrap();
        expected.copy_within(338..410, 13);
        memory.copy(a, a + 500, 500).unwrap();
        expected.copy_within(0..500, 500);
        let mut found = vec![0; 1000];
        memory.read(a, &mut found).unwrap();
        assert_eq!(found, expected);
        let mut part = [0; 9];
        memory.read(a + 491, &mut part).unwrap();
        assert_eq!(part, expected[491..500]);
        // SAFETY: nothing uses them any more.
        unsafe { memory.free(a).and_then(|()| memory.free(b)) }.unwrap();
    }
}

/// Every alignment of both ends, with neighbours that must not change.
#[test]
fn sets_of_all_widths_at_all_alignments() {
    for context in Context::several() {
        let memory = context.device.memory();
        let size = 40_usize;
        let address = memory.allocate(size as u64).unwrap();
        for (width, value) in [(1, 0xa5_u32), (2, 0x0102_u32), (4, 0x0304_0506)] {
            for start in (0..8).step_by(width) {
                for count in 0..=8 {
                    memory.write(address, &vec![0xee; size]).unwrap();
                    let at = address + start as u64;
                    match width {
                        1 => memory.set(at, value as u8, count),
                        2 => memory.set(at, value as u16, count),
                        _ => memory.set(at, value, count),
                    }
                    .unwrap();
                    let mut expected = vec![0xee; size];
                    for element in 0..count as usize {
                        let place = start + element * width;
                        expected[place..place + width].copy_from_slice(&value.to_le_bytes()[..width]);
                    }
                    let mut found = vec![0; size];
                    memory.read(address, &mut found).unwrap();
                    assert_eq!(found, expected, "{count} of {width} bytes at {start}");
                }
            }
        }
        for wrong in [memory.set(address + 1, 0_u16, 1), memory.set(address + 2, 0_u32, 1)] {
            assert!(matches!(wrong, Err(Error::Misaligned { .. })), "{wrong:?}");
        }
    }
}

#[test]
fn large_sets() {
    for context in Context::several() {
        let memory = context.device.memory();
        let count = 300_001_u64;
        let address = memory.allocate(2 * count).unwrap();
        memory.set(address + 2, 0xabcd_u16, count - 1).unwrap();
        memory.set(address, 0x1234_u16, 1).unwrap();
        let mut found = vec![0_u8; 2 * count as usize];
        memory.read(address, &mut found).unwrap();
        assert_eq!(found[..2], [0x34, 0x12]);
        assert!(found[2..].chunks_exact(2).all(|pair| pair == [0xcd, 0xab]));
    }
}

#[test]
fn wrong_addresses_are_refused() {
    for context in Context::several() {
        let memory = context.device.memory();
        let buffer = context.device.alloc(100).unwrap();
        let address = buffer.address();
        assert_eq!(memory.find(address + 99), Some(MemoryRange { address, size: 100 }));
        assert_eq!(memory.find(0), None);
        let mut bytes = [0; 2];
        for refused in [
            memory.write(address + 99, &[1, 2]),
            memory.read(address + 99, &mut bytes),
            memory.set(address + 96, 1_u32, 2),
            memory.set(address, 1_u8, u64::MAX),
            memory.copy(address + 50, address, 51),
        ] {
            assert!(matches!(refused, Err(Error::OutOfRange { size: 100, .. })), "{refused:?}");
        }
        assert!(matches!(memory.copy(address + 50, address + 51, 2), Err(Error::Overlap)));
        assert!(matches!(memory.write(8, &[1]), Err(Error::NotAllocated { address: 8 })));
        // Operations on no bytes do nothing, at any address.
        memory.write(8, &[]).unwrap();
        memory.copy(address, 8, 0).unwrap();
        let raw = memory.allocate(16).unwrap();
        // SAFETY: nothing uses it.
        let free = |address| unsafe { memory.free(address) };
        assert!(matches!(free(raw + 1), Err(Error::NotAllocated { .. })));
        free(raw).unwrap();
        assert!(matches!(free(raw), Err(Error::NotAllocated { .. })));
        drop(buffer);
        assert_eq!(memory.find(address), None);
    }
}

#[test]
fn kernels_see_raw_memory() {
    for context in Context::several() {
        let kernel = context.kernel("vector_add");
        let memory = context.device.memory();
        let n = 100_u32;
        // Three arrays in one allocation.
        let address = memory.allocate(12 * u64::from(n)).unwrap();
        let at = |array: u64| address + array * 4 * u64::from(n);
        memory.set(at(0), 1.5_f32.to_bits(), n.into()).unwrap();
        memory.set(at(1), 2.25_f32.to_bits(), n.into()).unwrap();
        let args = [0, 1, 2].map(|array| ptx2spv_runtime::Arg::Address(at(array)));
        kernel.run(&LaunchConfig::linear(n, 64), &[args[0], args[1], args[2], n.into()]).unwrap();
        let mut sums = vec![0_f32; n as usize];
        memory.read(at(2), bytemuck::cast_slice_mut(&mut sums)).unwrap();
        assert!(sums.iter().all(|sum| *sum == 3.75), "{sums:?}");
    }
}

#[test]
fn memory_is_counted() {
    for context in Context::several() {
        let memory = context.device.memory();
        let info = memory.info();
        assert!(info.free > 0 && info.free <= info.total, "{info:?}");
    }
}

/// Allocates, frees, fills and copies memory of several threads at random, in one stream: in several, the commands themselves would
/// race.
fn use_and_free(device: &Device, slots: &[AtomicU64], seed: u32) {
    const BYTES: usize = 1 << 16;
    let (memory, stream, mut random, mut bytes) = (device.memory(), device.default_stream(), seed, vec![1; BYTES]);
    for _ in 0..300 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let slot = &slots[(random >> 16) as usize % slots.len()];
        let (address, other, size) = (slot.load(SeqCst), slots[0].load(SeqCst), (random >> 18) as usize % BYTES);
        let result = match (random >> 24) % 8 {
            0 | 1 => memory.allocate(BYTES as u64 >> (random >> 30)).map(|made| slot.store(made, SeqCst)),
            // SAFETY: no kernel uses the memory, and commands that come later fail.
            2 => unsafe { memory.free(address) },
            3 => stream.set(address + 1, 2_u8, size as u64),
            4 => stream.write(address, &bytes[..size]),
            5 => stream.read(address, &mut bytes[..size]),
            6 => stream.copy(other, address, size as u64),
            _ => memory.write(address, &bytes[..size]),
        };
        let is_fine =
            matches!(result, Ok(()) | Err(Error::NotAllocated { .. } | Error::OutOfRange { .. } | Error::Overlap));
        assert!(is_fine, "{result:?}");
    }
}

#[test]
fn threads_free_what_others_use() {
    for context in Context::several() {
        // The reference device reports accesses to memory that is freed meanwhile.
        if context.device.as_reference().is_none() {
            let slots: [AtomicU64; 4] = Default::default();
            thread::scope(|scope| {
                for seed in 0..8 {
                    let (device, slots) = (&context.device, &slots);
                    scope.spawn(move || use_and_free(device, slots, seed));
                }
            });
            context.device.synchronize().unwrap();
            // What the threads have left lives as long as the device.
        }
    }
}

/// Adds one to each of a block's words.
const INCREASE: &str = include_str!("ptx/near.ptx");

#[test]
fn buffers_since_the_module_was_loaded_are_in_reach() {
    for context in Context::several() {
        let device = &context.device;
        let before = device.upload(&[1_u32; 8]).unwrap();
        let module = device.load(&Source::new("increase.ptx", INCREASE)).unwrap();
        let kernel = module.kernel("increase").unwrap();
        assert!(module.has_short_pointers());
        let block = LaunchConfig::new([1; 3], [8, 1, 1]);

        let (first, second) = (device.upload(&[10_u32; 8]).unwrap(), device.upload(&[20_u32; 8]).unwrap());
        assert_eq!(device.memory().find(second.address() + 31).map(|found| found.size), Some(32));
        kernel.run(&block, &[Arg::Pointer(&first)]).unwrap();
        kernel.run(&block, &[Arg::Address(second.address())]).unwrap();
        // The kernel gets the low half.
        kernel.run(&block, &[Arg::U32(second.address() as u32)]).unwrap();
        assert_eq!(first.download::<u32>().unwrap(), [11; 8]);
        assert_eq!(second.download::<u32>().unwrap(), [22; 8]);

        // Freed memory is used again.
        let address = first.address();
        drop(first);
        let third = device.upload(&[30_u32; 8]).unwrap();
        assert_eq!(third.address(), address);
        kernel.run(&block, &[Arg::Pointer(&third)]).unwrap();
        assert_eq!((third.download::<u32>().unwrap(), second.download::<u32>().unwrap()), (vec![31; 8], vec![22; 8]));

        assert!(matches!(kernel.run(&block, &[Arg::Pointer(&before)]), Err(Error::TooFar(_))));
        assert!(matches!(device.default_stream().allocate(16), Err(Error::TooFar(_))));
        assert!(device.memory().is_out_of_reach(before.address()));
        assert_eq!(before.download::<u32>().unwrap(), [1; 8]);
    }
}

// Memory that is allocated and freed in stream order.

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
        pool.reset_used_high();
        usage(1600, 1600, 1600, 2100);
        pool.reset_reserved_high();
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
            stream.set(address, round, 256).unwrap();
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
    }
}
