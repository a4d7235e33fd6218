//! Runs functions on a device over all of their operands (for pairs and f64, over many), and compares the results with
//! references computed on the host.
//!
//! Exact functions are compared bit by bit, NaNs included; for approximations the worst error is reported. If CUDA is
//! available, it runs the same PTX, and the table shows the distance from its results. The binary needs no other files.

mod approximate;
mod functions;
mod judge;
mod sides;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::thread;

use anyhow::{Context as _, Result};
use clap::Parser;
use ptx2spv::cli::{self, MathArgument, Status};
use ptx2spv::table;
use ptx2spv_runtime::DeviceSelector;

use functions::Function;
use judge::Tally;
use sides::{Cuda, Range, Side, Tested};

/// Sweeps functions over all operands (16 and 32 bits), or over many pseudorandom ones (functions of two operands).
#[derive(Debug, Parser)]
#[command(name = "sweep", version, max_term_width = 100)]
struct CommandLine {
    /// The device.
    #[arg(long, default_value = "default", value_name = "DEVICE")]
    device: DeviceSelector,
    /// Only functions whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Only every N-th 32-bit operand; odd numbers reach all kinds.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// Operands of a launch.
    #[arg(long, default_value_t = 1 << 24, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    chunk: u32,
    /// Threads that compute references [default: one for each processor].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Do not use CUDA, even if it is available.
    #[arg(long)]
    no_cuda: bool,
    #[command(flatten)]
    math: MathArgument,
    /// Write the numbers as JSON too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = CommandLine::parse();
    cli::main(|out| {
        let threads =
            arguments.threads.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
        let device = ptx2spv_runtime::Device::open(&arguments.device)?;
        let cuda = if arguments.no_cuda { None } else { ptx2spv::cuda::Context::new().ok() };
        let info = device.info();
        writeln!(out, "{}, {} {}\n", info.name, info.driver_name, info.driver_info)?;
        let head = ["function", "operands", "wrong", "worst error", "at", "CUDA"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut values = Vec::new();
        let mut status = Status::Success;
        let mut all = Vec::new();
        approximate::all(&mut all);
        functions::all(&mut all);
        for function in all {
            if arguments.filter.as_ref().is_some_and(|filter| !function.name.contains(filter)) {
                continue;
            }
            cli::note(format_args!("{} …", function.name));
            let tested = Tested::new(&device, &function, arguments.chunk, arguments.math.get())?;
            let cuda = cuda.as_ref().map(|context| Cuda::new(context, &function, arguments.chunk)).transpose()?;
            let tally =
                sweep(&arguments, &function, &tested, cuda.as_ref(), threads).with_context(|| function.name.clone())?;
            if tally.wrong > 0 {
                status = Status::Failure;
            }
            rows.push(tally.cells(&function));
            values.push(tally.value(&function));
        }
        table::write(out, "", &rows)?;
        if let Some(file) = &arguments.json {
            let text = serde_json::to_string_pretty(&values)? + "\n";
            fs::write(file, text).with_context(|| file.display().to_string())?;
        }
        Ok(status)
    })
}

/// Sweeps a function. The host judges a chunk while the device computes the next one.
fn sweep(
    arguments: &CommandLine,
    function: &Function,
    tested: &Tested,
    cuda: Option<&Cuda<'_>>,
    threads: usize,
) -> Result<Tally> {
    let stride = if function.is_narrow() { 1 } else { arguments.stride };
    let total = function.operands() / u64::from(stride);
    let with_cuda = cuda.is_some();
    let (sender, receiver) = sync_channel::<(Range, Vec<u64>, Option<Vec<u64>>)>(1);
    thread::scope(|scope| {
        let judge = scope.spawn(move || {
            let mut tally = Tally::new(with_cuda);
            for (range, results, others) in receiver {
                tally.add(judge::chunk(function, range, &results, others.as_deref(), threads));
            }
            tally
        });
        let mut first = 0;
        let computed = (|| {
            while first < total {
                let count = u32::try_from(total - first).unwrap_or(u32::MAX).min(arguments.chunk);
                let range = Range { first, count, stride };
                let results = tested.compute(range)?;
                let others = cuda.map(|cuda| cuda.compute(range)).transpose()?;
                if sender.send((range, results, others)).is_err() {
                    break;
                }
                first += u64::from(count);
            }
            Ok(())
        })();
        drop(sender);
        let tally = judge.join().map_err(|_| anyhow::anyhow!("a thread that judges results failed"));
        computed.and(tally)
    })
}
