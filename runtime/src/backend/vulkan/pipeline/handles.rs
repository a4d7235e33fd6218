//! The Vulkan objects of a pipeline.

use std::sync::Arc;

use ash::vk;

use crate::backend::vulkan::device::raw::RawDevice;
use crate::backend::vulkan::memory::images::Tables;
use crate::error::Error;

/// The objects of a pipeline, destroyed once they are no longer used.
pub(crate) struct Handles {
    pub layout: vk::PipelineLayout,
    /// Null only while the pipeline is being created.
    pub pipeline: vk::Pipeline,
    /// The tables of images, if the kernel reads them.
    pub tables: Option<Arc<Tables>>,
    raw: Arc<RawDevice>,
}

impl Handles {
    /// Creates the layout, without a pipeline.
    pub fn new(raw: &Arc<RawDevice>, push_constant_size: u32, tables: Option<Arc<Tables>>) -> Result<Self, Error> {
        let stage = vk::ShaderStageFlags::COMPUTE;
        let range = [vk::PushConstantRange::default().stage_flags(stage).size(push_constant_size)];
        let ranges = if push_constant_size == 0 { &[][..] } else { &range };
        let sets: Vec<_> = tables.iter().map(|tables| tables.layout).collect();
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(ranges).set_layouts(&sets);
        // SAFETY: the range is within the device's limit (`check::interface`).
        let layout = unsafe { raw.ash.create_pipeline_layout(&info, None) };
        let layout = layout.map_err(Error::vulkan("vkCreatePipelineLayout"))?;
        Ok(Self { layout, pipeline: vk::Pipeline::null(), tables, raw: raw.clone() })
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        if let Some(ash) = self.raw.destroyer() {
            // SAFETY: the code that drops this has made sure that no submission uses it. Null handles may be destroyed.
            unsafe {
                ash.destroy_pipeline(self.pipeline, None);
                ash.destroy_pipeline_layout(self.layout, None);
            }
        }
    }
}
