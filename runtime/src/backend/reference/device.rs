//! The reference device: the interpreter, and the findings that it reports.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use ptx2spv_reference::{Config, Finding, Refusal};
use ptx2spv_translator::interface::{Status, output};

use super::lent::Lent;
use crate::backend::Backend;
use crate::backend::order::{StreamKey, Ticket};
use crate::backend::range::{Allocations, MemoryRange, Rows};
use crate::backend::report::{Circumstances, Record, Report, StatusRecord, printf};
use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::profile::{DeviceProfile, Measured, Work};
use crate::sync::lock;

/// The ticket of finished commands. Every command has finished when its call returns.
pub(super) const FINISHED: Ticket = Ticket { queue: 0, serial: 0 };

/// Features of a reference device that Vulkan devices don't have: see
/// [`Device::as_reference`](crate::Device::as_reference).
///
/// ```
/// use ptx2spv_runtime::{Config, Device};
///
/// let device = Device::reference(Config::default());
/// let reference = device.as_reference().expect("a reference device");
/// assert_eq!((reference.steps(), reference.take_findings()), (0, vec![]));
/// ```
pub struct ReferenceDevice {
    pub(super) interpreter: ptx2spv_reference::Device,
    /// Live allocations, with the host memory of those that are in host memory.
    pub(super) allocations: Allocations<Option<Arc<Lent>>>,
    /// The start of the device's clock.
    pub(super) opened: Instant,
    pub(super) profile: Option<DeviceProfile>,
    /// Faults that stopped launches and were not returned to the host yet.
    pub(super) faults: Mutex<Vec<Finding>>,
    /// Reports of kernels that were not returned to the host yet.
    pub(super) reports: Mutex<VecDeque<Error>>,
    /// Output of kernels that the host has not taken yet.
    pub(super) output: Mutex<Vec<u8>>,
    /// Number of launches of kernels or parts of grids.
    pub(super) submissions: AtomicU64,
}

impl ReferenceDevice {
    pub(super) fn new(config: Config) -> Self {
        Self {
            profile: DeviceProfile::new(&config.target.name),
            interpreter: ptx2spv_reference::Device::new(config),
            allocations: Allocations::default(),
            opened: Instant::now(),
            faults: Mutex::default(),
            reports: Mutex::default(),
            output: Mutex::default(),
            submissions: AtomicU64::new(0),
        }
    }

    /// Measures work, until the result is dropped.
    pub(super) fn measure(&self, stream: StreamKey, work: impl FnOnce() -> Work) -> Option<Measured<'_>> {
        self.profile.as_ref().map(|profile| profile.measure(stream.row(), work()))
    }

    /// Whether an address is in memory of the host.
    pub(super) fn is_on_host(&self, address: u64) -> bool {
        self.allocations.find(address).is_some_and(|(_, lent)| lent.is_some())
    }

    /// Takes the findings since the last call, except for those returned as [`Error::Fault`].
    pub fn take_findings(&self) -> Vec<Finding> {
        self.interpreter.take_findings()
    }

    /// Number of instructions that the interpreter has run.
    pub fn steps(&self) -> u64 {
        self.interpreter.steps()
    }

    /// Takes the trace since the last call, one line for each instruction; see [`Config::trace`].
    pub fn take_trace(&self) -> Vec<String> {
        self.interpreter.take_trace()
    }

    /// Stores the fault that stopped a launch until the host waits or reads.
    pub(super) fn add_fault(&self, fault: Finding) {
        lock(&self.faults).push(fault);
    }

    /// Collects the output and the report of a finished kernel, and clears both.
    pub(super) fn look_at(&self, record: &StatusRecord, kernel: &str) -> Result {
        let mut read = |address, bytes: &mut [u8]| Backend::read(self, address, bytes);
        if let Some(MemoryRange { address, size }) = record.output {
            let mut bytes = vec![0; output::RECORDS as usize];
            read(address, &mut bytes)?;
            let used = printf::used(&bytes, size);
            if used != 0 {
                // At most the region's size, which is small.
                bytes.resize(used as usize, 0);
                read(address, &mut bytes)?;
                printf::render(
                    &bytes,
                    &mut |at| record.string(at, |at| self.find(at), &mut read),
                    &mut lock(&self.output),
                );
                self.clear(MemoryRange { address, size: used })?;
            }
        }
        let mut words = Record::default();
        read(record.address, bytemuck::cast_slice_mut(&mut words))?;
        let Some(report) = Report::read(words.map(u32::from_le)) else { return Ok(()) };
        let name = &self.interpreter.config().target.name;
        let circumstances = Circumstances {
            kernels: vec![kernel.to_owned()],
            device: name,
            loop_budget: None,
            // Kernels have no access checks of their own here.
            nearest: &|_| None,
        };
        let error =
            record.reporters.error(&report, circumstances, &mut |at| record.string(at, |at| self.find(at), &mut read));
        lock(&self.reports).push_back(error);
        self.clear(MemoryRange { address: record.address, size: Status::SIZE })
    }

    fn clear(&self, range: MemoryRange) -> Result {
        self.fill(StreamKey::Everything, Rows::one(range), 0).map(|_| ())
    }

    pub(super) fn refused(&self) -> impl FnOnce(Refusal) -> Error {
        let device = self.interpreter.config().target.name.clone();
        move |refusal| Error::Refused { device, rule: refusal.rule, message: refusal.message }
    }
}

/// The error of a copy whose range was checked before.
pub(super) fn fault(finding: Finding) -> Error {
    Error::Fault { findings: vec![finding] }
}
