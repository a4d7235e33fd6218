//! docs/troubleshooting.md quotes messages; each must be in the sources.

use std::fs;
use std::path::Path;

use ptx2spv_tests::files;

/// All Rust code below a folder.
fn code(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *text += &fs::read_to_string(path).unwrap();
        }
    }
}

/// The quoted text in a table's first cell.
fn quoted(line: &str) -> Vec<&str> {
    let Some(cell) = line.strip_prefix("| `").and_then(|rest| rest.split(" | ").next()) else { return Vec::new() };
    cell.split('`').step_by(2).collect()
}

#[test]
fn the_messages_are_ours() {
    let root = files::root().parent().unwrap();
    let mut sources = String::new();
    for folder in ["translator", "runtime", "tools/src"] {
        code(&root.join(folder), &mut sources);
    }
    // String literals that continue on the next line.
    let sources: String = sources
        .split("\\\n")
        .enumerate()
        .fold(String::new(), |all, (number, part)| all + if number == 0 { part } else { part.trim_start() });
    let document = fs::read_to_string(root.join("docs/troubleshooting.md")).unwrap();
    let messages: Vec<&str> = document.lines().flat_map(quoted).flat_map(|message| message.split('…')).collect();
    assert!(messages.len() > 30, "{}", messages.len());
    let missing: Vec<&str> = messages.into_iter().filter(|message| !sources.contains(message.trim())).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
