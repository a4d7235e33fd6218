//! Kernels: their shader, and a pipeline for each block size and amount of shared memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use ptx2spv_translator::interface::{self, Cluster, Entry, Packing, Param, spec_id};

use crate::backend::{Pipeline, Shader};
use crate::device::Device;
use crate::error::Error;
use crate::lock;
use crate::variables::LoadedVariables;

/// A kernel, ready to be launched. Clones share it.
#[derive(Clone)]
pub struct Kernel {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub device: Device,
    pub entry: Entry,
    pub variables: Arc<LoadedVariables>,
    shader: Arc<Shader>,
    /// Made when first launched.
    pipelines: Mutex<HashMap<Variant, Arc<Pipeline>>>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.shared.entry.name)
    }
}

impl Kernel {
    pub(crate) fn new(device: &Device, shader: Arc<Shader>, entry: Entry, variables: Arc<LoadedVariables>) -> Self {
        variables.reporters.add(&entry);
        let shared = Shared { device: device.clone(), entry, variables, shader, pipelines: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Its name in PTX.
    pub fn name(&self) -> &str {
        &self.shared.entry.name
    }

    /// Its parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.shared.entry.params
    }

    /// Its whole description.
    pub fn entry(&self) -> &Entry {
        &self.shared.entry
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
    /// Values of the specialization constants.
    pub fn specialization(self) -> [(u32, u32); 8] {
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
        ]
    }

    /// Invocations of a workgroup.
    pub fn workgroup(self) -> [u32; 3] {
        interface::workgroup(self.block, self.packing, self.cluster)
    }

    /// The size of subgroups that the kernel was made for, where that matters.
    pub fn subgroup_size(self) -> Option<u32> {
        self.packing.map(|packing| packing.subgroup_size)
    }
}

impl Shared {
    /// The pipeline of a variant whose sizes are within the device's limits.
    pub fn pipeline(&self, variant: Variant) -> Result<Arc<Pipeline>, Error> {
        let mut pipelines = lock(&self.pipelines);
        if let Some(pipeline) = pipelines.get(&variant) {
            return Ok(pipeline.clone());
        }
        let pipeline = Arc::new(self.shader.pipeline(&self.entry, variant)?);
        pipelines.insert(variant, pipeline.clone());
        Ok(pipeline)
    }
}
