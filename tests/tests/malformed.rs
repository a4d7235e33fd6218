//! Text that isn't PTX, or is malformed PTX: the result must be diagnostics at a place in the text, within bounded time
//! and memory, and never a panic.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use ptx2spv::input;
use ptx2spv_tests::fuzz::text::{NASTY, tokens};
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
        let Ok(source) = input::read_source(&path) else {
            // Not text: refused before translation, so the place is the start.
            assert_eq!((place, part), ("1:1", ""), "{name}");
            continue;
        };
        let Answer::Refused(errors) = hostile::translate(&name, source.text()) else {
            wrong.push(format!("{name}: accepted"));
            continue;
        };
        let first = &errors.list[0];
        let (line, column) = source.line_column(first.place().start);
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

/// Names and texts of the valid files, with the number of mutations: compiled kernels have more variety than the files
/// for single instructions.
fn valid() -> Vec<(String, String, usize)> {
    let files = files::valid_ptx().unwrap();
    assert!(!files.is_empty());
    let load = |path: &PathBuf| {
        let name = files::short_name(path);
        let times = if name.starts_with("instructions") { 15 } else { 100 };
        (name, fs::read_to_string(path).unwrap(), times)
    };
    files.iter().map(load).collect()
}

#[test]
fn cut_anywhere() {
    let mut random = Random::new(1);
    for (name, text, times) in valid() {
        for _ in 0..times {
            let mut end = random.below(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            hostile::translate(&format!("{name} cut at {end}"), &text[..end]);
        }
    }
}

/// Translates each valid file with a token replaced, a third of the file's number of times. `replace` gets the text's tokens, the
/// positions of those that aren't white space, and the position of the token that it replaces.
fn replace_tokens(seed: u64, replace: impl Fn(&mut Random, &[&str], &[usize], usize) -> String) {
    let mut random = Random::new(seed);
    for (name, text, times) in valid() {
        let tokens = tokens(&text);
        let places: Vec<usize> = (0..tokens.len()).filter(|at| !tokens[*at].trim().is_empty()).collect();
        for _ in 0..times.div_ceil(3) {
            let at = *random.pick(&places);
            let (before, token, after) = (tokens[..at].concat(), tokens[at], tokens[at + 1..].concat());
            let new = replace(&mut random, &tokens, &places, at);
            let offset = before.len();
            hostile::translate(&format!("{name} with {new:?} for {token:?} at {offset}"), &(before + &new + &after));
        }
    }
}

#[test]
fn a_token_less() {
    replace_tokens(2, |_, _, _, _| String::new());
}

#[test]
fn a_token_twice() {
    replace_tokens(4, |_, tokens, _, at| format!("{0} {0}", tokens[at]));
}

#[test]
fn another_token() {
    replace_tokens(5, |random, tokens, places, _| {
        if random.chance(50) { (*random.pick(&NASTY)).to_owned() } else { tokens[*random.pick(places)].to_owned() }
    });
}

#[test]
fn noise() {
    let mut random = Random::new(3);
    for round in 0..200 {
        let header = if round % 2 == 0 { "" } else { ".version 7.0\n.target sm_70\n.entry k() {\n" };
        let bytes: Vec<u8> = (0..2000).map(|_| random.word() as u8).collect();
        hostile::translate("bytes", &(header.to_owned() + &String::from_utf8_lossy(&bytes)));
        let words: Vec<&str> = (0..300).map(|_| *random.pick(&NASTY)).collect();
        hostile::translate("words", &(header.to_owned() + &words.join(" ")));
    }
}
