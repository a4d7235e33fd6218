//! The Python module as it was built here, with its files beside it. `scripts/test-wheel` tests the wheel itself, and more.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_module_works_in_python() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("ptx2spv");
    fs::create_dir(&module).unwrap();
    fs::copy(sources.join("ptx2spv/__init__.py"), module.join("__init__.py")).unwrap();
    let library = std::env::current_exe().unwrap().with_file_name("lib_native.so");
    fs::copy(library, module.join("_native.abi3.so")).unwrap();
    let mut python = Command::new("python3");
    python.arg("-B").arg(sources.join("tests/test_module.py")).env("PYTHONPATH", folder.path());
    let done = python.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
