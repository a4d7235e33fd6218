//! `ptx2spv ptxas`: stands in for NVIDIA's assembler where a compiler wants one before it hands PTX to the driver.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use ptx2spv::cli::{self, Status};
use ptx2spv::input;
use ptx2spv_translator::{Diagnostics, Options, Program, SourcePosition, Target};

/// Check PTX as ptxas does, and write the text itself where ptxas writes machine code.
///
/// Takes ptxas' arguments: a file, `-o OUTPUT`, `-v`, `--version`; the others have no effect. A link to ptx2spv with the name ptxas
/// does the same: Triton takes it by the environment variable TRITON_PTXAS_PATH, clang by --ptxas-path.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = "Example:\n  ptx2spv ptxas -arch=sm_86 kernel.ptx -o kernel.cubin")]
pub struct Arguments {
    /// ptxas' arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    arguments: Vec<OsString>,
}

/// The release of CUDA whose PTX is taken, in the form in which compilers look for it.
const VERSION: &str = "ptx2spv in place of ptxas\nrelease 12.8, V12.8.0";

/// What ptxas writes to where no output is named.
const OUTPUT: &str = "elf.o";

/// Options with a value in the next argument, unless that follows after `=`.
const VALUED: [&str; 8] =
    ["-arch", "--gpu-name", "-maxrregcount", "--maxrregcount", "-O", "--opt-level", "-m", "--machine"];

/// What is asked for.
struct Wanted {
    input: PathBuf,
    output: PathBuf,
    is_verbose: bool,
}

/// What the arguments ask for; nothing if that is the version.
fn parse(arguments: &[OsString]) -> Result<Option<Wanted>> {
    let (mut input, mut output, mut is_verbose) = (None, PathBuf::from(OUTPUT), false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        match &*text {
            "--version" | "-V" => return Ok(None),
            "-v" | "--verbose" => is_verbose = true,
            "-o" | "--output-file" => output = rest.next().context("-o without a file")?.into(),
            option if VALUED.contains(&option) => drop(rest.next()),
            option if option.starts_with('-') && option != "-" => {}
            _ if input.is_some() => bail!("more than one file: {text}"),
            _ => input = Some(PathBuf::from(argument)),
        }
    }
    Ok(Some(Wanted { input: input.context("no file")?, output, is_verbose }))
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let Some(wanted) = parse(&arguments.arguments)? else {
        writeln!(out, "{VERSION}")?;
        return Ok(Status::Success);
    };
    let source = input::read_source(&wanted.input)?;
    let program = match Program::new(&source) {
        Ok(program) => program,
        Err(errors) => return Ok(refuse(&errors)),
    };
    // A device that has everything: what fails there fails everywhere.
    let target = Target::preset("nvidia").context("the preset `nvidia` is missing")?;
    for name in program.entries() {
        let entries = [name.to_owned()];
        if let Err(errors) =
            program.translate(&Options { entries: Some(&entries), launched: false, ..Options::new(&target) })
        {
            return Ok(refuse(&errors));
        }
        if wanted.is_verbose {
            cli::warn(format_args!("ptxas info    : Compiling entry function '{name}'"));
        }
    }
    // With the zero that ends text for the driver.
    let image = [source.text().as_bytes(), &[0]].concat();
    std::fs::write(&wanted.output, image).with_context(|| wanted.output.display().to_string())?;
    Ok(Status::Success)
}

/// Shows errors as ptxas does.
fn refuse(errors: &Diagnostics) -> Status {
    for error in &errors.list {
        let SourcePosition { file, line, .. } = errors.source.place(error.place().start);
        cli::warn(format_args!("ptxas {file}, line {line}; error   : {}", error.kind));
    }
    cli::warn("ptxas fatal   : Ptx assembly aborted due to errors");
    Status::Code(255)
}
