//! The reference back end: the interpreter of `ptx2spv-reference` behind the same operations as a Vulkan device.
//!
//! Launches run at the call. What stopped one is kept until somebody waits or reads.

mod options;

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ptx2spv_reference::{Config, Dispatch, Finding, Pool, Refusal};
use ptx2spv_translator::interface::heap::{ARENAS, Arena};
use ptx2spv_translator::interface::{Entry, MemoryRegion, Status, output};
use ptx2spv_translator::legalize::has_narrow_global;

use crate::backend;
use crate::error::Error;
use crate::info::MAX_REFERENCE_BUFFER;
use crate::kernel::Variant;
use crate::launch::Launch;
use crate::lock;
use crate::printf;
use crate::report::{Circumstances, Record, Report, Reporters, read_string};

pub(crate) use options::KEYS;
pub use options::{ReferenceOptions, target_by_name};

/// An open reference device.
pub(crate) struct Device {
    device: ptx2spv_reference::Device,
    /// What stopped launches and nobody was told of yet.
    faults: Mutex<Vec<Finding>>,
    /// What kernels reported and nobody was told of yet.
    reports: Mutex<VecDeque<Error>>,
    /// What kernels have printed and nobody has taken yet.
    pub output: Mutex<Vec<u8>>,
    /// How often a kernel was launched, or a part of one.
    submissions: AtomicU64,
}

impl Device {
    pub fn new(config: Config) -> Self {
        Self {
            device: ptx2spv_reference::Device::new(config),
            faults: Mutex::default(),
            reports: Mutex::default(),
            output: Mutex::default(),
            submissions: AtomicU64::new(0),
        }
    }

    /// How often a kernel was launched, or a part of one.
    pub fn submissions(&self) -> u64 {
        self.submissions.load(Relaxed)
    }

    /// Fails if a launch was stopped and nobody was told yet.
    pub fn check_faults(&self) -> Result<(), Error> {
        let faults = std::mem::take(&mut *lock(&self.faults));
        if !faults.is_empty() {
            return Err(Error::Fault { findings: faults });
        }
        lock(&self.reports).pop_front().map_or(Ok(()), Err)
    }

    /// Notes what a kernel that has run reported, if it did, and clears the record.
    fn look_at(&self, record: &StatusRecord, kernel: &str) -> Result<(), Error> {
        if let Some(region) = record.output {
            let mut bytes = vec![0; output::RECORDS as usize];
            self.device.read(record.base + region.offset, &mut bytes).map_err(fault)?;
            let used = printf::used(&bytes, region.size);
            if used != 0 {
                // At most the region's size, which is small.
                bytes.resize(used as usize, 0);
                self.device.read(record.base + region.offset, &mut bytes).map_err(fault)?;
                printf::render(&bytes, &mut |address| self.string(record, address), &mut lock(&self.output));
                self.device.fill(record.base + region.offset, used, 0).map_err(fault)?;
            }
        }
        let mut words = Record::default();
        self.device.read(record.address, bytemuck::cast_slice_mut(&mut words)).map_err(fault)?;
        let Some(report) = Report::read(words.map(u32::from_le)) else { return Ok(()) };
        let name = &self.device.config().target.name;
        let circumstances = Circumstances { kernels: vec![kernel.to_owned()], device: name, loop_budget: None };
        let error = record.reporters.error(&report, circumstances, &mut |address| self.string(record, address));
        lock(&self.reports).push_back(error);
        self.device.fill(record.address, Status::SIZE, 0).map_err(fault)
    }

    /// The string at an address, if it lies in the module's variables.
    fn string(&self, record: &StatusRecord, address: u64) -> Option<Vec<u8>> {
        let start = address.checked_sub(record.base)?;
        let mut read = |offset, bytes: &mut [u8]| self.device.read(record.base + offset, bytes).ok();
        read_string(start, record.size, &mut read)
    }

    pub fn take_findings(&self) -> Vec<Finding> {
        self.device.take_findings()
    }

    pub fn steps(&self) -> u64 {
        self.device.steps()
    }

    pub fn take_trace(&self) -> Vec<String> {
        self.device.take_trace()
    }

    fn refused(&self) -> impl FnOnce(Refusal) -> Error {
        let device = self.device.config().target.name.clone();
        move |refusal| Error::Refused { device, rule: refusal.rule, message: refusal.message }
    }
}

/// An error of a copy, of which [`crate::buffer`] has checked the range.
fn fault(finding: Finding) -> Error {
    Error::Fault { findings: vec![finding] }
}

/// Device memory, freed when dropped.
pub(crate) struct Allocation {
    address: u64,
    size: u64,
    device: Arc<Device>,
}

