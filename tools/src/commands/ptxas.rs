//! `ptx2spv ptxas`: replaces NVIDIA's assembler for compilers that run it before they hand PTX to the driver.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use ptx2spv::cli::{self, Status};
use ptx2spv::input;
use ptx2spv_translator::{Diagnostic, Diagnostics, ErrorKind, Options, Program, SourcePosition, Target};

/// Check PTX like ptxas, and write the PTX itself in place of machine code.
///
/// Takes the arguments of ptxas: a file, `-o OUTPUT`, `-c`, `-v`, `--version`; others have no effect. A link to ptx2spv with
/// the name ptxas does the same: Triton finds it by the environment variable TRITON_PTXAS_PATH, clang by --ptxas-path.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = "Example:\n  ptx2spv ptxas -arch=sm_86 kernel.ptx -o kernel.cubin")]
pub struct Arguments {
    /// Arguments of ptxas.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    arguments: Vec<OsString>,
}

/// The release of CUDA whose PTX is supported, in the form that compilers look for.
const VERSION: &str = "ptx2spv in place of ptxas\nrelease 12.8, V12.8.0";

/// The default output of ptxas.
const OUTPUT: &str = "elf.o";

/// Options with a value, in the next argument or after `=`.
const VALUED: [&str; 8] =
    ["-arch", "--gpu-name", "-maxrregcount", "--maxrregcount", "-O", "--opt-level", "-m", "--machine"];

/// The requested work.
struct Wanted {
    input: PathBuf,
    output: PathBuf,
    /// Whether the output is for a linker, so that other modules define the symbols that this module doesn't.
    is_relocatable: bool,
    is_verbose: bool,
}

/// Parses the arguments; `None` if they ask for the version.
fn parse(arguments: &[OsString]) -> Result<Option<Wanted>> {
    let (mut input, mut output) = (None, PathBuf::from(OUTPUT));
    let (mut is_relocatable, mut is_verbose) = (false, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        match &*text {
            "--version" | "-V" => return Ok(None),
            "-c" | "--compile-only" => is_relocatable = true,
            "-v" | "--verbose" => is_verbose = true,
            "-o" | "--output-file" => output = rest.next().context("-o without a file")?.into(),
            option if VALUED.contains(&option) => drop(rest.next()),
            option if option.starts_with('-') && option != "-" => {}
            _ if input.is_some() => bail!("more than one file: {text}"),
            _ => input = Some(PathBuf::from(argument)),
        }
    }
    Ok(Some(Wanted { input: input.context("no file")?, output, is_relocatable, is_verbose }))
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let Some(wanted) = parse(&arguments.arguments)? else {
        writeln!(out, "{VERSION}")?;
        return Ok(Status::Success);
    };
    let source = input::read_source(&wanted.input)?;
    let program = match Program::new(&source) {
        Ok(program) => program,
        Err(errors) => return Ok(refuse("ptxas", &errors)),
    };
    if let Some(errors) = check(&program, wanted.is_relocatable)? {
        return Ok(refuse("ptxas", &errors));
    }
    if wanted.is_verbose {
        for name in program.entries() {
            cli::warn(format_args!("ptxas info    : Compiling entry function '{name}'"));
        }
    }
    // With the terminating zero that the driver's callers add.
    let image = [source.text().as_bytes(), &[0]].concat();
    std::fs::write(&wanted.output, image).with_context(|| wanted.output.display().to_string())?;
    Ok(Status::Success)
}

/// Translates all kernels, and returns the errors of the first that can't be. If the program is for a linker, names that it doesn't define are
/// no errors.
pub fn check(program: &Program, is_relocatable: bool) -> Result<Option<Diagnostics>> {
    // A device with all features: an error here applies to every device.
    let target = Target::preset("nvidia").context("the preset `nvidia` is missing")?;
    let is_for_linker = |error: &Diagnostic| is_relocatable && matches!(error.kind, ErrorKind::Undefined(_));
    for name in program.entries() {
        let entries = [name.to_owned()];
        let translated = program.translate(&Options::new(&target).entries(Some(&entries)).launched(false));
        if let Err(errors) = translated
            && !errors.list.iter().all(is_for_linker)
        {
            return Ok(Some(errors));
        }
    }
    Ok(None)
}

/// Shows errors like a program of NVIDIA's toolkit.
pub fn refuse(program: &str, errors: &Diagnostics) -> Status {
    for error in &errors.list {
        let SourcePosition { file, line, .. } = errors.source.place(error.place().start);
        cli::warn(format_args!("{program} {file}, line {line}; error   : {}", error.kind));
    }
    cli::warn(format_args!("{program} fatal   : Ptx assembly aborted due to errors"));
    Status::Code(255)
}
