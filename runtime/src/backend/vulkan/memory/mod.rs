//! Device memory: blocks, each a Vulkan buffer with an address, from a shared allocator.
//!
//! A block is freed when dropped, whether or not the device still uses it: the submission queues retire blocks that are in use.

pub(crate) mod live;
pub(crate) mod placed;

use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex};

use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationError, AllocationSizes, MemoryLocation};

use crate::backend::range::MemoryInfo;
use crate::backend::vulkan::instance::Instance;
use crate::backend::vulkan::raw::RawDevice;
use crate::error::{Error, Result};
use crate::info::{DeviceInfo, DeviceKind};
use crate::sync::lock;

/// The kind of memory of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockLocation {
    /// The fastest memory for the device. Mapped only on devices that share the host's memory.
    Device,
    /// Memory as for [`Self::Device`], but never `VkMemoryDedicatedAllocateInfo`: NVIDIA's driver has addresses of their own for such
    /// allocations.
    DeviceShared,
    /// Mapped, for the host to write once.
    Upload,
    /// Mapped, for the host to read and write.
    Host,
}

/// The alignment that `cudaMalloc` promises. Kernels rely on it in vector accesses.
const ALIGNMENT: u64 = 256;

/// The least size of a buffer in the device's own memory that gets an allocation for itself (`VkMemoryDedicatedAllocateInfo`). NVIDIA's
/// driver maps such an allocation by pages of 2 MiB, as CUDA does, and others by smaller ones: random reads from 16 MiB take 2.5 times as
/// long there.
const DEDICATED_FROM: u64 = 2 << 20;
/// The largest number of these at a time. Vulkan promises 4096 allocations in all (`maxMemoryAllocationCount`).
const MAX_DEDICATED: usize = 2048;

/// The allocator of one device.
pub(crate) struct Memory {
    allocator: Mutex<Allocator>,
    /// The number of buffers that have an allocation for themselves.
    dedicated: AtomicUsize,
    /// Whether device memory is host memory: then a mapping beats staging copies.
    unified: bool,
    /// The largest device-local heap: its index and size.
    heap: (usize, u64),
    /// Whether the heap is host memory whose size the driver chose: Mesa's was 2 GiB on every host, and the device gave more.
    is_of_host: bool,
    pub(crate) max_buffer_size: u64,
    physical: vk::PhysicalDevice,
    instance: Instance,
    pub(crate) raw: Arc<RawDevice>,
}

