//! A translation of a kernel for blocks up to a certain size, with its pipelines.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ptx2spv_translator::interface::Entry;

use crate::backend::{Pipeline, Shader};
use crate::error::Error;
use crate::kernel::variant::Variant;
use crate::launch::split::BlockRate;
use crate::once::OnceMap;

/// A translation of a kernel for blocks and shared memory up to a certain size.
pub(crate) struct Version {
    pub entry: Entry,
    /// Time of the translation.
    pub translation: Duration,
    shader: Arc<dyn Shader>,
    /// Pipelines by variant, made on first launch.
    pipelines: OnceMap<Variant, Arc<Prepared>>,
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

    /// The pipeline of a variant whose sizes are within the device's limits.
    pub fn prepare(&self, variant: Variant) -> Result<Arc<Prepared>, Error> {
        self.pipelines.get_or_make(&variant, || {
            let start = Instant::now();
            let pipeline = self.shader.pipeline(&self.entry, variant)?;
            Ok(Arc::new(Prepared { pipeline, time: start.elapsed(), rate: Mutex::default() }))
        })
    }
}
