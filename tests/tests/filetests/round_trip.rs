//! Every kernel of `tests/kernels` after every pass: its text is read back as the same kernel. And
//! checks cost nothing when they are off: without [`Options::check_accesses`], kernels have no code for checks, and their
//! launches provide no table of allocations.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use libtest_mimic::Trial;
use ptx2spv_tests::files;
use ptx2spv_translator::interface::{Declaration, Entry};
use ptx2spv_translator::internals::ir::Stage;
use ptx2spv_translator::internals::pipeline::{LOWER, Observer, PASSES, Step, Unit};
use ptx2spv_translator::{Options, Program, Source, Target};

/// A target with all features, and one with few.
const TARGETS: [&str; 2] = ["reference", "swiftshader"];

pub fn trials() -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for file in files::valid_ptx()?.into_iter().filter(|file| file.starts_with(files::root().join("kernels"))) {
        let name = format!("round trip of {}", files::short_name(&file));
        trials.push(Trial::test(name, move || Ok(check_file(&file)?)));
    }
    trials.push(Trial::test("round trip of the example in docs/testing-a-pass.md", || Ok(check_document()?)));
    Ok(trials)
}

fn check_document() -> Result<()> {
    let document = fs::read_to_string(files::root().join("../docs/testing-a-pass.md"))?;
    let (_, example) = document.split_once("<!-- text form -->\n```text\n").context("no example")?;
    let (example, _) = example.split_once("```").context("an example without an end")?;
    let printed = Unit::parse_tree(example)?.to_string();
    ensure!(printed == example, "it is printed as\n{printed}");
    Ok(())
}

fn check_file(file: &Path) -> Result<()> {
    let source = Source::new(files::short_name(file), fs::read_to_string(file)?);
    let program = Program::new(&source)?;
    for name in TARGETS {
        let target = Target::preset(name).context("no such preset")?;
        let mut check = Check { last: String::new(), steps: 0, error: None };
        let options = Options::new(&target).keep_going(true);
        // If a kernel is refused, the passes before that are still checked.
        let translated = ptx2spv_translator::internals::translate_watched(&program, &options, Some(&mut check));
        let entries = translated.iter().flat_map(|translation| &translation.interface.entries);
        if let Some(entry) = entries.into_iter().find(|entry| entry.allocations.is_some()) {
            bail!("{} has the table of allocations for {name}, although checks are off", entry.name);
        }
        if let Some(error) = check.error {
            return Err(error).with_context(|| format!("for {name}"));
        }
        let declarations = program.declarations(&options);
        for entry in translated.iter().flat_map(|translation| &translation.interface.entries) {
            check_declaration(entry, &declarations).with_context(|| format!("{} for {name}", entry.name))?;
        }
        ensure!(check.steps > 0 || program.entries().is_empty(), "no pass has run for {name}");
    }
    Ok(())
}

/// A kernel's declaration still holds after its translation, except that more is found out about pointers and barriers.
fn check_declaration(entry: &Entry, declarations: &[Declaration]) -> Result<()> {
    let declared = declarations.iter().find(|declaration| declaration.name == entry.name).context("not declared")?;
    let mut found = Declaration::from(entry);
    found.block.threads = None;
    for (param, declared) in found.params.iter_mut().zip(&declared.params) {
        ensure!(param.pointer || !declared.pointer, "`{}` is declared as a pointer", param.name);
        param.pointer = declared.pointer;
    }
    // Bytes that the translator adds begin at a multiple of 16.
    if entry.shared.own_bytes > 0 && declared.static_shared_bytes.next_multiple_of(16) == found.static_shared_bytes {
        found.static_shared_bytes = declared.static_shared_bytes;
    }
    ensure!(found == *declared, "translated as {found:?}, declared as {declared:?}");
    Ok(())
}

struct Check {
    last: String,
    steps: usize,
    error: Option<anyhow::Error>,
}

impl Observer for Check {
    fn passed(&mut self, step: &Step<'_>) {
        let text = format!("{:#}", step.unit);
        // Most passes change nothing.
        if self.error.is_none() && text != self.last {
            let checked = match step.pass {
                "check_accesses" => Err(anyhow!("accesses are checked, although checks are off")),
                _ => check_step(step, &text),
            };
            self.error = checked.with_context(|| format!("{} after {}", step.kernel, step.pass)).err();
        }
        self.last = text;
        self.steps += 1;
    }
}

fn check_step(step: &Step<'_>, text: &str) -> Result<()> {
    let pass = PASSES.iter().find(|pass| pass.name == step.pass);
    let stage = match (step.pass, pass) {
        (LOWER, _) => Stage::Graph,
        (_, Some(pass)) => pass.after,
        (name, None) => bail!("no pass is called {name}"),
    };
    let read = if stage < Stage::Tree { Unit::parse_graph(text)? } else { Unit::parse_tree(text)? };
    read.verify(stage).map_err(anyhow::Error::msg)?;
    ensure!(read.function.body == step.unit.function.body, "the statements that were read are others");
    ensure!(read.function.vars == step.unit.function.vars, "the variables that were read are others");
    let again = format!("{read:#}");
    ensure!(again == text, "it is printed in another way when it has been read");
    Ok(())
}
