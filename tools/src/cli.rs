//! What the binaries share: exit status, how errors are shown, and how PTX files are read.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use ptx2spv_translator::{Math, Source};

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
            note(format_args!("error: {}", chain(&error)));
            if error.is::<UsageError>() { 2.into() } else { ExitCode::FAILURE }
        }
    }
}

/// Writes a line to the standard error; there is nothing left to do if that fails.
pub fn note(message: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
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

/// Reads PTX from a file, or from the standard input if it is `-`.
pub fn read_source(file: &Path) -> Result<Source> {
    let (name, bytes) = if file == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
        ("<stdin>".to_owned(), bytes)
    } else {
        let name = file.display().to_string();
        let bytes = fs::read(file).with_context(|| name.clone())?;
        (name, bytes)
    };
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not text"))?;
    Ok(Source::new(name, text))
}
