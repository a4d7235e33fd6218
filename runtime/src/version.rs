//! A translation of a kernel for blocks up to a certain size, with its pipelines.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use ptx2spv_translator::interface::Entry;

use crate::backend::{Pipeline, Shader};
use crate::error::Error;
use crate::split::BlockRate;
use crate::sync::lock;
use crate::variant::Variant;

/// A translation of a kernel for blocks and shared memory up to a certain size.
pub(crate) struct Version {
    pub entry: Entry,
    shader: Arc<dyn Shader>,
    /// Pipelines by variant, made on first launch.
    pipelines: Mutex<HashMap<Variant, Arc<Prepared>>>,
}

/// A kernel that is ready to be launched with one block size.
pub(crate) struct Prepared {
    pub pipeline: Box<dyn Pipeline>,
    /// The kernel's measured speed.
    pub rate: Mutex<BlockRate>,
}

impl Version {
    pub fn new(entry: Entry, shader: Arc<dyn Shader>) -> Self {
        Self { entry, shader, pipelines: Mutex::default() }
    }

    /// The pipeline of a variant whose sizes are within the device's limits.
    pub fn prepare(&self, variant: Variant) -> Result<Arc<Prepared>, Error> {
        let mut pipelines = lock(&self.pipelines);
        if let Some(prepared) = pipelines.get(&variant) {
            return Ok(prepared.clone());
        }
        let pipeline = self.shader.pipeline(&self.entry, variant)?;
        let prepared = Arc::new(Prepared { pipeline, rate: Mutex::default() });
        pipelines.insert(variant, prepared.clone());
        Ok(prepared)
    }
}
