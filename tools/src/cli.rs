//! What the binaries share: exit status, and how errors are shown.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use ptx2spv_runtime::Device;
use ptx2spv_translator::Math;
use ptx2spv_translator::interface::{ServiceSizes, heap, launches, output};

use crate::{names, style};

/// How a command ended, if not with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All is well: exit status 0.
    Success,
    /// It did its work and found failures, which it reported: exit status 1.
    Failure,
    /// A process that did the work ended with this exit status, and has said why.
    Code(u8),
}

/// How much device memory kernels have for what they print, allocate and launch.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ServiceArguments {
    /// Bytes that `malloc` of a kernel has to give, up to 1 GiB; rounded up to a power of two.
    #[arg(long, default_value_t = heap::BYTES, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=heap::MAX_BYTES))]
    heap_bytes: u64,
    /// Bytes that `printf` of a kernel has room for until the host reads them, up to 1 GiB.
    #[arg(long, default_value_t = output::BYTES, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=output::MAX_BYTES))]
    print_bytes: u64,
    /// How many launches the kernel of one grid can ask for; more fail.
    #[arg(long, default_value_t = launches::CAPACITY, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(launches::MAX_CAPACITY)))]
    pending_launches: u32,
}

impl ServiceArguments {
    /// The sizes.
    pub fn get(self) -> ServiceSizes {
        ServiceSizes { heap: self.heap_bytes, output: self.print_bytes, launches: self.pending_launches }
    }
}

/// The flag `--math`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct MathArgument {
    /// Float arithmetic: exact, fast, or fast in some topics, such as fma=fast,division=fast.
    ///
    /// Exact is as PTX has it, emulated where the device differs; fast is as the device does it. Topics are fma, division,
    /// denormals, approximate, nan and rounding (see docs/numerics.md).
    #[arg(long, default_value_t, value_name = "HOW")]
    math: Math,
}

impl MathArgument {
    /// As the translator takes it.
    pub fn get(self) -> Math {
        self.math
    }
}

/// A contradiction between arguments that clap can't see: exit status 2, as for its own errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// The exit status of a shell's command that died of a closed pipe (128 + SIGPIPE): silent, but no success, since
/// what was cut off may have been a failure.
const BROKEN_PIPE: u8 = 141;

/// Runs a program's body on the standard output and turns its result into an exit status.
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
            // What is still in the buffer would be written at the drop, to the same closed pipe.
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

/// Leaves out notes and progress from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether notes and progress are left out.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a note to the standard error, unless notes are left out.
pub fn note(message: impl std::fmt::Display) {
    if !is_quiet() {
        warn(message);
    }
}

/// Writes lines to the standard error; there is nothing left to do if that fails.
pub fn warn(message: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{}", style::message(&names::readable(&message.to_string())));
}

/// Says so if a device is the reference device because there is no other. Once, also where several threads open devices.
pub fn warn_of_fallback(device: &Device) {
    static SAID: Once = Once::new();
    if let Some(reason) = device.fallback() {
        SAID.call_once(|| {
            warn(format_args!(
                "warning: no Vulkan device can be used ({reason}); this runs on the reference device, an interpreter, which is slow"
            ));
        });
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(pipe)
}

/// The chain of causes on one line; a rendered diagnostic, which has several lines, stands on its own.
fn chain(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    match text.strip_prefix("error: ") {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}
