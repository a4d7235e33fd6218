//! Programs of all kinds, drawn from seeds.

use std::sync::LazyLock;

use anyhow::Result;
use clap::ValueEnum;
use ptx2spv::cases::contents::Array;
use ptx2spv::cases::prepare::{Argument, Expectation};
use ptx2spv::cases::{Prepared, Ptx, Scalar};
use ptx2spv_tests::fuzz::text::mutate;
use ptx2spv_tests::program::{Size, draw, prepare};
use ptx2spv_tests::random::Random;
use ptx2spv_tests::suite::Launch;
use ptx2spv_tests::{changes, hash, loops};

use crate::forms::TYPES;
use crate::straight::{self, Mix, Straight, straight};

/// The longest module that is mutated: mutations of long ones mostly concern other kernels.
const LONGEST: usize = 20_000;
/// Attempts to draw a valid mutation.
const ATTEMPTS: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Integers of all widths, many with constants.
    Integers,
    /// SIMD video instructions among integers.
    Simd,
    /// Floats among integers.
    Floats,
    /// Products and sums that may be fused.
    Contraction,
    /// Fused multiply-adds in loops with several exits.
    Loops,
    /// Short programs of control flow, barriers, calls, warp operations.
    Short,
    /// Long ones.
    Programs,
    /// Programs with lanes that meet in different places.
    Divergent,
    /// Launch cases of the tests, changed without changing what they mean.
    Changed,
    /// Launch cases of the tests with random changes, where the reference device finds nothing undefined.
    Mutated,
}

/// Makes a launch of some of a program's parts.
type Build = Box<dyn Fn(&[String]) -> Prepared>;

/// A program.
pub struct Drawn {
    /// Parts that can be left out: instructions, or places that were changed.
    pub parts: Vec<String>,
    /// The launch of some of the parts.
    pub build: Build,
    /// The contents of the kernel, which decide how results are compared.
    pub mix: Mix,
    /// Whether the program may be invalid, or have undefined results.
    pub loose: bool,
}

impl Drawn {
    fn new(parts: Vec<String>, build: impl Fn(&[String]) -> Prepared + 'static) -> Self {
        Self { parts, build: Box::new(build), mix: Mix::Integers, loose: false }
    }

    /// A program by the lines of its text. A smaller one has no known results, and may mean nothing.
    fn of_text(case: Prepared) -> Self {
        let parts: Vec<String> = case.ptx.text().lines().map(str::to_owned).collect();
        let whole = parts.len();
        Self::new(parts, move |lines| {
            if lines.len() == whole {
                case.clone()
            } else {
                Prepared { ptx: Ptx::new(case.ptx.source().name(), lines.join("\n")), ..without_results(case.clone()) }
            }
        })
    }

    /// The whole program.
    pub fn case(&self) -> Prepared {
        (self.build)(&self.parts)
    }

    /// Leaves out parts, first many at once, then one by one, as long as the rest differs.
    pub fn reduce(&mut self, mut differs: impl FnMut(&Prepared) -> bool) {
        let mut size = self.parts.len() / 2;
        while size > 0 {
            let mut start = 0;
            while start < self.parts.len() {
                let mut fewer = self.parts.clone();
                fewer.drain(start..self.parts.len().min(start + size));
                if differs(&(self.build)(&fewer)) {
                    self.parts = fewer;
                } else {
                    start += size;
                }
            }
            size /= 2;
        }
    }
}

impl Kind {
    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Fails if programs of this kind are made of the tests' launch cases, and these can't be read.
    pub fn check(self) -> Result<()> {
        if matches!(self, Self::Changed | Self::Mutated) {
            Launch::all()?;
        }
        Ok(())
    }