impl Memory {
    pub fn new(
        instance: &Instance,
        physical: vk::PhysicalDevice,
        info: &DeviceInfo,
        raw: Arc<RawDevice>,
    ) -> Result<Self> {
        // SAFETY: `physical` was enumerated from `instance`.
        let properties = unsafe { instance.raw().get_physical_device_memory_properties(physical) };
        let (device, host) = chunk_sizes(&properties);
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw().clone(),
            device: raw.ash.clone(),
            physical_device: physical,
            debug_settings: gpu_allocator::AllocatorDebugSettings::default(),
            buffer_device_address: true,
            allocation_sizes: AllocationSizes::new(device, host),
        })
        .map_err(allocation_error(0))?;
        let all = vk::MemoryPropertyFlags::DEVICE_LOCAL
            | vk::MemoryPropertyFlags::HOST_VISIBLE
            | vk::MemoryPropertyFlags::HOST_COHERENT
            | vk::MemoryPropertyFlags::HOST_CACHED;
        let unified = !instance.wants_staging()
            && matches!(info.kind, DeviceKind::Cpu | DeviceKind::Integrated)
            && properties.memory_types_as_slice().iter().any(|memory| memory.property_flags.contains(all));
        Ok(Self {
            allocator: Mutex::new(allocator),
            dedicated: AtomicUsize::new(0),
            max_buffer_size: info.max_buffer_size,
            unified,
            heap: device_heap(&properties),
            is_of_host: info.kind == DeviceKind::Cpu && !raw.has_memory_budget,
            physical,
            instance: instance.clone(),
            raw,
        })
    }

    /// Total and free memory of the device, given the number of bytes that the program has allocated.
    pub fn info(&self, allocated: u64) -> MemoryInfo {
        if let Some(host) = self.is_of_host.then(host_memory).flatten() {
            return host;
        }
        let (heap, total) = self.heap;
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        if self.raw.has_memory_budget && self.raw.check_process().is_ok() {
            let mut chain = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
            // SAFETY: `physical` was enumerated from the instance, and the device has the extension of the chained structure.
            unsafe { self.instance.raw().get_physical_device_memory_properties2(self.physical, &mut chain) };
        }
        let free = match (budget.heap_budget.get(heap), budget.heap_usage.get(heap)) {
            (Some(&budget), Some(used)) if budget > 0 => budget.saturating_sub(*used),
            _ => total.saturating_sub(allocated),
        };
        MemoryInfo { free: free.min(total), total }
    }

    /// The first coherent memory type among `types` that has certain flags.
    pub(crate) fn coherent_type(&self, types: u32, more: vk::MemoryPropertyFlags) -> Option<u32> {
        // SAFETY: `physical` was enumerated from the instance.
        let properties = unsafe { self.instance.raw().get_physical_device_memory_properties(self.physical) };
        let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT | more;
        let suits =
            |(kind, memory): &(u32, &vk::MemoryType)| types >> kind & 1 == 1 && memory.property_flags.contains(flags);
        (0..).zip(properties.memory_types_as_slice()).find(suits).map(|(kind, _)| kind)
    }

    /// Whether the device has images of a format and size for samplers, with a filter or without.
    pub(crate) fn has_images(&self, format: vk::Format, is_deep: bool, extent: vk::Extent3D, is_linear: bool) -> bool {
        let info = image_info(format, is_deep, extent);
        let raw = self.instance.raw();
        let (ty, tiling, usage, flags) = (info.image_type, info.tiling, info.usage, info.flags);
        // SAFETY: `physical` was enumerated from `instance`.
        let (features, limits) = unsafe {
            let properties = raw.get_physical_device_format_properties(self.physical, format);
            let limits =
                raw.get_physical_device_image_format_properties(self.physical, format, ty, tiling, usage, flags);
            (properties.optimal_tiling_features, limits)
        };
        let most = limits.map(|limits| limits.max_extent).unwrap_or_default();
        let fits = extent.width <= most.width && extent.height <= most.height && extent.depth <= most.depth;
        fits && (!is_linear || features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR))
    }

    pub(crate) fn allocate_image(&self, requirements: vk::MemoryRequirements) -> Result<Allocation> {
        let description = AllocationCreateDesc {
            name: "image",
            requirements,
            location: MemoryLocation::GpuOnly,
            linear: false,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        };
        lock(&self.allocator).allocate(&description).map_err(allocation_error(requirements.size))
    }

    /// Frees memory that nothing uses any more.
    pub(crate) fn free(&self, allocation: Allocation) {
        if allocation.is_dedicated() {
            self.dedicated.fetch_sub(1, Relaxed);
        }
        // Freeing fails only for an allocation from another allocator.
        let freed = lock(&self.allocator).free(allocation);
        debug_assert!(freed.is_ok(), "{freed:?}");
    }

    /// Whether the host accesses blocks of [`BlockLocation::Device`] through their mapping.
    pub fn is_unified(&self) -> bool {
        self.unified
    }

    /// Makes a block of at least `size` bytes, which may be zero.
    pub fn allocate(self: &Arc<Self>, size: u64, place: BlockLocation) -> Result<Block> {
        self.raw.check_process()?;
        // A multiple of 16, so that fills and word accesses to the last bytes stay inside.
        let padded = size.max(1).checked_next_multiple_of(16).filter(|&padded| padded <= self.max_buffer_size);
        let padded = padded.ok_or(Error::BufferTooLarge { requested: size, available: self.max_buffer_size })?;
        // SAFETY: the size is not zero and within the limit.
        let mut block = unsafe { self.empty_block(padded, &buffer_info(padded)) }?;
        let buffer = block.buffer;
        // SAFETY: the buffer was created above on this device.
        let mut requirements = unsafe { self.raw.ash.get_buffer_memory_requirements(buffer) };
        requirements.alignment = requirements.alignment.max(ALIGNMENT);
        let location = match place {
            BlockLocation::Upload => MemoryLocation::CpuToGpu,
            BlockLocation::Device | BlockLocation::DeviceShared if !self.unified => MemoryLocation::GpuOnly,
            BlockLocation::Device | BlockLocation::DeviceShared | BlockLocation::Host => MemoryLocation::GpuToCpu,
        };
        let may_be_alone = location == MemoryLocation::GpuOnly && place == BlockLocation::Device;
        let is_large = may_be_alone && padded >= DEDICATED_FROM;
        let allocation_scheme = match is_large && self.dedicated.load(Relaxed) < MAX_DEDICATED {
            true => AllocationScheme::DedicatedBuffer(buffer),
            false => AllocationScheme::GpuAllocatorManaged,
        };
        let description =
            AllocationCreateDesc { name: "block", requirements, location, linear: true, allocation_scheme };
        let allocation = lock(&self.allocator).allocate(&description).map_err(allocation_error(size))?;
        if allocation.is_dedicated() {
            self.dedicated.fetch_add(1, Relaxed);
        }
        let offset = allocation.offset();
        // SAFETY: the block keeps the allocation alive as long as the buffer.
        let handle = unsafe { allocation.memory() };
        block.backing = Backing::Allocated(allocation);
        // SAFETY: the memory fits the buffer's requirements.
        unsafe { block.bind(handle, offset) }?;
        Ok(block)
    }

    /// Makes a block of at least one byte that has addresses and never any memory. `None` if the device can't, or has no room.
    pub fn reserve(self: &Arc<Self>, size: u64) -> Option<Block> {
        let is_possible =
            self.raw.own.sparse_binding && size <= self.max_buffer_size && self.raw.check_process().is_ok();
        let info = buffer_info(size).flags(vk::BufferCreateFlags::SPARSE_BINDING);
        // SAFETY: the feature is enabled, and the size within the limit.
        let mut block = is_possible.then(|| unsafe { self.empty_block(size, &info) })?.ok()?;
        block.address = self.raw.buffer_address(block.buffer);
        Some(block)
    }

    /// Makes a block without memory, whose drop cleans up.
    ///
    /// # Safety
    /// The buffer's parameters are valid for the device.
    pub(super) unsafe fn empty_block(self: &Arc<Self>, padded: u64, info: &vk::BufferCreateInfo<'_>) -> Result<Block> {
        // SAFETY: the device is alive; by the contract.
        let buffer = unsafe { self.raw.ash.create_buffer(info, None) }.map_err(Error::vulkan("vkCreateBuffer"))?;
        Ok(Block { buffer, backing: Backing::None, address: 0, padded, memory: self.clone() })
    }
}

