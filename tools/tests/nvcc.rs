//! `ptx2spv nvcc` as users call it: programs of `runtime/toolkit/tests/programs` are compiled by clang, and run on the tests' device.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a program of the toolkit's tests.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/toolkit/tests/programs")
}

fn nvcc() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptx2spv"));
    command.arg("nvcc");
    command
}

fn finish(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

/// Compiles a program, and runs it, which must find all of its results right.
#[track_caller]
fn run(name: &str, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    let built = finish(nvcc().args(options).arg("-o").arg(&program).arg(programs().join(format!("{name}.cu"))));
    assert_eq!(built.0, Some(0), "{}{}", built.1, built.2);
    let run = finish(&mut Command::new(&program));
    assert_eq!((run.0, run.1.as_str()), (Some(0), "right\n"), "{}", run.2);
}

#[test]
fn saxpy() {
    run("saxpy", &["-O3"]);
}

#[test]
fn reduction() {
    run("reduction", &["-O2", "-arch=sm_80"]);
}

#[test]
fn templates() {
    run("templates", &["-std=c++17", "--extended-lambda"]);
}

#[test]
fn streams() {
    run("streams", &["-Xcompiler", "-Wall,-O2"]);
}

#[test]
fn symbols() {
    run("symbols", &["-lineinfo"]);
}

#[test]
fn atomics() {
    run("atomics", &["-gencode", "arch=compute_60,code=[sm_60,compute_60]", "-gencode=arch=compute_90,code=sm_90"]);
}

#[test]
fn textures() {
    run("textures", &["-O3"]);
}

#[test]
fn groups() {
    run("groups", &["-O3", "-arch=sm_60"]);
}

#[test]
fn mathematics() {
    run("mathematics", &["-O3"]);
}

/// A Makefile with two sources in CUDA C++ and one in C++, unmodified, which calls `nvcc`.
#[test]
fn project() {
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(programs().join("project")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let libraries = finish(Command::new(env!("CARGO_BIN_EXE_ptx2spv")).args(["cuda", "--print-path"])).1;
    let path = format!("{}:{}", libraries.trim_end(), std::env::var("PATH").unwrap());
    let built = finish(Command::new("make").current_dir(folder.path()).env("PATH", path));
    assert_eq!(built.0, Some(0), "{}{}", built.1, built.2);
    let run = finish(&mut Command::new(folder.path().join("program")));
    assert_eq!((run.0, run.1.as_str()), (Some(0), "right\n"), "{}", run.2);
}

#[test]
fn answers() {
    let version = finish(nvcc().arg("--version"));
    assert!(version.0 == Some(0) && version.1.contains("release 12.8, V12.8"), "{version:?}");
    let source = programs().join("saxpy.cu");
    let ptx = finish(nvcc().args(["-ptx", "-arch=sm_86", "-o", "-"]).arg(&source));
    assert!(ptx.0 == Some(0) && ptx.1.contains(".target sm_86"), "{}", ptx.2);
    let dry = finish(nvcc().args(["--dryrun", "-use_fast_math", "-DX=1", "-c"]).arg(&source));
    let expected = ["#$ ", "-fgpu-approx-transcendentals", "-DX=1", "--cuda-gpu-arch=sm_75"];
    assert!(dry.0 == Some(0) && expected.iter().all(|part| dry.2.contains(part)), "{}", dry.2);
    // The mathematics is in the kernel, and denormal numbers are zeros.
    let folder = tempfile::tempdir().unwrap();
    let waves = folder.path().join("waves.cu");
    std::fs::write(&waves, "__global__ void k(float *x) { *x = sinf(*x) / sqrtf(x[1]); }\n").unwrap();
    let fast = finish(nvcc().args(["-ptx", "-use_fast_math", "-o", "-"]).arg(&waves)).1;
    assert!(["sin.approx.ftz", "div.approx.ftz", "sqrt.rn.ftz"].iter().all(|part| fast.contains(part)), "{fast}");
    let exact = finish(nvcc().args(["-ptx", "-o", "-"]).arg(&waves)).1;
    assert!(["div.rn.f32", "sqrt.rn.f32"].iter().all(|part| exact.contains(part)), "{exact}");
    assert!(!exact.contains("call") && !exact.contains("approx"), "{exact}");
    let dependencies = finish(nvcc().arg("-M").arg(&source));
    assert!(dependencies.0 == Some(0) && dependencies.1.contains("check.h"), "{dependencies:?}");
}

/// What is missing is named.
#[test]
fn errors() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("blas.cu");
    std::fs::write(&source, "#include <cublas_v2.h>\nint main() {}\n").unwrap();
    let source = source.to_str().unwrap();
    for (arguments, part) in [
        (vec!["-c", source], "ptx2spv has no cublas"),
        (vec![source, "-lcudnn"], "-lcudnn: ptx2spv has no such library"),
        (vec![source, "--frobnicate"], "--frobnicate: nvcc has no such option"),
        (vec![source, "-arch"], "-arch: a value must follow"),
        (vec![source, "-arch=ampere"], "ampere: no architecture"),
        (vec!["-rdc=true", source], "separate compilation is missing"),
        (vec![], "no input files"),
    ] {
        let arguments: Vec<_> = if arguments.is_empty() { vec!["-O3"] } else { arguments };
        let found = finish(nvcc().current_dir(folder.path()).args(&arguments));
        assert!(found.0 == Some(1) && found.2.contains(part), "{arguments:?}: {found:?}");
    }
}
