//! The worked example of `docs/architecture.md` is the translator's present output. `PTX2SPV_BLESS=1` rewrites it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use ptx2spv_translator::internals::pipeline::{Observer, PASSES, Step};
use ptx2spv_translator::{Options, Program, Source, Target, Translation};

/// The text between `<!-- name -->`, a fence, and the next fence; its place in the document.
fn block(document: &str, name: &str) -> std::ops::Range<usize> {
    let mark = document.find(&format!("<!-- {name} -->\n```")).expect("the document has this block");
    let start = mark + document[mark..].match_indices('\n').nth(1).expect("a fence has a line").0 + 1;
    start..start + document[start..].find("```").expect("a fence has an end")
}

/// Keeps the text of the only kernel after some passes.
#[derive(Default)]
struct Texts {
    structured: String,
    last: String,
}

impl Observer for Texts {
    fn passed(&mut self, step: &Step<'_>) {
        self.last = step.unit.to_string();
        if step.pass == "structurize" {
            self.structured.clone_from(&self.last);
        }
    }
}

/// The function of the only kernel, in assembly.
fn assembly(translation: &Translation) -> String {
    let text = translation.disassemble();
    let start = text.find("OpFunction ").map(|at| text[..at].rfind('\n').unwrap() + 1).unwrap();
    format!("{}\n", text[start..].trim_end())
}

/// The passes, those of one stage on a line.
fn pass_table() -> String {
    let mut table = String::new();
    for passes in PASSES.chunk_by(|a, b| a.after == b.after) {
        let names: Vec<&str> = passes.iter().map(|pass| pass.name).collect();
        let stage = passes.first().map(|pass| pass.after.to_string()).unwrap_or_default();
        let mut line = format!("{stage:8}");
        for name in names {
            if line.len() + 1 + name.len() > 100 {
                writeln!(table, "{}", line.trim_end()).unwrap();
                line = " ".repeat(8);
            }
            write!(line, " {name}").unwrap();
        }
        writeln!(table, "{line}").unwrap();
    }
    table
}

#[test]
fn worked_example_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/architecture.md");
    let document = fs::read_to_string(&path).unwrap();
    let source = Source::new("sum.ptx", &document[block(&document, "ptx")]);
    let target = Target::preset("nvidia").unwrap();
    let mut texts = Texts::default();
    let program = Program::new(&source).unwrap();
    let translation =
        ptx2spv_translator::internals::translate_watched(&program, &Options::new(&target), Some(&mut texts)).unwrap();
    let mut made = document.clone();
    for (name, text) in [
        ("passes", pass_table()),
        ("lowered", texts.structured),
        ("optimised", texts.last),
        ("spirv", assembly(&translation)),
    ] {
        let range = block(&made, name);
        made.replace_range(range, &text);
    }
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    } else {
        assert!(made == document, "docs/architecture.md is out of date; PTX2SPV_BLESS=1 rewrites its example");
    }
}
