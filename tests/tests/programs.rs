//! Random programs against an interpreter of what they were written from: control flow of all kinds, calls, barriers,
//! atomics, operations of warps, and threads that end early. Short ones run on the default Vulkan device, longer ones on
//! the reference device at all sizes of subgroups, plainly and with everything that Vulkan leaves open decided badly.
//!
//! `PTX2SPV_PROGRAMS` says how many (20), from seed `PTX2SPV_FIRST_PROGRAM` (1000) on. `tests/random` has those below.

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use ptx2spv::cases::prepare::{Argument, Array, Check, Expectation, Subject, Tolerance};
use ptx2spv::cases::{Backend, DeviceBackend, Prepared, Scalar, Verdict, judge};
use ptx2spv_runtime::ReferenceOptions;
use ptx2spv_tests::device::Pool;
use ptx2spv_tests::files;
use ptx2spv_tests::program::{Launch, Outcome, Program, Size, UNTOUCHED, case_files, draw, ptx};

/// Seeds whose results are recorded.
const RECORDED: u64 = 300;
/// Seeds of programs whose lanes meet at operations in different places, the same.
const PARTED: u64 = 100;
/// Subgroup sizes that Vulkan devices have.
const SIZES: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => default,
    };
    let first = number("PTX2SPV_FIRST_PROGRAM", 1000);
    let pool = Arc::new(Pool::default());
    let seeds = first..first + number("PTX2SPV_PROGRAMS", 20);
    let mut trials = vec![Trial::test("the recorded programs are the generator's", recorded)];
    trials.extend(seeds.flat_map(|seed| {
        let pool = Arc::clone(&pool);
        [
            Trial::test(format!("program {seed}"), move || on_device(seed, &pool)),
            Trial::test(format!("program {seed} on the reference device"), move || on_reference(seed, Size::Long)),
        ]
    }));
    trials.extend((first..first + 3).map(|seed| {
        Trial::test(format!("parted program {seed} on the reference device"), move || on_reference(seed, Size::Parted))
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn recorded() -> Result<(), Failed> {
    let parted = case_files(Size::Parted, 0, PARTED);
    for (name, text) in case_files(Size::Short, 0, RECORDED).into_iter().chain(parted) {
        if fs::read_to_string(files::random().join(&name))? != text {
            return Err(Failed::from(format!("{name} differs")));
        }
    }
    Ok(())
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
            let plain = ReferenceOptions { subgroup: Some(size), ..ReferenceOptions::default() };
            let adverse = ReferenceOptions { check: true, seed: Some(seed ^ number as u64), ..plain.clone() };
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
            Err(Failed::from(format!("{message}\n{launch:?}\n{}", prepared.ptx)))
        }
    }
}

fn prepare(program: &Program, launch: &Launch, outcome: &Outcome) -> Prepared {
    let array =
        |words: &[u32]| Array { ty: Scalar::U32, bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let buffers = [&outcome.output, &outcome.gathered];
    let mut args: Vec<Argument> =
        buffers.iter().map(|buffer| Argument::Buffer(array(&vec![UNTOUCHED; buffer.len()]))).collect();
    args.extend(launch.uniforms.iter().map(|uniform| Argument::Value(uniform.to_le_bytes().to_vec())));
    let check = |(number, expected): (usize, &&Vec<u32>)| Check {
        subject: Subject::Arg(number),
        offset: 0,
        expected: array(expected),
        tolerance: Tolerance::default(),
    };
    Prepared {
        name: "program".to_owned(),
        ptx_name: "program.ptx".to_owned(),
        ptx: ptx(&[("program", program)]).into(),
        entry: "program".to_owned(),
        grid: launch.grid,
        block: launch.block,
        cluster: None,
        dynamic_shared_bytes: 0,
        globals: BTreeMap::new(),
        args,
        read_globals: BTreeMap::new(),
        expectation: Expectation::Results(buffers.iter().enumerate().map(check).collect()),
    }
}
