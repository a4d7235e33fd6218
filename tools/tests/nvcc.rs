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
    run_on("8.6", name, options);
}

/// Like [`run`], on a device of this compute capability.
#[track_caller]
fn run_on(capability: &str, name: &str, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    let built = finish(nvcc().args(options).arg("-o").arg(&program).arg(programs().join(format!("{name}.cu"))));
    assert_eq!(built.0, Some(0), "{}{}", built.1, built.2);
    is_right(Command::new(&program).env("PTX2SPV_CUDA_CC", capability));
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
    run("streams", &["-Xcompiler", "-Wall,-O2,-m64"]);
}

#[test]
fn symbols() {
    run("symbols", &["-lineinfo"]);
    run("symbols", &["-rdc=true"]);
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
    run("groups", &["-O3", "-arch=sm_75"]);
    run_on("9.0", "groups", &["-O3", "-arch=sm_90"]);
}

#[test]
fn functions() {
    run("functions", &["-lcuda", "-default-stream", "legacy"]);
    run("functions", &["-lcuda", "-default-stream", "per-thread"]);
}

#[test]
fn mathematics() {
    run("mathematics", &["-O3"]);
}

#[test]
fn complex() {
    run("complex", &["-O3"]);
}

#[test]
fn fp8() {
    run("fp8", &["-O3"]);
}

#[test]
fn small_floats() {
    run("small_floats", &["-O3"]);
}

/// With `__vimax3_s32` and the like.
#[test]
fn dynamic() {
    run("dynamic", &["-O3"]);
}

#[test]
fn matrices() {
    run("matrices", &["-O3", "-arch=sm_80"]);
}

/// By `cp.async`, and by ordinary copies before it.
#[test]
fn pipeline() {
    run("pipeline", &["-O3", "-arch=sm_80", "-lnvToolsExt"]);
    run("pipeline", &["-O3", "-arch=sm_70"]);
}

#[test]
fn random() {
    run("random", &["-O3"]);
}

#[test]
#[ignore = "needs Debian's libthrust-dev and libcub-dev, and minutes"]
fn thrust() {
    run("thrust", &["-O3", "-std=c++17", "--extended-lambda"]);
}

/// `CCCL_INCLUDE` is the folder with its headers.
#[test]
#[ignore = "needs CCCL, such as that of the Python package nvidia-cuda-cccl-cu12"]
fn standard() {
    let include = std::env::var("CCCL_INCLUDE").unwrap();
    run("standard", &["-O3", "-std=c++17", "-arch=sm_80", "-I", &include]);
}

/// The layout of structures that headers and library share.
#[test]
fn structures() {
    run("structures", &["-lcuda"]);
}

/// A copy of a project of several files, which includes `check.h` from the folder above.
fn project(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join(name);
    std::fs::create_dir(&project).unwrap();
    for file in std::fs::read_dir(programs().join(name)).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), project.join(file.file_name())).unwrap();
    }
    std::fs::copy(programs().join("check.h"), folder.path().join("check.h")).unwrap();
    (folder, project)
}

/// Runs a program that finds our `nvcc` in `PATH`.
#[track_caller]
fn build(program: &str, arguments: &[&str], folder: &Path) {
    let libraries = finish(Command::new(env!("CARGO_BIN_EXE_ptx2spv")).args(["cuda", "--print-path"])).1;
    let path = format!("{}:{}", libraries.trim_end(), std::env::var("PATH").unwrap());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("PATH", path).env("CUDACXX", "nvcc");
    let built = finish(&mut command);
    assert_eq!(built.0, Some(0), "{}{}", built.1, built.2);
}

#[track_caller]
fn is_right(command: &mut Command) {
    let run = finish(command);
    assert_eq!((run.0, run.1.as_str()), (Some(0), "right\n"), "{}", run.2);
}

/// A Makefile with two sources in CUDA C++ and one in C++, unmodified, which calls `nvcc`.
#[test]
fn makefile() {
    let (_folder, project) = project("project");
    build("make", &[], &project);
    is_right(&mut Command::new(project.join("program")));
}

/// Sources in C, compiled alone and together with CUDA C++, with a standard that only C++ has.
#[test]
fn sources_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let sources = [
        ("answer.c", "int answer(void) { int class = 42; return class; }\n"),
        (
            "main.cu",
            "extern \"C\" int answer();\n#include <cstdio>\nint main() { puts(answer() == 42 ? \"right\" : \"wrong\"); }\n",
        ),
    ];
    for (name, text) in sources {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    for arguments in ["-c answer.c", "-c answer.c main.cu", "main.cu answer.o -o linked", "main.cu answer.c -o at_once"]
    {
        let built = finish(nvcc().current_dir(folder.path()).arg("-std=c++17").args(arguments.split(' ')));
        assert_eq!(built.0, Some(0), "{arguments}: {}", built.2);
    }
    is_right(&mut Command::new(folder.path().join("linked")));
    is_right(&mut Command::new(folder.path().join("at_once")));
}

/// Device functions, variables and kernels of other files, linked by nvcc and by the host's compiler.
#[test]
fn separate_compilation() {
    let (_folder, project) = project("separate");
    build("make", &[], &project);
    is_right(&mut Command::new(project.join("program")));
    is_right(&mut Command::new(project.join("linked_by_host")));
    // All files in one command, and without the file that has what the others need.
    let all = ["-rdc=true", "main.cu", "kernels.cu", "operations.cu", "-o", "at_once"];
    let built = finish(nvcc().current_dir(&project).args(all));
    assert_eq!(built.0, Some(0), "{}", built.2);
    is_right(&mut Command::new(project.join("at_once")));
    let missing = finish(nvcc().current_dir(&project).args(["main.o", "kernels.o", "-o", "missing"]));
    let error = "nvlink main.o.1.sm_70.ptx";
    let undefined = "Undefined reference to `collatz(unsigned int)`";
    assert!(missing.0 == Some(255) && missing.2.contains(error) && missing.2.contains(undefined), "{missing:?}");
}

/// CMake takes our nvcc for NVIDIA's: `project(… LANGUAGES CXX CUDA)`, `find_package(CUDAToolkit)`, separable compilation.
#[test]
fn cmake() {
    let (_folder, project) = project("separate");
    build("cmake", &["-B", "build"], &project);
    build("cmake", &["--build", "build"], &project);
    let program = project.join("build/program");
    is_right(Command::new(env!("CARGO_BIN_EXE_ptx2spv")).args(["cuda", "--"]).arg(program));
}

#[test]
fn answers() {
    let version = finish(nvcc().arg("--version"));
    assert!(version.0 == Some(0) && version.1.contains("release 12.8, V12.8"), "{version:?}");
    let source = programs().join("saxpy.cu");
    let ptx = finish(nvcc().args(["-ptx", "-arch=sm_86", "-o", "-"]).arg(&source));
    assert!(ptx.0 == Some(0) && ptx.1.contains(".target sm_86"), "{}", ptx.2);
    let dry = finish(nvcc().args(["--dryrun", "-use_fast_math", "-DX=1", "-c"]).arg(&source));
    let expected =
        ["#$ ", "-fgpu-approx-transcendentals", "-DX=1", "--cuda-gpu-arch=sm_75", "-D__CUDA_ARCH_LIST__=750"];
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

/// Errors name the missing thing.
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
        (vec![], "no input files"),
    ] {
        let arguments: Vec<_> = if arguments.is_empty() { vec!["-O3"] } else { arguments };
        let found = finish(nvcc().current_dir(folder.path()).args(&arguments));
        assert!(found.0 == Some(1) && found.2.contains(part), "{arguments:?}: {found:?}");
    }
}
