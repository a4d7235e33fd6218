//! Modules with randomly changed words never make the device panic or run forever, in any mode, whether `spirv-val`
//! accepts them or not. `PTX2SPV_MUTANTS` sets the number of mutants of each module.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use ptx2spv_reference::{Choice, Dispatch, Mode, Seeded};
use support::{CHECKED, PLAIN, adversarial, device, directory, words};

/// Default number of mutants of each module.
const MUTANTS: u64 = 24;
/// Maximum steps of a dispatch.
const STEPS: u64 = 20_000;
const LIMIT: Duration = Duration::from_secs(600);

/// A module with a few words changed after its header.
fn mutant(module: &[u32], random: &mut Seeded) -> Vec<u32> {
    let mut mutant = module.to_vec();
    let place = |random: &mut Seeded| 5 + random.pick(module.len() as u32 - 5) as usize;
    for _ in 0..1 + random.pick(3) {
        let at = place(random);
        mutant[at] = match random.pick(5) {
            0 => module[place(random)],
            1 => mutant[at] ^ 1 << random.pick(32),
            2 => random.pick(16),
            3 => mutant[at].wrapping_add(random.pick(5)).wrapping_sub(2),
            _ => random.bits() as u32,
        };
    }
    match random.pick(16) {
        0 => mutant.truncate(place(random)),
        1 => drop(mutant.remove(place(random))),
        _ => {}
    }
    mutant
}

/// Runs the entry point `main` if possible, and returns whether a dispatch began.
fn run(module: &[u32], mode: Mode) -> bool {
    let device = device(8, mode, STEPS);
    let Ok(shader) = device.shader(module) else { return false };
    let Ok(pipeline) = device.pipeline(&shader, "main", &[], None) else { return false };
    let buffers: Vec<u64> = (0..4).map(|_| device.allocate(1024).unwrap()).collect();
    for address in &buffers {
        device.fill(*address, 1024, 1).unwrap();
    }
    let push_constants: Vec<u8> = buffers.iter().cycle().take(16).flat_map(|address| address.to_le_bytes()).collect();
    let dispatch = Dispatch { groups: [2, 1, 1], push_constants: &push_constants };
    let _ = device.dispatch(&pipeline, &dispatch);
    let _ = device.read(buffers[0], &mut [0; 1024]);
    device.take_findings();
    true
}

#[test]
fn changed_modules_do_no_harm() {
    let mut modules: Vec<_> = ["shaders", "faults"]
        .iter()
        .flat_map(|name| fs::read_dir(directory(name)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "spv"))
        .collect();
    modules.sort();
    let wanted = std::env::var("PTX2SPV_MUTANTS").map_or(MUTANTS, |count| count.parse().expect("a number"));
    let (mut valid, mut ran, mut tried) = (0, 0, 0);
    for (number, path) in modules.iter().enumerate() {
        let module = words(&fs::read(path).unwrap());
        for seed in 0..wanted {
            let mutant = mutant(&module, &mut Seeded::new((number as u64) << 32 | seed));
            tried += 1;
            let is_valid = ptx2spv_spirv_tools::validate("vulkan1.2", &mutant).is_ok();
            valid += u32::from(is_valid);
            for mode in [PLAIN, CHECKED, adversarial(seed)] {
                let (done, outcome) = mpsc::channel();
                let copy = mutant.clone();
                // A separate thread, so that a run without end can be detected.
                thread::spawn(move || {
                    let result = catch_unwind(AssertUnwindSafe(|| run(&copy, mode)));
                    let _ = done.send(result.map_err(drop));
                });
                let name = path.display();
                match outcome.recv_timeout(LIMIT) {
                    Ok(Ok(dispatched)) => ran += u32::from(dispatched && is_valid),
                    Ok(Err(())) => panic!("{name}, mutant {seed} in {mode:?}, valid: {is_valid}: panics"),
                    Err(_) => panic!("{name}, mutant {seed} in {mode:?}, valid: {is_valid}: does not end"),
                }
            }
        }
    }
    assert!(valid * 20 > tried && ran > valid, "{valid} of {tried} valid, {ran} runs");
}
