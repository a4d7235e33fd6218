//! `bench translate`: the time and memory to translate large modules.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use ptx2spv::cuda::Context;
use ptx2spv::{cli, input};
use ptx2spv_runtime::target_by_name;
use ptx2spv_translator::{Options, Program, Source, Target};
use serde::Serialize;

use crate::clock::Clock;
use crate::long_kernels;
use crate::replicate::{Template, large_module};
use crate::report::{Report, milliseconds};
use crate::workloads::modules;

/// Measure the translator on modules of many kernels.
#[derive(Debug, Args)]
pub struct Arguments {
    /// PTX files for making the modules [default: the kernels of `bench kernels`].
    #[arg(long, value_name = "FILE")]
    ptx: Vec<PathBuf>,
    /// Sizes in megabytes.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 5, 10, 20], value_name = "MB")]
    sizes: Vec<usize>,
    /// Measure single kernels of about so many lines instead, with many functions, indirect calls, barriers or loops that wait.
    #[arg(long, value_name = "LINES", conflicts_with_all = ["ptx", "sizes", "threads"])]
    lines: Option<usize>,
    /// Device to translate for.
    #[arg(long, default_value = "nvidia", value_name = "NAME|FILE")]
    target: String,
    /// Measure time by the clock instead, with these numbers of threads, and beside that of CUDA's driver if it is here. It
    /// should not find its own translations: set CUDA_CACHE_DISABLE=1.
    #[arg(long, value_delimiter = ',', value_name = "N")]
    threads: Vec<NonZeroUsize>,
    /// How often each is measured by the clock; the shortest time counts.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
}

#[derive(Serialize)]
struct Row {
    bytes: usize,
    kernels: usize,
    /// Kernels that can't be translated.
    skipped: usize,
    parse_seconds: f64,
    translate_seconds: f64,
    bytes_per_second: f64,
    peak_memory_bytes: Option<u64>,
    spirv_bytes: usize,
}

#[derive(Serialize)]
struct ThreadsRow {
    bytes: usize,
    kernels: usize,
    threads: NonZeroUsize,
    parse_seconds: f64,
    translate_seconds: f64,
    cuda_seconds: Option<f64>,
}

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let target = target_by_name(&arguments.target)?;
    if let Some(lines) = arguments.lines {
        return kernels_of(lines, &target);
    }
    let files = arguments.ptx.iter().map(|file| input::read_source(file)).collect::<Result<Vec<_>>>()?;
    let texts: Vec<&str> = if files.is_empty() { modules() } else { files.iter().map(Source::text).collect() };
    let templates: Vec<Template<'_>> = texts.into_iter().map(Template::new).collect();
    let source = |&megabytes: &usize| {
        cli::note(format_args!("{megabytes} MB …"));
        Source::new("large.ptx", large_module(&templates, megabytes.saturating_mul(1_000_000)))
    };
    let sources = arguments.sizes.iter().map(source);
    if arguments.threads.is_empty() { one_thread(sources, &target) } else { by_clock(sources, &target, arguments) }
}

#[derive(Serialize)]
struct KernelRow {
    kind: &'static str,
    lines: usize,
    seconds: f64,
    spirv_bytes: usize,
}

/// Processor time for single kernels, parsing included.
fn kernels_of(lines: usize, target: &Target) -> Result<Report> {
    let mut report = Report::new(&["many", "lines", "ms", "SPIR-V MB"]);
    report.notes.push(format!("Processor time of one thread, for the target {}.", target.name));
    // As modules for drivers that end long loops are made.
    let options = Options::new(target).threads(NonZeroUsize::new(1)).suspend_in_loops(true);
    for (kind, text) in long_kernels::kernels(lines) {
        let source = Source::new("long.ptx", text);
        let clock = Clock::start();
        let program = Program::with_threads(&source, NonZeroUsize::new(1))?;
        let translation = program.translate(&options)?;
        let time = clock.elapsed();
        let row = KernelRow {
            kind,
            lines: source.text().lines().count(),
            seconds: time.as_secs_f64(),
            spirv_bytes: 4 * translation.spirv.len(),
        };
        let cells =
            vec![kind.to_owned(), row.lines.to_string(), milliseconds(Some(time)), mega(row.spirv_bytes as f64)];
        report.push(cells, &row)?;
    }
    Ok(report)
}

