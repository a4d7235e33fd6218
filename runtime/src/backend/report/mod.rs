//! Reports of kernels to the host: the kernels that may report, and the meaning of their status records.
//!
//! The back ends read the records, and decide when.

pub(crate) mod illegal_access;
pub(crate) mod printf;

use std::collections::BTreeMap;
use std::sync::Mutex;

use ptx2spv_translator::interface::{Entry, SourceLocation, Status};
use ptx2spv_translator::target::Fault;

use crate::backend::range::MemoryRange;
use crate::backend::report::illegal_access::{IllegalAccess, Nearest};
use crate::error::{Error, Result};
use crate::sync::lock;

/// The content of a status record.
pub(crate) type Record = [u32; Status::WORDS as usize];

/// A module's kernels that may report something, by their numbers in the module's status record.
#[derive(Default)]
pub(crate) struct Reporters(Mutex<BTreeMap<u32, (String, Vec<SourceLocation>)>>);

/// The part of a module's memory for reports and output of its kernels.
pub(crate) struct StatusRecord {
    /// Device address of the record.
    pub address: u64,
    /// Device address of the host memory to which the back end copies the words that it reads after launches, if it wants such memory.
    pub mirror: Option<u64>,
    /// The region for output, if kernels print.
    pub output: Option<MemoryRange>,
    /// The module's variables, which contain string literals.
    pub variables: MemoryRange,
    /// The kernels that may report something.
    pub reporters: Reporters,
    /// Names of parts of the module's memory.
    pub names: Vec<(MemoryRange, String)>,
    /// For each kernel that checks its accesses, the addresses among the arguments of its last launch, with their
    /// positions.
    pub arguments: Mutex<BTreeMap<String, Vec<(usize, u64)>>>,
    /// Locked by a launch that may print, and while output is read and cleared, so that no output is cleared unread.
    pub printing: Mutex<()>,
}

impl StatusRecord {
    /// The string at an address, if it lies in the module's variables or in an allocation found by `find`. `read` reads
    /// device memory.
    pub fn string(
        &self,
        address: u64,
        find: impl FnOnce(u64) -> Option<MemoryRange>,
        mut read: impl FnMut(u64, &mut [u8]) -> Result,
    ) -> Option<Vec<u8>> {
        let own = |range: &MemoryRange| address.checked_sub(range.address).is_some_and(|offset| offset < range.size);
        let MemoryRange { address: base, size } = Some(self.variables).filter(own).or_else(|| find(address))?;
        let start = address.checked_sub(base)?;
        read_string(start, size, &mut |offset, bytes| read(base + offset, bytes).ok())
    }
}

/// The content of a status record.
pub(crate) struct Report {
    fault: Option<Fault>,
    record: Record,
}

impl Report {
    /// The report in a record, if any.
    pub fn read(record: Record) -> Option<Self> {
        // The first word.
        let code = record[0];
        (code != Status::FINE).then(|| Self { fault: Fault::from_code(code), record })
    }

