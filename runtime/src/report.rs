//! What kernels report to the host: who they are, and what their status records say.
//!
//! Reading the records and knowing when to look is the back ends' business.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ptx2spv_translator::interface::{Entry, SourceLocation, Status};
use ptx2spv_translator::target::Fault;

use crate::error::Error;
use crate::illegal_access::{IllegalAccess, Nearest};
use crate::range::MemoryRange;
use crate::sync::lock;

/// The content of a status record.
pub(crate) type Record = [u32; Status::WORDS as usize];

/// The kernels of a module that may report something, by the number that they go by in the module's status record.
#[derive(Default)]
pub(crate) struct Reporters(Mutex<BTreeMap<u32, (String, Vec<SourceLocation>)>>);

/// Where the kernels of a module report what went wrong, and print.
pub(crate) struct StatusRecord {
    /// Device address of the record.
    pub address: u64,
    /// Where kernels print, if they do.
    pub output: Option<MemoryRange>,
    /// The module's variables, in which strings lie.
    pub variables: MemoryRange,
    /// The kernels that may report something.
    pub reporters: Reporters,
    /// What parts of the module's memory are called.
    pub names: Vec<(MemoryRange, String)>,
    /// The addresses among the arguments of the last launch of each kernel that checks its accesses, with their positions.
    pub arguments: Mutex<BTreeMap<String, Vec<(usize, u64)>>>,
    /// Held by a launch that may print, and while what was printed is read and cleared, so that nothing is cleared unread.
    pub printing: Mutex<()>,
}

impl StatusRecord {
    /// The string at an address, if it lies in the module's variables or another allocation of the device, which `find` knows;
    /// `read` gives what lies at an address.
    pub fn string(
        &self,
        address: u64,
        find: impl FnOnce(u64) -> Option<MemoryRange>,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), Error>,
    ) -> Option<Vec<u8>> {
        let own = |range: &MemoryRange| address.checked_sub(range.address).is_some_and(|offset| offset < range.size);
        let MemoryRange { address: base, size } = Some(self.variables).filter(own).or_else(|| find(address))?;
        let start = address.checked_sub(base)?;
        read_string(start, size, &mut |offset, bytes| read(base + offset, bytes).ok())
    }
}

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

    /// A failed assertion in CUDA's words.
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

/// Longest string that is read from a device.
const MAX_STRING: u64 = 64 << 10;

/// The bytes up to the first zero from an offset of memory of that size; `read` gives what lies at an offset.
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

/// What a back end knows of the report's circumstances.
pub(crate) struct Circumstances<'a> {
    /// Kernels of the module that may have reported.
    pub kernels: Vec<String>,
    /// Name of the device.
    pub device: &'a str,
    /// The target's `quirks.loop_budget`.
    pub loop_budget: Option<u32>,
    /// The allocation that is nearest to an address.
    pub nearest: &'a dyn Fn(u64) -> Option<Nearest>,
}

impl Reporters {
    /// Makes a kernel known.
    pub fn add(&self, entry: &Entry) {
        if !entry.reports.is_empty() {
            lock(&self.0).insert(entry.number, (entry.name.clone(), entry.reports.clone()));
        }
    }

    /// The error that tells of a report.
    /// `string` reads the string at an address.
    pub fn error(
        &self,
        report: &Report,
        circumstances: Circumstances<'_>,
        string: &mut dyn FnMut(u64) -> Option<Vec<u8>>,
    ) -> Error {
        let Circumstances { mut kernels, device, loop_budget, nearest } = circumstances;
        let mut place = None;
        // Where one kernel's loops were cut short, all others' may have been.
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
            (Some(Fault::IllegalAccess), _) => "a thread accessed memory that is not there".to_owned(),
            (None, _) => format!("it reported the unknown status {}", report.word(0)),
        };
        Error::Aborted { kernels, reason, place: place.map(Box::new) }
    }
}
