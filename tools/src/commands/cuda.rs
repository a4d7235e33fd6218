//! `ptx2spv cuda`: runs a CUDA program on a Vulkan device, with our libraries in place of NVIDIA's.

mod stub;

use std::ffi::OsString;
use std::io::Write;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use ptx2spv::cli::{Status, UsageError};
use ptx2spv_runtime::{DEVICE_VARIABLE, DeviceSelector, PROFILE_VARIABLE};
use ptx2spv_toolkit::files::{link, write};
use ptx2spv_toolkit::{Clang, Toolkit};

/// Run a CUDA program that has PTX on a Vulkan device.
///
/// The program finds the libraries libcuda.so.1, libcudart.so, libnvidia-ml.so.1 and libnvrtc.so.12 of ptx2spv instead of NVIDIA's (see docs/cuda.md).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ptx2spv cuda -- python3 simulation.py
  ptx2spv cuda --profile=trace.json -- ./program
  ptx2spv cuda --trace calls.txt --dump modules --device cpu -- ./program 100
  LD_LIBRARY_PATH=$(ptx2spv cuda --print-path) python3 simulation.py")]
pub struct Arguments {
    /// Device: its number, a part of its name, or cpu, discrete, integrated, virtual, best, vulkan, reference; or several, separated by
    /// commas [default: the environment variable PTX2SPV_DEVICE, else the best and others of its type].
    #[arg(long, value_name = "DEVICES", value_parser = devices)]
    device: Option<String>,
    /// Append a line for each call to a file, with arguments, result, time and the reason of an error; `-` is the
    /// standard error.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Dump all modules into a folder, with files for their errors.
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,
    /// Print where the time went when the program ends: kernels, copies, translation, waits, calls. With a file, also write a trace in
    /// Chrome's format, which https://ui.perfetto.dev shows; %p in its name stands for the number of the process.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    profile: Option<PathBuf>,
    /// Make kernels check their memory accesses: a wrong one is an illegal address for the program, and the trace
    /// describes it.
    #[arg(long)]
    check: bool,
    /// Print the folder with the library, and run nothing.
    #[arg(long, conflicts_with = "program")]
    print_path: bool,
    /// Print a folder of the shape of NVIDIA's toolkit, for clang's --cuda-path and for CMake, and run nothing.
    #[arg(long, conflicts_with_all = ["program", "print_path"])]
    print_toolkit: bool,
    /// The program, and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required_unless_present_any = ["print_path", "print_toolkit"])]
    program: Vec<OsString>,
}

/// The library's file name as built by cargo.
const LIBRARY: &str = "libptx2spv_cuda.so";

/// The names that programs look for.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The names that programs built with a shared runtime library look for, and that of NVIDIA's management library. They are also the names
/// of the symbol versions.
const STUB_NAMES: [&str; 4] = ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13", "libnvidia-ml.so.1"];

/// The library for compiling at run time: its file name as built by cargo, and the names that programs look for.
const COMPILER: &str = "libptx2spv_nvrtc.so";
const COMPILER_NAMES: [&str; 3] = ["libnvrtc.so", "libnvrtc.so.12", "libnvrtc.so.13"];

/// The name that linkers look for by `-lcudart`, and the linker script in its place: the program needs the runtime library, whose functions
/// are the driver library's.
const LINK_NAME: &str = "libcudart.so";
const LINKER_SCRIPT: &str = "INPUT(libcudart.so.12 libcuda.so)\n";

/// Checks a list of devices.
fn devices(text: &str) -> Result<String, ptx2spv_runtime::Error> {
    DeviceSelector::parse_list(text).map(|_| text.to_owned())
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let folder = folder()?;
    if arguments.print_toolkit {
        let toolkit = toolkit(&folder)?;
        toolkit.compile_library(&Clang::find(None)?)?;
        writeln!(out, "{}", toolkit.folder().display())?;
        return Ok(Status::Success);
    }
    let [program, rest @ ..] = &arguments.program[..] else {
        writeln!(out, "{}", folder.display())?;
        return Ok(Status::Success);
    };
    let mut command = Command::new(program);
    command
        .args(rest)
        .env("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", "", &folder)?)
        .env("PATH", before("PATH", "/usr/local/bin:/usr/bin:/bin", &folder)?);
    // Dr.Jit and Triton read these variables.
    command.env("DRJIT_LIBCUDA_PATH", folder.join(NAMES[0])).env("TRITON_PTXAS_PATH", folder.join("ptxas"));
    if let Some(device) = &arguments.device {
        command.env(DEVICE_VARIABLE, device);
    }
    if let Some(trace) = &arguments.trace {
        command.env("PTX2SPV_CUDA_TRACE", trace);
    }
    if let Some(profile) = &arguments.profile {
        // The program may work in another folder.
        let file = if profile == Path::new("-") { profile.clone() } else { std::path::absolute(profile)? };
        command.env(PROFILE_VARIABLE, file);
    }
    if arguments.check {
        command.env("PTX2SPV_CUDA_CHECK", "1");
    }
    if let Some(dump) = &arguments.dump {
        command.env("PTX2SPV_CUDA_DUMP", dump);
    }
    Err(replace(command)).with_context(|| program.display().to_string())
}

/// A list of folders from the environment, or else the default, with another one in front.
fn before(variable: &str, default: &str, folder: &Path) -> Result<OsString> {
    let set = std::env::var_os(variable).unwrap_or_else(|| default.into());
    let others = std::env::split_paths(&set).filter(|path| !path.as_os_str().is_empty());
    let all = std::env::join_paths(iter::once(folder.to_owned()).chain(others));
    all.map_err(|_| {
        UsageError(format!("{}: a library's folder must not have `:` in its name", folder.display())).into()
    })
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

/// This program's file.
fn program() -> Result<PathBuf> {
    std::env::current_exe().and_then(std::fs::canonicalize).context("where this program is")
}

/// The toolkit's folder in the folder with the libraries; created if necessary.
pub fn toolkit(libraries: &Path) -> Result<Toolkit> {
    Ok(Toolkit::write(libraries, Some(&program()?))?)
}

/// The folder with the library under the names that programs look for; created if necessary.
pub fn folder() -> Result<PathBuf> {
    let program = program()?;
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
    for name in STUB_NAMES {
        write(&stub::stub(&machine, name, NAMES[0]), &folder.join(name))?;
    }
    write(LINKER_SCRIPT.as_bytes(), &folder.join(LINK_NAME))?;
    let compiler = library.with_file_name(COMPILER);
    for name in COMPILER_NAMES.iter().filter(|_| compiler.exists()) {
        link(&compiler, &folder.join(name))?;
    }
    for name in super::STAND_INS {
        link(&program, &folder.join(name))?;
    }
    Ok(folder)
}
