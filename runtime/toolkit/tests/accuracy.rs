//! The device's mathematics, compiled for the host, keeps the bounds of CUDA's manual: a sample of all arguments. `accuracy/accuracy.cpp`
//! says how to measure all of them.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::Path;
use std::process::Command;

/// Every so many of the 2^32 arguments.
const STRIDE: &str = "262147";

#[test]
fn bounds() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("accuracy");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("accuracy/accuracy.cpp");
    let built = Command::new("g++")
        .args(["-std=gnu++17", "-O2", "-ffp-contract=off"])
        .arg(source)
        .args(["-lquadmath", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new(&program).args(["all", STRIDE]).output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && text.lines().count() == 82, "{text}");
}
