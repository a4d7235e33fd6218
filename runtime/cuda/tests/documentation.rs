//! The tables of functions in `docs/cuda.md` and the declarations of the runtime API match `api.in`, `cudart.in` and `nvml.in`.

use std::collections::BTreeMap;
use std::path::Path;

/// The tables, and the lines that begin and end them in the document.
const TABLES: [(&str, &str, &str); 3] = [
    (include_str!("../api.in"), "<!-- functions:", "<!-- end of functions -->"),
    (
        include_str!("../cudart.in"),
        "<!-- functions of the runtime API:",
        "<!-- end of functions of the runtime API -->",
    ),
    (include_str!("../nvml.in"), "<!-- functions of NVML:", "<!-- end of functions of NVML -->"),
];

/// Lists the functions by the modules that implement them.
fn table(text: &str) -> String {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut missing = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.splitn(4, ' ').collect();
        let [name, _, _, body] = fields[..] else { panic!("{line}") };
        // The call follows conditions, which have no parentheses.
        let path = body.split('(').next().and_then(|start| start.rsplit(' ').next()).unwrap_or(body);
        match path.split_once("::") {
            Some((module, _)) => groups.entry(module.trim_start_matches("driver_")).or_default().push(name),
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
    let mut expected = text.clone();
    for (functions, start, end) in TABLES {
        let start =
            expected.find(start).and_then(|at| Some(at + expected[at..].find('\n')? + 1)).expect("the table's start");
        let end = expected.find(end).expect("the table's end");
        expected.replace_range(start..end, &table(functions));
    }
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        return std::fs::write(&path, expected);
    }
    assert!(text == expected, "docs/cuda.md is out of date: run this test with PTX2SPV_BLESS=1");
    Ok(())
}

/// The header for programs declares each function of the runtime API that is implemented, or makes the name another version's, and names its
/// variant for per-thread default streams. Functions with underscores are called by compilers' code alone.
#[test]
fn functions_are_declared() -> std::io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolkit/include/cuda_runtime_api.h");
    let header = std::fs::read_to_string(path)?;
    let [_, (functions, ..), _] = TABLES;
    let mut missing = Vec::new();
    for line in functions.lines().filter(|line| line.starts_with("cuda") && !line.ends_with(" missing")) {
        let mut fields = line.split(' ');
        let (Some(name), Some(_), Some(twin)) = (fields.next(), fields.next(), fields.next()) else { panic!("{line}") };
        let is_declared = header
            .lines()
            .any(|line| line.split_once(&format!("{name}(")).is_some_and(|(before, _)| before.ends_with([' ', '*'])));
        if header.contains(&format!("#define {name} {name}_v")) {
            continue;
        }
        let has_twin = twin == "-" || header.contains(&format!("#define {name} {name}_{twin}\n"));
        if !is_declared || !has_twin {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "cuda_runtime_api.h doesn't declare {missing:?}");
    Ok(())
}

/// The types of pointers to functions of the driver API are named by the version that added the function.
#[test]
fn pointers_have_versions() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolkit/include");
    let header = std::fs::read_to_string(folder.join("cuda.h"))?;
    let [(functions, ..), ..] = TABLES;
    for line in std::fs::read_to_string(folder.join("cudaTypedefs.h"))?.lines() {
        let Some((name, since)) = line
            .strip_prefix("PTX2SPV_POINTER(")
            .and_then(|line| line.strip_suffix(')'))
            .and_then(|line| line.split_once(", "))
        else {
            continue;
        };
        let definition = header.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        let row = format!("{} {since} ", definition.unwrap_or(name));
        assert!(functions.lines().any(|line| line.starts_with(&row)), "cudaTypedefs.h: {name} isn't of {since}");
    }
    Ok(())
}