/// The parameters of a block's buffer.
pub(crate) fn buffer_info<'i>(bytes: u64) -> vk::BufferCreateInfo<'i> {
    vk::BufferCreateInfo::default().size(bytes).sharing_mode(vk::SharingMode::EXCLUSIVE).usage(
        vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST,
    )
}

/// The parameters of an image.
pub(crate) fn image_info<'i>(format: vk::Format, is_deep: bool, extent: vk::Extent3D) -> vk::ImageCreateInfo<'i> {
    vk::ImageCreateInfo::default()
        .image_type(if is_deep { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D })
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST)
        .initial_layout(vk::ImageLayout::UNDEFINED)
}

/// The largest device-local heap: its index and size.
fn device_heap(properties: &vk::PhysicalDeviceMemoryProperties) -> (usize, u64) {
    let heaps = properties.memory_heaps_as_slice().iter().enumerate();
    let own = heaps.filter(|(_, heap)| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    own.map(|(index, heap)| (index, heap.size)).max_by_key(|(_, size)| *size).unwrap_or_default()
}

/// The sizes of chunks to allocate from Vulkan, for device and host memory: at most a fraction of the smallest heap of
/// the kind, so that a small buffer fits on a device with little memory, or with a small window to it.
///
/// All mapped memory is coherent: every device has such a memory type for every buffer (`VkMemoryRequirements`), and
/// the allocator uses no other. So there are no flushes and invalidations.
fn chunk_sizes(properties: &vk::PhysicalDeviceMemoryProperties) -> (u64, u64) {
    let least = |visible: bool, most: u64| {
        let types = properties.memory_types_as_slice().iter().filter(|memory| {
            memory.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) == visible
                && !memory.property_flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED)
        });
        let heaps = types.filter_map(|memory| properties.memory_heaps_as_slice().get(memory.heap_index as usize));
        // The allocator requires multiples of 4 MiB, at least one.
        heaps.map(|heap| ((heap.size / 16) >> 22) << 22).min().unwrap_or(most).clamp(4 << 20, most)
    };
    (least(false, 256 << 20), least(true, 64 << 20))
}

