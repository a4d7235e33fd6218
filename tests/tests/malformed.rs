//! Text that isn't PTX, or is PTX to annoy: it is answered by diagnostics at a place in the text, within bounded time
//! and memory, and never by a panic.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use ptx2spv::cli;
use ptx2spv_tests::hostile::{self, Answer};
use ptx2spv_tests::random::Random;
use ptx2spv_tests::{binary, files};

fn malformed() -> Vec<PathBuf> {
    let directory = fs::read_dir(files::root().join("malformed")).unwrap();
    let mut paths: Vec<PathBuf> = directory.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

#[test]
fn malformed_files_are_refused_where_and_as_expected() {
    let mut wrong = Vec::new();
    for path in malformed() {
        let expected = fs::read_to_string(path.with_extension("expect")).unwrap();
        let mut lines = expected.lines();
        let (place, part) = (lines.next().unwrap(), lines.next().unwrap_or_default());
        let name = files::short_name(&path);
        let Ok(source) = cli::read_source(&path) else {
            // Not text: refused before the translator sees it, and so at no better place than the first.
            assert_eq!((place, part), ("1:1", ""), "{name}");
            continue;
        };
        let Answer::Refused(errors) = hostile::translate(&name, source.text()) else {
            wrong.push(format!("{name}: accepted"));
            continue;
        };
        let first = &errors.list[0];
        let (line, column) = source.line_column(first.span.start);
        let message = first.kind.to_string();
        if format!("{line}:{column}") != place || !message.contains(part) {
            wrong.push(format!("{name}: {line}:{column}: {message}\n  expected {place}: …{part}…"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_program_refuses_malformed_files_with_status_1() {
    for path in malformed() {
        let output = Command::new(binary::ptx2spv())
            .args(["translate", "--target", "lavapipe", "--emit", "spirv", "-o", "-"])
            .arg(&path)
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{}: {err}", path.display());
        assert!(err.starts_with("error: ") && !err.contains("panicked"), "{}: {err}", path.display());
        assert!(output.stdout.is_empty(), "{}", path.display());
    }
}

fn valid() -> Vec<(String, String)> {
    let files = files::valid_ptx().unwrap();
    assert!(!files.is_empty());
    files.iter().map(|path| (files::short_name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn cut_anywhere() {
    let mut random = Random::new(1);
    for (name, text) in valid() {
        for _ in 0..200 {
            let mut end = random.below(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            hostile::translate(&format!("{name} cut at {end}"), &text[..end]);
        }
    }
}
