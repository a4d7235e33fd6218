//! Kernels: their shaders, and a pipeline for each block size and amount of shared memory.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};

use ptx2spv_translator::interface::{self, Cluster, Entry, Packing, Param, spec_id};
use ptx2spv_translator::target::Limits;

use crate::backend::{Pipeline, Shader};
use crate::code::{Code, Shipped, Sizes};
use crate::device::Device;
use crate::error::Error;
use crate::launch::{MAX_BLOCK, lacks_shared};
use crate::lock;
use crate::pace::Pace;
use crate::variables::LoadedVariables;

/// A kernel, ready to be launched. Clones share it.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub device: Device,
    pub variables: Arc<LoadedVariables>,
    /// For blocks that the device takes without further ado.
    base: Arc<Version>,
    /// For larger ones, made when first launched.
    larger: Mutex<BTreeMap<VersionKey, Arc<Version>>>,
    code: Arc<Code>,
    /// The size of clusters, where it is the launch that says it.
    cluster: Option<[u32; 3]>,
}

/// What tells versions of a kernel apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VersionKey {
    /// Translated here, for blocks of so many threads, with shared memory in device memory or not.
    Threads(u32, bool),
    /// The number of a variant that was translated elsewhere.
    Variant(u32),
}

/// A kernel as translated for blocks and shared memory up to a certain size.
pub(crate) struct Version {
    pub entry: Entry,
    shader: Arc<Shader>,
    /// Made when first launched.
    pipelines: Mutex<HashMap<Variant, Arc<Prepared>>>,
}

/// A kernel that is ready to be launched with blocks of one size.
pub(crate) struct Prepared {
    pub pipeline: Pipeline,
    /// What is known of its speed.
    pub pace: Mutex<Pace>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.name())
    }
}

impl Kernel {
    pub(crate) fn new(
        device: &Device,
        version: Version,
        code: Arc<Code>,
        variables: Arc<LoadedVariables>,
        cluster: Option<[u32; 3]>,
    ) -> Self {
        variables.reporters.add(&version.entry);
        let (base, larger) = (Arc::new(version), Mutex::default());
        Self { shared: Arc::new(Shared { device: device.clone(), variables, base, larger, code, cluster }) }
    }

    /// Its name in PTX.
    pub fn name(&self) -> &str {
        &self.entry().name
    }

    /// Its parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.entry().params
    }

    /// Its whole description, as it is for blocks that the device takes with one invocation for each thread. For larger ones
    /// it is translated anew when first launched, if it comes from PTX.
    pub fn entry(&self) -> &Entry {
        &self.shared.base.entry
    }
}

/// What pipelines of one kernel differ in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    /// Threads of a block.
    pub block: [u32; 3],
    pub shared_bytes: u32,
    /// What was asked for of it, beside what the kernel declares.
    pub dynamic_shared_bytes: u32,
    /// How they lie on invocations, unless each is one.
    pub packing: Option<Packing>,
    /// The blocks of a workgroup, if they are several.
    pub cluster: Option<Cluster>,
}

impl Variant {
    /// Values of the specialization constants; `memory_barriers` says whether the driver's are as they should be.
    pub fn specialization(self, memory_barriers: bool) -> [(u32, u32); 9] {
        let [x, y, z] = self.workgroup();
        let [nx, ny, nz] = self.block;
        [
            (spec_id::BLOCK_X, x),
            (spec_id::BLOCK_Y, y),
            (spec_id::BLOCK_Z, z),
            (spec_id::SHARED_BYTES, self.shared_bytes),
            (spec_id::NTID_X, nx),
            (spec_id::NTID_Y, ny),
            (spec_id::NTID_Z, nz),
            (spec_id::DYNAMIC_SHARED_BYTES, self.dynamic_shared_bytes),
            (spec_id::MEMORY_BARRIERS, memory_barriers.into()),
        ]
    }

    /// Invocations of a workgroup.
    pub fn workgroup(self) -> [u32; 3] {
        interface::workgroup(self.block, self.packing, self.cluster)
    }

    /// The size of subgroups that the kernel was made for, where that matters.
    pub fn subgroup_size(self) -> Option<u32> {
        self.packing.map(|packing| packing.subgroup_size).filter(|&size| size > 1)
    }
}

