//! `ptx2spv nvcc`: compiles CUDA C++ by clang, with nvcc's command line.

use std::ffi::OsString;
use std::io::Write;

use anyhow::Result;
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv_toolkit::nvcc::Nvcc;

use super::cuda;

/// Compile CUDA C++ like nvcc, by clang.
///
/// Takes nvcc's options (see runtime/toolkit/README.md); --clang names the clang to use. The programs run on Vulkan devices by
/// themselves. A link to ptx2spv with the name nvcc does the same: `ptx2spv cuda --print-path` prints a folder with one.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_help = "\
Examples:
  ptx2spv nvcc -O3 -o saxpy saxpy.cu && ./saxpy
  make NVCC=\"ptx2spv nvcc\""
)]
pub struct Arguments {
    /// Arguments of nvcc.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    arguments: Vec<OsString>,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let nvcc = Nvcc::parse(&arguments.arguments)?;
    if let Some(text) = nvcc.answer() {
        write!(out, "{text}")?;
        return Ok(Status::Success);
    }
    let toolkit = cuda::toolkit(&cuda::folder()?)?;
    Ok(match nvcc.run(&toolkit)? {
        0 => Status::Success,
        code => Status::Code(code),
    })
}
