//! Every row of the instruction table must have a kernel in `tests/instructions`, and that kernel a launch case.
//!
//! The cases check the results; this test only checks that no instruction is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ptx2spv::cases::find;
use ptx2spv_translator::Source;
use ptx2spv_translator::internals::decode::program::{Function, Item, Program};
use ptx2spv_translator::internals::isa::rows::ROWS;
use ptx2spv_translator::internals::{decode, parse};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions")
}

fn ptx_files() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "ptx")).collect();
    files.sort();
    assert!(!files.is_empty(), "no PTX files in {}", folder().display());
    files
}

fn program(path: &Path) -> Program {
    let source = Source::new(path.display().to_string(), fs::read_to_string(path).unwrap());
    let ast = parse::parse(&source).unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display()));
    decode::decode(&source, ast, None).unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display()))
}

/// Syntax and operands of the rows that a function uses: together they tell rows apart.
fn rows(function: &Function) -> impl Iterator<Item = (&'static str, &'static str)> {
    function.body.iter().flatten().filter_map(|item| match item {
        Item::Instruction(instruction) => Some((instruction.form.row.syntax, instruction.form.row.operands)),
        Item::Label(_) => None,
    })
}

#[test]
fn every_row_has_a_kernel() {
    let mut used = BTreeSet::new();
    for path in ptx_files() {
        used.extend(program(&path).functions.iter().flat_map(rows));
    }
    let missing: Vec<&str> =
        ROWS.iter().filter(|row| !used.contains(&(row.syntax, row.operands))).map(|row| row.syntax).collect();
    assert!(missing.is_empty(), "rows without a kernel in tests/instructions:\n{}", missing.join("\n"));
}

#[test]
fn every_kernel_has_a_case() {
    let mut launched: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for case in find(&[folder()]).unwrap().cases {
        launched.entry(folder().join(&case.spec.ptx)).or_default().insert(case.spec.entry);
    }
    let mut missing = Vec::new();
    for path in ptx_files() {
        let entries = launched.remove(&path).unwrap_or_default();
        let program = program(&path);
        let kernels = program.kernels().map(|(_, kernel)| kernel.name.clone());
        missing
            .extend(kernels.filter(|name| !entries.contains(name)).map(|name| format!("{}: {name}", path.display())));
    }
    assert!(missing.is_empty(), "kernels without a launch case:\n{}", missing.join("\n"));
}
