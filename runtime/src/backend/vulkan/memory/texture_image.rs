//! The image of a texture, as the front has it.

use std::sync::Arc;

use ptx2spv_translator::interface::texture::Record;

use crate::backend;
use crate::backend::order::StreamKey;
use crate::backend::vulkan::device::Device;
use crate::backend::vulkan::memory::images::TiledImage;
use crate::error::Error;

/// An image of a texture. It is destroyed once the device has finished everything recorded before the drop.
pub(crate) struct VulkanImage {
    image: Arc<TiledImage>,
    place: u32,
    device: Arc<Device>,
}

impl VulkanImage {
    /// The image of an array with one level and no layers, by a texture's record; `None` if the device has none such.
    pub fn new(device: Arc<Device>, record: &Record) -> Result<Option<Self>, Error> {
        device.raw.check_process()?;
        if !device.raw.has_image_tables {
            return Ok(None);
        }
        let Some(image) = device.images.make(record, || device.block(record.base))? else { return Ok(None) };
        let Some(place) = image.place() else { return Ok(None) };
        let recorded = device.queues.record(StreamKey::Everything, |recorder| {
            recorder.follow();
            device.images.add(recorder, &image);
            Ok(())
        });
        let made = Self { image, place, device };
        recorded.map(|_| Some(made))
    }
}

impl backend::Image for VulkanImage {
    fn place(&self) -> u32 {
        self.place
    }
}

impl Drop for VulkanImage {
    fn drop(&mut self) {
        // In a forked process, the table may be locked by a thread that doesn't exist there, and nothing is destroyed.
        if self.device.raw.check_process().is_err() {
            return;
        }
        self.device.images.remove(&self.image);
        self.device.queues.retire(self.image.clone());
    }
}
