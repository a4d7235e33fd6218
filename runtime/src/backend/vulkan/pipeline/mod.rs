//! Vulkan shaders and pipelines, and their launches.

mod time;

use std::ffi::CString;
use std::sync::{Arc, MutexGuard};

use ash::vk;
use ptx2spv_translator::interface::Entry;
use ptx2spv_translator::interface::texture::{image, is_specializable, specialize};

use crate::backend::launch::{Launch, PipelineKey};
use crate::backend::order::{StreamKey, Ticket};
use crate::backend::vulkan::device::Device;
use crate::backend::vulkan::device::handles::Handles;
use crate::backend::vulkan::memory::Block;
use crate::backend::vulkan::raw::RawDevice;
use crate::backend::vulkan::submit::batch::Recorder;
use crate::backend::vulkan::submit::watched::WatchedRecord;
use crate::cache::Key;
use crate::error::{Error, Result};
use crate::sync::lock;

/// A SPIR-V module.
pub(crate) struct VulkanShader {
    module: ShaderModule,
    /// The words, if variants of the module have others.
    spirv: Option<Vec<u32>>,
    hash: Key,
    bytes: usize,
    device: Arc<Device>,
}

impl VulkanShader {
    /// The words must have passed [`crate::module::check::interface`].
    pub fn new(device: Arc<Device>, spirv: &[u32]) -> Result<Self> {
        device.raw.check_process()?;
        let module = ShaderModule::new(&device.raw, spirv)?;
        let bytes: &[u8] = bytemuck::cast_slice(spirv);
        let own = is_specializable(spirv).then(|| spirv.to_vec());
        Ok(Self { module, spirv: own, hash: Key::new(&[bytes]), bytes: bytes.len(), device })
    }

    /// Makes a pipeline of one of the shader's kernels. The key's sizes are within the device's limits.
    pub fn pipeline(&self, entry: &Entry, key: PipelineKey) -> Result<VulkanPipeline> {
        let name = CString::new(entry.name.as_str())
            .map_err(|_| Error::Interface(format!("kernel name {:?} has a zero byte", entry.name)))?;
        self.device.raw.check_process()?;
        let values = key.specialization(!self.device.memory_barriers_wait);
        let data: Vec<u8> = values.iter().flat_map(|(_, value)| value.to_ne_bytes()).collect();
        let layout = [entry.push_constant_size, key.subgroup_size().unwrap_or(0), entry.samples().into()];
        let hash = Key::new(&[self.hash.bytes(), name.as_bytes(), &data, bytemuck::cast_slice(&layout)]);
        if let Some(handles) = self.device.kept_pipelines.find(&hash) {
            return Ok(VulkanPipeline { handles, device: self.device.clone() });
        }
        let tables = if entry.samples() { Some(self.device.images.tables()?.clone()) } else { None };
        let mut handles = Handles::new(&self.device.raw, entry.push_constant_size, tables)?;
        let entries: Vec<_> = (0..)
            .step_by(4)
            .zip(values)
            .map(|(offset, (id, _))| vk::SpecializationMapEntry { constant_id: id, offset, size: 4 })
            .collect();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let specialized = match (&self.spirv, key.texture_bits) {
            (None, _) | (_, 0) => None,
            (Some(spirv), bits) => Some(ShaderModule::new(&self.device.raw, &specialize(spirv, bits))?),
        };
        let module = specialized.as_ref().unwrap_or(&self.module);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.handle)
            .name(&name)
            .specialization_info(&specialization);
        let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        if let Some(size) = key.subgroup_size() {
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
            if self.device.asks_for_subgroup_sizes {
                required = required.required_subgroup_size(size);
                stage = stage.push_next(&mut required);
            }
        }
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(handles.layout)];
        // SAFETY: the shader has this entry point (`check::interface`); everything that `info` points to lives.
        let made = unsafe { self.device.raw.ash.create_compute_pipelines(self.device.pipelines.handle(), &info, None) };
        handles.pipeline = match made.as_deref() {
            Ok([pipeline, ..]) => *pipeline,
            Ok([]) => return Err(Error::vulkan("vkCreateComputePipelines")(vk::Result::ERROR_UNKNOWN)),
            // If creating a pipeline fails, there is none to destroy.
            Err((_, result)) => return Err(Error::vulkan("vkCreateComputePipelines")(*result)),
        };
        self.device.pipelines.add();
        let handles = Arc::new(handles);
        let leaving = self.device.kept_pipelines.keep(hash, handles.clone(), self.bytes);
        leaving.into_iter().for_each(|handles| self.device.queues.retire(handles));
        Ok(VulkanPipeline { handles, device: self.device.clone() })
    }
}

/// Words as the driver takes them.
struct ShaderModule {
    handle: vk::ShaderModule,
    raw: Arc<RawDevice>,
}

impl ShaderModule {
    /// From valid SPIR-V.
    fn new(raw: &Arc<RawDevice>, spirv: &[u32]) -> Result<Self> {
        let info = vk::ShaderModuleCreateInfo::default().code(spirv);
        // SAFETY: the words are valid SPIR-V for this device: they are from the translator, or valid by the contract of
        // `load_spirv`, and `specialize` keeps them so.
        let handle = unsafe { raw.ash.create_shader_module(&info, None) };
        Ok(Self { handle: handle.map_err(Error::vulkan("vkCreateShaderModule"))?, raw: raw.clone() })
    }
}

