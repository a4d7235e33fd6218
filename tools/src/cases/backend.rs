//! What a device has to do for launch cases to run on it.

use std::collections::BTreeMap;

use ptx2spv_runtime::Finding;
use ptx2spv_translator::interface::Counters;

use super::Prepared;

/// Something that runs kernels.
pub trait Backend {
    /// The device's name.
    fn name(&self) -> String;

    /// Loads the case's module, launches its kernel once, waits, and reads every buffer and the wanted variables.
    fn run(&mut self, case: &Prepared) -> Result<Outputs, Failure>;
}

/// What a launch left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// The whole contents of each buffer; `None` for arguments, or members of structs, that are no buffers.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The first bytes of each module variable in [`Prepared::read_globals`].
    pub globals: BTreeMap<String, Vec<u8>>,
    /// The elements of each image.
    pub images: BTreeMap<String, Vec<u8>>,
    /// What the reference device found on the way.
    pub findings: Vec<Finding>,
    /// How often warps executed `pmevent`, for each event.
    pub counters: [u64; Counters::COUNT as usize],
}

/// Why a case has no outputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The module or the launch was refused, with this diagnostic: what a case with `error` waits for.
    #[error("{0}")]
    Refused(String),
    /// It needs more of a resource than the device has; the message has both numbers.
    #[error("{0}")]
    TooLarge(String),
    /// The reference device found something that the kernel can't go on after; that is the last of these.
    #[error("{}", findings_text(.0))]
    Fault(Vec<Finding>),
    /// Something else went wrong: out of memory, a lost device.
    #[error("{0}")]
    Broken(String),
}

/// Findings in words, one below the other.
pub fn findings_text(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
}
