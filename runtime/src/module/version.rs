//! A translation of a kernel, with its pipelines.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ptx2spv_translator::interface::Entry;

use crate::backend::pipeline_key::PipelineKey;
use crate::backend::{Pipeline, Shader};
use crate::error::Error;
use crate::profile::ProfileRange;
use crate::sync::OnceMap;

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
            let _range = ProfileRange::of_runtime("make a pipeline", Some(&self.entry.name));
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
