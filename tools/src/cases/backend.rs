//! The interface between launch cases and devices.

use std::collections::BTreeMap;

use ptx2spv_runtime::Finding;
use ptx2spv_translator::interface::Counters;

use super::Prepared;

/// Something that runs kernels.
pub trait Backend {
    /// The device's name.
    fn name(&self) -> String;

    /// Loads the case's module, launches its kernel once, waits, and reads every buffer and the requested variables.
    fn run(&mut self, case: &Prepared) -> Result<Outputs, Failure>;
}

/// The results of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The contents of each buffer; `None` for arguments or struct members that are not buffers.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The first bytes of each module variable in [`Prepared::read_globals`].
    pub globals: BTreeMap<String, Vec<u8>>,
    /// The elements of each image.
    pub images: BTreeMap<String, Vec<u8>>,
    /// Findings of the reference device during the launch.
    pub findings: Vec<Finding>,
    /// The number of times that warps executed `pmevent`, for each event.
    pub counters: [u64; Counters::COUNT as usize],
}

/// The reason why a case has no outputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The module or the launch was refused with this diagnostic, which a case with `error` expects.
    #[error("{0}")]
    Refused(String),
    /// The case needs more of a resource than the device has, or other arithmetic. The message has both numbers, or names.
    #[error("{0}")]
    TooLarge(String),
    /// The reference device stopped the kernel with the last one of these findings.
    #[error("{}", findings_text(.0))]
    Fault(Vec<Finding>),
    /// Any other error, such as exhausted memory or a lost device.
    #[error("{0}")]
    Broken(String),
}

/// Findings as text, one below the other.
pub fn findings_text(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
}