    /// The program for a seed; `None` if there is none.
    pub fn draw(self, seed: u64, instructions: usize) -> Option<Drawn> {
        let program = |size| {
            let drawn = draw(seed, size, 1);
            let (launch, outcome) = &drawn.launches[0];
            Some(Drawn::of_text(prepare(&drawn.program, launch, outcome)))
        };
        match self {
            Self::Integers => Some(arithmetic(seed, Mix::Integers, instructions)),
            Self::Simd => Some(arithmetic(seed, Mix::Simd, instructions)),
            Self::Floats => Some(arithmetic(seed, Mix::Floats, instructions)),
            Self::Contraction => Some(arithmetic(seed, Mix::Contraction(seed as usize % TYPES.len()), instructions)),
            Self::Loops => Some(Drawn::of_text(loop_case(seed))),
            Self::Short => program(Size::Short),
            Self::Programs => program(Size::Long),
            Self::Divergent => program(Size::Divergent),
            Self::Changed => changed(seed),
            Self::Mutated => mutated(seed),
        }
    }
}

/// All launch cases of the tests, with hashes of their names.
static LAUNCHES: LazyLock<Vec<(u64, Launch)>> = LazyLock::new(|| {
    let launches = Launch::all().unwrap_or_default().into_iter();
    launches.map(|launch| (hash(launch.name().bytes()), launch)).collect()
});

/// A launch case that expects results. A new case changes little about which one a seed draws.
fn launch(seed: u64) -> Option<Prepared> {
    let (_, launch) = LAUNCHES.iter().min_by_key(|(hash, _)| Random::new(seed ^ hash).word())?;
    launch.prepare().ok().filter(|case| matches!(case.expectation, Expectation::Results(_)))
}

fn changed(seed: u64) -> Option<Drawn> {
    let case = launch(seed)?;
    let places = changes::places(case.ptx.text());
    let parts = (0..places).map(|place| place.to_string()).collect();
    (places > 0).then(|| {
        Drawn::new(parts, move |parts| {
            let text =
                changes::change(case.ptx.text(), seed, |place| parts.iter().any(|part| *part == place.to_string()));
            Prepared { ptx: Ptx::new(case.ptx.source().name(), text), ..case.clone() }
        })
    })
}

fn mutated(seed: u64) -> Option<Drawn> {
    let mut random = Random::new(seed);
    let case = launch(seed)?;
    if case.ptx.text().len() > LONGEST {
        return None;
    }
    let mutations = (0..ATTEMPTS).map(|_| Ptx::new("mutated.ptx", mutate(case.ptx.text(), &mut random)));
    let ptx = mutations.into_iter().find(|ptx| ptx.program().is_ok())?;
    Some(Drawn { loose: true, ..Drawn::of_text(without_results(Prepared { ptx, ..case })) })
}

/// A launch that is compared with nothing but itself.
fn without_results(case: Prepared) -> Prepared {
    Prepared { expectation: Expectation::Results(Vec::new()), ..case }
}

fn arithmetic(seed: u64, mix: Mix, instructions: usize) -> Drawn {
    let Straight { lines, slots } = straight(seed, mix, instructions);
    let build = move |lines: &[String]| {
        let output = vec![0; 8 * straight::THREADS * slots];
        let buffers =
            [straight::inputs(seed, mix), output].map(|bytes| Argument::Buffer(Array { ty: Scalar::U64, bytes }));
        case(Straight { lines: lines.to_vec(), slots }.ptx(), straight::THREADS, buffers.into())
    };
    Drawn { mix, ..Drawn::new(lines, build) }
}

fn loop_case(seed: u64) -> Prepared {
    let buffers = [loops::inputs(seed), vec![0; 4 * loops::THREADS]]
        .map(|bytes| Argument::Buffer(Array { ty: Scalar::F32, bytes }));
    case(loops::ptx(seed), loops::THREADS, buffers.into())
}

fn case(ptx: String, threads: usize, args: Vec<Argument>) -> Prepared {
    Prepared { block: [threads as u32, 1, 1], args, ..Prepared::new(Ptx::new("kernel.ptx", ptx), "kernel") }
}