impl Shared {
    /// The version for a block size that the kernel and CUDA allow, and for so much dynamic shared memory.
    pub fn version(&self, block: [u32; 3], dynamic: u32) -> Result<Arc<Version>, Error> {
        let limits = &self.device.target().limits;
        let reason = misfit(&self.base.entry, limits, block);
        if reason.is_none() && !lacks_shared(&self.base.entry, limits, dynamic) {
            return Ok(self.base.clone());
        }
        let name = &self.base.entry.name;
        let refuse = |reason| Err(Error::Block { kernel: name.clone(), block, reason });
        let threads: u32 = block.iter().product();
        match &*self.code {
            Code::Ptx(ptx) => {
                let room = reason.map_or(1, |_| threads.next_power_of_two());
                let translate = |dynamic| {
                    let sizes = Sizes { threads: room, cluster: self.cluster, dynamic_shared_bytes: dynamic };
                    ptx.translate(&self.device, name, &self.variables, sizes)
                };
                let mut version = self.base.clone();
                if room > 1 {
                    version = self.larger(VersionKey::Threads(room, false), || translate(0))?;
                }
                if lacks_shared(&version.entry, limits, dynamic) {
                    version = self.larger(VersionKey::Threads(room, true), || translate(dynamic))?;
                }
                match misfit(&version.entry, limits, block) {
                    None => Ok(version),
                    Some(reason) => refuse(reason),
                }
            }
            Code::Spirv(variants) => {
                let with_entry =
                    |variant| Shipped::entry(variant, name, self.base.entry.cluster).map(|entry| (variant, entry));
                for (number, (variant, entry)) in (0..).zip(variants.iter().filter_map(with_entry)) {
                    if misfit(entry, limits, block).is_none() && !lacks_shared(entry, limits, dynamic) {
                        return self.larger(VersionKey::Variant(number), || Ok(variant.version(entry)));
                    }
                }
                // Launching refuses the shared memory.
                let Some(reason) = reason else { return Ok(self.base.clone()) };
                let sizes = variants.iter().filter_map(with_entry).map(|(_, entry)| most_threads(entry, limits));
                let most = sizes.max().unwrap_or(0);
                refuse(format!(
                    "{reason}; as it was translated, it takes blocks of up to {most} threads here, and with `--block-threads \
                     {threads}`, which a bundle can have beside others, of up to {threads}"
                ))
            }
        }
    }

    /// A version for larger blocks or more shared memory, by what tells it from others; made if it isn't there yet.
    fn larger(&self, key: VersionKey, make: impl FnOnce() -> Result<Version, Error>) -> Result<Arc<Version>, Error> {
        // Held while translating, so that two threads don't do the same work.
        let mut larger = lock(&self.larger);
        if let Some(version) = larger.get(&key) {
            return Ok(version.clone());
        }
        let version = Arc::new(make()?);
        self.variables.reporters.add(&version.entry);
        larger.insert(key, version.clone());
        Ok(version)
    }
}

/// Why a device doesn't take a block of this size, if so. CUDA does.
fn misfit(entry: &Entry, limits: &Limits, block: [u32; 3]) -> Option<String> {
    let most = limits.max_compute_work_group_invocations;
    let [x, y, z] = limits.max_compute_work_group_size;
    let threads: u32 = block.iter().product();
    let Entry { packing, cluster, .. } = *entry;
    if packing.is_some() || cluster.is_some() {
        let ([needed, ..], available) = (interface::workgroup(block, packing, cluster), most.min(x));
        let blocks = cluster.map(|cluster| format!(" in each of a cluster's {} blocks", cluster.blocks()));
        return (needed > available).then(|| {
            let blocks = blocks.unwrap_or_default();
            format!("its {threads} threads{blocks} take {needed} invocations, the device allows {available}")
        });
    }
    if threads > most {
        return Some(format!("the device allows {most} threads, not {threads}"));
    }
    let within = block.iter().zip([x, y, z]).all(|(&size, most)| size <= most);
    (!within).then(|| format!("the device allows {x} x {y} x {z}"))
}

/// Most threads of a block of this kernel on a device, of a shape that suits it.
pub(crate) fn most_threads(entry: &Entry, limits: &Limits) -> u32 {
    let mut most = limits.max_compute_work_group_invocations;
    if entry.packing.is_some() || entry.cluster.is_some() {
        most = most.min(limits.max_compute_work_group_size[0]);
    }
    // `check::interface` refuses clusters of no blocks.
    most /= entry.cluster.map_or(1, |cluster| cluster.blocks().max(1));
    let threads = |packing: Packing| (most / packing.subgroup_size.max(1)).saturating_mul(packing.span());
    entry.packing.map_or(most, threads).min(MAX_BLOCK)
}

impl Version {
    pub fn new(entry: Entry, shader: Arc<Shader>) -> Self {
        Self { entry, shader, pipelines: Mutex::default() }
    }

    /// The pipeline of a variant whose sizes are within the device's limits.
    pub fn prepare(&self, variant: Variant) -> Result<Arc<Prepared>, Error> {
        let mut pipelines = lock(&self.pipelines);
        if let Some(prepared) = pipelines.get(&variant) {
            return Ok(prepared.clone());
        }
        let pipeline = self.shader.pipeline(&self.entry, variant)?;
        let prepared = Arc::new(Prepared { pipeline, pace: Mutex::default() });
        pipelines.insert(variant, prepared.clone());
        Ok(prepared)
    }
}
