//! Computes a hash of the translator's code, which identifies the version that made a translation.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut files = BTreeSet::new();
    // Crates of its own lie in folders below.
    collect(&root, &mut files);
    // The versions of the libraries that it is built with, where it is not built alone.
    files.extend([root.join("../Cargo.lock")].into_iter().filter(|lock| lock.exists()));
    let mut hasher = DefaultHasher::new();
    std::env::var("CARGO_PKG_VERSION").ok().hash(&mut hasher);
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        file.strip_prefix(&root).ok().hash(&mut hasher);
        fs::read(file).ok().hash(&mut hasher);
    }
    println!("cargo::rustc-env=PTX2SPV_CODE={:016x}", hasher.finish());
}

/// Adds the files in a folder, without those of tests.
fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "tests") {
                collect(&path, files);
            }
        } else {
            files.insert(path);
        }
    }
}
