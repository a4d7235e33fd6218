//! What a kernel must not reach by an address of shared or local memory: other blocks that its cluster doesn't have, and what lies past the end.

use ptx2spv_runtime::{Arg, Error, Kernel, LaunchConfig};
use ptx2spv_translator::Source;

use crate::{Context, Launch};

/// * `mapped(out, rank, kind)`: reads, writes or adds to what the block with number `rank` of the cluster has, by an address of shared
///   memory or a generic one. The block's first word is 100 plus its number.
/// * `copied(out, place)`: copies `out` to a place in dynamic shared memory, and the first word from there back to the end.
/// * `not_awaited(out, place)`: the same copy, which nothing waits for.
const KERNELS: &str = include_str!("ptx/shared_memory_kernels.ptx");

/// * `within(out, place)`: copies 16 bytes of `out` to a place in dynamic shared memory, of which the first and last 4 may lie outside of
///   the allocation. The first 8 bytes there have an mbarrier.
const WITHIN: &str = include_str!("ptx/shared_memory_within.ptx");

/// How a launch with 64 bytes of dynamic shared memory that must fail does so.
fn fault(context: &Context, kernel: &Kernel, grid: u32, args: &[Arg<'_>]) -> String {
    let config = LaunchConfig::linear(grid, 1).with_shared(64);
    match kernel.run(&config, args).and_then(|()| context.device.synchronize()) {
        Err(Error::Fault { findings }) => findings.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn accesses_to_blocks_that_the_cluster_lacks_end_the_launch() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("shared.ptx", KERNELS)).unwrap();
        let kernel = module.cluster_kernel("mapped", [2, 1, 1]).unwrap();
        let out = context.device.upload(&[0_u32; 2]).unwrap();
        let others = context.device.upload(&[7_u32; 4096]).unwrap();
        for kind in 0..6_u32 {
            for rank in 0..2_u32 {
                let args = [Arg::Pointer(&out), rank.into(), kind.into()];
                kernel.run(&LaunchConfig::linear(2, 1).with_shared(64), &args).unwrap();
                let read = if kind % 3 == 1 { 0 } else { 100 + rank };
                assert_eq!(out.download::<u32>().unwrap(), [read; 2], "{kind}");
            }
            let what = ["a read", "a write", "an atomic access"][kind as usize % 3];
            for rank in [2, 3, 1 << 30, u32::MAX] {
                let text = fault(&context, &kernel, 2, &[Arg::Pointer(&out), rank.into(), kind.into()]);
                assert!(text.contains(what) && text.contains("of shared memory is outside"), "{kind} {rank}: {text}");
            }
        }
        // A block alone has no others.
        let alone = module.kernel("mapped").unwrap();
        assert!(fault(&context, &alone, 1, &[Arg::Pointer(&out), 1_u32.into(), 0_u32.into()]).contains("a read"));
        assert_eq!(others.download::<u32>().unwrap(), [7; 4096]);
        drop((alone, kernel, module, out, others));
        context.finish();
    }
}

#[test]
fn copies_past_the_end_end_the_launch() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("shared.ptx", KERNELS)).unwrap();
        let newer = context.device.load(&Source::new("within.ptx", WITHIN)).unwrap();
        let awaited = module.kernel("copied").unwrap();
        let within = newer.kernel("within").unwrap();
        let out = context.device.upload(&[7_u32, 8, 9, 10, 0]).unwrap();
        let others = context.device.upload(&[7_u32; 4096]).unwrap();
        for (kernel, copied) in [(&awaited, 7), (&within, 8)] {
            kernel.run(&LaunchConfig::linear(1, 1).with_shared(64), &[Arg::Pointer(&out), 48_u32.into()]).unwrap();
            assert_eq!(out.download::<u32>().unwrap(), [7, 8, 9, 10, copied]);
        }
        let not_awaited = module.kernel("not_awaited").unwrap();
        for kernel in [&awaited, &not_awaited, &within] {
            for place in [64, 80, 4096, 1 << 20, 0x7fff_fff0, 0xffff_fff0_u32] {
                let text = fault(&context, kernel, 1, &[Arg::Pointer(&out), place.into()]);
                assert!(
                    text.contains(&format!("at byte {place} of shared memory is outside of its 64 bytes")),
                    "{text}"
                );
            }
        }
        assert_eq!(others.download::<u32>().unwrap(), [7; 4096]);
        drop((awaited, not_awaited, within, module, newer, out, others));
        context.finish();
    }
}

/// `past(out, kind, place)`: writes and reads 7 at a place in 64 bytes of static or dynamic shared memory or of local memory.
const PAST: &str = include_str!("ptx/shared_memory_past.ptx");

#[test]
fn accesses_past_the_end_of_shared_and_local_memory_end_the_launch() {
    // Elsewhere the device decides what happens.
    for context in Context::several().into_iter().filter(|context| context.device.target().quirks.offsets_unchecked) {
        let module = context.device.load(&Source::new("past.ptx", PAST)).unwrap();
        let kernel = module.kernel("past").unwrap();
        let out = context.device.upload(&[0_u32]).unwrap();
        let others = context.device.upload(&[7_u32; 4096]).unwrap();
        for kind in 0..4_u32 {
            for place in [0, 56] {
                let args = [Arg::Pointer(&out), kind.into(), place.into()];
                kernel.run(&LaunchConfig::linear(1, 1).with_shared(64), &args).unwrap();
                assert_eq!(out.download::<u32>().unwrap(), [7], "{kind} {place}");
                out.write(0, &[0; 4]).unwrap();
            }
            for place in [128, 1 << 16, 0x7fff_fff0, 0xffff_ff00_u32] {
                let text = fault(&context, &kernel, 1, &[Arg::Pointer(&out), kind.into(), place.into()]);
                assert!(text.contains("past the end of shared or local memory"), "{kind} {place}: {text}");
            }
        }
        assert_eq!(others.download::<u32>().unwrap(), [7; 4096]);
        drop((kernel, module, out, others));
        context.finish();
    }
}
