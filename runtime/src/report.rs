//! What kernels report to the host: who they are, and what their status records say.
//!
//! Reading the records and knowing when to look is the back ends' business.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ptx2spv_translator::interface::{Entry, Fault, Place, Status};

use crate::error::Error;
use crate::lock;

/// The content of a status record.
pub(crate) type Record = [u32; Status::WORDS as usize];

/// The kernels of a module that may report something, by the number that they go by in the module's status record.
#[derive(Default)]
pub(crate) struct Reporters(Mutex<BTreeMap<u32, (String, Vec<Place>)>>);

/// What a status record says.
pub(crate) struct Report {
    fault: Option<Fault>,
    record: Record,
}

impl Report {
    /// What is reported, if anything is.
    pub fn read(record: Record) -> Option<Self> {
        // The first word.
        let code = record[0];
        (code != Status::FINE).then(|| Self { fault: Fault::from_code(code), record })
    }

    fn word(&self, number: u32) -> u32 {
        self.record.get(number as usize).copied().unwrap_or(0)
    }
}

/// What a back end knows of the report's circumstances.
pub(crate) struct Circumstances<'a> {
    /// Kernels of the module that may have reported.
    pub kernels: Vec<String>,
    /// Name of the device.
    pub device: &'a str,
    /// The target's `quirks.loop_budget`.
    pub loop_budget: Option<u32>,
}

impl Reporters {
    /// Makes a kernel known.
    pub fn add(&self, entry: &Entry) {
        if !entry.reports.is_empty() {
            lock(&self.0).insert(entry.number, (entry.name.clone(), entry.reports.clone()));
        }
    }

    /// The error that tells of a report.
    pub fn error(&self, report: &Report, circumstances: Circumstances<'_>) -> Error {
        let Circumstances { mut kernels, device, loop_budget } = circumstances;
        let mut place = None;
        // Where one kernel's loops were cut short, all others' may have been.
        if report.fault != Some(Fault::LoopCutShort) {
            let known = lock(&self.0);
            if let Some((kernel, places)) = known.get(&report.word(Status::KERNEL)) {
                kernels = vec![kernel.clone()];
                place = places.get(report.word(Status::PLACE) as usize).filter(|place| place.line != 0).cloned();
            }
        }
        let reason = match (report.fault, loop_budget) {
            (Some(Fault::LoopCutShort), Some(rounds)) => {
                format!("the driver of {device} ends loops after {rounds} iterations of a thread's loops together")
            }
            (Some(Fault::LoopCutShort), None) => format!("the driver of {device} ended a loop early"),
            (Some(Fault::Trap), _) => "a thread executed `trap`".to_owned(),
            (Some(Fault::Breakpoint), _) => "a thread executed `brkpt`, and there is no debugger".to_owned(),
            (Some(Fault::Assertion), _) => "an assertion failed".to_owned(),
            (Some(Fault::StackOverflow), _) => "recursive calls went deeper than a thread's stack".to_owned(),
            (Some(Fault::BadTarget), _) => "a call or branch went to none of its possible targets".to_owned(),
            (Some(Fault::DivergedMembers), _) => {
                "threads that an operation of a warp names as members did not execute it together".to_owned()
            }
            (Some(Fault::Deadlock), _) => "threads waited for each other without end".to_owned(),
            (None, _) => format!("it reported the unknown status {}", report.word(0)),
        };
        Error::Aborted { kernels, reason, place }
    }
}
