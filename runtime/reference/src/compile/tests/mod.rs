//! Compiled modules: all translated kernels, selected code shapes, refused and malformed modules.

mod kernels;
mod mutation;
mod refusals;
mod shapes;
mod values;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use ptx2spv_target::Target;

use crate::code::Code;
use crate::module::{Module, Refusal};
use crate::requirements;

/// The words of an assembler text, by `spirv-as`.
fn assemble(text: &str) -> Vec<u32> {
    use std::io::Write;
    let mut child = Command::new("spirv-as")
        .args(["--target-env", "vulkan1.3", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("spirv-as is installed");
    child.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("spirv-as reads");
    let output = child.wait_with_output().expect("spirv-as ends");
    assert!(output.status.success(), "spirv-as refused\n{text}");
    output.stdout.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

fn device() -> Target {
    Target::preset("reference").expect("there is such a preset")
}

fn compile_words(words: &[u32], entry: &str, target: &Target) -> Result<Code, Refusal> {
    let module = Module::parse(words)?;
    requirements::check(&module, target)?;
    super::compile(&module, entry, &[], target)
}

fn compile_text(text: &str) -> Result<Code, Refusal> {
    compile_words(&assemble(text), "main", &device())
}

/// All PTX files that other tests of the workspace use.
fn ptx_files() -> Vec<PathBuf> {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut files = Vec::new();
    for directory in ["kernels", "instructions", "ptx"] {
        let entries = fs::read_dir(tests.join(directory)).expect("the directory is there");
        files.extend(entries.map(|entry| entry.expect("it can be listed").path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    assert!(files.len() > 50, "{} files", files.len());
    files
}
