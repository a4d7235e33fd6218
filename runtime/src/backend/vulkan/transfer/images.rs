//! Images that kernels read by samplers: copies of arrays in the device's own layout, which follow the arrays' changes.
//!
//! Each image has a place in a table that all kernels share. Images stay in the general layout, so that a copy of an array's new
//! contents is an ordinary command of the stream that changes the array.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ash::vk;
use gpu_allocator::vulkan::Allocation;
use ptx2spv_translator::interface::texture::{AddressMode, Filter, Kind, Record, Texel, flag, image};

use crate::backend::range::MemoryRange;
use crate::backend::vulkan::memory::{Block, Memory, image_info};
use crate::backend::vulkan::raw::RawDevice;
use crate::backend::vulkan::submit::batch::Recorder;
use crate::error::{Error, Result};
use crate::sync::lock;

pub(crate) struct Images {
    /// Made for the first image or the first kernel that reads some.
    tables: OnceLock<Arc<Tables>>,
    list: Mutex<Vec<Arc<TiledImage>>>,
    memory: Arc<Memory>,
}

impl Images {
    pub fn new(memory: Arc<Memory>) -> Self {
        Self { tables: OnceLock::new(), list: Mutex::default(), memory }
    }

    /// The tables, for pipelines that read them.
    pub fn tables(&self) -> Result<&Arc<Tables>> {
        if let Some(tables) = self.tables.get() {
            return Ok(tables);
        }
        let made = Arc::new(Tables::new(self.memory.raw.clone())?);
        Ok(self.tables.get_or_init(|| made))
    }

    /// Makes an image without contents by a texture's record, of an array that `locate` finds with the offset of the texture in
    /// it; `None` if the device has none such.
    pub fn make(
        &self,
        record: &Record,
        locate: impl FnOnce() -> Result<(Arc<Block>, u64)>,
    ) -> Result<Option<Arc<TiledImage>>> {
        Ok(TiledImage::new(self, record, locate)?.map(Arc::new))
    }

    /// Records an image's first contents. From here on, it follows its array.
    pub fn add(&self, recorder: &Recorder<'_>, image: &Arc<TiledImage>) {
        image.prepare(recorder);
        image.fill(recorder);
        lock(&self.list).push(image.clone());
    }

    /// Has an image follow its array no longer.
    pub fn remove(&self, image: &Arc<TiledImage>) {
        lock(&self.list).retain(|other| !Arc::ptr_eq(other, image));
    }

    /// Whether an image shows some of these bytes.
    pub fn shows(&self, range: MemoryRange) -> bool {
        lock(&self.list).iter().any(|image| image.overlaps(range))
    }

    /// Records copies to the images of arrays of which bytes have changed. The commands so far have changed them.
    pub fn follow(&self, recorder: &Recorder<'_>, changed: MemoryRange) {
        let mut ordered = false;
        for image in lock(&self.list).iter().filter(|image| image.overlaps(changed)) {
            if !std::mem::replace(&mut ordered, true) {
                recorder.barrier();
            }
            image.fill(recorder);
        }
    }
}

/// The place of an image in a table.
#[derive(Clone, Copy)]
struct Place {
    is_deep: bool,
    number: u32,
}

/// The descriptor set with the tables.
pub(crate) struct Tables {
    pub layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    pub set: vk::DescriptorSet,
    entries: Mutex<Entries>,
    raw: Arc<RawDevice>,
}

/// The samplers of the tables, and the numbers of images in use.
#[derive(Default)]
struct Entries {
    samplers: HashMap<Sampling, vk::Sampler>,
    /// Count of the numbers that were given out, for images of two and of three dimensions.
    used: [u32; 2],
    /// Numbers that were given back.
    free: [Vec<u32>; 2],
}

impl Entries {
    /// A number that no image has.
    fn take(&mut self, is_deep: bool) -> Option<u32> {
        let index = usize::from(is_deep);
        if let Some(number) = self.free[index].pop() {
            return Some(number);
        }
        let number = self.used[index];
        self.used[index] = (number + 1).min(image::COUNT);
        (number < image::COUNT).then_some(number)
    }
}

