//! A C++ program that only uses Vulkan launches a translated kernel: `examples/cpp`, with the header written by
//! `ptx2spv translate`. The test needs g++, Vulkan's headers and its loader.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {out}{err}");
    out.into_owned()
}

fn ptx2spv() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ptx2spv"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The example uses the loader's first device that has the features needed by the module.
#[test]
fn the_example_runs() {
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("device.json");
    fs::write(&description, run(ptx2spv().args(["devices", "--device", "0", "--json"]))).unwrap();
    run_example(&description);
}

/// The target that the example's comment recommends.
#[test]
fn the_example_runs_on_any_device() {
    run_example(Path::new("vulkan1.1-minimum"));
}

fn run_example(target: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let kernel = root().join("tests/kernels/saxpy.ptx");
    let mut translate = ptx2spv();
    translate.arg("translate").arg(kernel).arg("--target").arg(target);
    run(translate.args(["--entry", "saxpy", "--emit", "spirv,header", "-o"]).arg(folder.path()));
    let program = folder.path().join("program");
    let mut compile = Command::new("g++");
    compile.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-I"]).arg(folder.path());
    compile.arg(root().join("examples/cpp/saxpy.cpp")).args(["-lvulkan", "-o"]).arg(&program);
    run(&mut compile);
    let printed = run(Command::new(program).arg(folder.path().join("saxpy.spv")));
    assert!(printed.starts_with("1000 right results on "), "{printed}");
}

/// Headers with variables, reports, packing and parameters of every kind, as C and as C++, and twice in one file.
#[test]
fn headers_are_valid_c() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for name in ["module_vars", "warp_idioms", "recursion"] {
        let kernel = root().join(format!("tests/kernels/{name}.ptx"));
        let mut translate = ptx2spv();
        translate.arg("translate").arg(kernel).args(["--target", "lavapipe,nvidia", "--emit", "header", "-o"]);
        run(translate.arg(folder.path()));
        for target in ["lavapipe", "nvidia"] {
            text += &format!("#include \"{name}.{target}.h\"\n");
            text += &format!("const ptx2spv_module *{name}_{target}_pointer(void) {{ return &{name}_{target}; }}\n");
        }
    }
    for (compiler, standard, extension) in [("gcc", "-std=c99", "c"), ("g++", "-std=c++11", "cpp")] {
        let file = folder.path().join("all").with_extension(extension);
        fs::write(&file, &text).unwrap();
        let mut compile = Command::new(compiler);
        run(compile.args([standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]).arg(file));
    }
}