fn allocation_error(size: u64) -> impl FnOnce(AllocationError) -> Error {
    move |error| match error {
        AllocationError::OutOfMemory => Error::OutOfMemory(format!("no room for {size} bytes of device memory")),
        // The allocator has no variants for these errors, only the text.
        error => match error.to_string() {
            text if text.contains("ERROR_OUT_OF_HOST_MEMORY") => {
                Error::OutOfMemory("vkAllocateMemory: no host memory left".to_owned())
            }
            text if text.contains("ERROR_DEVICE_LOST") => Error::DeviceLost { report: None, address: None },
            _ => Error::Allocator(error),
        },
    }
}

/// A Vulkan buffer with its memory.
pub(crate) struct Block {
    pub buffer: vk::Buffer,
    /// Device address of the first byte.
    pub address: u64,
    /// Size in bytes, a multiple of 16.
    pub padded: u64,
    pub(crate) backing: Backing,
    pub(crate) memory: Arc<Memory>,
}

/// The memory of a block.
pub(crate) enum Backing {
    /// No memory: the block is being made, or only takes addresses.
    None,
    Allocated(Allocation),
    /// An allocation of the block's own, and where the host has it.
    Own {
        handle: vk::DeviceMemory,
        host: Option<NonNull<u8>>,
    },
}

impl Block {
    /// Binds memory to the block's buffer, which has none yet.
    ///
    /// # Safety
    /// The memory fits the buffer's requirements.
    pub(crate) unsafe fn bind(&mut self, memory: vk::DeviceMemory, offset: u64) -> Result {
        // SAFETY: by the contract; the buffer is the block's own.
        unsafe { self.memory.raw.ash.bind_buffer_memory(self.buffer, memory, offset) }
            .map_err(Error::vulkan("vkBindBufferMemory"))?;
        self.address = self.memory.raw.buffer_address(self.buffer);
        Ok(())
    }

    /// The host's pointer to the first byte.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the block isn't mapped.
    pub fn mapped(&self) -> Result<*mut u8> {
        self.mapping(0, 0).ok_or_else(|| self.out_of_range(0, 0))
    }

