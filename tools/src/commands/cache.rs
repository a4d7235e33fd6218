//! `ptx2spv cache`: the cache of earlier runs.

use std::io::Write;

use anyhow::{Context, Result};
use clap::Args;
use ptx2spv::cli::Status;
use ptx2spv_runtime::{CACHE_VARIABLE, Cache};

/// Show the cache of earlier runs: translations, data of drivers' pipeline caches, results of self-tests.
///
/// The cache is in the user's cache folder, or in the folder that the environment variable PTX2SPV_CACHE names.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ptx2spv cache --clear")]
pub struct Arguments {
    /// Delete all files in the cache.
    #[arg(long)]
    clear: bool,
}

pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Status> {
    let Some(cache) = Cache::of_user() else {
        writeln!(out, "nothing is kept: {CACHE_VARIABLE} is empty, or the user has no cache folder")?;
        return Ok(Status::Success);
    };
    let folder = cache.folder().display();
    if arguments.clear {
        let count = cache.clear().with_context(|| format!("can't clear {folder}"))?;
        writeln!(out, "{folder}: {count} files deleted")?;
        return Ok(Status::Success);
    }
    writeln!(out, "{folder}")?;
    for usage in cache.usage() {
        writeln!(out, "{:>8} files, {:>10} KiB  {}", usage.files, usage.bytes.div_ceil(1024), usage.kind)?;
    }
    Ok(Status::Success)
}
