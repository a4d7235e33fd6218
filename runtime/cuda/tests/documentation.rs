//! The table of functions in `docs/cuda.md` is that of `api.in`.

use std::collections::BTreeMap;
use std::path::Path;

const END: &str = "<!-- end of functions -->";

/// Groups by the modules that implement the functions.
fn table() -> String {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut missing = Vec::new();
    for line in include_str!("../api.in").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.splitn(4, ' ').collect();
        let [name, _, _, body] = fields[..] else { panic!("{line}") };
        match body.split_once("::") {
            Some((module, _)) => groups.entry(module).or_default().push(name),
            None => missing.push(name),
        }
    }
    let count: usize = groups.values().map(Vec::len).sum();
    let mut text = format!("{count} of {} functions are implemented.\n\n| | |\n| --- | --- |\n", count + missing.len());
    let list = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ");
    for (module, names) in &groups {
        text += &format!("| {module} | {} |\n", list(names));
    }
    text + &format!("| not implemented | {} |\n", list(&missing))
}

#[test]
fn functions_are_listed() -> std::io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cuda.md");
    let text = std::fs::read_to_string(&path)?;
    let start =
        text.find("<!-- functions:").and_then(|at| Some(at + text[at..].find('\n')? + 1)).expect("the table's start");
    let end = text.find(END).expect("the table's end");
    let expected = format!("{}{}{}", &text[..start], table(), &text[end..]);
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        return std::fs::write(&path, expected);
    }
    assert!(text == expected, "docs/cuda.md is out of date: run this test with PTX2SPV_BLESS=1");
    Ok(())
}
