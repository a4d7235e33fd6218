//! `ptx2spv cuda`: runs a CUDA program on a Vulkan device, with our libraries in place of NVIDIA's.

mod stub;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use ptx2spv::cli::{Status, UsageError};
use ptx2spv_runtime::{DEVICE_VARIABLE, DeviceSelector};

/// Run a CUDA program that has PTX on a Vulkan device.
///
/// The program finds the libraries libcuda.so.1 and libcudart.so of ptx2spv instead of NVIDIA's (see docs/cuda.md).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv cuda -- python3 simulation.py
  ptx2spv cuda --trace calls.txt --dump modules --device cpu -- ./program 100
  LD_LIBRARY_PATH=$(ptx2spv cuda --print-path) python3 simulation.py")]
pub struct Arguments {
    /// Device: its number, a part of its name, or cpu, discrete, integrated, virtual, best, vulkan, reference
    /// [default: the environment variable PTX2SPV_DEVICE, else best].
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceSelector>,
    /// Append a line for each call to a file, with arguments, result, time and the reason of an error; `-` is the
    /// standard error.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Dump all modules into a folder, with files for their errors.
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,
    /// Make kernels check their memory accesses: a wrong one is an illegal address for the program, and the trace
    /// describes it.
    #[arg(long)]
    check: bool,
    /// Print the folder with the library, and run nothing.
    #[arg(long, conflicts_with = "program")]
    print_path: bool,
    /// The program, and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required_unless_present = "print_path")]
    program: Vec<OsString>,
}

/// The library's file name as built by cargo.
const LIBRARY: &str = "libptx2spv_cuda.so";

/// The names that programs look for.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The names that programs built with a shared runtime library look for. They are also the names of the symbol
/// versions.
const RUNTIME_NAMES: [&str; 3] = ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"];

/// What linkers look for by `-lcudart`, and what they are to do then: the program needs the runtime library, whose functions are the
/// driver library's.
const LINK_NAME: &str = "libcudart.so";
const LINKER_SCRIPT: &str = "INPUT(libcudart.so.12 libcuda.so)\n";

/// The name under which this program replaces ptxas.
pub const PTXAS: &str = "ptxas";

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let folder = folder()?;
    let [program, rest @ ..] = &arguments.program[..] else {
        writeln!(out, "{}", folder.display())?;
        return Ok(Status::Success);
    };
    let mut paths = vec![folder.clone()];
    if let Some(set) = std::env::var_os("LD_LIBRARY_PATH") {
        paths.extend(std::env::split_paths(&set));
    }
    let paths = std::env::join_paths(paths)
        .map_err(|_| UsageError(format!("{}: a library's folder must not have `:` in its name", folder.display())))?;
    let mut command = Command::new(program);
    command.args(rest).env("LD_LIBRARY_PATH", paths);
    // Dr.Jit and Triton read these variables.
    command.env("DRJIT_LIBCUDA_PATH", folder.join(NAMES[0])).env("TRITON_PTXAS_PATH", folder.join(PTXAS));
    if let Some(device) = &arguments.device {
        command.env(DEVICE_VARIABLE, device.to_string());
    }
    if let Some(trace) = &arguments.trace {
        command.env("PTX2SPV_CUDA_TRACE", trace);
    }
    if arguments.check {
        command.env("PTX2SPV_CUDA_CHECK", "1");
    }
    if let Some(dump) = &arguments.dump {
        command.env("PTX2SPV_CUDA_DUMP", dump);
    }
    Err(replace(command)).with_context(|| program.display().to_string())
}

/// Replaces this process by a program, and so only returns on failure.
#[cfg(unix)]
fn replace(mut command: Command) -> anyhow::Error {
    std::os::unix::process::CommandExt::exec(&mut command).into()
}

#[cfg(not(unix))]
fn replace(_command: Command) -> anyhow::Error {
    anyhow::anyhow!("on this system, put ptx2spv_cuda.dll as nvcuda.dll beside the program")
}

/// The folder with the library under the names that programs look for; created if necessary.
fn folder() -> Result<PathBuf> {
    let program = std::env::current_exe().and_then(std::fs::canonicalize).context("where this program is")?;
    let beside = program.parent().context("this program has no folder")?;
    let candidates = [beside.to_owned(), beside.join("deps"), beside.join("../lib/ptx2spv")];
    let Some(library) = candidates.iter().map(|folder| folder.join(LIBRARY)).find(|path| path.exists()) else {
        bail!(
            "{LIBRARY} is not beside {}\nhelp: build both, by `cargo build --release`, and run target/release/ptx2spv",
            program.display()
        );
    };
    let folder = library.with_file_name("cuda");
    for name in NAMES {
        link(&library, &folder.join(name))?;
    }
    let machine = stub::Machine::of(&std::fs::read(&library).with_context(|| library.display().to_string())?)?;
    for name in RUNTIME_NAMES {
        write(&stub::stub(&machine, name, NAMES[0]), &folder.join(name))?;
    }
    write(LINKER_SCRIPT.as_bytes(), &folder.join(LINK_NAME))?;
    link(&program, &folder.join(PTXAS))?;
    Ok(folder)
}

/// Writes a file, unless it exists with the same contents.
fn write(bytes: &[u8], path: &Path) -> Result<()> {
    let is_there = || std::fs::read(path).is_ok_and(|found| found == bytes);
    if is_there() {
        return Ok(());
    }
    let make = || {
        // Renamed, because another process may read or write the file at the same time.
        let new = path.with_extension(format!("{}", std::process::id()));
        std::fs::write(&new, bytes)?;
        std::fs::rename(&new, path)
    };
    make().or_else(|error| if is_there() { Ok(()) } else { Err(error) }).with_context(|| path.display().to_string())
}

/// Makes a link, unless it exists.
#[cfg(unix)]
fn link(target: &Path, link: &Path) -> Result<()> {
    let target = std::fs::canonicalize(target)?;
    let is_there = || std::fs::canonicalize(link).is_ok_and(|found| found == target);
    if is_there() {
        return Ok(());
    }
    let folder = link.parent().context("a link has a folder")?;
    let make = || {
        std::fs::create_dir_all(folder)?;
        // Renamed, because another process may read or make the link at the same time.
        let new = link.with_extension(format!("{}", std::process::id()));
        std::os::unix::fs::symlink(&target, &new)?;
        std::fs::rename(&new, link)
    };
    make().or_else(|error| if is_there() { Ok(()) } else { Err(error) }).with_context(|| link.display().to_string())
}

#[cfg(not(unix))]
fn link(_target: &Path, link: &Path) -> Result<()> {
    bail!("{}: on this system, put ptx2spv_cuda.dll as nvcuda.dll beside the program", link.display())
}
