//! The files under `tests/`: PTX modules and launch cases.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The directory of this package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Directories with launch cases and the PTX files that these name.
pub fn case_directories() -> Vec<PathBuf> {
    ["kernels", "instructions", "linking", "ptx"].map(|name| root().join(name)).into()
}

/// Cases whose blocks wait for each other. They have their own directory because Vulkan doesn't promise that such
/// blocks make progress, and llvmpipe bounds the iterations of loops that wait.
pub fn between_blocks() -> PathBuf {
    root().join("between_blocks")
}

/// All valid PTX files, sorted: all but the files in `malformed`.
pub fn valid_ptx() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for directory in case_directories() {
        collect(&directory, &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            files.push(path);
        }
    }
    Ok(())
}

/// A file's path within `tests/`, for test names.
pub fn short_name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