    /// Copies to the block through its mapping. No submission may be accessing these bytes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the block isn't mapped or is too small.
    pub fn write_mapped(&self, offset: u64, bytes: &[u8]) -> Result {
        let to = self.mapping(offset, bytes.len()).ok_or_else(|| self.out_of_range(offset, bytes.len()))?;
        // SAFETY: `mapping` checked the range; host and device memory can't overlap with `bytes`, which Rust owns.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    /// Copies from the block through its mapping. No submission may be writing these bytes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the block isn't mapped or is too small.
    pub fn read_mapped(&self, offset: u64, bytes: &mut [u8]) -> Result {
        let from = self.mapping(offset, bytes.len()).ok_or_else(|| self.out_of_range(offset, bytes.len()))?;
        // SAFETY: as in `write_mapped`.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    /// Reads a little-endian word at a multiple of 4 through the mapping. A submission may write the word at the same time:
    /// the result is the value before or after.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the block isn't mapped or is too small.
    pub fn peek_mapped(&self, offset: u64) -> Result<u32> {
        let from = self.mapping(offset, size_of::<u32>()).ok_or_else(|| self.out_of_range(offset, size_of::<u32>()))?;
        // SAFETY: `mapping` checked the range; blocks are aligned to more than a word's bytes.
        let word = unsafe { AtomicU32::from_ptr(from.cast()) };
        Ok(u32::from_le(word.load(Acquire)))
    }

    /// Pointer to `len` mapped bytes from `offset` on, if the block has them.
    fn mapping(&self, offset: u64, len: usize) -> Option<*mut u8> {
        let base = match &self.backing {
            Backing::Allocated(allocation) => allocation.mapped_ptr()?.cast(),
            Backing::Own { host, .. } => (*host)?,
            Backing::None => return None,
        };
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(len)?;
        // SAFETY: the mapping spans the allocation, which is at least as large as the buffer.
        (end as u64 <= self.padded).then(|| unsafe { base.as_ptr().add(start) })
    }

    fn out_of_range(&self, offset: u64, len: usize) -> Error {
        Error::OutOfRange { offset, len: len as u64, size: self.padded }
    }
}

// SAFETY: mapped memory is accessed by the device and by copies; its owner permits both on any thread.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(ash) = self.memory.raw.destroyer() else { return };
        // SAFETY: the code that drops a block has made sure that no submission uses it.
        unsafe { ash.destroy_buffer(self.buffer, None) };
        match std::mem::replace(&mut self.backing, Backing::None) {
            Backing::None => {}
            Backing::Allocated(allocation) => self.memory.free(allocation),
            // SAFETY: as above.
            Backing::Own { handle, .. } => unsafe { ash.free_memory(handle, None) },
        }
    }
}

