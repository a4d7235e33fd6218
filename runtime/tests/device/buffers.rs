//! Memory: sizes, ranges, copies, and freeing while the device is busy.

use ptx2spv_runtime::{Arg, Error, LaunchConfig};

use crate::{Context, Launch};

/// Bytes whose pattern shows a misplaced copy.
fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[test]
fn copies_of_all_sizes() {
    for context in Context::several() {
        // Also sizes around the block size of staging copies.
        for len in [1, 2, 3, 5, 16, 17, 255, 4097, (8 << 20) - 1, 8 << 20, (24 << 20) + 3] {
            let bytes = pattern(len);
            let buffer = context.device.upload(&bytes).unwrap();
            assert_eq!(buffer.len(), len as u64);
            assert_eq!(buffer.address() % 256, 0);
            let copy = context.device.alloc(len as u64).unwrap();
            copy.copy_from(0, &buffer, 0, len as u64).unwrap();
            assert!(copy.download::<u8>().unwrap() == bytes, "{len} bytes");
        }
        context.finish();
    }
}

#[test]
fn parts_of_buffers() {
    for context in Context::several() {
        let mut expected = pattern(1000);
        let buffer = context.device.upload(&expected).unwrap();
        buffer.write(3, &[1, 2, 3, 4, 5]).unwrap();
        expected[3..8].copy_from_slice(&[1, 2, 3, 4, 5]);
        buffer.copy_from(501, &buffer, 0, 499).unwrap();
        expected.copy_within(0..499, 501);
        assert_eq!(buffer.download::<u8>().unwrap(), expected);
        let mut middle = [0; 7];
        buffer.read(499, &mut middle).unwrap();
        assert_eq!(middle, expected[499..506]);

        let size = 1000;
        let refused = [
            buffer.write(996, &[0; 5]),
            buffer.write(u64::MAX, &[0]),
            buffer.read(1001, &mut []),
            buffer.copy_from(0, &buffer, 999, 2),
            buffer.copy_from(0, &buffer, 1, u64::MAX),
        ];
        for result in refused {
            assert!(matches!(result, Err(Error::OutOfRange { size: s, .. }) if s == size), "{result:?}");
        }
        assert!(matches!(buffer.copy_from(100, &buffer, 0, 101), Err(Error::Overlap)));
        buffer.copy_from(100, &buffer, 0, 100).unwrap();
        assert!(matches!(buffer.download::<u64>(), Ok(list) if list.len() == 125));
        assert!(matches!(buffer.download::<[u8; 3]>(), Err(Error::PartialElement { bytes: 1000, element: 3 })));
        assert!(matches!(buffer.download::<[u8; 0]>(), Err(Error::PartialElement { .. })));
        drop(buffer);
        context.finish();
    }
}

#[test]
fn empty_buffers() {
    for context in Context::several() {
        let empty = context.device.upload::<u32>(&[]).unwrap();
        assert!(empty.is_empty() && empty.address() != 0);
        empty.write(0, &[]).unwrap();
        empty.read(0, &mut []).unwrap();
        empty.fill(1).unwrap();
        empty.copy_from(0, &empty, 0, 0).unwrap();
        assert_eq!(empty.download::<u32>().unwrap(), [0; 0]);
        assert_eq!(empty.download::<[u32; 0]>().unwrap().len(), 0);
        assert!(matches!(empty.write(0, &[1]), Err(Error::OutOfRange { offset: 0, len: 1, size: 0 })));
        drop(empty);
        context.finish();
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let context = Context::new();
    for size in [u64::MAX, u64::MAX - 15, 1 << 60, 1 << 45] {
        let error = context.device.alloc(size).unwrap_err();
        assert!(matches!(error, Error::BufferTooLarge { .. } | Error::OutOfMemory(_)), "{size}: {error}");
    }
    context.finish();
}

/// If the device has such buffers, offsets need more than 32 bits; otherwise they are refused.
#[test]
fn more_than_four_gibibytes() {
    let context = Context::new();
    let (size, place) = (5 << 30, (4 << 30) + 3);
    match context.device.alloc(size) {
        Ok(buffer) => {
            let bytes = pattern(20 << 20);
            buffer.write(3, &[1; 64]).unwrap();
            buffer.write(place, &bytes).unwrap();
            let kernel = context.kernel("step");
            // `place + 1` is a multiple of 4, as the kernel wants it.
            kernel
                .run(&LaunchConfig::linear(1, 1), &[Arg::Address(buffer.address() + place + 1), 5_u32.into()])
                .unwrap();
            let copy = context.device.alloc(20 << 20).unwrap();
            copy.copy_from(0, &buffer, place, 20 << 20).unwrap();
            let mut expected = bytes;
            let word = u32::from_le_bytes([expected[1], expected[2], expected[3], expected[4]]);
            expected[1..5].copy_from_slice(&word.wrapping_mul(3).wrapping_add(5).to_le_bytes());
            assert!(copy.download::<u8>().unwrap() == expected);
            let mut first = [0; 64];
            buffer.read(3, &mut first).unwrap();
            assert_eq!(first, [1; 64]);
        }
        Err(Error::BufferTooLarge { requested, available }) => assert!(requested == size && available < size),
        Err(error) => assert!(matches!(error, Error::OutOfMemory(_)), "{error}"),
    }
    context.finish();
}

/// Every round frees buffers that pending launches use.
#[test]
fn freeing_while_the_device_works() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let kept = context.device.upload(&[0_u32; 1024]).unwrap();
        for by in 0..300_u32 {
            let buffer = context.device.alloc(4096).unwrap();
            buffer.fill(0).unwrap();
            kernel.run(&LaunchConfig::linear(1024, 64), &[(&buffer).into(), by.into()]).unwrap();
            kept.copy_from(0, &buffer, 0, 4096).unwrap();
        }
        // The kernel too is dropped while the last launches are pending.
        drop(kernel);
        assert_eq!(kept.download::<u32>().unwrap(), [299; 1024]);
        drop(kept);
        context.finish();
    }
}

/// Closes the device with pending work.
#[test]
fn closing_while_the_device_works() {
    for context in Context::several() {
        let kernel = context.kernel("step");
        let buffer = context.device.upload(&[0_u32; 1 << 16]).unwrap();
        for by in 0..100_u32 {
            kernel.run(&LaunchConfig::linear(1 << 16, 64), &[(&buffer).into(), by.into()]).unwrap();
        }
        drop((kernel, buffer));
        context.finish();
    }
}