impl Allocation {
    pub fn new(device: &Arc<Device>, size: u64) -> Result<Self, Error> {
        if size > MAX_REFERENCE_BUFFER {
            return Err(Error::BufferTooLarge { requested: size, available: MAX_REFERENCE_BUFFER });
        }
        // Where bytes are stored through the word around them, buffers end with a word, as they do in `vulkan::memory`.
        let narrow = has_narrow_global(&device.device.config().target);
        let address = device.device.allocate(if narrow { size } else { size.next_multiple_of(4) });
        let address =
            address.ok_or_else(|| Error::OutOfMemory(format!("no room for {size} bytes of reference memory")))?;
        Ok(Self { address, size, device: device.clone() })
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.device.device.write(self.address + offset, bytes).map_err(fault)
    }

    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.device.device.read(self.address + offset, bytes).map_err(fault)
    }

    pub fn fill(&self, byte: u8) -> Result<(), Error> {
        self.device.device.fill(self.address, self.size, byte).map_err(fault)
    }

    /// Names a part of it for findings.
    pub fn name_part(&self, offset: u64, bytes: u64, name: &str) {
        self.device.device.name_part(self.address + offset, bytes, name);
    }

    /// Says that kernels allocate from the region at an offset.
    pub fn add_heap(&self, offset: u64) {
        let start = self.address + offset;
        for Arena { shift, words, sizes, granules, .. } in ARENAS {
            self.device.device.add_pool(Pool {
                address: start + granules,
                granule: 1 << shift,
                count: 32 * u64::from(words),
                sizes: start + sizes,
            });
        }
    }

    /// The status record at an offset with the region printed to, which [`crate::check::interface`] has accepted.
    pub fn status_record(&self, offset: u64, output: Option<MemoryRegion>, reporters: &Arc<Reporters>) -> StatusRecord {
        let (base, size, address) = (self.address, self.size, self.address + offset);
        StatusRecord { address, output, base, size, reporters: reporters.clone() }
    }

    pub fn copy_from(&self, offset: u64, from: &Self, from_offset: u64, len: u64) -> Result<(), Error> {
        self.device.device.copy(from.address + from_offset, self.address + offset, len).map_err(fault)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.device.device.free(self.address);
    }
}

/// A module's status record, which lives as long as its variables.
pub(crate) struct StatusRecord {
    address: u64,
    /// Where kernels print, if they do.
    output: Option<MemoryRegion>,
    /// Address and size of the variables.
    base: u64,
    size: u64,
    reporters: Arc<Reporters>,
}

/// A SPIR-V module.
pub(crate) struct Shader {
    shader: Arc<ptx2spv_reference::Shader>,
    device: Arc<Device>,
}

impl Shader {
    pub fn new(device: &Arc<Device>, spirv: &[u32]) -> Result<Self, Error> {
        let shader = device.device.shader(spirv).map_err(device.refused())?;
        Ok(Self { shader, device: device.clone() })
    }

    pub fn pipeline(&self, entry: &Entry, variant: Variant) -> Result<Pipeline, Error> {
        let values = variant.specialization(true).map(|(id, value)| (id, u64::from(value)));
        let reference = &self.device.device;
        let asked = variant.subgroup_size().filter(|_| reference.config().target.subgroups.has_choice());
        let pipeline = reference.pipeline(&self.shader, &entry.name, &values, asked);
        Ok(Pipeline { pipeline: pipeline.map_err(self.device.refused())?, device: self.device.clone() })
    }
}

/// A kernel for one block size and amount of shared memory.
pub(crate) struct Pipeline {
    pipeline: Arc<ptx2spv_reference::Pipeline>,
    device: Arc<Device>,
}

impl Pipeline {
    /// Runs a launch to its end. False: something has stopped it before that.
    pub fn launch(&self, launch: &mut Launch<'_>) -> Result<bool, Error> {
        self.device.submissions.fetch_add(1, Relaxed);
        let params = match launch.params() {
            Some(bytes) => {
                let params = Allocation::new(&self.device, bytes.len() as u64)?;
                params.write(0, bytes)?;
                Some(params)
            }
            None => None,
        };
        if let Some(params) = &params {
            launch.set_params_address(params.address());
        }
        let scratch = launch.scratch_bytes().map(|bytes| Allocation::new(&self.device, bytes)).transpose()?;
        if let Some(scratch) = &scratch {
            launch.set_scratch_address(scratch.address());
        }
        let mut names: Vec<_> =
            launch.pointers.iter().map(|(index, address)| (*address, format!("argument {index}"))).collect();
        names.extend(params.iter().map(|params| (params.address(), "the parameters".to_owned())));
        names.extend(scratch.iter().map(|scratch| (scratch.address(), "the scratch memory".to_owned())));
        self.device.device.name_allocations(names.iter().map(|(address, name)| (*address, name.as_str())));
        let mut ended = true;
        for (push_constants, groups) in launch.dispatches() {
            let dispatch = Dispatch { groups, push_constants: &push_constants, bindings: &[] };
            if let Err(fault) = self.device.device.dispatch(&self.pipeline, &dispatch) {
                lock(&self.device.faults).push(fault);
                ended = false;
                break;
            }
        }
        if let Some(backend::StatusRecord::Reference(record)) = launch.status {
            self.device.look_at(record, launch.kernel)?;
        }
        Ok(ended)
    }

    /// Runs launches by the host's clock.
    pub fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>, Error> {
        let one = |_| {
            let start = Instant::now();
            self.launch(launch)?;
            let time = start.elapsed();
            self.device.check_faults().map(|()| time)
        };
        (0..repeats).map(one).collect()
    }
}
