//! The C interface: the header matches the source, and C programs work with it.

use std::path::{Path, PathBuf};
use std::process::Command;

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
    let libraries = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let mut compile = Command::new(compiler);
    compile.args(["-Wall", "-Wextra", "-Werror", "-I"]).arg(self::folder().join("include")).arg(source);
    compile.arg("-L").arg(&libraries).args(["-lptx2spv_c", "-o"]).arg(&program);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let compiled = compile.output().unwrap();
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let ran = Command::new(program).args(arguments).env("LD_LIBRARY_PATH", libraries).output().unwrap();
    assert!(ran.status.success(), "{:?}: {}{}", ran.status, text(&ran.stdout), text(&ran.stderr));
    text(&ran.stdout)
}

fn root() -> PathBuf {
    folder().join("../..")
}

#[test]
fn the_example_runs() {
    let printed = run("cc", &root().join("examples/c/saxpy.c"), &[&root().join("tests/kernels/saxpy.ptx")]);
    assert!(printed.starts_with("1000 right results on "), "{printed}");
}

#[test]
fn a_program_in_c() {
    assert_eq!(run("cc", &folder().join("tests/program.c"), &[]), "done\n");
}

/// The header is valid C++ too.
#[test]
fn the_header_is_cpp() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("version.cpp");
    let text = "#include \"ptx2spv.h\"\n#include <cstdio>\nint main() { std::puts(ptx2spv_version()); }\n";
    std::fs::write(&source, text).unwrap();
    assert_eq!(run("g++", &source, &[]).trim(), env!("CARGO_PKG_VERSION"));
}
