//! Shared and local memory in device memory, for launches that need more than the device has.

use std::thread;

use ptx2spv_runtime::{Device, Error, Kernel, LaunchConfig};
use ptx2spv_translator::interface::Bundle;
use ptx2spv_translator::{Options, Program, Source, Target};

use crate::{Context, Launch, Load};

/// * `turned(out)`: each block turns its threads' numbers around in dynamic shared memory, at the end of what there is.
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
        drop(kernel);
        context.finish();
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
    drop(kernel);
    context.finish();
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
    drop((kernel, module));
    context.finish();
}

/// Modules translated elsewhere: a bundle has a variant for launches with more memory, and a single module reports what
/// it lacks.
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
    drop((alone, both));
    context.finish();
}
