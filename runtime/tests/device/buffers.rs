//! Memory: sizes, ranges, copies, and freeing while the device is busy.

use bytemuck::{Pod, Zeroable};
use ptx2spv_runtime::{Arg, Error, LaunchConfig};
use ptx2spv_translator::Source;

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
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let context = Context::new();
    for size in [u64::MAX, u64::MAX - 15, 1 << 60, 1 << 45] {
        let error = context.device.alloc(size).unwrap_err();
        assert!(matches!(error, Error::BufferTooLarge { .. } | Error::OutOfMemory(_)), "{size}: {error}");
    }
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
    }
}

/// `out[i] = (pair.scale * i) + pair.shift` for every thread; both by value, in a struct with padding.
const SCALED: &str = include_str!("ptx/slices.ptx");

/// As a C compiler lays it out.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Pair {
    scale: u32,
    padding: u32,
    shift: f64,
}

#[test]
fn parts_of_slices() {
    for context in Context::several() {
        let device = &context.device;
        let all = device.upload_slice(&(0..100_u16).collect::<Vec<_>>()).unwrap();
        assert_eq!((all.len(), all.slice(..).unwrap().to_vec().unwrap().len()), (100, 100));
        let part = all.slice(10..=19).unwrap().slice(3..).unwrap();
        assert_eq!((part.len(), part.address() - all.address()), (7, 26));
        assert_eq!(part.to_vec().unwrap(), [13, 14, 15, 16, 17, 18, 19]);
        part.fill(0xabcd).unwrap();
        part.slice(1..3).unwrap().write(&[1, 2]).unwrap();
        all.slice(0..7).unwrap().copy_from(&part).unwrap();
        let found = all.to_vec().unwrap();
        assert_eq!(found[..8], [0xabcd, 1, 2, 0xabcd, 0xabcd, 0xabcd, 0xabcd, 7]);
        assert_eq!(found[12..21], [12, 0xabcd, 1, 2, 0xabcd, 0xabcd, 0xabcd, 0xabcd, 20]);
        // Elements of a size that no call to set memory supports.
        let triples = device.alloc_slice::<[u8; 3]>(5).unwrap();
        triples.fill([1, 2, 3]).unwrap();
        assert_eq!(triples.to_vec().unwrap(), [[1, 2, 3]; 5]);
        assert_eq!(triples.cast::<u8>().unwrap().slice(4..7).unwrap().to_vec().unwrap(), [2, 3, 1]);
        assert!(matches!(triples.cast::<u32>(), Err(Error::PartialElement { bytes: 15, element: 4 })));
        let empty = all.slice(100..).unwrap();
        assert!(empty.is_empty() && empty.to_vec().unwrap().is_empty());
        #[expect(clippy::reversed_empty_ranges, reason = "what the test is about")]
        let wrong = [all.slice(..101), all.slice(101..), all.slice(5..4), all.slice(..=usize::MAX)];
        assert!(wrong.iter().all(|range| matches!(range, Err(Error::OutOfRange { size: 100, .. }))), "{wrong:?}");
        assert!(matches!(part.write(&[0; 8]), Err(Error::OutOfRange { .. })));
        assert!(matches!(part.copy_from(&all), Err(Error::OutOfRange { .. })));
    }
}

#[test]
fn structs_by_value() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("scaled.ptx", SCALED)).unwrap();
        let (kernel, stream) = (module.kernel("scaled").unwrap(), context.device.non_blocking_stream());
        let out = context.device.upload_slice(&[0_f64; 6]).unwrap();
        let pair = Pair { scale: 3, padding: u32::MAX, shift: 0.5 };
        let target = out.slice(2..).unwrap();
        let launch = kernel.launcher().stream(&stream).arg(&target).value(&pair).arg(100.0_f32);
        // SAFETY: four threads write four numbers.
        unsafe { launch.launch(&LaunchConfig::new([1; 3], [4, 1, 1])) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(out.to_vec().unwrap(), [0.0, 0.0, 100.5, 103.5, 106.5, 109.5]);
    }
}

#[test]
fn arguments_of_the_wrong_kind_are_refused() {
    let context = Context::new();
    let module = context.device.load(&Source::new("scaled.ptx", SCALED)).unwrap();
    let kernel = module.kernel("scaled").unwrap();
    let out = context.device.alloc_slice::<f64>(1).unwrap();
    let pair = [0_u8; 16];
    let config = LaunchConfig::new([1; 3], [1; 3]);
    let start = kernel.launcher().arg(&out);
    let wrong = [
        kernel.launcher().arg(1.0_f64).value(&pair).arg(1.0_f32),
        start.clone().value(&pair).arg(7_u32),
        start.clone().value(&[0_u8; 12]).arg(1.0_f32),
        start.clone().value(&pair),
        start.clone().value(&pair).arg(1.0_f64),
    ];
    // SAFETY: nothing is launched.
    let errors: Vec<Error> = wrong.iter().map(|launch| unsafe { launch.launch(&config) }.unwrap_err()).collect();
    let told = |number: usize, part: &str| {
        let text = errors[number].to_string();
        assert!(text.contains(part), "{text}");
    };
    told(0, "parameter `out` is a .u64, the argument a float");
    told(1, "parameter `more` is a .f32, the argument an integer");
    told(2, "parameter `pair` has 16 bytes, the argument 12");
    told(3, "takes 3 arguments, not 2");
    told(4, "parameter `more` has 4 bytes, the argument 8");
    drop((wrong, start));
    let attributes = kernel.attributes();
    assert_eq!((attributes.max_threads, attributes.required_block, attributes.param_bytes), (96, None, 28));
    // An unused array takes no room; the rest of CUDA's limit is for the launch.
    assert_eq!(attributes.static_shared_bytes + attributes.max_dynamic_shared_bytes, 227 << 10);
}
