//! The files under `tests/`: PTX modules and launch cases.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The directory of this package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Directories with launch cases, and beside them the PTX that these name. `instructions` comes and goes with the
/// generator that writes it; the others are always there.
pub fn case_directories() -> Vec<PathBuf> {
    let instructions = root().join("instructions");
    let mut directories = vec![root().join("kernels")];
    if instructions.is_dir() {
        directories.push(instructions);
    }
    directories
}

/// All PTX files that are valid: everything but `malformed`, sorted.
pub fn valid_ptx() -> Result<Vec<PathBuf>> {
    let mut directories = case_directories();
    directories.push(root().join("ptx"));
    let mut files = Vec::new();
    for directory in directories {
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

/// A file's path within `tests/`, for names of tests.
pub fn short_name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
