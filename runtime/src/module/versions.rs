//! The versions of a kernel: translations for ordinary blocks, for larger ones, and for more shared memory, each with its pipelines.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ptx2spv_translator::interface::Entry;

use crate::backend::pipeline_key::PipelineKey;
use crate::backend::{Pipeline, Shader};
use crate::device::Device;
use crate::error::Error;
use crate::info::limits::{lacks_shared, misfit, most_threads};
use crate::module::code::{Code, Shipped, Sizes};
use crate::module::variables::LoadedVariables;
use crate::sync::OnceMap;

/// A kernel without its module.
pub(crate) struct KernelVersions {
    pub device: Device,
    pub variables: Arc<LoadedVariables>,
    /// For blocks that fit the device directly.
    pub base: Arc<Version>,
    /// For larger blocks, made on first launch.
    larger: OnceMap<VersionKey, Arc<Version>>,
    code: Arc<Code>,
    /// The size of clusters, if launches set it.
    cluster: Option<[u32; 3]>,
    /// Whether launches are cooperative.
    pub cooperative: bool,
}

/// The key of a version.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum VersionKey {
    /// Translated here: the number of threads of a block, and whether shared memory lies in device memory.
    Threads(u32, bool),
    /// The index of a variant translated ahead of time.
    Variant(u32),
}

impl KernelVersions {
    pub fn new(
        device: &Device,
        version: Version,
        code: Arc<Code>,
        variables: Arc<LoadedVariables>,
        cluster: Option<[u32; 3]>,
    ) -> Self {
        variables.add_reporter(&version.entry);
        let cooperative = version.entry.cooperative.is_some();
        let (base, larger) = (Arc::new(version), OnceMap::default());
        Self { device: device.clone(), variables, base, larger, code, cluster, cooperative }
    }

    /// The version for a block size, which the kernel and CUDA must allow, and `dynamic` bytes of dynamic shared
    /// memory.
    pub fn version(&self, block: [u32; 3], dynamic: u32) -> Result<Arc<Version>, Error> {
        let limits = &self.device.target().limits;
        let reason = misfit(&self.base.entry, limits, block);
        if reason.is_none() && !lacks_shared(&self.base.entry, limits, dynamic) {
            return Ok(self.base.clone());
        }
        let name = &self.base.entry.name;
        let refuse = |reason: String| Err(Error::Block { kernel: name.clone(), block, reason });
        let threads: u32 = block.iter().product();
        match &*self.code {
            Code::Ptx(ptx) => {
                let room = if reason.is_some() { threads.next_power_of_two() } else { 1 };
                let translate = |dynamic| {
                    let Self { cluster, cooperative, .. } = *self;
                    let sizes = Sizes { threads: room, cluster, cooperative, dynamic_shared_bytes: dynamic };
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
                    Some(reason) => refuse(reason.to_string()),
                }
            }
            Code::Spirv(variants) => {
                let with_entry =
                    |variant| Shipped::entry(variant, name, &self.base.entry).map(|entry| (variant, entry));
                for (number, (variant, entry)) in (0..).zip(variants.iter().filter_map(with_entry)) {
                    if misfit(entry, limits, block).is_none() && !lacks_shared(entry, limits, dynamic) {
                        return self.larger(VersionKey::Variant(number), || Ok(variant.version(entry)));
                    }
                }
                // The launch itself refuses the amount of shared memory.
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

    /// A version for larger blocks or more shared memory, by its key; `make` makes a missing one.
    fn larger(&self, key: VersionKey, make: impl FnOnce() -> Result<Version, Error>) -> Result<Arc<Version>, Error> {
        self.larger.get_or_make(&key, || {
            let version = Arc::new(make()?);
            self.variables.add_reporter(&version.entry);
            Ok(version)
        })
    }
}

/// A translation of a kernel for blocks and shared memory up to a certain size.
pub(crate) struct Version {
    pub entry: Entry,
    /// Time of the translation.
    pub translation: Duration,
    shader: Arc<dyn Shader>,
    /// Pipelines by key, made on first launch.
    pipelines: OnceMap<PipelineKey, Arc<Prepared>>,
}

/// A kernel that is ready to be launched with one block size.
pub(crate) struct Prepared {
    pub pipeline: Box<dyn Pipeline>,
    /// Time to make the pipeline.
    pub time: Duration,
    /// The kernel's measured speed.
    pub rate: Mutex<BlockRate>,
}

impl Version {
    pub fn new(entry: Entry, shader: Arc<dyn Shader>, translation: Duration) -> Self {
        Self { entry, translation, shader, pipelines: OnceMap::default() }
    }

    /// The pipeline of a key whose sizes are within the device's limits.
    pub fn prepare(&self, key: PipelineKey) -> Result<Arc<Prepared>, Error> {
        self.pipelines.get_or_make(&key, || {
            let start = Instant::now();
            let pipeline = self.shader.pipeline(&self.entry, key)?;
            Ok(Arc::new(Prepared { pipeline, time: start.elapsed(), rate: Mutex::default() }))
        })
    }
}

/// Maximum growth from one submission to the next.
const GROWTH: u64 = 8;

/// A kernel's speed, as the number of blocks for the next submission.
#[derive(Debug)]
pub(crate) struct BlockRate(u64);

impl Default for BlockRate {
    fn default() -> Self {
        Self(1)
    }
}

impl BlockRate {
    /// Blocks for the next submission.
    pub fn blocks(&self) -> u64 {
        self.0
    }

    /// Updates the rate after a submission of `blocks` blocks, aiming at half of the time limit `most`.
    pub fn learn(&mut self, blocks: u64, time: Duration, most: Duration) {
        let goal = most.as_nanos() / 2;
        let enough = u128::from(blocks).saturating_mul(goal).checked_div(time.as_nanos());
        let grown = blocks.saturating_mul(GROWTH);
        self.0 = match enough.and_then(|enough| u64::try_from(enough).ok()) {
            Some(enough) if enough < blocks => enough.max(1),
            // A small submission is dominated by its fixed cost, so it never lowers the rate.
            Some(enough) => self.0.max(enough.min(grown)),
            // The time was too short to measure.
            None => self.0.max(grown),
        };
    }
}
