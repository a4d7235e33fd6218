//! Random programs against an interpreter of their source: control flow of all kinds, calls, barriers, atomics, warp
//! operations, and threads that end early. Short ones run on the default Vulkan device, longer ones on the reference
//! device at all subgroup sizes, both plainly and with the worst choices that Vulkan allows.
//!
//! `PTX2SPV_PROGRAMS` is their number (20), and `PTX2SPV_FIRST_PROGRAM` the first seed (1000). `tests/random` records
//! lower seeds.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use libtest_mimic::{Failed, Trial};
use ptx2spv::cases::{Backend, DeviceBackend, Prepared, Verdict, judge};
use ptx2spv_runtime::ReferenceOptions;
use ptx2spv_tests::device::Pool;
use ptx2spv_tests::program::{Launch, Recorded, Size, draw, prepare};
use ptx2spv_tests::{files, suite};

/// Subgroup sizes that Vulkan devices have.
const SIZES: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

fn main() -> ExitCode {
    suite::main(trials)
}

fn trials() -> Result<Vec<Trial>> {
    let first = number("PTX2SPV_FIRST_PROGRAM", 1000)?;
    let pool = Arc::new(Pool::default());
    let seeds = first..first + number("PTX2SPV_PROGRAMS", 20)?;
    let mut trials = vec![Trial::test("the recorded programs are the generator's", recorded)];
    trials.extend(seeds.flat_map(|seed| {
        let pool = Arc::clone(&pool);
        [
            Trial::test(format!("program {seed}"), move || on_device(seed, &pool)),
            Trial::test(format!("program {seed} on the reference device"), move || on_reference(seed, Size::Long)),
        ]
    }));
    trials.extend((first..first + 3).map(|seed| {
        Trial::test(format!("divergent program {seed} on the reference device"), move || {
            on_reference(seed, Size::Divergent)
        })
    }));
    Ok(trials)
}

fn number(variable: &str, default: u64) -> Result<u64> {
    match std::env::var(variable) {
        Ok(text) => text.parse().with_context(|| format!("{variable} is not a number: {text}")),
        Err(_) => Ok(default),
    }
}

fn recorded() -> Result<(), Failed> {
    let file = files::root().join("random/recorded.txt");
    let made = Recorded::file();
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        return Ok(fs::write(file, made)?);
    }
    let text = fs::read_to_string(file)?;
    match text.lines().zip(made.lines()).find(|(recorded, made)| recorded != made) {
        Some((recorded, made)) => Err(Failed::from(format!("recorded was `{recorded}`, made is `{made}`"))),
        None if text != made => Err(Failed::from("the file has more or fewer lines")),
        None => Ok(()),
    }
}

fn on_device(seed: u64, pool: &Pool) -> Result<(), Failed> {
    let drawn = draw(seed, Size::Short, 2);
    for (launch, outcome) in &drawn.launches {
        let prepared = prepare(&drawn.program, launch, outcome);
        pool.with(|device| compare(&prepared, launch, device))??;
    }
    Ok(())
}

fn on_reference(seed: u64, size: Size) -> Result<(), Failed> {
    let drawn = draw(seed, size, 1);
    for (launch, outcome) in &drawn.launches {
        let prepared = prepare(&drawn.program, launch, outcome);
        for (number, size) in SIZES.into_iter().enumerate() {
            let plain = ReferenceOptions::default().subgroup(Some(size));
            let adverse = plain.clone().check(true).seed(Some(seed ^ number as u64));
            for options in [plain, adverse] {
                let mut device = DeviceBackend::reference(options.config()?)?;
                compare(&prepared, launch, &mut device)
                    .map_err(|error| format!("reference:{options}: {}", error.message().unwrap_or_default()))?;
            }
        }
    }
    Ok(())
}

fn compare(prepared: &Prepared, launch: &Launch, device: &mut DeviceBackend) -> Result<(), Failed> {
    match judge(&prepared.expectation, &device.run(prepared)) {
        Verdict::Passed => Ok(()),
        Verdict::Failed(message) | Verdict::LeftOut(message) => {
            Err(Failed::from(format!("{message}\n{launch:?}\n{}", prepared.ptx.text())))
        }
    }
}
