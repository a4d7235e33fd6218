//! OpenACC by GCC's offloading, in C, C++ and Fortran: programs run by `ptx2spv cuda`, and compare with the host's results. Where GCC
//! has no offloading compiler for PTX, they are left out.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Whether a compiler can offload. GCC shows the path of a program that it has, and otherwise the name.
fn offloads(compiler: &str) -> bool {
    let program = "-print-prog-name=accel/nvptx-none/mkoffload";
    let found = Command::new(compiler).arg(program).output();
    found.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute())
}

#[track_caller]
fn run(compiler: &str, file: &str) {
    if !offloads(compiler) {
        println!("left out: {compiler} has no offloading compiler for PTX");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/offload").join(file);
    let options = ["-O2", "-fopenacc", "-foffload=nvptx-none", "-foffload=-lm"];
    let built = output(Command::new(compiler).args(options).arg("-o").arg(&program).arg(source).arg("-lm"));
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    // With this type, the program ends where there is no such device, and doesn't run on the host instead.
    let ptx2spv = env!("CARGO_BIN_EXE_ptx2spv");
    let ran = output(Command::new(ptx2spv).args(["cuda", "--"]).arg(&program).env("ACC_DEVICE_TYPE", "nvidia"));
    let (text, errors) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && text == "right\n", "{:?}: {text}{errors}", ran.status);
}

#[test]
fn reductions_in_c() {
    run("gcc", "reduction.c");
}

#[test]
fn products_and_atomics_in_cpp() {
    run("g++", "product.cpp");
}

#[test]
fn heat_in_fortran() {
    run("gfortran", "heat.f90");
}