/// The parameters of a sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Sampling {
    is_linear: bool,
    is_normalized: bool,
    modes: [AddressMode; 3],
}

impl Sampling {
    fn of(record: &Record) -> Self {
        Self {
            is_linear: record.filter == Filter::Linear,
            is_normalized: record.flags & flag::NORMALIZED != 0,
            modes: record.address_mode,
        }
    }

    fn create(self, raw: &RawDevice) -> Result<vk::Sampler> {
        let filter = if self.is_linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
        let [x, y, z] = self.modes.map(|mode| match mode {
            AddressMode::Wrap => vk::SamplerAddressMode::REPEAT,
            AddressMode::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
            AddressMode::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
            AddressMode::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        });
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
            .address_mode_u(x)
            .address_mode_v(y)
            .address_mode_w(z)
            .border_color(vk::BorderColor::FLOAT_TRANSPARENT_BLACK)
            .unnormalized_coordinates(!self.is_normalized);
        // SAFETY: the device is alive; without normalized coordinates, textures have no address modes but clamping and a border.
        unsafe { raw.ash.create_sampler(&info, None) }.map_err(Error::vulkan("vkCreateSampler"))
    }
}

impl Tables {
    fn new(raw: Arc<RawDevice>) -> Result<Self> {
        raw.check_process()?;
        let (kind, stage) = (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::COMPUTE);
        let bindings = [image::PLANES, image::VOLUMES].map(|binding| {
            let binding = vk::DescriptorSetLayoutBinding::default().binding(binding);
            binding.descriptor_type(kind).descriptor_count(image::COUNT).stage_flags(stage)
        });
        let flags = [vk::DescriptorBindingFlags::PARTIALLY_BOUND
            | vk::DescriptorBindingFlags::UPDATE_AFTER_BIND
            | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING; 2];
        let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .bindings(&bindings)
            .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
            .push_next(&mut flags);
        let null = vk::DescriptorSetLayout::null();
        // From here on, dropping the tables cleans up.
        let mut tables = Self {
            layout: null,
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            entries: Mutex::default(),
            raw: raw.clone(),
        };
        // SAFETY: the device is alive and has the features of the flags: see `features`.
        tables.layout = unsafe { raw.ash.create_descriptor_set_layout(&info, None) }
            .map_err(Error::vulkan("vkCreateDescriptorSetLayout"))?;
        let sizes = [vk::DescriptorPoolSize::default().ty(kind).descriptor_count(2 * image::COUNT)];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes)
            .flags(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND);
        // SAFETY: as above.
        tables.pool =
            unsafe { raw.ash.create_descriptor_pool(&info, None) }.map_err(Error::vulkan("vkCreateDescriptorPool"))?;
        let layouts = [tables.layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(tables.pool).set_layouts(&layouts);
        // SAFETY: the pool has room for the set.
        let sets = unsafe { raw.ash.allocate_descriptor_sets(&info) };
        tables.set = match sets.as_deref() {
            Ok([set, ..]) => *set,
            other => {
                let result = other.err().copied().unwrap_or(vk::Result::ERROR_UNKNOWN);
                return Err(Error::vulkan("vkAllocateDescriptorSets")(result));
            }
        };
        Ok(tables)
    }

