//! The journal of a campaign: a line for each program, with its kind, its seed, and the outcome. A line without an end is a program that
//! ended the process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

/// A journal, and its entries.
pub struct Journal {
    file: File,
    /// Outcomes by kind and seed.
    known: BTreeMap<String, BTreeMap<u64, String>>,
}

impl Journal {
    /// Opens the journal in a file, or begins it.
    pub fn open(path: &Path) -> Result<Self> {
        let said = || path.display().to_string();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(said)?;
        }
        let text = if path.exists() { fs::read_to_string(path).with_context(said)? } else { String::new() };
        let file = OpenOptions::new().create(true).append(true).open(path).with_context(said)?;
        let mut journal = Self { file, known: BTreeMap::new() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.splitn(3, ' ');
            let (Some(kind), Some(seed)) = (words.next(), words.next().and_then(|seed| seed.parse().ok())) else {
                continue;
            };
            journal.note(kind, seed, words.next().unwrap_or("crashed"));
        }
        if !text.is_empty() && !text.ends_with('\n') {
            journal.file.write_all(b" crashed\n")?;
        }
        Ok(journal)
    }

    fn note(&mut self, kind: &str, seed: u64, outcome: &str) {
        self.known.entry(kind.to_owned()).or_default().insert(seed, outcome.to_owned());
    }

    /// Writes a remark.
    pub fn remark(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.file, "# {text}")?)
    }

    /// Whether a program has run.
    pub fn has(&self, kind: &str, seed: u64) -> bool {
        self.known.get(kind).is_some_and(|known| known.contains_key(&seed))
    }

    /// Notes that a program begins.
    pub fn begin(&mut self, kind: &str, seed: u64) -> Result<()> {
        Ok(write!(self.file, "{kind} {seed}")?)
    }

    /// Notes the outcome of the program that has begun.
    pub fn end(&mut self, kind: &str, seed: u64, outcome: &str) -> Result<()> {
        writeln!(self.file, " {outcome}")?;
        self.note(kind, seed, outcome);
        Ok(())
    }

    /// A table of the numbers of programs by kind and outcome.
    pub fn summary(&self) -> String {
        let outcomes: BTreeSet<&str> = self.known.values().flat_map(BTreeMap::values).map(String::as_str).collect();
        let rule = outcomes.iter().map(|_| " --- |").collect::<String>();
        let heads = outcomes.iter().map(|outcome| format!(" {outcome} |")).collect::<String>();
        let rows = self.known.iter().map(|(kind, known)| {
            let count = |outcome: &&str| known.values().filter(|one| one == outcome).count();
            let cells = outcomes.iter().map(|outcome| format!(" {} |", count(outcome))).collect::<String>();
            let seeds = [known.keys().next(), known.keys().next_back()].map(|seed| seed.copied().unwrap_or_default());
            format!("| {kind} | {} to {} |{cells}\n", seeds[0], seeds[1])
        });
        format!("| kind | seeds |{heads}\n| --- | --- |{rule}\n{}", rows.collect::<String>())
    }
}
