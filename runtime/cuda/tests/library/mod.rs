//! The library for tests that load it as programs do.

use std::error::Error;
use std::path::PathBuf;

/// The library that cargo has built for this test.
pub fn library() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let folder = program.parent().ok_or("the test has no folder")?;
    let path = folder.join(format!("{}ptx2spv_cuda{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    if path.exists() { Ok(path) } else { Err(format!("no {}", path.display()).into()) }
}
