//! Shared by all binaries: exit status and display of errors.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use ptx2spv_translator::interface::{ServiceSizes, heap, launches, output};
use ptx2spv_translator::{Math, names};

use crate::style;

/// The status of a command that didn't return an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success: exit status 0.
    Success,
    /// The command did its work and reported failures: exit status 1.
    Failure,
    /// A process that did the work ended with this exit status, and has reported the reason.
    Code(u8),
}

/// Device memory for kernels' output, allocations and launches.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ServiceArguments {
    /// Bytes for `malloc` in kernels, up to 1 GiB; rounded up to a power of two.
    #[arg(long, default_value_t = heap::BYTES, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=heap::MAX_BYTES))]
    heap_bytes: u64,
    /// Bytes for the output of `printf` in kernels until the host reads it, up to 1 GiB.
    #[arg(long, default_value_t = output::BYTES, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=output::MAX_BYTES))]
    print_bytes: u64,
    /// Maximum number of launches that the kernel of one grid can request; more fail.
    #[arg(long, default_value_t = launches::CAPACITY, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(launches::MAX_CAPACITY)))]
    pending_launches: u32,
}

impl ServiceArguments {
    /// The sizes.
    pub fn get(self) -> ServiceSizes {
        ServiceSizes::default().heap(self.heap_bytes).output(self.print_bytes).launches(self.pending_launches)
    }
}

/// The flag `--math`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct MathArgument {
    /// Accuracy of float arithmetic: exact, fast, or fast for some topics, such as fma=fast,division=fast.
    ///
    /// Exact arithmetic is PTX's, emulated where the device differs; fast arithmetic is the device's. Topics are fma,
    /// division, denormals, approximate, nan, rounding, textures, matrix and constants (see docs/numerics.md). Products of
    /// matrices are those of hopper, or with matrix=volta, turing, ampere or ada those of an earlier generation.
    #[arg(long, default_value_t, value_name = "HOW")]
    math: Math,
}

impl MathArgument {
    /// The translator's option.
    pub fn get(self) -> Math {
        self.math
    }
}

/// Contradicting arguments that clap doesn't detect: exit status 2, like clap's own errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// The exit status of a shell command that was ended by a closed pipe (128 + SIGPIPE). Nothing is printed, but the
/// status is not success, because the lost output may have been about failures.
const BROKEN_PIPE: u8 = 141;

/// Runs a program's body with the standard output, and turns its result into an exit status.
pub fn main(body: impl FnOnce(&mut dyn Write) -> Result<Status>) -> ExitCode {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = body(&mut out).and_then(|status| {
        out.flush().context("standard output")?;
        Ok(status)
    });
    match result {
        Ok(Status::Success) => ExitCode::SUCCESS,
        Ok(Status::Failure) => ExitCode::FAILURE,
        Ok(Status::Code(code)) => code.into(),
        Err(error) if is_broken_pipe(&error) => {
            // Dropping the writer would write the rest of the buffer to the closed pipe.
            let _ = out.into_parts();
            BROKEN_PIPE.into()
        }
        Err(error) => {
            let _ = out.flush();
            warn(format_args!("error: {}", chain(&error)));
            if error.is::<UsageError>() { 2.into() } else { ExitCode::FAILURE }
        }
    }
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses notes and progress from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether notes and progress are suppressed.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a note to the standard error, unless notes are suppressed.
pub fn note(message: impl std::fmt::Display) {
    if !is_quiet() {
        warn(message);
    }
}

/// Writes lines to the standard error. Errors are ignored.
pub fn warn(message: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{}", style::message(&names::readable(&message.to_string())));
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(pipe)
}

/// The chain of causes on one line. A rendered diagnostic with several lines is printed by itself.
fn chain(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    match text.strip_prefix("error: ") {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}
