//! Shaders and pipelines of the interpreter, and their launches.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ptx2spv_reference::Dispatch;
use ptx2spv_translator::interface::Entry;

use super::device::{FINISHED, ReferenceDevice, fault};
use crate::backend::launch::{Launch, PipelineKey};
use crate::backend::order::{StreamKey, Ticket};
use crate::backend::{Backend, Pipeline, Shader};
use crate::clock::Instant;
use crate::error::Result;

/// A SPIR-V module.
pub(super) struct ReferenceShader {
    shader: Arc<ptx2spv_reference::Shader>,
    device: Arc<ReferenceDevice>,
}

impl ReferenceShader {
    pub fn new(device: Arc<ReferenceDevice>, spirv: &[u32]) -> Result<Self> {
        let shader = device.interpreter.shader(spirv).map_err(device.refused())?;
        Ok(Self { shader, device })
    }
}

impl Shader for ReferenceShader {
    fn pipeline(&self, entry: &Entry, key: PipelineKey) -> Result<Box<dyn Pipeline>> {
        let values = key.specialization(true).map(|(id, value)| (id, u64::from(value)));
        let interpreter = &self.device.interpreter;
        let asked = key.subgroup_size().filter(|_| interpreter.config().target.subgroups.has_choice());
        let pipeline = interpreter.pipeline(&self.shader, &entry.name, &values, asked);
        let pipeline = pipeline.map_err(self.device.refused())?;
        Ok(Box::new(ReferencePipeline { pipeline, device: self.device.clone() }))
    }
}

/// A kernel for one block size and amount of shared memory.
struct ReferencePipeline {
    pipeline: Arc<ptx2spv_reference::Pipeline>,
    device: Arc<ReferenceDevice>,
}

/// Memory of one launch.
struct Temporary<'d> {
    address: u64,
    device: &'d ReferenceDevice,
}

impl<'d> Temporary<'d> {
    fn new(device: &'d ReferenceDevice, size: u64) -> Result<Self> {
        Ok(Self { address: device.allocate(size)?, device })
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.device.free(self.address);
    }
}

impl Pipeline for ReferencePipeline {
    /// Runs a launch to its end, or until a fault stops it.
    fn launch(&self, stream: StreamKey, launch: &mut Launch<'_>) -> Result<Option<Ticket>> {
        let device = &*self.device;
        device.submissions.fetch_add(1, Relaxed);
        let params = match launch.params() {
            Some(bytes) => {
                let params = Temporary::new(device, bytes.len() as u64)?;
                device.interpreter.write(params.address, bytes).map_err(fault)?;
                Some(params)
            }
            None => None,
        };
        if let Some(params) = &params {
            launch.set_params_address(params.address);
        }
        let scratch = launch.scratch_bytes().map(|bytes| Temporary::new(device, bytes)).transpose()?;
        if let Some(scratch) = &scratch {
            launch.set_scratch_address(scratch.address);
        }
        let mut names: Vec<_> =
            launch.pointers().map(|(index, address)| (address, format!("argument {index}"))).collect();
        names.extend(params.iter().map(|params| (params.address, "the parameters".to_owned())));
        names.extend(scratch.iter().map(|scratch| (scratch.address, "the scratch memory".to_owned())));
        device.interpreter.name_allocations(names.iter().map(|(address, name)| (*address, name.as_str())));
        let mut ended = true;
        let measured = device.measure(stream, || launch.work());
        for (base, groups) in launch.dispatches() {
            let dispatch = Dispatch { groups, push_constants: launch.push_constants(base) };
            if let Err(fault) = device.interpreter.dispatch(&self.pipeline, &dispatch) {
                device.add_fault(fault);
                ended = false;
                break;
            }
        }
        drop(measured);
        if let Some(record) = launch.status {
            device.look_at(record, launch.kernel)?;
        }
        Ok(ended.then_some(FINISHED))
    }

    /// Measures launches by the host's clock.
    fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>> {
        let one = |_| {
            let start = Instant::now();
            self.launch(StreamKey::Everything, launch)?;
            let time = start.elapsed();
            self.device.check_stopped().map(|()| time)
        };
        (0..repeats).map(one).collect()
    }
}
