//! The C interface: the header matches the source, and C programs work with it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cbindgen::{Builder, Config};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// With `PTX2SPV_BLESS=1` this test writes the header.
#[test]
fn the_header_is_made_of_the_source() {
    let config = Config::from_file(folder().join("cbindgen.toml")).unwrap();
    let mut builder = Builder::new().with_config(config);
    for file in ["error", "translation", "device", "kernel"] {
        builder = builder.with_src(folder().join(format!("src/{file}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = folder().join("include/ptx2spv.h");
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), made, "PTX2SPV_BLESS=1 writes the header");
}

/// Builds a program with the library that Cargo has built for this test, runs it and returns its output.
fn run(compiler: &str, source: &Path, arguments: &[&Path]) -> String {
    let ran = run_with(compiler, source, |program| program.args(arguments));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// Like [`run`], with arguments and environment variables.
fn run_with(compiler: &str, source: &Path, set: impl FnOnce(&mut Command) -> &mut Command) -> Output {
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let mut compile = Command::new(compiler);
    compile.args(["-Wall", "-Wextra", "-Werror", "-I"]).arg(self::folder().join("include")).arg(source);
    compile.arg("-L").arg(&libraries).args(["-lptx2spv_c", "-o"]).arg(&program);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let compiled = compile.output().unwrap();
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let ran = set(&mut Command::new(program)).env("LD_LIBRARY_PATH", libraries).output().unwrap();
    assert!(ran.status.success(), "{:?}: {}{}", ran.status, text(&ran.stdout), text(&ran.stderr));
    ran
}

fn root() -> PathBuf {
    folder().join("../..")
}

#[test]
fn the_examples_run() {
    for (compiler, source) in [("cc", "c/saxpy.c"), ("g++", "cpp/library.cpp")] {
        let printed = run(compiler, &root().join("examples").join(source), &[&root().join("tests/kernels/saxpy.ptx")]);
        assert!(printed.starts_with("1000 right results on "), "{source}: {printed}");
    }
}

#[test]
fn a_program_in_c() {
    assert_eq!(run("cc", &folder().join("tests/program.c"), &[]), "done\n");
}

#[test]
fn the_fallback_is_told() {
    let ran = run_with("cc", &folder().join("tests/program.c"), |program| {
        let nowhere = "/nonexistent/icd.json";
        program.arg("without-driver").env_remove("PTX2SPV_DEVICE");
        program.env("VK_DRIVER_FILES", nowhere).env("VK_ICD_FILENAMES", nowhere)
    });
    let warned = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        warned.starts_with("ptx2spv: warning: no Vulkan device can be used (") && warned.lines().count() == 1,
        "{warned}"
    );
}
