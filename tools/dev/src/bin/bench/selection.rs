//! Which kernels a measurement takes.

use clap::Args;

use crate::workloads::Workload;

/// Kernels chosen by their names.
#[derive(Debug, Args)]
pub struct Selection {
    /// Only kernels whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// No kernels whose name contains this.
    #[arg(long, value_name = "TEXT")]
    without: Option<String>,
}

impl Selection {
    /// Whether a kernel is chosen.
    pub fn takes(&self, workload: &Workload) -> bool {
        let has = |text: &String| workload.name.contains(text);
        self.filter.as_ref().is_none_or(has) && !self.without.as_ref().is_some_and(has)
    }
}
