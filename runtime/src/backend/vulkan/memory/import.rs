//! Importing host memory into the device (`VK_EXT_external_memory_host`).

use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

use crate::backend::vulkan::memory::{Backing, Block, Memory, buffer_info};
use crate::error::Error;

impl Memory {
    /// Makes a block of the pages that contain a range of host memory, and returns the range's offset in the block.
    ///
    /// # Safety
    /// The memory exists, readable and writable, as long as the block.
    pub unsafe fn import(self: &Arc<Self>, host: NonNull<u8>, size: u64) -> Result<(Block, u64), Error> {
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
        // SAFETY: the device is alive and has the extension, and the size is not zero and within the limit.
        let buffer = unsafe { self.raw.ash.create_buffer(&buffer_info(padded).push_next(&mut kinds), None) };
        let buffer = buffer.map_err(Error::vulkan("vkCreateBuffer"))?;
        // From here on, dropping the block cleans up.
        let mut block = Block { buffer, backing: Backing::None, address: 0, padded, memory: self.clone() };
        // SAFETY: the buffer was created above on this device.
        let requirements = unsafe { self.raw.ash.get_buffer_memory_requirements(buffer) };
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
