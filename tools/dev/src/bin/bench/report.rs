//! A table of measurements, as Markdown and as JSON.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

/// A table of measurements.
pub struct Report {
    /// Lines above the table, such as the devices.
    pub notes: Vec<String>,
    /// Column titles.
    pub head: Vec<String>,
    /// Cells as text.
    pub rows: Vec<Vec<String>>,
    /// The rows' numbers as JSON.
    pub values: Vec<Value>,
}

impl Report {
    /// An empty table.
    pub fn new(head: &[&str]) -> Self {
        Self {
            notes: Vec::new(),
            head: head.iter().map(|&head| head.to_owned()).collect(),
            rows: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, cells: Vec<String>, value: &impl Serialize) -> Result<()> {
        self.rows.push(cells);
        self.values.push(serde_json::to_value(value)?);
        Ok(())
    }

    /// Writes the report as Markdown.
    pub fn print(&self, out: &mut dyn Write) -> Result<()> {
        for note in &self.notes {
            writeln!(out, "{note}  ")?;
        }
        writeln!(out, "\n| {} |", self.head.join(" | "))?;
        writeln!(out, "|{}", " --- |".repeat(self.head.len()))?;
        for row in &self.rows {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }

    /// Writes the report to a JSON file.
    pub fn save(&self, file: &Path) -> Result<()> {
        let value = serde_json::json!({ "notes": self.notes, "rows": self.values });
        let text = serde_json::to_string_pretty(&value)? + "\n";
        fs::write(file, text).with_context(|| file.display().to_string())
    }
}

/// The median of some times; `None` without times.
pub fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort();
    let middle = times.len() / 2;
    match times.len() {
        0 => None,
        len if len % 2 == 1 => Some(times[middle]),
        _ => Some((times[middle - 1] + times[middle]) / 2),
    }
}

/// A time in milliseconds with three decimals, or a dash.
pub fn milliseconds(time: Option<Duration>) -> String {
    time.map_or_else(|| "–".to_owned(), |time| format!("{:.3}", 1e3 * time.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let times = |list: &[u64]| list.iter().map(|&seconds| Duration::from_secs(seconds)).collect::<Vec<_>>();
        assert_eq!(median(times(&[])), None);
        assert_eq!(median(times(&[9, 1, 5])), Some(Duration::from_secs(5)));
        assert_eq!(median(times(&[9, 1, 5, 7])), Some(Duration::from_secs(6)));
    }
}
