//! `bench translate`: the time and memory to translate large modules.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use ptx2spv::{cli, input};
use ptx2spv_runtime::target_by_name;
use ptx2spv_translator::{Options, Program, Source};
use serde::Serialize;

use crate::clock::Clock;
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
    /// Device to translate for.
    #[arg(long, default_value = "nvidia", value_name = "NAME|FILE")]
    target: String,
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

pub fn measure(arguments: &Arguments) -> Result<Report> {
    let target = target_by_name(&arguments.target)?;
    let sources = arguments.ptx.iter().map(|file| input::read_source(file)).collect::<Result<Vec<_>>>()?;
    let texts: Vec<&str> = if sources.is_empty() { modules() } else { sources.iter().map(Source::text).collect() };
    let templates: Vec<Template<'_>> = texts.into_iter().map(Template::new).collect();
    let head = ["MB", "kernels", "left out", "parse ms", "translate ms", "MB/s", "peak MB", "SPIR-V MB"];
    let mut report = Report::new(&head);
    report.notes.push(format!("Processor time of one thread, for the target {}.", target.name));
    for &megabytes in &arguments.sizes {
        let source = Source::new("large.ptx", large_module(&templates, megabytes.saturating_mul(1_000_000)));
        cli::note(format_args!("{megabytes} MB …"));
        reset_peak_memory();
        let clock = Clock::start();
        let program = Program::new(&source)?;
        let parse = clock.elapsed();
        let translation = program.translate(&Options::new(&target).keep_going(true).threads(NonZeroUsize::new(1)))?;
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
        let mega = |bytes: f64| format!("{:.1}", bytes / 1e6);
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
