//! The findings of runs, each listed once.

use crate::finding::{Finding, FindingKind, Site};

/// Findings that don't end a run, one for each instruction and kind, with a count.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl From<Finding> for Findings {
    fn from(finding: Finding) -> Self {
        Self(vec![finding])
    }
}

impl Findings {
    /// Adds a finding at the instruction that begins at `word`. If there is one already, counts it instead.
    pub fn add(&mut self, kind: FindingKind, word: u32, make: impl FnOnce() -> Finding) {
        let at = |site: &Site| site.instruction.as_ref().map(|instruction| instruction.word);
        match self.0.iter_mut().find(|finding| finding.kind == kind && at(&finding.site) == Some(word)) {
            Some(known) => known.repeated += 1,
            None => self.0.push(make()),
        }
    }

    /// Adds the findings of another run. Equal ones are counted together.
    pub fn append(&mut self, other: Findings) {
        for finding in other.0 {
            let is_same = |known: &&mut Finding| {
                (known.kind, &known.site.entry, &known.site.instruction)
                    == (finding.kind, &finding.site.entry, &finding.site.instruction)
            };
            match self.0.iter_mut().find(is_same) {
                Some(known) => known.repeated += finding.repeated + 1,
                None => self.0.push(finding),
            }
        }
    }

    /// Takes the findings since the last call.
    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.0)
    }
}
