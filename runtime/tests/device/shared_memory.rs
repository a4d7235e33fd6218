//! Shared and local memory in device memory, for launches that need more than the device has.

use std::thread;

use ptx2spv_runtime::{Arg, Device, Error, Kernel, LaunchConfig};
use ptx2spv_translator::interface::Bundle;
use ptx2spv_translator::{Options, Program, Source, Target};

use crate::{Context, Launch, Load};

/// * `turned(out)`: each block turns its threads' numbers around in dynamic shared memory, at the end of that memory.
/// * `spread(out)`: each thread keeps its number in 400 KiB of local memory, at a place of its own.
const KERNELS: &str = include_str!("ptx/scratch.ptx");

const BLOCK: u32 = 32;

fn program() -> Source {
    Source::new("scratch.ptx", KERNELS)
}

fn turn(device: &Device, kernel: &Kernel, blocks: u32, dynamic_shared_bytes: u32) -> Result<(), Error> {
    let out = device.upload(&vec![0_u32; (blocks * BLOCK) as usize])?;
    let config = LaunchConfig::new([blocks, 1, 1], [BLOCK, 1, 1]).with_shared(dynamic_shared_bytes);
    kernel.run(&config, &[(&out).into()])?;
    let expected: Vec<u32> = (0..blocks * BLOCK).map(|t| t / BLOCK * BLOCK + BLOCK - 1 - t % BLOCK).collect();
    assert_eq!(out.download::<u32>()?, expected, "{dynamic_shared_bytes}");
    Ok(())
}

fn spread(device: &Device, kernel: &Kernel, blocks: u32) {
    let out = device.upload(&vec![0_u32; (blocks * BLOCK) as usize]).unwrap();
    kernel.run(&LaunchConfig::new([blocks, 1, 1], [BLOCK, 1, 1]), &[(&out).into()]).unwrap();
    assert_eq!(out.download::<u32>().unwrap(), (0..blocks * BLOCK).collect::<Vec<_>>());
}

/// Launches choose by their dynamic memory, one after the other; the largest grid takes several dispatches.
#[test]
fn dynamic_memory_of_any_size() {
    for context in Context::several() {
        let kernel = context.device.load(&program()).unwrap().kernel("turned").unwrap();
        assert_eq!(kernel.entry().scratch, None);
        for (blocks, bytes) in [(3, 128), (3, 100_000), (3, 4096), (2800, 200_000), (3, 232_448)] {
            turn(&context.device, &kernel, blocks, bytes).unwrap();
        }
        let error = turn(&context.device, &kernel, 1, 232_449).unwrap_err();
        assert!(matches!(error, Error::SharedMemory { needed: 232_449, available: 232_448, .. }), "{error}");
    }
}

/// Launches from several threads make the device's scratch memory grow under each other.
#[test]
fn launches_share_scratch_memory() {
    let context = Context::new();
    let device = &context.device;
    let kernel = device.load(&program()).unwrap().kernel("turned").unwrap();
    thread::scope(|scope| {
        for number in 1..5 {
            let kernel = &kernel;
            scope.spawn(move || {
                for round in 1..6 {
                    turn(device, kernel, number * round, 100_000 + 1000 * number).unwrap();
                }
            });
        }
    });
}

/// A device whose invocations have less local memory than the kernel: 41 blocks fit into the scratch memory of a dispatch.
#[test]
fn local_memory_in_parts() {
    let context = Context::new();
    let device = &context.device;
    let mut target = device.target().clone();
    target.quirks.local_memory = Some(16_380);
    let translation = Program::new(&program()).unwrap().translate(&Options::new(&target)).unwrap();
    let module = device.translated(&translation).unwrap();
    let kernel = module.kernel("spread").unwrap();
    // The variable, which is aligned to 16 bytes, doesn't begin at null.
    assert_eq!(kernel.entry().scratch.map(|scratch| scratch.local_bytes), Some(409_616));
    for blocks in [1, 41, 42, 100] {
        spread(device, &kernel, blocks);
    }
}

/// Modules translated elsewhere: a bundle has a variant for launches with more memory, and a single module reports the missing memory.
#[test]
fn variants_for_more_shared_memory() {
    let context = Context::new();
    let device = &context.device;
    let most = device.target().limits.max_compute_shared_memory_size;
    let made = |target: &Target, dynamic_shared_bytes| {
        let options = Options::new(target).dynamic_shared_bytes(dynamic_shared_bytes);
        Program::new(&program()).unwrap().translate(&options).unwrap()
    };
    let [small, large] = [0, most + 1].map(|bytes| made(device.target(), bytes));
    let alone = device.translated(&small).unwrap().kernel("turned").unwrap();
    turn(device, &alone, 2, most).unwrap();
    let error = turn(device, &alone, 2, most + 16).unwrap_err();
    assert!(matches!(error, Error::SharedMemory { available, .. } if available == most), "{error}");
    let both = device.bundle(&Bundle::new([large, small])).unwrap().kernel("turned").unwrap();
    assert_eq!(both.entry().scratch, None);
    for bytes in [128, most, most + 16, 200_000] {
        turn(device, &both, 2, bytes).unwrap();
    }
}

/// * `mapped(out, rank, kind)`: reads, writes or adds to what the block with number `rank` of the cluster has, by an address of shared
///   memory or a generic one. The block's first word is 100 plus its number.
/// * `copied(out, place)`: copies `out` to a place in dynamic shared memory, and the first word from there back to the end.
/// * `not_awaited(out, place)`: the same copy, which nothing waits for.
const SHARED_KERNELS: &str = include_str!("ptx/shared_memory_kernels.ptx");

/// * `within(out, place)`: copies 16 bytes of `out` to a place in dynamic shared memory, of which the first and last 4 may lie outside of
///   the allocation. The first 8 bytes there have an mbarrier.
const WITHIN: &str = include_str!("ptx/shared_memory_within.ptx");

/// The findings of a launch with 64 bytes of dynamic shared memory, which must fail.
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
        let module = context.device.load(&Source::new("shared.ptx", SHARED_KERNELS)).unwrap();
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
    }
}

#[test]
fn copies_past_the_end_end_the_launch() {
    for context in Context::several() {
        let module = context.device.load(&Source::new("shared.ptx", SHARED_KERNELS)).unwrap();
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
    }
}
