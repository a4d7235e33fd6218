//! The console examples in README and docs match the program's output: the commands in ```` ```console ```` blocks are
//! run and their output is compared. `PTX2SPV_BLESS=1 cargo test -p ptx2spv --test documents` updates the documents.
//!
//! The commands run on the reference device unless they name another, so that the output doesn't depend on the machine.
//! Times, numbers of SPIR-V values and words, and addresses on other devices may differ.

mod json;
mod links;
mod quotes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn documents() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut documents: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    documents.push(root().join("README.md"));
    documents.sort();
    documents
}

/// A command with its output in a document.
struct Example {
    words: Vec<String>,
    /// The lines of the output.
    lines: std::ops::Range<usize>,
}

fn examples(lines: &[&str]) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let (mut inside, mut at) = (false, 0);
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        if line.starts_with("```") {
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            let mut command = command.to_owned();
            while let Some(start) = command.strip_suffix('\\') {
                command = format!("{start}{}", lines[at].trim_start());
                at += 1;
            }
            examples.push(Example { words: command.split_whitespace().map(str::to_owned).collect(), lines: at..at });
        } else if let Some(last) = examples.last_mut() {
            last.lines.end = at;
        }
    }
    examples.retain(|example| example.words[0] == "ptx2spv" && !example.lines.is_empty());
    examples
}

/// A folder with the files that the commands use.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for part in ["docs", "tests/kernels", "tests/malformed"] {
        copy(&root().join(part), &folder.path().join(part));
    }
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let to = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            fs::copy(&entry, to).unwrap();
        }
    }
}

/// The output of a command, whose first word is `ptx2spv`.
fn output(words: &[String], folder: &Path) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_ptx2spv"))
        .args(&words[1..])
        .current_dir(folder)
        .env("PTX2SPV_DEVICE", "reference")
        .output()
        .unwrap();
    [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat()
}

/// Removes numbers that may differ.
fn comparable(text: &str) -> String {
    without_counts(&without_addresses(text))
}

/// Without addresses of 48 bits, as CPU devices have: the addresses of the reference device are smaller, and always the same.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        out += "0x";
        out += if part.len() - rest.len() == 12 { rest } else { part };
    }
    out
}

fn without_counts(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['%', '(']) {
        let (before, number) = rest.split_at(start + 1);
        out += before;
        let number = number.strip_prefix("word ").unwrap_or(number);
        rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        // Only `%12`, `(word 12 of` and `(0.012 s)`; other numbers are compared.
        if !(before.ends_with('%') || rest.starts_with(" of the SPIR-V") || rest.starts_with(" s)")) {
            rest = number;
        }
    }
    out + rest
}

#[test]
fn outputs_are_what_the_program_prints() {
    let folder = folder();
    let bless = std::env::var_os("PTX2SPV_BLESS").is_some_and(|value| value == "1");
    let mut stale = Vec::new();
    let mut count = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut blessed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        // From the end, so that earlier positions stay valid.
        for example in examples(&lines).iter().rev() {
            count += 1;
            let shown = lines[example.lines.clone()].join("\n");
            let made = output(&example.words, folder.path());
            if comparable(shown.trim_end()) != comparable(made.trim_end()) {
                stale.push(format!("{}: {}\n{made}", document.display(), example.words.join(" ")));
                blessed.splice(example.lines.clone(), made.trim_end().lines().map(str::to_owned));
            }
        }
        if bless {
            fs::write(&document, blessed.join("\n") + "\n").unwrap();
        }
    }
    assert!(count >= 8, "{count} examples are too few to be all");
    assert!(bless || stale.is_empty(), "PTX2SPV_BLESS=1 writes these anew:\n{}", stale.join("\n"));
}

#[test]
fn numbers_that_may_differ() {
    assert_eq!(
        comparable("`%4 = OpLoad %2` (word 39 of the SPIR-V) (0.02 s)"),
        comparable("`%5 = OpLoad %17` (word 4 of the SPIR-V) (1.5 s)")
    );
    assert_eq!(comparable("at 0x7f8e1c0a1fa0 (4 bytes)"), comparable("at 0x7f0000000010 (4 bytes)"));
    assert_ne!(comparable("at 0x3000000fa0"), comparable("at 0x3000000fa4"));
    assert_ne!(comparable("(4000 bytes at 0x30)"), comparable("(4001 bytes at 0x30)"));
    assert_ne!(comparable("thread (1,0,0)"), comparable("thread (2,0,0)"));
    assert_ne!(comparable("k.ptx:45"), comparable("k.ptx:46"));
}