    /// The message of a failed assertion, in CUDA's format.
    fn assertion(&self, string: &mut dyn FnMut(u64) -> Option<Vec<u8>>) -> String {
        let detail = |number: u32| self.word(Status::DETAILS + number);
        let mut text = |number: u32| {
            let address = u64::from(detail(number)) | u64::from(detail(number + 1)) << 32;
            string(address).map_or_else(|| "?".to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let (message, file, function) = (text(0), text(2), text(4));
        let triple = |first: u32| format!("[{},{},{}]", detail(first), detail(first + 1), detail(first + 2));
        let (line, block, thread) = (detail(6), triple(7), triple(10));
        format!("{file}:{line}: {function}: block: {block}, thread: {thread} Assertion `{message}` failed")
    }

    fn word(&self, number: u32) -> u32 {
        self.record.get(number as usize).copied().unwrap_or(0)
    }
}

/// Maximum length of a string read from a device.
const MAX_STRING: u64 = 64 << 10;

/// The bytes from an offset up to the first zero, in memory of the given size. `read` reads at an offset.
fn read_string(start: u64, size: u64, read: &mut dyn FnMut(u64, &mut [u8]) -> Option<()>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let end = size.min(start.saturating_add(MAX_STRING));
    let mut offset = start;
    while offset < end {
        let mut part = vec![0; (end - offset).min(256) as usize];
        read(offset, &mut part)?;
        if let Some(zero) = part.iter().position(|&byte| byte == 0) {
            text.extend(&part[..zero]);
            return Some(text);
        }
        offset += part.len() as u64;
        text.extend(part);
    }
    (start < end).then_some(text)
}

/// The back end's knowledge about a report.
pub(crate) struct Circumstances<'a> {
    /// Kernels of the module that may have reported.
    pub kernels: Vec<String>,
    /// Name of the device.
    pub device: &'a str,
    /// The target's `quirks.loop_budget`.
    pub loop_budget: Option<u32>,
    /// Finds the allocation nearest to an address.
    pub nearest: &'a dyn Fn(u64) -> Option<Nearest>,
}

impl Reporters {
    /// Registers a kernel that may report something.
    pub fn add(&self, entry: &Entry) {
        if !entry.reports.is_empty() {
            lock(&self.0).insert(entry.number, (entry.name.clone(), entry.reports.clone()));
        }
    }

    /// The error for a report. `string` reads the string at an address.
    pub fn error(
        &self,
        report: &Report,
        circumstances: Circumstances<'_>,
        string: &mut dyn FnMut(u64) -> Option<Vec<u8>>,
    ) -> Error {
        let Circumstances { mut kernels, device, loop_budget, nearest } = circumstances;
        let mut place = None;
        // A driver that cuts short the loops of one kernel may have done so in all others.
        if report.fault != Some(Fault::LoopCutShort) {
            let known = lock(&self.0);
            if let Some((kernel, places)) = known.get(&report.word(Status::KERNEL)) {
                kernels = vec![kernel.clone()];
                place = places.get(report.word(Status::PLACE) as usize).filter(|place| place.line != 0).cloned();
            }
        }
        if let (Some(Fault::IllegalAccess), Some(access)) = (report.fault, IllegalAccess::of_record(&report.record)) {
            return access.error(kernels, place, nearest);
        }
        if report.fault == Some(Fault::AccessPastEnd) {
            return illegal_access::past_end(kernels);
        }
        let reason = match (report.fault, loop_budget) {
            (Some(Fault::LoopCutShort), Some(rounds)) => {
                format!(
                    "the driver of {device} ends loops after {rounds} iterations of a thread's loops together, which other devices don't: try `--device discrete` or `--device reference`"
                )
            }
            (Some(Fault::LoopCutShort), None) => format!("the driver of {device} ended a loop early"),
            (Some(Fault::Trap), _) => "a thread executed `trap`".to_owned(),
            (Some(Fault::Breakpoint), _) => "a thread executed `brkpt`, and there is no debugger".to_owned(),
            (Some(Fault::Assertion), _) => report.assertion(string),
            (Some(Fault::StackOverflow), _) => "recursive calls went deeper than a thread's stack".to_owned(),
            (Some(Fault::BadTarget), _) => "a call or branch went to none of its possible targets".to_owned(),
            (Some(Fault::DivergedMembers), _) => {
                "threads that an operation of a warp names as members did not execute it together".to_owned()
            }
            (Some(Fault::Deadlock), _) => "threads waited for each other without end".to_owned(),
            (Some(Fault::InvalidFree), _) => {
                "a thread called `free` for memory that `malloc` hasn't given or that was freed already".to_owned()
            }
            (Some(Fault::SurfaceAccess), _) => {
                "a thread accessed a surface outside of its bounds, or not aligned".to_owned()
            }
            (Some(Fault::IllegalAccess | Fault::AccessPastEnd), _) => {
                "a thread accessed memory that is not there".to_owned()
            }
            (None, _) => format!("it reported the unknown status {}", report.word(0)),
        };
        Error::Aborted { kernels, reason, place: place.map(Box::new) }
    }
}
