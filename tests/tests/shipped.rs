//! Modules translated for a preset run where they should, with the expected results: all on the preset's own device,
//! and on other devices those that the runtime loads. A case of each kernel file, and some of the instructions' cases,
//! are translated for every preset and loaded on the device that it describes. Modules for devices that tests can have,
//! and some of the others, also run on the reference device as that preset and on the default Vulkan device.
//!
//! Modules for the minimum of Vulkan run on every device.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use libtest_mimic::{Failed, Trial};
use ptx2spv::cases::prepare::Expectation;
use ptx2spv::cases::{Backend, Case, DeviceBackend, Failure, Prepared, Steps, Verdict, find, judge};
use ptx2spv_runtime::{Config, Device, DeviceKind, Error, Module, ReferenceOptions};
use ptx2spv_tests::device::Pool;
use ptx2spv_tests::{files, hash, suite};
use ptx2spv_translator::{Diagnostics, ErrorKind, Interface, Options, Target, Translation};

/// The preset whose modules run on every device.
const LEAST: &str = "vulkan1.1-minimum";
/// One of this many instructions is shipped.
const INSTRUCTIONS_ONE_OF: u64 = 300;
/// One of this many cases is launched, besides those that must run.
const LAUNCHES_ONE_OF: usize = 4;
/// Modules whose invocations carry a whole warp run on SwiftShader up to this length, and are only loaded otherwise.
const QUICK_WORDS: usize = 5_000;

fn main() -> ExitCode {
    suite::main(trials)
}

fn trials() -> Result<Vec<Trial>> {
    let cases = sample(find(&[files::root().join("kernels"), files::root().join("instructions")])?.cases);
    let pool = Arc::new(Pool::default());
    let mut trials = Vec::new();
    for (first, preset) in Target::PRESETS.iter().enumerate() {
        for (number, case) in cases.iter().enumerate() {
            let launches = (first + number) % LAUNCHES_ONE_OF == 0;
            let (case, pool) = (case.clone(), Arc::clone(&pool));
            let name = format!("{preset}: {}", suite::case_name(&case));
            trials.push(Trial::test(name, move || ship(&case, preset, launches, &pool)));
        }
    }
    Ok(trials)
}

/// The first case of each kernel file, and some of the instructions'.
fn sample(cases: Vec<Case>) -> Vec<Case> {
    let (instructions, kernels): (Vec<_>, Vec<_>) =
        cases.into_iter().partition(|case| case.file.starts_with(files::root().join("instructions")));
    let mut kernels = kernels;
    kernels.dedup_by(|second, first| second.file == first.file);
    // By their names, so that a new case changes nothing about the others.
    let is_drawn = |case: &Case| hash(suite::case_name(case).bytes()).is_multiple_of(INSTRUCTIONS_ONE_OF);
    kernels.extend(instructions.into_iter().filter(is_drawn));
    kernels
}

fn ship(case: &Case, preset: &str, launches: bool, pool: &Pool) -> Result<(), Failed> {
    let prepared = case.prepare()?;
    // The translation for clusters of a launch happens at the launch.
    if prepared.cluster.is_some() || !matches!(prepared.expectation, Expectation::Results(_)) {
        return Ok(());
    }
    let target = Target::preset(preset).ok_or("no such preset")?;
    let translation = match translate(&prepared, &target) {
        Ok(translation) => translation,
        // The preset's device is too small for it.
        Err(errors) if errors.list.iter().all(|error| matches!(error.kind, ErrorKind::Limit { .. })) => return Ok(()),
        Err(errors) => return Err(Failed::from(errors.render())),
    };
    // The device that the preset describes, except for its arithmetic: loading checks the description alone.
    let own = Config { target: target.clone(), ..Config::default() };
    load(&Device::reference(own), &translation)?;
    if !launches && ![LEAST, "lavapipe", "swiftshader"].contains(&preset) {
        return Ok(());
    }
    let options = ReferenceOptions::default().target(Some(preset.to_owned()));
    let mut reference = DeviceBackend::reference(options.config()?)?;
    run(&mut reference, &prepared, &translation, preset == LEAST)?;
    pool.with(|device| {
        let own = device.device().is_some_and(|device| is_described_by(device, preset));
        let suits = own || preset == LEAST;
        if is_slow(&translation.interface) && !(is_swiftshader(device) && translation.spirv.len() <= QUICK_WORDS) {
            let loaded = device.device().map(|device| load(device, &translation).map(drop));
            return loaded.filter(|_| suits).transpose().map(drop).map_err(Failed::from);
        }
        run(device, &prepared, &translation, suits)
    })?
}

/// Whether a preset describes a device: the device has all features of the preset.
fn is_described_by(device: &Device, preset: &str) -> bool {
    let info = device.info();
    let size = info.target.subgroups.size;
    match preset {
        "lavapipe" => info.kind == DeviceKind::Cpu && info.driver_info.starts_with("Mesa 22.3.") && size == 8,
        "swiftshader" => info.name.starts_with("SwiftShader"),
        _ => false,
    }
}

fn is_swiftshader(device: &DeviceBackend) -> bool {
    device.device().is_some_and(|device| is_described_by(device, "swiftshader"))
}

/// A module with the case's kernel, for blocks as large as the case's.
fn translate(case: &Prepared, target: &Target) -> Result<Translation, Diagnostics> {
    let threads = case.block.into_iter().fold(1, u32::saturating_mul);
    let entries = [case.entry.clone()];
    let cooperative = case.cooperative;
    let options = Options::new(target)
        .entries(Some(&entries))
        .block_threads(Some(threads))
        .cooperative(cooperative)
        .math(case.math.unwrap_or_default())
        .suspend_in_loops(true);
    case.ptx.program()?.translate(&options)
}

fn load(device: &Device, translation: &Translation) -> Result<Module, Error> {
    // SAFETY: the translator has made it.
    unsafe { device.load_translated(translation) }
}

/// Whether an invocation runs a whole warp. Drivers for processors inline the calls for its threads: llvmpipe takes a minute to
/// compile even a short kernel, SwiftShader a second, but minutes for a long one.
fn is_slow(interface: &Interface) -> bool {
    interface.entries.iter().any(|entry| entry.packing.is_some_and(|packing| packing.subgroup_size == 1))
}

/// Runs a module for a preset on a device that loads it. A device that the module suits must load it.
fn run(device: &mut DeviceBackend, case: &Prepared, translation: &Translation, suits: bool) -> Result<(), Failed> {
    let steps = Steps { load: &|device| load(device, translation), check: &|_| Ok(()) };
    let outcome = device.run_by(case, &steps);
    match judge(&case.expectation, &outcome) {
        Verdict::Passed | Verdict::LeftOut(_) => Ok(()),
        Verdict::Failed(_) if !suits && matches!(outcome, Err(Failure::Refused(_))) => Ok(()),
        Verdict::Failed(message) => Err(Failed::from(format!("{}: {message}", device.name()))),
    }
}
