//! The choice of kernels for a measurement.

use clap::Args;

use crate::workloads::Workload;

/// Kernels chosen by their names.
#[derive(Debug, Args)]
pub struct Selection {
    /// Only kernels whose name, or entry in PTX, contains this; may be given several times.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// No kernels whose name contains this; may be given several times.
    #[arg(long, value_name = "TEXT")]
    without: Vec<String>,
}

impl Selection {
    /// Whether a kernel is chosen.
    pub fn takes(&self, workload: &Workload) -> bool {
        let has = |text: &String| workload.name.contains(text) || workload.entry.contains(text);
        (self.filter.is_empty() || self.filter.iter().any(has)) && !self.without.iter().any(has)
    }
}