/// Processor time, and memory.
fn one_thread(sources: impl Iterator<Item = Source>, target: &Target) -> Result<Report> {
    let head = ["MB", "kernels", "left out", "parse ms", "translate ms", "MB/s", "peak MB", "SPIR-V MB"];
    let mut report = Report::new(&head);
    report.notes.push(format!("Processor time of one thread, for the target {}.", target.name));
    for source in sources {
        reset_peak_memory();
        let clock = Clock::start();
        let program = Program::with_threads(&source, NonZeroUsize::new(1))?;
        let parse = clock.elapsed();
        let translation = program.translate(&Options::new(target).keep_going(true).threads(NonZeroUsize::new(1)))?;
        let total = clock.elapsed();
        let row = Row {
            bytes: source.text().len(),
            kernels: translation.interface.entries.len(),
            skipped: program.entries().len() - translation.interface.entries.len(),
            parse_seconds: parse.as_secs_f64(),
            translate_seconds: (total - parse).as_secs_f64(),
            bytes_per_second: source.text().len() as f64 / total.as_secs_f64().max(f64::MIN_POSITIVE),
            peak_memory_bytes: peak_memory(),
            spirv_bytes: 4 * translation.spirv.len(),
        };
        let cells = vec![
            mega(row.bytes as f64),
            row.kernels.to_string(),
            row.skipped.to_string(),
            milliseconds(Some(parse)),
            milliseconds(Some(Duration::from_secs_f64(row.translate_seconds))),
            mega(row.bytes_per_second),
            row.peak_memory_bytes.map_or_else(|| "–".to_owned(), |bytes| mega(bytes as f64)),
            mega(row.spirv_bytes as f64),
        ];
        report.push(cells, &row)?;
    }
    Ok(report)
}

/// Time by the clock, with several threads, and CUDA's beside it.
fn by_clock(sources: impl Iterator<Item = Source>, target: &Target, arguments: &Arguments) -> Result<Report> {
    let head = ["MB", "kernels", "threads", "parse ms", "translate ms", "both ms", "CUDA ms", "CUDA / both"];
    let mut report = Report::new(&head);
    report.notes.push(format!("Time by the clock, for the target {}.", target.name));
    let cuda = Context::new().map_err(|error| cli::note(format_args!("note: without CUDA: {error}"))).ok();
    for source in sources {
        let load = |context: &Context| -> Result<Duration> {
            let start = Instant::now();
            context.load(source.text())?;
            Ok(start.elapsed())
        };
        let cuda = cuda.as_ref().map(load).transpose()?;
        for &threads in &arguments.threads {
            let (mut shortest, mut kernels) = ((Duration::MAX, Duration::MAX), 0);
            for _ in 0..arguments.repeats {
                let start = Instant::now();
                let program = Program::with_threads(&source, Some(threads))?;
                let parse = start.elapsed();
                let options = Options::new(target).keep_going(true).threads(Some(threads));
                kernels = program.translate(&options)?.interface.entries.len();
                let both = start.elapsed();
                if both < shortest.1 {
                    shortest = (parse, both);
                }
            }
            let (parse, both) = shortest;
            let row = ThreadsRow {
                bytes: source.text().len(),
                kernels,
                threads,
                parse_seconds: parse.as_secs_f64(),
                translate_seconds: (both - parse).as_secs_f64(),
                cuda_seconds: cuda.as_ref().map(Duration::as_secs_f64),
            };
            let ratio = cuda.map(|cuda| cuda.as_secs_f64() / both.as_secs_f64());
            let cells = vec![
                mega(row.bytes as f64),
                kernels.to_string(),
                threads.to_string(),
                milliseconds(Some(parse)),
                milliseconds(Some(both - parse)),
                milliseconds(Some(both)),
                milliseconds(cuda),
                ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.1}")),
            ];
            report.push(cells, &row)?;
        }
    }
    Ok(report)
}

fn mega(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e6)
}

/// Resets the peak on Linux. Where that fails, the peak is the whole process's, so sizes should ascend.
fn reset_peak_memory() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The peak memory of the process since then; `None` if the system doesn't report it.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}
