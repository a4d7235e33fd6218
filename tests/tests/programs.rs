//! Random kernels on the default Vulkan device against an interpreter of what they were written from: control flow of all
//! kinds, barriers inside of it, and threads that end early.
//!
//! `PTX2SPV_PROGRAMS` says how many (60), from seed `PTX2SPV_FIRST_PROGRAM` (0) on.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use ptx2spv::cases::prepare::{Argument, Array, Check, Expectation, Subject, Tolerance};
use ptx2spv::cases::{Backend, Prepared, Scalar, Verdict, judge};
use ptx2spv_tests::device::Pool;
use ptx2spv_tests::program::{ENTRY, Launch, Program, Race, UNTOUCHED, generate, interpret, ptx};
use ptx2spv_tests::random::Random;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => default,
    };
    let first = number("PTX2SPV_FIRST_PROGRAM", 0);
    let pool = Arc::new(Pool::default());
    let trials = (first..first + number("PTX2SPV_PROGRAMS", 60)).map(|seed| {
        let pool = Arc::clone(&pool);
        Trial::test(format!("program {seed}"), move || check(seed, &pool))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Launches of one program.
const LAUNCHES: usize = 3;

fn check(seed: u64, pool: &Pool) -> Result<(), Failed> {
    let mut random = Random::new(!seed);
    let (program, launches) = without_races(seed, &mut random);
    for (launch, expected) in launches {
        let prepared = prepare(&program, &launch, &expected);
        let verdict = pool.with(|device| judge(&prepared.expectation, &device.run(&prepared)))?;
        if let Verdict::Failed(message) = verdict {
            return Err(Failed::from(format!("{message}\n{launch:?}\n{}", prepared.ptx)));
        }
    }
    Ok(())
}

/// A program and launches with the results of the interpreter. Where that finds a data race, another one is drawn.
fn without_races(seed: u64, random: &mut Random) -> (Program, Vec<(Launch, Vec<u32>)>) {
    loop {
        let program = generate(seed ^ (random.word() << 32));
        let launches = (0..LAUNCHES).map(|_| {
            let launch = Launch {
                blocks: 1 + random.below(3) as u32,
                threads: *random.pick(&[1, 3, 8, 31, 32, 40, 64, 100]),
                uniforms: std::array::from_fn(|_| random.word() as u32),
            };
            let expected = interpret(&program, &launch)?;
            Ok((launch, expected))
        });
        if let Ok(launches) = launches.collect::<Result<_, Race>>() {
            return (program, launches);
        }
    }
}

fn prepare(program: &Program, launch: &Launch, expected: &[u32]) -> Prepared {
    let array =
        |words: &[u32]| Array { ty: Scalar::U32, bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let mut args = vec![Argument::Buffer(array(&vec![UNTOUCHED; expected.len()]))];
    args.extend(launch.uniforms.iter().map(|uniform| Argument::Value(uniform.to_le_bytes().to_vec())));
    let check =
        Check { subject: Subject::Arg(0), offset: 0, expected: array(expected), tolerance: Tolerance::default() };
    Prepared {
        name: "program".to_owned(),
        ptx_name: "program.ptx".to_owned(),
        ptx: ptx(program).into(),
        entry: ENTRY.to_owned(),
        grid: [launch.blocks, 1, 1],
        block: [launch.threads, 1, 1],
        dynamic_shared_bytes: 0,
        globals: BTreeMap::new(),
        args,
        read_globals: BTreeMap::new(),
        expectation: Expectation::Results(vec![check]),
    }
}