/// Total and available memory; `None` if the system doesn't say.
pub(crate) fn host_memory() -> Option<MemoryInfo> {
    read(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// Reads Linux's `/proc/meminfo`.
fn read(text: &str) -> Option<MemoryInfo> {
    let bytes = |name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(MemoryInfo { free: bytes("MemAvailable")?, total: bytes("MemTotal")? })
}

// Importing host memory into the device (`VK_EXT_external_memory_host`).

impl Memory {
    /// Makes a block of the pages that contain a range of host memory, and returns the range's offset in the block.
    ///
    /// # Safety
    /// The memory exists, readable and writable, as long as the block.
    pub unsafe fn import(self: &Arc<Self>, host: NonNull<u8>, size: u64) -> Result<(Block, u64)> {
        const KIND: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        self.raw.check_process()?;
        let address = host.addr().get() as u64;
        let refused = |reason: &str| {
            let device = self.raw.name.clone();
            Error::NotRegistered { device, host: address, reason: reason.to_owned() }
        };
        let external = self.raw.external_host.as_ref();
        let external = external.ok_or_else(|| refused("its driver has no VK_EXT_external_memory_host"))?;
        // Vulkan imports whole pages.
        let offset = address % external.alignment;
        let padded = (offset + size).next_multiple_of(external.alignment);
        if padded > self.max_buffer_size {
            return Err(Error::BufferTooLarge { requested: size, available: self.max_buffer_size });
        }
        // At most a page before the range, whose own page exists.
        let first = host.as_ptr().wrapping_sub(offset as usize);
        let first = NonNull::new(first).ok_or_else(|| refused("it begins at zero"))?;
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the pages exist by the contract, and are aligned as the extension requires.
        unsafe {
            (external.functions.fp().get_memory_host_pointer_properties_ext)(
                self.raw.ash.handle(),
                KIND,
                first.as_ptr().cast(),
                &mut properties,
            )
        }
        .result()
        .map_err(|result| refused(&format!("vkGetMemoryHostPointerPropertiesEXT: {result}")))?;
        let mut kinds = vk::ExternalMemoryBufferCreateInfo::default().handle_types(KIND);
        // SAFETY: the device has the extension, and the size is not zero and within the limit.
        let mut block = unsafe { self.empty_block(padded, &buffer_info(padded).push_next(&mut kinds)) }?;
        // SAFETY: the buffer was created above on this device.
        let requirements = unsafe { self.raw.ash.get_buffer_memory_requirements(block.buffer) };
        let types = requirements.memory_type_bits & properties.memory_type_bits;
        let kind = self.coherent_type(types, vk::MemoryPropertyFlags::empty()).filter(|_| requirements.size <= padded);
        let kind = kind.ok_or_else(|| refused("no memory type of the device is suitable"))?;
        let mut import =
            vk::ImportMemoryHostPointerInfoEXT::default().handle_type(KIND).host_pointer(first.as_ptr().cast());
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(padded)
            .memory_type_index(kind)
            .push_next(&mut import)
            .push_next(&mut flags);
        // SAFETY: the pages exist by the contract, and the memory type is one of those that the driver permits for
        // them.
        let handle = unsafe { self.raw.ash.allocate_memory(&info, None) }
            .map_err(|result| refused(&format!("vkAllocateMemory: {result}")))?;
        block.backing = Backing::Own { handle, host: Some(first) };
        // SAFETY: the size and the type fit the buffer's requirements.
        unsafe { block.bind(handle, 0) }?;
        Ok((block, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(heaps: &[u64], types: &[(vk::MemoryPropertyFlags, u32)]) -> vk::PhysicalDeviceMemoryProperties {
        let mut properties = vk::PhysicalDeviceMemoryProperties {
            memory_type_count: types.len() as u32,
            memory_heap_count: heaps.len() as u32,
            ..Default::default()
        };
        for (heap, &size) in properties.memory_heaps.iter_mut().zip(heaps) {
            heap.size = size;
        }
        for (memory, &(property_flags, heap_index)) in properties.memory_types.iter_mut().zip(types) {
            *memory = vk::MemoryType { property_flags, heap_index };
        }
        properties
    }

    #[test]
    fn chunks_fit_small_heaps() {
        use vk::MemoryPropertyFlags as F;
        let host = F::HOST_VISIBLE | F::HOST_COHERENT;
        // A large card with a small host-visible window.
        let card = properties(
            &[16 << 30, 8 << 30, 256 << 20],
            &[(F::DEVICE_LOCAL, 0), (host, 1), (F::DEVICE_LOCAL | host, 2)],
        );
        assert_eq!(chunk_sizes(&card), (256 << 20, 16 << 20));
        // A device whose memory is all shared with the host.
        assert_eq!(chunk_sizes(&properties(&[2 << 30], &[(F::DEVICE_LOCAL | host, 0)])), (256 << 20, 64 << 20));
        // Little memory, none of it shared.
        let small = properties(&[128 << 20, 64 << 20], &[(F::DEVICE_LOCAL, 0), (host, 1)]);
        assert_eq!(chunk_sizes(&small), (8 << 20, 4 << 20));
        assert_eq!(chunk_sizes(&properties(&[], &[(F::empty(), 7)])), (256 << 20, 64 << 20));
    }

    #[test]
    fn meminfo() {
        let text = "MemTotal:       24684028 kB\nMemFree:         3348972 kB\nMemAvailable:   22374112 kB\n";
        assert_eq!(read(text), Some(MemoryInfo { free: 22_374_112 << 10, total: 24_684_028 << 10 }));
        assert_eq!(read("MemTotal: 1 kB\n"), None);
        assert_eq!(read("MemTotal: 1 kB\nMemAvailable: many kB\n"), None);
    }
}
