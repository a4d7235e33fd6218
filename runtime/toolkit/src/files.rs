//! Files and links that several processes may make at the same time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::clang::Error;

/// Writes a file and its folder, unless the file exists with the same contents.
///
/// # Errors
/// The file can't be written.
pub fn write(bytes: &[u8], path: &Path) -> Result<(), Error> {
    let is_there = || std::fs::read(path).is_ok_and(|found| found == bytes);
    make(path, is_there, |new| std::fs::write(new, bytes))
}

/// Makes a link and its folder, unless the link exists.
///
/// # Errors
/// The target doesn't exist, or the link can't be made.
pub fn link(target: &Path, link: &Path) -> Result<(), Error> {
    let target = std::fs::canonicalize(target).map_err(Error::file(target))?;
    let is_there = || std::fs::canonicalize(link).is_ok_and(|found| found == target);
    make(link, is_there, |new| symbolic_link(&target, new))
}

/// A name beside a path that no other thread or process uses.
pub(crate) fn unique(path: &Path) -> PathBuf {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed)));
    name.into()
}

/// Makes something under another name, and renames it, because another process or thread may read or write it at the same time.
fn make(
    path: &Path,
    is_there: impl Fn() -> bool,
    make: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), Error> {
    if is_there() {
        return Ok(());
    }
    let new = unique(path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let made = std::fs::create_dir_all(folder).and_then(|()| make(&new)).and_then(|()| std::fs::rename(&new, path));
    made.or_else(|error| if is_there() { Ok(()) } else { Err(error) }).map_err(Error::file(path))
}

#[cfg(unix)]
fn symbolic_link(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn symbolic_link(_target: &Path, _link: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("on this system, put ptx2spv_cuda.dll as nvcuda.dll beside the program"))
}
