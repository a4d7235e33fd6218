//! The reference device as its users see it: memory, shaders, pipelines, dispatches.

use std::sync::Arc;

use crate::config::Config;
use crate::finding::{Finding, Refusal};

/// A reference device. All methods can be called from several threads; dispatches and host accesses follow each other in
/// the order of the calls.
#[derive(Debug)]
pub struct Device {
    config: Config,
}

/// A SPIR-V module that the device can run.
#[derive(Debug)]
pub struct Shader {}

/// An entry point, specialised and ready to run.
#[derive(Debug)]
pub struct Pipeline {}

/// A buffer bound to a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Descriptor set.
    pub set: u32,
    /// Binding in it.
    pub binding: u32,
    /// Device address of its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub range: u64,
}

/// A dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
    /// Push constants.
    pub push_constants: &'a [u8],
    /// Descriptors.
    pub bindings: &'a [Bound],
}

impl Device {
    /// A device with no memory allocated.
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    /// What it was made as.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Allocates memory, uninitialised, and returns its device address, a multiple of 256 that no other allocation ever has.
    /// `None` if the host has no room.
    pub fn allocate(&self, bytes: u64) -> Option<u64> {
        todo!()
    }

    /// Frees an allocation by its address; a wrong one is ignored.
    pub fn free(&self, address: u64) {
        todo!()
    }

    /// Copies from device memory. In checked mode, bytes that a kernel stored an undefined value to are reported.
    ///
    /// # Errors
    /// A range outside of one allocation.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Finding> {
        todo!()
    }

    /// Copies to device memory.
    ///
    /// # Errors
    /// A range outside of one allocation.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Finding> {
        todo!()
    }

    /// Sets `bytes` bytes of device memory.
    ///
    /// # Errors
    /// A range outside of one allocation.
    pub fn fill(&self, address: u64, bytes: u64, byte: u8) -> Result<(), Finding> {
        todo!()
    }

    /// Copies within device memory, also what is undefined there. The ranges don't overlap.
    ///
    /// # Errors
    /// A range outside of one allocation.
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), Finding> {
        todo!()
    }

    /// Reads a module.
    ///
    /// # Errors
    /// It is malformed or uses what the target lacks.
    pub fn shader(&self, words: &[u32]) -> Result<Arc<Shader>, Refusal> {
        todo!()
    }

    /// Prepares an entry point. `specialization` gives values for specialization constants by `SpecId`; `subgroup_size` asks
    /// for one, as `VkPipelineShaderStageRequiredSubgroupSizeCreateInfo` does.
    ///
    /// # Errors
    /// No such entry point, a workgroup or workgroup memory beyond the target's limits, a size that can't be had.
    pub fn pipeline(
        &self,
        shader: &Arc<Shader>,
        entry: &str,
        specialization: &[(u32, u64)],
        subgroup_size: Option<u32>,
    ) -> Result<Arc<Pipeline>, Refusal> {
        todo!()
    }

    /// Runs a dispatch to its end.
    ///
    /// # Errors
    /// What stopped it (see [`FindingKind::is_fatal`](crate::FindingKind::is_fatal)); what it wrote until then stays.
    /// Other findings are left for [`Device::take_findings`].
    pub fn dispatch(&self, pipeline: &Pipeline, dispatch: &Dispatch<'_>) -> Result<(), Finding> {
        todo!()
    }

    /// What was found since the last call, without what [`Device::dispatch`] and the others returned themselves.
    pub fn take_findings(&self) -> Vec<Finding> {
        todo!()
    }

    /// What the trace wrote since the last call: one line an instruction.
    pub fn take_trace(&self) -> Vec<String> {
        todo!()
    }
}