    /// Gives an image a place; `None` if there is no more room.
    fn place(&self, view: vk::ImageView, is_deep: bool, sampling: Sampling) -> Result<Option<Place>> {
        let mut entries = lock(&self.entries);
        let sampler = match entries.samplers.get(&sampling) {
            Some(sampler) => *sampler,
            None => {
                let sampler = sampling.create(&self.raw)?;
                entries.samplers.insert(sampling, sampler);
                sampler
            }
        };
        let Some(number) = entries.take(is_deep) else { return Ok(None) };
        let info = [vk::DescriptorImageInfo::default()
            .sampler(sampler)
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.set)
            .dst_binding(if is_deep { image::VOLUMES } else { image::PLANES })
            .dst_array_element(number)
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&info);
        // SAFETY: the set is alive and locked; no submission uses this element, which belongs to no image.
        unsafe { self.raw.ash.update_descriptor_sets(&[write], &[]) };
        Ok(Some(Place { is_deep, number }))
    }

    fn give_back(&self, Place { is_deep, number }: Place) {
        lock(&self.entries).free[usize::from(is_deep)].push(number);
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        let Some(ash) = self.raw.destroyer() else { return };
        let entries = self.entries.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: pipelines, images and the device hold the tables, and no submission uses them any more. Null handles may be
        // destroyed.
        unsafe {
            entries.samplers.values().for_each(|sampler| ash.destroy_sampler(*sampler, None));
            ash.destroy_descriptor_pool(self.pool, None);
            ash.destroy_descriptor_set_layout(self.layout, None);
        }
    }
}

/// An image with its memory.
pub(crate) struct TiledImage {
    image: vk::Image,
    view: vk::ImageView,
    /// `None` only while the image is being made.
    allocation: Option<Allocation>,
    place: Option<Place>,
    /// The array, and the bytes of it that the image shows.
    array: Arc<Block>,
    range: MemoryRange,
    region: vk::BufferImageCopy,
    tables: Arc<Tables>,
    memory: Arc<Memory>,
}

impl TiledImage {
    /// An image without contents; `None` if the device has none such.
    fn new(
        images: &Images,
        record: &Record,
        locate: impl FnOnce() -> Result<(Arc<Block>, u64)>,
    ) -> Result<Option<Self>> {
        let Some(format) = format(record.texel, record.channels) else { return Ok(None) };
        let is_deep = record.kind == Kind::Array3d;
        let extent = vk::Extent3D { width: record.width, height: record.height, depth: record.depth };
        let sampling = Sampling::of(record);
        let memory = &images.memory;
        if !memory.has_images(format, is_deep, extent, sampling.is_linear) {
            return Ok(None);
        }
        let tables = images.tables()?.clone();
        let (array, offset) = locate()?;
        let region = vk::BufferImageCopy::default()
            .buffer_offset(offset)
            .buffer_row_length(record.pitch / (record.texel.bytes() * record.channels))
            .buffer_image_height(record.height)
            .image_subresource(layers())
            .image_extent(extent);
        let rows = u64::from(record.height) * u64::from(record.depth);
        let range = MemoryRange { address: record.base, size: u64::from(record.pitch) * rows };
        // From here on, dropping the image cleans up.
        let mut made = Self {
            image: vk::Image::null(),
            view: vk::ImageView::null(),
            allocation: None,
            place: None,
            array,
            range,
            region,
            tables,
            memory: memory.clone(),
        };
        let ash = &memory.raw.ash;
        // SAFETY: the device is alive and has such images (`has_images`).
        made.image = unsafe { ash.create_image(&image_info(format, is_deep, extent), None) }
            .map_err(Error::vulkan("vkCreateImage"))?;
        // SAFETY: the image was created above.
        let requirements = unsafe { ash.get_image_memory_requirements(made.image) };
        let allocation = made.allocation.insert(memory.allocate_image(requirements)?);
        // SAFETY: the memory fits the requirements, and lives as long as the image.
        unsafe { ash.bind_image_memory(made.image, allocation.memory(), allocation.offset()) }
            .map_err(Error::vulkan("vkBindImageMemory"))?;
        let info = vk::ImageViewCreateInfo::default()
            .image(made.image)
            .view_type(if is_deep { vk::ImageViewType::TYPE_3D } else { vk::ImageViewType::TYPE_2D })
            .format(format)
            .components(components(record.channels))
            .subresource_range(whole());
        // SAFETY: the image was created above, with memory.
        made.view = unsafe { ash.create_image_view(&info, None) }.map_err(Error::vulkan("vkCreateImageView"))?;
        made.place = made.tables.place(made.view, is_deep, sampling)?;
        Ok(made.place.is_some().then_some(made))
    }

