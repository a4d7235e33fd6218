//! Tests of single passes: the files under `tests/filetests`, each a header, an input and the expected text. Also tests
//! of the text form: the kernels of `tests/kernels`, printed after every pass, are read back.
//!
//! `PTX2SPV_BLESS=1` rewrites the expected text. `docs/testing-a-pass.md` describes the files.

mod header;
mod round_trip;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use header::Header;
use libtest_mimic::{Failed, Trial};
use ptx2spv_tests::{files, suite};
use ptx2spv_translator::internals::pipeline::{Observer, PASSES, Step, Unit};
use ptx2spv_translator::{ErrorKind, Options, Program, Source};

/// The separator line between the input and the expected text, after the comment sign.
const SEPARATOR: &str = "----";

fn main() -> ExitCode {
    suite::main(trials)
}

fn trials() -> Result<Vec<Trial>> {
    let mut trials = round_trip::trials()?;
    let root = files::root().join("filetests");
    let mut found = Vec::new();
    for folder in fs::read_dir(&root)? {
        for file in fs::read_dir(folder?.path())? {
            found.push(file?.path());
        }
    }
    found.sort();
    ensure!(!found.is_empty(), "no tests in {}", root.display());
    let tested = passes_tested(&found)?;
    trials.push(Trial::test("every pass has a test", move || {
        let missing: Vec<&str> = PASSES.iter().map(|pass| pass.name).filter(|name| !tested.contains(*name)).collect();
        if missing.is_empty() { Ok(()) } else { Err(Failed::from(format!("no test of {}", missing.join(", ")))) }
    }));
    for file in found {
        let name = file.strip_prefix(&root)?.display().to_string();
        trials.push(Trial::test(name, move || Ok(check(&file)?)));
    }
    Ok(trials)
}

/// The passes that the headers of files name.
fn passes_tested(files: &[PathBuf]) -> Result<HashSet<String>> {
    let mut tested = HashSet::new();
    for file in files {
        let text = fs::read_to_string(file)?;
        tested.extend(Header::parse(&text, comment(file))?.passes);
    }
    Ok(tested)
}

/// The start of a comment.
fn comment(file: &Path) -> &'static str {
    if file.extension().is_some_and(|extension| extension == "ptx") { "//" } else { ";" }
}

fn check(file: &Path) -> Result<()> {
    let text = fs::read_to_string(file)?;
    let comment = comment(file);
    let separator = format!("{comment} {SEPARATOR}\n");
    let (input, expected) = text.split_once(&separator).unwrap_or((&text, ""));
    let header = Header::parse(input, comment)?;
    let made = match file.extension().and_then(|extension| extension.to_str()) {
        Some("ptx") => after_pass(input, &header)?,
        Some("cfg") => run(Unit::parse_graph(input)?, &header)?,
        Some("ir") => run(Unit::parse_tree(input)?, &header)?,
        _ => bail!("a test ends in .ptx, .cfg or .ir"),
    };
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        fs::write(file, format!("{}\n{separator}{made}", input.trim_end()))?;
        return Ok(());
    }
    let different = expected.lines().zip(made.lines()).take_while(|(expected, made)| expected == made).count();
    let line = |text: &str| text.lines().nth(different).unwrap_or("the end").to_owned();
    ensure!(
        expected == made,
        "the result is another from its line {} on: {}\nexpected: {}\nPTX2SPV_BLESS=1 writes what it is now:\n{made}",
        different + 1,
        line(&made),
        line(expected),
    );
    Ok(())
}

/// Runs the named passes.
fn run(mut unit: Unit, header: &Header) -> Result<String> {
    let policy = ptx2spv_translator::internals::policy::Policy::new(&header.target, header.math);
    let settings = header.settings(&policy);
    let mut stage = None;
    for name in &header.passes {
        let named = PASSES.iter().filter(|pass| pass.name == name);
        // For passes that run several times, the first match.
        let pass = named
            .into_iter()
            .find(|pass| stage.is_none_or(|stage| stage <= pass.before))
            .with_context(|| format!("no pass `{name}` here"))?;
        if stage.is_none() {
            unit.verify(pass.before).map_err(anyhow::Error::msg).context("the input")?;
        }
        match pass.run(&mut unit, &settings) {
            Ok(()) => {}
            Err(ErrorKind::Internal(error)) => bail!("{error}\n{unit}"),
            Err(error) => return Ok(format!("error: {error}\n")),
        }
        stage = Some(pass.after);
    }
    let pointers = unit.pointers().iter().map(|offset| format!("; pointer: push_constant.{offset}\n"));
    Ok(pointers.fold(unit.to_string(), |text, line| text + &line))
}

/// Translates the only kernel of a module, and returns its form after a pass.
fn after_pass(input: &str, header: &Header) -> Result<String> {
    let [pass] = header.passes.as_slice() else { bail!("a .ptx is tested up to one pass") };
    let source = Source::new("test.ptx", input);
    let program = Program::new(&source)?;
    ensure!(program.entries().len() == 1, "one kernel to a file");
    let mut watch = Watch { pass, text: None };
    ptx2spv_translator::internals::translate_watched(&program, &header.options(), Some(&mut watch))?;
    watch.text.with_context(|| format!("there is no pass `{pass}`"))
}

/// Keeps the text of a kernel after the first run of a pass.
struct Watch<'p> {
    pass: &'p str,
    text: Option<String>,
}

impl Observer for Watch<'_> {
    fn passed(&mut self, step: &Step<'_>) {
        if step.pass == self.pass && self.text.is_none() {
            self.text = Some(step.unit.to_string());
        }
    }
}

impl Header {
    fn options(&self) -> Options<'_> {
        Options::new(&self.target).math(self.math).block_threads(self.block_threads)
    }
}
