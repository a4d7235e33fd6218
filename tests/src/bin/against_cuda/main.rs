//! Compares random programs with CUDA on the same chip: each seed's kernel runs through CUDA (or on the reference
//! device, for lack of CUDA) and on a Vulkan device. Kernels whose results differ are reduced and saved as launch cases,
//! unless CUDA itself gives other results without its assembler's optimizations.

mod forms;
mod saved;
mod straight;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use ptx2spv::cases::contents::Array;
use ptx2spv::cases::prepare::Argument;
use ptx2spv::cases::{Backend, CudaBackend, DeviceBackend, Outputs, Prepared, Ptx, Scalar};
use ptx2spv::cli::{self, Status};
use ptx2spv_runtime::{Config, DeviceSelector};
use ptx2spv_tests::loops;
use ptx2spv_tests::program::{Drawn, GATHERED, Size, UNTOUCHED, draw, ptx};
use straight::{Mix, Straight};

/// Runs random kernels through CUDA and on a Vulkan device, and saves kernels whose results differ.
#[derive(Debug, Parser)]
#[command(name = "against_cuda", max_term_width = 100)]
struct CommandLine {
    /// The first seed.
    first: u64,
    /// The seed after the last.
    end: u64,
    /// Contents of the kernels.
    #[arg(long, value_enum, default_value_t = Kind::Integers)]
    kind: Kind,
    /// Approximate number of instructions in a kernel of arithmetic.
    #[arg(long, default_value_t = 300)]
    instructions: usize,
    /// Source of the expected results.
    #[arg(long, value_enum, default_value_t = Truth::Cuda)]
    truth: Truth,
    /// The Vulkan device, as for `ptx2spv run`.
    #[arg(long, default_value_t = DeviceSelector::Default)]
    device: DeviceSelector,
    /// Where to save kernels whose results differ.
    #[arg(long, default_value = "different")]
    out: PathBuf,
    /// Maximum number of kernels to reduce.
    #[arg(long, default_value_t = 4)]
    reduce: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
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
    /// Control flow, barriers, calls, warp operations.
    Programs,
    /// The same, with lanes that meet in different places.
    Divergent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Truth {
    /// CUDA on the first device.
    Cuda,
    /// The reference device.
    Reference,
}

fn main() -> ExitCode {
    let command_line = CommandLine::parse();
    cli::main(|out| Comparison::new(&command_line)?.run(&command_line, out))
}

/// The two sides.
struct Comparison {
    truth: Box<dyn Backend>,
    device: Box<dyn Backend>,
    /// CUDA whose assembler optimizes nothing, if CUDA is the truth.
    unoptimized: Option<CudaBackend>,
    /// A third result, to tell which side is wrong.
    reference: DeviceBackend,
}

/// The side whose results differ from the two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odd {
    /// CUDA's assembler: without its optimizations, CUDA gives the device's results.
    Assembler,
    /// The device: a bug in its driver or in device-specific output.
    Device,
    /// The truth: a bug in CUDA, or in output for all devices.
    Truth,
    /// All three differ.
    All,
}

impl Comparison {
    fn new(command_line: &CommandLine) -> Result<Self> {
        let (truth, unoptimized): (Box<dyn Backend>, _) = match command_line.truth {
            Truth::Cuda => (Box::new(CudaBackend::new()?), Some(CudaBackend::unoptimized()?)),
            Truth::Reference => (Box::new(DeviceBackend::reference(Config::default())?), None),
        };
        let device = Box::new(DeviceBackend::open(&command_line.device, None)?);
        Ok(Self { truth, device, unoptimized, reference: DeviceBackend::reference(Config::default())? })
    }

    fn run(&mut self, command_line: &CommandLine, out: &mut dyn Write) -> Result<Status> {
        writeln!(out, "{} against {}", self.device.name(), self.truth.name())?;
        let mut different = 0;
        let mut reduced = Vec::new();
        for seed in command_line.first..command_line.end {
            let mix = match command_line.kind {
                Kind::Integers => Mix::Integers,
                Kind::Simd => Mix::Simd,
                Kind::Floats => Mix::Floats,
                Kind::Contraction => Mix::Contraction(seed as usize % forms::TYPES.len()),
                Kind::Loops | Kind::Programs | Kind::Divergent => {
                    let case = match command_line.kind {
                        Kind::Loops => loop_case(seed),
                        Kind::Divergent => program_case(seed, &draw(seed, Size::Divergent, 1)),
                        _ => program_case(seed, &draw(seed, Size::Long, 1)),
                    };
                    different += usize::from(self.compare(seed, &case, &command_line.out, out)?);
                    continue;
                }
            };
            let kernel = straight::straight(seed, mix, command_line.instructions);
            let case = straight_case(seed, mix, &kernel);
            let Some(difference) = self.difference(mix, &case) else { continue };
            different += 1;
            let odd = self.odd(mix, &case);
            if odd == Some(Odd::Assembler) {
                writeln!(out, "seed {seed}: {}", described(odd, difference))?;
                continue;
            }
            let mut shown = kernel;
            if reduced.iter().filter(|earlier| **earlier == odd).count() < command_line.reduce {
                reduced.push(odd);
                shown = straight::reduce(shown, |kernel| {
                    let case = straight_case(seed, mix, kernel);
                    self.differs(mix, &case) && self.odd(mix, &case) == odd
                });
            }
            self.save(&command_line.out, seed, &described(odd, difference), &straight_case(seed, mix, &shown), out)?;
        }
        writeln!(out, "{different} of {} differ", command_line.end.saturating_sub(command_line.first))?;
        Ok(if different == 0 { Status::Success } else { Status::Failure })
    }