    /// The image's place in its table, as a texture's record has it.
    pub fn place(&self) -> Option<u32> {
        self.place.map(|Place { is_deep, number }| number | if is_deep { image::IS_VOLUME } else { image::IS_PLANE })
    }

    fn overlaps(&self, other: MemoryRange) -> bool {
        let end = |range: MemoryRange| range.address.saturating_add(range.size);
        self.range.address < end(other) && other.address < end(self.range)
    }

    /// Records the first use of the image.
    fn prepare(&self, recorder: &Recorder<'_>) {
        let barrier = vk::ImageMemoryBarrier::default()
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(vk::ImageLayout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.image)
            .subresource_range(whole());
        let (from, to) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
        let (ash, none) = (&recorder.raw.ash, vk::DependencyFlags::empty());
        // SAFETY: the command buffer is being recorded; the image is retired through the queue.
        unsafe { ash.cmd_pipeline_barrier(recorder.commands, from, to, none, &[], &[], &[barrier]) };
    }

    /// Records a copy of the array's contents.
    fn fill(&self, recorder: &Recorder<'_>) {
        let (ash, layout) = (&recorder.raw.ash, vk::ImageLayout::GENERAL);
        // SAFETY: the command buffer is being recorded; image and array are retired through the queue, and the region lies in both.
        unsafe {
            ash.cmd_copy_buffer_to_image(recorder.commands, self.array.buffer, self.image, layout, &[self.region]);
        }
    }
}

impl Drop for TiledImage {
    fn drop(&mut self) {
        let Some(ash) = self.memory.raw.destroyer() else { return };
        // SAFETY: the code that drops the image has made sure that no submission uses it. Null handles may be destroyed.
        unsafe {
            ash.destroy_image_view(self.view, None);
            ash.destroy_image(self.image, None);
        }
        self.allocation.take().into_iter().for_each(|allocation| self.memory.free(allocation));
        self.place.into_iter().for_each(|place| self.tables.give_back(place));
    }
}

fn layers() -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1)
}

fn whole() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR).level_count(1).layer_count(1)
}

/// Missing channels are zero, the fourth too.
fn components(channels: u32) -> vk::ComponentMapping {
    let own = |channel| if channel < channels { vk::ComponentSwizzle::IDENTITY } else { vk::ComponentSwizzle::ZERO };
    vk::ComponentMapping { r: own(0), g: own(1), b: own(2), a: own(3) }
}

/// The format of an image, for texels that samplers read as floats.
fn format(texel: Texel, channels: u32) -> Option<vk::Format> {
    use vk::Format as F;
    let formats = match texel {
        Texel::Unorm8 => [F::R8_UNORM, F::R8G8_UNORM, F::R8G8B8A8_UNORM],
        Texel::Snorm8 => [F::R8_SNORM, F::R8G8_SNORM, F::R8G8B8A8_SNORM],
        Texel::Unorm16 => [F::R16_UNORM, F::R16G16_UNORM, F::R16G16B16A16_UNORM],
        Texel::Snorm16 => [F::R16_SNORM, F::R16G16_SNORM, F::R16G16B16A16_SNORM],
        Texel::F16 => [F::R16_SFLOAT, F::R16G16_SFLOAT, F::R16G16B16A16_SFLOAT],
        Texel::F32 => [F::R32_SFLOAT, F::R32G32_SFLOAT, F::R32G32B32A32_SFLOAT],
        // CUDA decodes only the first of two channels.
        Texel::Srgb8 if channels == 2 => return None,
        Texel::Srgb8 => [F::R8_SRGB, F::R8G8_SRGB, F::R8G8B8A8_SRGB],
        Texel::U8 | Texel::S8 | Texel::U16 | Texel::S16 | Texel::B32 => return None,
    };
    let [one, two, four] = formats;
    match channels {
        1 => Some(one),
        2 => Some(two),
        4 => Some(four),
        _ => None,
    }
}
