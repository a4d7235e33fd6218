//! Runs launch cases through CUDA: compares their expected results with NVIDIA hardware, or records them.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use ptx2spv::cases::suite::{self, Runner};
use ptx2spv::cases::worker::{self, Worker};
use ptx2spv::cases::{Backend, Case, CudaBackend, Verdict, find, record};
use ptx2spv::cli::{self, Status};

/// Runs launch cases on an NVIDIA device through CUDA's driver API (driver 550 or newer).
#[derive(Debug, Parser)]
#[command(name = "record", version, max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare CUDA's results with what the cases expect.
    Check {
        /// Case files, or directories with case files.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Only cases whose `file:name` contains this.
        #[arg(long, value_name = "TEXT")]
        filter: Option<String>,
        /// Write a report.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Show passing cases too.
        #[arg(short, long)]
        verbose: bool,
    },
    /// Write CUDA's results into the cases: results named in `expect` are updated, and cases without `expect` get every
    /// changed buffer.
    Record {
        /// Case files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

fn main() -> ExitCode {
    let command_line = CommandLine::parse();
    cli::main(|out| match command_line.command {
        Command::Check { paths, filter, json, verbose } => {
            let mut cases = find(&paths)?.cases;
            cases.retain(|case| filter.as_ref().is_none_or(|filter| case.label().contains(filter)));
            check(&cases, json, verbose, out)
        }
        Command::Record { files } => record(&files, out),
    })
}

/// Runs cases in a process, and after a failure in a new one: a kernel's fault makes CUDA unusable for the rest of its process.
struct Isolated(Worker);

impl Runner for Isolated {
    fn device(&self) -> String {
        self.0.device()
    }

    fn run_case(&mut self, case: &Case) -> Verdict {
        let verdict = self.0.run_case(case);
        if let Verdict::Failed(_) = verdict {
            self.0.end();
        }
        verdict
    }
}

fn check(cases: &[Case], json: Option<PathBuf>, verbose: bool, out: &mut dyn Write) -> Result<Status> {
    if worker::is_worker() {
        worker::serve(|| Ok(CudaBackend::new()?))?;
        return Ok(Status::Success);
    }
    // Refusals and their messages are our own, and don't apply to CUDA.
    let comparable: Vec<Case> = cases.iter().filter(|case| case.spec.error.is_none()).cloned().collect();
    if comparable.is_empty() {
        bail!("no launch cases found");
    }
    if comparable.len() < cases.len() {
        writeln!(out, "{} cases that expect an error are left out", cases.len() - comparable.len())?;
    }
    let make = || -> Result<Box<dyn Runner>> { Ok(Box::new(Isolated(Worker::start()?))) };
    let report = suite::run(&comparable, &make, 1, verbose, out)?;
    if let Some(file) = json {
        report.save(&file)?;
    }
    Ok(report.status())
}

fn record(files: &[PathBuf], out: &mut dyn Write) -> Result<Status> {
    let mut backend = CudaBackend::new()?;
    for file in files {
        let count = record::record_file(file, &mut backend)?;
        writeln!(out, "{}: {count} cases recorded from {}", file.display(), backend.name())?;
    }
    Ok(Status::Success)
}
