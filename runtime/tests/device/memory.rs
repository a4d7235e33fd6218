//! Memory by plain addresses.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

use ptx2spv_runtime::{Device, Error, LaunchConfig, MemoryRange};

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
        context.finish();
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
                        1 => memory.set_8(at, value as u8, count),
                        2 => memory.set_16(at, value as u16, count),
                        _ => memory.set_32(at, value, count),
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
        for wrong in [memory.set_16(address + 1, 0, 1), memory.set_32(address + 2, 0, 1)] {
            assert!(matches!(wrong, Err(Error::Misaligned { .. })), "{wrong:?}");
        }
        context.finish();
    }
}

#[test]
fn large_sets() {
    for context in Context::several() {
        let memory = context.device.memory();
        let count = 300_001_u64;
        let address = memory.allocate(2 * count).unwrap();
        memory.set_16(address + 2, 0xabcd, count - 1).unwrap();
        memory.set_16(address, 0x1234, 1).unwrap();
        let mut found = vec![0_u8; 2 * count as usize];
        memory.read(address, &mut found).unwrap();
        assert_eq!(found[..2], [0x34, 0x12]);
        assert!(found[2..].chunks_exact(2).all(|pair| pair == [0xcd, 0xab]));
        context.finish();
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
            memory.set_32(address + 96, 1, 2),
            memory.set_8(address, 1, u64::MAX),
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
        context.finish();
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
        memory.set_32(at(0), 1.5_f32.to_bits(), n.into()).unwrap();
        memory.set_32(at(1), 2.25_f32.to_bits(), n.into()).unwrap();
        let args = [0, 1, 2].map(|array| ptx2spv_runtime::Arg::Address(at(array)));
        kernel.run(&LaunchConfig::linear(n, 64), &[args[0], args[1], args[2], n.into()]).unwrap();
        let mut sums = vec![0_f32; n as usize];
        memory.read(at(2), bytemuck::cast_slice_mut(&mut sums)).unwrap();
        assert!(sums.iter().all(|sum| *sum == 3.75), "{sums:?}");
        drop(kernel);
        context.finish();
    }
}

#[test]
fn memory_is_counted() {
    for context in Context::several() {
        let memory = context.device.memory();
        let info = memory.info();
        assert!(info.free > 0 && info.free <= info.total, "{info:?}");
        context.finish();
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
            3 => stream.set_8(address + 1, 2, size as u64),
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
        context.finish();
    }
}