    /// Whether a program with control flow gives different results.
    fn compare(&mut self, seed: u64, case: &Prepared, directory: &Path, out: &mut dyn Write) -> Result<bool> {
        let Some(difference) = self.difference(Mix::Integers, case) else { return Ok(false) };
        let odd = self.odd(Mix::Integers, case);
        self.save(directory, seed, &described(odd, difference), case, out)?;
        Ok(true)
    }

    /// Saves a kernel as a launch case that expects what the truth gives, and says so at once.
    fn save(
        &mut self,
        directory: &Path,
        seed: u64,
        difference: &str,
        case: &Prepared,
        out: &mut dyn Write,
    ) -> Result<()> {
        let expected = self.truth.run(case).ok();
        let file = saved::save(directory, &format!("seed_{seed}"), difference, case, expected.as_ref())?;
        writeln!(out, "seed {seed}: {difference}; {}", file.display())?;
        out.flush()?;
        Ok(())
    }

    /// The side with other results, if all run the kernel and the results differ.
    fn odd(&mut self, mix: Mix, case: &Prepared) -> Option<Odd> {
        let [truth, device, reference] =
            [self.truth.run(case).ok()?, self.device.run(case).ok()?, self.reference.run(case).ok()?];
        let same = |one: &Outputs, other: &Outputs| first_difference(mix, one, other).is_none();
        if same(&truth, &device) {
            return None;
        }
        // What may be fused is fused by an optimization, which is to be followed.
        let is_comparable = !matches!(mix, Mix::Contraction(_));
        let unoptimized = self.unoptimized.as_mut().filter(|_| is_comparable).and_then(|cuda| cuda.run(case).ok());
        Some(match unoptimized {
            Some(unoptimized) if same(&unoptimized, &device) => Odd::Assembler,
            Some(unoptimized) if same(&unoptimized, &reference) => Odd::Device,
            _ if same(&truth, &reference) => Odd::Device,
            _ if same(&device, &reference) => Odd::Truth,
            _ => Odd::All,
        })
    }

    /// The difference between the two sides' results, or the error of a side that has none.
    fn difference(&mut self, mix: Mix, case: &Prepared) -> Option<String> {
        match (self.truth.run(case), self.device.run(case)) {
            (Ok(truth), Ok(device)) => first_difference(mix, &truth, &device),
            (Err(truth), Err(device)) => Some(format!("neither runs it: {truth}; {device}")),
            (Err(truth), Ok(_)) => Some(format!("not run for the truth: {truth}")),
            (Ok(_), Err(device)) => Some(format!("not run on the device: {device}")),
        }
    }

    /// Whether both run a kernel and give different results.
    fn differs(&mut self, mix: Mix, case: &Prepared) -> bool {
        let Ok(truth) = self.truth.run(case) else { return false };
        self.device.run(case).is_ok_and(|device| first_difference(mix, &truth, &device).is_some())
    }
}

fn described(odd: Option<Odd>, difference: String) -> String {
    match odd {
        Some(odd) => format!("{odd:?} is odd: {difference}"),
        None => difference,
    }
}

fn first_difference(mix: Mix, truth: &Outputs, device: &Outputs) -> Option<String> {
    let buffers = truth.buffers.iter().zip(&device.buffers).enumerate();
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    buffers.filter(|(_, (truth, device))| truth != device).find_map(|(argument, (truth, device))| {
        let (truth, device) = (truth.as_ref()?, device.as_ref()?);
        let mut words = truth.chunks(8).zip(device.chunks(8));
        let word = words.position(|(truth, device)| !straight::same(mix, number(truth), number(device)))?;
        let hexadecimal =
            |bytes: &[u8]| bytes.iter().skip(8 * word).take(8).rev().map(|b| format!("{b:02x}")).collect::<String>();
        Some(format!(
            "argument {argument}, 64-bit word {word} (slot {}, thread {}): {} instead of {}",
            word / straight::THREADS,
            word % straight::THREADS,
            hexadecimal(device),
            hexadecimal(truth)
        ))
    })
}

fn straight_case(seed: u64, mix: Mix, kernel: &Straight) -> Prepared {
    let output = vec![0; 8 * straight::THREADS * kernel.slots];
    let buffers = [straight::inputs(seed, mix), output].map(|bytes| Argument::Buffer(Array { ty: Scalar::U64, bytes }));
    case(kernel.ptx(), "kernel", [1; 3], [straight::THREADS as u32, 1, 1], buffers.into())
}

fn loop_case(seed: u64) -> Prepared {
    let buffers = [loops::inputs(seed), vec![0; 4 * loops::THREADS]]
        .map(|bytes| Argument::Buffer(Array { ty: Scalar::F32, bytes }));
    case(loops::ptx(seed), "kernel", [1; 3], [loops::THREADS as u32, 1, 1], buffers.into())
}

fn program_case(seed: u64, drawn: &Drawn) -> Prepared {
    let name = format!("program_{seed}");
    let (launch, outcome) = &drawn.launches[0];
    let buffer = |words: usize| {
        let bytes = UNTOUCHED.to_le_bytes().repeat(words);
        Argument::Buffer(Array { ty: Scalar::U32, bytes })
    };
    let mut args = vec![buffer(outcome.output.len()), buffer(GATHERED + 1)];
    args.extend(launch.uniforms.iter().map(|uniform| Argument::Value(uniform.to_le_bytes().to_vec())));
    case(ptx(&[(&name, &drawn.program)]), &name, launch.grid, launch.block, args)
}

fn case(ptx: String, entry: &str, grid: [u32; 3], block: [u32; 3], args: Vec<Argument>) -> Prepared {
    Prepared { grid, block, args, ..Prepared::new(Ptx::new(format!("{entry}.ptx"), ptx), entry) }
}
