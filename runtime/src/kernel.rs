//! Kernels: their shader, and a pipeline for each block size and amount of shared memory.

use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::sync::{Arc, Mutex};

use ash::vk;
use ptx2spv_translator::interface::{Entry, Param, spec_id};

use crate::device::Device;
use crate::error::Error;
use crate::lock;
use crate::raw::RawDevice;
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
    pub pipelines: Arc<Pipelines>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.device.shared.queue.retire(self.pipelines.clone());
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.shared.entry.name)
    }
}

impl Kernel {
    pub(crate) fn new(
        device: &Device,
        shader: Arc<Shader>,
        entry: Entry,
        variables: Arc<LoadedVariables>,
    ) -> Result<Self, Error> {
        let pipelines = Arc::new(Pipelines::new(shader, &entry)?);
        Ok(Self { shared: Arc::new(Shared { device: device.clone(), entry, variables, pipelines }) })
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

/// A SPIR-V module in the driver's hands.
pub(crate) struct Shader {
    module: vk::ShaderModule,
    raw: Arc<RawDevice>,
}

impl Shader {
    /// The words must have passed [`crate::check::interface`].
    pub fn new(device: &Device, spirv: &[u32]) -> Result<Self, Error> {
        let raw = device.shared.raw.clone();
        let info = vk::ShaderModuleCreateInfo::default().code(spirv);
        // SAFETY: the words are valid SPIR-V for this device: from the translator, or by the contract of `load_spirv`.
        let module = unsafe { raw.ash.create_shader_module(&info, None) };
        Ok(Self { module: module.map_err(Error::vulkan("vkCreateShaderModule"))?, raw })
    }
}

impl Drop for Shader {
    fn drop(&mut self) {
        // SAFETY: only making pipelines uses it, which borrows the shader.
        unsafe { self.raw.ash.destroy_shader_module(self.module, None) };
    }
}

/// What pipelines of one kernel differ in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    pub block: [u32; 3],
    pub shared_bytes: u32,
}

/// A kernel's pipelines, made when first launched. Destroyed when dropped: retire it through the queue.
pub(crate) struct Pipelines {
    pub layout: vk::PipelineLayout,
    entry: CString,
    made: Mutex<HashMap<Variant, vk::Pipeline>>,
    shader: Arc<Shader>,
}

impl Pipelines {
    fn new(shader: Arc<Shader>, entry: &Entry) -> Result<Self, Error> {
        let name = CString::new(entry.name.as_str())
            .map_err(|_| Error::Interface(format!("kernel name {:?} has a zero byte", entry.name)))?;
        let stage = vk::ShaderStageFlags::COMPUTE;
        let range = [vk::PushConstantRange::default().stage_flags(stage).size(entry.push_constant_size)];
        let ranges = if entry.push_constant_size == 0 { &[][..] } else { &range };
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(ranges);
        // SAFETY: the range is within the device's limit (`check::interface`).
        let layout = unsafe { shader.raw.ash.create_pipeline_layout(&info, None) }
            .map_err(Error::vulkan("vkCreatePipelineLayout"))?;
        Ok(Self { layout, entry: name, made: Mutex::default(), shader })
    }

    /// The pipeline of a variant whose sizes are within the device's limits.
    pub fn get(&self, variant: Variant) -> Result<vk::Pipeline, Error> {
        let mut made = lock(&self.made);
        if let Some(&pipeline) = made.get(&variant) {
            return Ok(pipeline);
        }
        let pipeline = self.create(variant)?;
        made.insert(variant, pipeline);
        Ok(pipeline)
    }

    fn create(&self, variant: Variant) -> Result<vk::Pipeline, Error> {
        let [x, y, z] = variant.block;
        let values = [
            (spec_id::BLOCK_X, x),
            (spec_id::BLOCK_Y, y),
            (spec_id::BLOCK_Z, z),
            (spec_id::SHARED_BYTES, variant.shared_bytes),
        ];
        let data: Vec<u8> = values.iter().flat_map(|(_, value)| value.to_ne_bytes()).collect();
        let entries: Vec<_> = (0..)
            .step_by(4)
            .zip(values)
            .map(|(offset, (id, _))| vk::SpecializationMapEntry { constant_id: id, offset, size: 4 })
            .collect();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.shader.module)
            .name(&self.entry)
            .specialization_info(&specialization);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout)];
        // SAFETY: the shader has this entry point (`check::interface`); everything that `info` points to lives.
        let made = unsafe { self.shader.raw.ash.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        match made.as_deref() {
            Ok([pipeline, ..]) => Ok(*pipeline),
            Ok([]) => Err(Error::vulkan("vkCreateComputePipelines")(vk::Result::ERROR_UNKNOWN)),
            // Where making one pipeline fails, none is there to be destroyed.
            Err((_, result)) => Err(Error::vulkan("vkCreateComputePipelines")(*result)),
        }
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        let made = self.made.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        // SAFETY: whoever drops this has made sure that no submission uses it.
        unsafe {
            for (_, pipeline) in made.drain() {
                self.shader.raw.ash.destroy_pipeline(pipeline, None);
            }
            self.shader.raw.ash.destroy_pipeline_layout(self.layout, None);
        }
    }
}
