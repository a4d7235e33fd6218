//! Output of `ptx2spv translate` about the kernels during translation: the final intermediate representation, a file
//! after each pass, a table of times.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use ptx2spv::{cli, table};
use ptx2spv_translator::internals::pipeline::{Observer, PASSES, Step, Unit};

/// Observes the kernels of a translation.
#[derive(Default)]
pub struct PassWatch {
    /// The folder of the dump.
    dump: Option<PathBuf>,
    /// The text of every kernel after its last pass.
    pub ir: String,
    /// Time and statements of each pass, over all kernels, in order.
    passes: Vec<Row>,
    emission: Duration,
    kernels: usize,
    failed: Option<anyhow::Error>,
}

#[derive(Clone, Default)]
struct Row {
    name: &'static str,
    time: Duration,
    before: usize,
    after: usize,
}

impl PassWatch {
    /// An observer, which writes a file after each pass if `dump` is given.
    pub fn new(dump: Option<PathBuf>) -> Self {
        Self { dump, ..Self::default() }
    }

    /// Reports whether files could be written.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn finish(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Shows the time of all steps on the standard error.
    pub fn show_times(&self, parsing: Duration) -> Result<()> {
        let total: Duration = self.passes.iter().map(|row| row.time).sum::<Duration>() + parsing + self.emission;
        let line = |name: &str, time: Duration, before: String, after: String| {
            let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            vec![name.to_owned(), format!("{:.3}", time.as_secs_f64() * 1e3), format!("{share:.1} %"), before, after]
        };
        let head = ["pass", "ms", "share", "statements before", "after"];
        let mut rows = vec![head.map(str::to_owned).to_vec(), line("parse", parsing, String::new(), String::new())];
        for Row { name, time, before, after } in &self.passes {
            rows.push(line(name, *time, before.to_string(), after.to_string()));
        }
        rows.push(line("emit", self.emission, String::new(), String::new()));
        rows.push(line("all", total, String::new(), String::new()));
        let mut text = Vec::new();
        table::write(&mut text, "", &rows)?;
        cli::note(String::from_utf8_lossy(&text).trim_end());
        Ok(())
    }

    fn write(&self, step: &Step<'_>) -> Result<()> {
        let Some(dump) = &self.dump else { return Ok(()) };
        // Names of C++ functions may be too long for files.
        let folder = dump.join(format!("{}-{:.80}", self.kernels, step.kernel));
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let form = if is_graph(step.unit) { "cfg" } else { "ir" };
        let file = folder.join(format!("{:02}-{}.{form}", step.number, step.pass));
        fs::write(&file, format!("; kernel {} after {}\n{}", step.kernel, step.pass, step.unit))
            .with_context(|| file.display().to_string())
    }
}

fn is_graph(unit: &Unit) -> bool {
    !unit.graph.blocks.is_empty()
}

impl Observer for PassWatch {
    fn passed(&mut self, step: &Step<'_>) {
        if step.number == 0 {
            self.kernels += 1;
        }
        if self.passes.len() <= step.number {
            self.passes.resize(step.number + 1, Row::default());
        }
        if let Some(row) = self.passes.get_mut(step.number) {
            row.name = step.pass;
            row.time += step.time;
            row.before += step.before;
            row.after += step.unit.size();
        }
        if step.number == PASSES.len() {
            // Writing to a string never fails.
            let _ = write!(self.ir, "; kernel {}\n{}", step.kernel, step.unit);
        }
        if self.failed.is_none() {
            self.failed = self.write(step).err();
        }
    }

    fn emitted(&mut self, time: Duration) {
        self.emission += time;
    }
}
