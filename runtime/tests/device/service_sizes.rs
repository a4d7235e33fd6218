//! Modules whose kernels have more room for printed text and allocations.

use ptx2spv_runtime::{LaunchConfig, LoadOptions};
use ptx2spv_translator::interface::{ServiceSizes, heap};
use ptx2spv_translator::{Math, Source};

use crate::{Context, Launch};

/// Threads that allocate and keep memory, each of which checks the values that it wrote to both ends; and threads that
/// print a line.
const KERNELS: &str = include_str!("ptx/service_sizes.ptx");

fn source() -> Source {
    let numbers: Vec<String> = b"0123456789abcdef0123456789abcde\n\0".iter().map(u8::to_string).collect();
    let list = format!("{{{}}}", numbers.join(", "));
    Source::new("sizes.ptx", KERNELS.replace("\"0123456789abcdef0123456789abcde\\n\"", &list))
}

#[test]
fn heaps_and_buffers_of_other_sizes() {
    let context = Context::new();
    let device = &context.device;
    let several = [(8_u64 << 20, 1_u64 << 20), (64 << 20, 1 << 16)];
    for (heap, output) in several {
        let sizes = ServiceSizes::default().heap(heap).output(output);
        let module = device.load_with(&source(), LoadOptions::uncached(Math::EXACT).sizes(sizes)).unwrap();
        let kernel = module.kernel("allocate").unwrap();
        let out = device.alloc_slice::<u32>(16).unwrap();
        // The smaller heap has room for two allocations of this size.
        kernel.run(&LaunchConfig::new([1; 3], [16, 1, 1]), &[(&out).into(), (3_u64 << 20).into()]).unwrap();
        let given = out.to_vec().unwrap().into_iter().enumerate().filter(|(_, sum)| *sum != 0);
        let given: Vec<(usize, u32)> = given.collect();
        assert_eq!(given.len(), if heap > 8 << 20 { 16 } else { 2 });
        assert!(given.iter().all(|(thread, sum)| *sum == 2 * *thread as u32 + 1), "{given:?}");
        // A record has 16 bytes and at least 8 for arguments.
        let print = module.kernel("print").unwrap();
        print.run(&LaunchConfig::new([10, 1, 1], [64, 1, 1]), &[8_u32.into()]).unwrap();
        device.synchronize().unwrap();
        let printed = String::from_utf8(device.take_output()).unwrap();
        let lines = printed.lines().filter(|line| *line == "0123456789abcdef0123456789abcde").count();
        let room = usize::try_from(output).unwrap() / 16;
        assert!(lines == 5_120 || lines < 5_120 && lines <= room, "{lines}");
        assert_eq!(lines == 5_120, output > 1 << 16, "{lines}");
        drop((module, kernel, print, out));
    }
    context.finish();
}

/// Bitmaps, tables and granules don't overlap, for all sizes.
#[test]
fn arenas_do_not_overlap() {
    for size in (23..=30).map(|shift| heap::region_bytes(1 << shift)) {
        assert!(heap::is_region(size));
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for arena in heap::arenas(size) {
            let granules = 32 * u64::from(arena.words);
            parts.push((arena.bitmap, 4 * u64::from(arena.words)));
            parts.push((arena.sizes, 4 * granules));
            parts.push((arena.granules, granules << arena.shift));
            assert!(arena.granules.is_multiple_of(1 << 15));
        }
        parts.sort_unstable();
        assert!(parts.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{size}: {parts:?}");
        assert!(parts.last().is_some_and(|(start, bytes)| start + bytes <= size));
    }
}