impl Drop for ShaderModule {
    fn drop(&mut self) {
        if let Some(ash) = self.raw.destroyer() {
            // SAFETY: only the creation of pipelines uses the module, which borrows it.
            unsafe { ash.destroy_shader_module(self.handle, None) };
        }
    }
}

/// A kernel for one block size and amount of shared memory. Its Vulkan objects live at least until the device has finished
/// everything recorded before the drop.
pub(crate) struct VulkanPipeline {
    handles: Arc<Handles>,
    pub(crate) device: Arc<Device>,
}

impl VulkanPipeline {
    /// Launches the kernel in stream order, and returns without waiting for it.
    pub fn launch(&self, stream: StreamKey, launch: &mut Launch<'_>) -> Result<Ticket> {
        self.device.raw.check_process()?;
        let scratch = self.provide_scratch(launch)?;
        let live = self.provide_live_table(launch)?;
        let printing = lock_printing(launch);
        // All launches share one scratch memory, so they run one after another.
        let row = stream;
        let stream = if scratch.is_some() { StreamKey::Everything } else { stream };
        let recorded = self.device.queues.record(stream, |recorder| {
            self.begin(launch, recorder)?;
            recorder.follow();
            self.dispatch(launch, recorder);
            recorder.profile(row, || launch.work());
            Ok(())
        });
        drop(printing);
        scratch.into_iter().for_each(|block| self.device.keep_scratch(block));
        live.into_iter().for_each(|block| self.device.queues.retire(block));
        recorded
    }

    /// Provides the launch's scratch memory. The caller keeps it until the device has run the launch.
    pub(crate) fn provide_scratch(&self, launch: &mut Launch<'_>) -> Result<Option<Arc<Block>>> {
        let Some(bytes) = launch.scratch_bytes() else { return Ok(None) };
        let block = self.device.scratch(bytes)?;
        launch.set_scratch_address(block.address);
        Ok(Some(block))
    }

    /// Provides the table of live allocations for a launch that checks its accesses. The caller keeps it like scratch
    /// memory.
    pub(crate) fn provide_live_table(&self, launch: &mut Launch<'_>) -> Result<Option<Arc<Block>>> {
        if !launch.checks_accesses() {
            return Ok(None);
        }
        let block = self.device.live.table(&self.device.blocks, &self.device.memory)?;
        launch.set_allocations_address(block.address);
        if let Some(record) = launch.status {
            lock(&record.arguments).insert(launch.kernel.to_owned(), launch.pointers().collect());
        }
        Ok(Some(block))
    }

    /// Stores the parameter block for the batch that is being recorded. If the kernel may report something, registers
    /// its status record, which is checked when the host next waits or reads.
    pub(crate) fn begin(&self, launch: &mut Launch<'_>, recorder: &mut Recorder<'_>) -> Result {
        if let Some(params) = launch.params() {
            let address = recorder.params(params)?;
            launch.set_params_address(address);
        }
        if let Some(record) = launch.status {
            let (block, _) = self.device.block(record.address)?;
            let mirror = record.mirror.map(|address| self.device.block(address)).transpose()?;
            let watched = WatchedRecord { record: record.clone(), block, mirror };
            watched.mirrored(recorder.ticket.queue).into_iter().for_each(|mirrored| recorder.mirror(mirrored));
            recorder.watched.add(&watched, launch.kernel, launch.may_stop, recorder.ticket);
        }
        Ok(())
    }

    /// Records the dispatches that make up the grid. Like blocks of a grid, they have no barriers between them, unless
    /// they use the same scratch memory.
    pub(crate) fn dispatch(&self, launch: &mut Launch<'_>, recorder: &Recorder<'_>) {
        let (ash, commands) = (&recorder.raw.ash, recorder.commands);
        let (stage, handles) = (vk::ShaderStageFlags::COMPUTE, &self.handles);
        // SAFETY: the command buffer is being recorded; pipeline and layout are retired through the queue when dropped.
        unsafe { ash.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, handles.pipeline) };
        if let Some(tables) = &handles.tables {
            let (point, sets) = (vk::PipelineBindPoint::COMPUTE, [tables.set]);
            // SAFETY: as above; the set has the layout that the pipeline's layout was made with.
            unsafe { ash.cmd_bind_descriptor_sets(commands, point, handles.layout, image::SET, &sets, &[]) };
        }
        for (number, (base, [x, y, z])) in launch.dispatches().enumerate() {
            if number > 0 && launch.scratch_bytes().is_some() {
                recorder.barrier();
            }
            let push = launch.push_constants(base);
            // SAFETY: as above; the constants have the size of the layout's range, and the counts are within the
            // limits.
            unsafe {
                if !push.is_empty() {
                    ash.cmd_push_constants(commands, handles.layout, stage, 0, push);
                }
                ash.cmd_dispatch(commands, x, y, z);
            }
        }
    }
}

/// Prevents other threads from reading and clearing the output region while a launch that prints is recorded.
pub(crate) fn lock_printing<'l>(launch: &Launch<'l>) -> Option<MutexGuard<'l, ()>> {
    launch.status.filter(|record| record.output.is_some()).map(|record| lock(&record.printing))
}

impl Drop for VulkanPipeline {
    fn drop(&mut self) {
        self.device.queues.retire(self.handles.clone());
    }
}
