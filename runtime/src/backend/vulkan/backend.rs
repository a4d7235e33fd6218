//! The back end's operations on a Vulkan device.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use ptx2spv_translator::interface::Entry;
use ptx2spv_translator::interface::texture::Record;

use crate::backend::deadline::Deadline;
use crate::backend::launch::{Launch, PipelineKey};
use crate::backend::order::{Point, StreamKey, Ticket};
use crate::backend::range::{MemoryInfo, MemoryRange, PinnedRange, Rows};
use crate::backend::shape::Shape;
use crate::backend::vulkan::device::Device;
use crate::backend::vulkan::device::timer::VulkanTimer;
use crate::backend::vulkan::memory::BlockLocation;
use crate::backend::vulkan::pipeline::{VulkanPipeline, VulkanShader};
use crate::backend::vulkan::submit::watched::MIRROR_BYTES;
use crate::backend::vulkan::transfer::images::TiledImage;
use crate::backend::{self, Backend, Image, Pipeline, Reservation, Shader, Timer};
use crate::error::Result;
use crate::sync::lock;

impl Backend for Device {
    fn allocate(&self, size: u64) -> Result<u64> {
        self.allocate_in(size, BlockLocation::Device)
    }

    fn allocate_elsewhere(&self, size: u64) -> Result<u64> {
        self.allocate_in(size, BlockLocation::DeviceShared)
    }

    fn allocate_pinned(&self, size: u64) -> Result<PinnedRange> {
        Self::allocate_pinned(self, size)
    }

    fn allocate_managed(&self, size: u64) -> Result<PinnedRange> {
        Self::allocate_managed(self, size)
    }

    fn reserve(&self, size: u64) -> Option<Reservation> {
        Some(Box::new(self.memory.reserve(size)?))
    }

    unsafe fn register(&self, host: NonNull<u8>, size: u64) -> Result<u64> {
        // SAFETY: by the contract.
        unsafe { Self::register(self, host, size) }
    }

    fn free(&self, address: u64) {
        Self::free(self, address);
    }

    fn check_process(&self) -> Result {
        self.raw.check_process()
    }

    fn report_mirror_bytes(&self) -> Option<u64> {
        (!self.memory.is_unified()).then_some(MIRROR_BYTES)
    }

    fn find(&self, address: u64) -> Option<MemoryRange> {
        Self::find(self, address)
    }

    fn overlapping(&self, range: MemoryRange) -> Vec<MemoryRange> {
        self.blocks.overlapping(range)
    }

    fn memory_info(&self) -> MemoryInfo {
        self.memory.info(self.blocks.bytes())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result {
        Self::write(self, address, bytes)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result {
        Self::read(self, address, bytes)
    }

    fn fill(&self, stream: StreamKey, rows: Rows, word: u32) -> Result<Ticket> {
        Self::fill(self, stream, rows, word)
    }

    fn copy(&self, stream: StreamKey, from: u64, to: u64, shape: &Shape) -> Result<Ticket> {
        Self::copy(self, stream, from, to, shape)
    }

    fn upload(&self, stream: StreamKey, to: u64, shape: &Shape, bytes: &[u8]) -> Result<Ticket> {
        Self::upload(self, stream, to, shape, bytes)
    }

    fn download(&self, stream: StreamKey, after: Point, from: u64, shape: &Shape, bytes: &mut [u8]) -> Result {
        Self::download(self, stream, after, from, shape, bytes)
    }

    fn follow(&self, stream: StreamKey, point: Point) -> Result {
        self.queues.follow(stream, point)
    }

    fn is_finished(&self, point: Point) -> Result<bool> {
        self.queues.is_finished(point)
    }

    fn wait(&self, point: Point, deadline: Deadline) -> Result {
        self.queues.wait(point, deadline)
    }

    fn set_wait_limit(&self, limit: Option<Duration>) {
        self.queues.limit.set(limit);
    }

    fn hold(&self) {
        self.queues.hold();
    }

    fn release(&self) {
        self.queues.release();
    }

    fn elapsed(&self, start: u64, end: u64) -> Duration {
        self.raw.clock.elapsed(start, end)
    }

    fn timer(self: Arc<Self>) -> Result<Box<dyn Timer>> {
        Ok(Box::new(VulkanTimer::new(self)?))
    }

    fn image(self: Arc<Self>, record: &Record) -> Result<Option<Box<dyn Image>>> {
        Ok(VulkanImage::new(self, record)?.map(|image| Box::new(image) as Box<dyn Image>))
    }

    fn shader(self: Arc<Self>, spirv: &[u32]) -> Result<Box<dyn Shader>> {
        Ok(Box::new(VulkanShader::new(self, spirv)?))
    }

    fn synchronize(&self) -> Result {
        self.queues.synchronize(self.queues.deadline())
    }

    fn check_stopped(&self) -> Result {
        self.check_status(self.queues.recorded()?, self.queues.deadline())
    }

    fn check_stopped_before(&self, point: Point, deadline: Deadline) -> Result {
        self.check_status(point, deadline)
    }

    fn settle(&self, before: Point, deadline: Deadline) -> Result {
        Self::settle(self, before, deadline)
    }

    fn was_stopped_before(&self, point: Point) -> bool {
        self.queues.was_stopped_before(point)
    }

    fn take_output(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.output))
    }

    fn submissions(&self) -> u64 {
        self.queues.submissions()
    }
}

impl Shader for VulkanShader {
    fn pipeline(&self, entry: &Entry, key: PipelineKey) -> Result<Box<dyn Pipeline>> {
        Ok(Box::new(Self::pipeline(self, entry, key)?))
    }
}

impl Pipeline for VulkanPipeline {
    fn launch(&self, stream: StreamKey, launch: &mut Launch<'_>) -> Result<Option<Ticket>> {
        Self::launch(self, stream, launch).map(Some)
    }

    fn time(&self, launch: &mut Launch<'_>, repeats: u32) -> Result<Vec<Duration>> {
        Self::time(self, launch, repeats)
    }
}

/// An image of a texture. It is destroyed once the device has finished everything recorded before the drop.
pub(crate) struct VulkanImage {
    image: Arc<TiledImage>,
    place: u32,
    device: Arc<Device>,
}

impl VulkanImage {
    /// The image of an array with one level and no layers, by a texture's record; `None` if the device has none such.
    pub fn new(device: Arc<Device>, record: &Record) -> Result<Option<Self>> {
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
