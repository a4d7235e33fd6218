//! Memory that the host maps at its device address (`VK_EXT_map_memory_placed`), so that both use the same pointers.
//!
//! The memory is the host's, since reading a graphics card's own memory over the bus is very slow for a processor.
//!
//! NVIDIA's driver begins at the lowest addresses, where a program that isn't position-independent has its heap, as `python3` of many
//! distributions. Addresses that could be replayed lie elsewhere on that driver, above those of all other memory, so they are asked for.

use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

use crate::backend::vulkan::memory::{Backing, Block, Memory, buffer_info};
use crate::backend::vulkan::raw::PlacedMaps;
use crate::error::{Error, Result};

/// Minimum number of allocations that are tried: the driver gives each another address, as long as the earlier ones exist.
const ATTEMPTS: u64 = 8;

/// Maximum number of allocations that are tried, for small ones: another device of the process may have memory at the same addresses.
const MORE_ATTEMPTS: u64 = 512;
const MORE_BYTES: u64 = 1 << 30;

impl Memory {
    /// Makes a block whose device address is the host's address too.
    ///
    /// # Errors
    /// [`Error::NoManagedMemory`] if the driver can't, or if the host uses the addresses already.
    pub fn allocate_placed(self: &Arc<Self>, size: u64) -> Result<Block> {
        self.raw.check_process()?;
        let refused = |reason| Error::NoManagedMemory { device: self.raw.name.clone(), reason };
        let maps = self.raw.placed_maps.as_ref();
        let maps = maps.ok_or_else(|| {
            refused("its addresses differ from the host's, and its driver has no VK_EXT_map_memory_placed")
        })?;
        let mut elsewhere = Vec::new();
        for _ in 0..(MORE_BYTES / size.max(1)).clamp(ATTEMPTS, MORE_ATTEMPTS) {
            let mut block = self.allocate_alone(size, maps.alignment)?;
            if block.map_in_place(maps)? {
                return Ok(block);
            }
            elsewhere.push(block);
        }
        Err(refused("the host uses the addresses that its driver gives"))
    }

    /// Makes a block of host memory that is an allocation of its own and not mapped.
    fn allocate_alone(self: &Arc<Self>, size: u64, alignment: u64) -> Result<Block> {
        let padded = size.max(1).checked_next_multiple_of(alignment.max(16));
        let padded = padded.filter(|&padded| padded <= self.max_buffer_size);
        let padded = padded.ok_or(Error::BufferTooLarge { requested: size, available: self.max_buffer_size })?;
        let mut info = buffer_info(padded);
        let mut flags = vk::MemoryAllocateFlags::DEVICE_ADDRESS;
        if self.raw.own.replayed_addresses {
            info = info.flags(vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY);
            flags |= vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
        }
        // SAFETY: the size is not zero and within the limit.
        let mut block = unsafe { self.empty_block(padded, &info) }?;
        // SAFETY: the buffer was created above on this device.
        let requirements = unsafe { self.raw.ash.get_buffer_memory_requirements(block.buffer) };
        let types = requirements.memory_type_bits;
        let kind = self.coherent_type(types, vk::MemoryPropertyFlags::HOST_CACHED);
        let kind = kind.or_else(|| self.coherent_type(types, vk::MemoryPropertyFlags::empty()));
        let kind = kind.ok_or(Error::NoManagedMemory {
            device: self.raw.name.clone(),
            reason: "no memory type of the device is suitable",
        })?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(requirements.size.next_multiple_of(alignment))
            .memory_type_index(kind)
            .push_next(&mut flags);
        // SAFETY: the device is alive, and the memory type is one of its types.
        let handle = unsafe { self.raw.ash.allocate_memory(&info, None) };
        block.backing = Backing::Own { handle: handle.map_err(Error::vulkan("vkAllocateMemory"))?, host: None };
        let Backing::Own { handle, .. } = block.backing else { return Ok(block) };
        // SAFETY: the size and the type fit the buffer's requirements.
        unsafe { block.bind(handle, 0) }?;
        Ok(block)
    }
}

impl Block {
    /// Maps the block's own allocation at its device address. Returns whether the address was free.
    fn map_in_place(&mut self, maps: &PlacedMaps) -> Result<bool> {
        let Backing::Own { handle, host } = &mut self.backing else { return Ok(false) };
        if !self.address.is_multiple_of(maps.alignment) {
            return Ok(false);
        }
        let Some(reservation) = Reservation::new(self.address, self.padded) else { return Ok(false) };
        let mut placed = vk::MemoryMapPlacedInfoEXT::default().placed_address(reservation.start.as_ptr().cast());
        let info = vk::MemoryMapInfoKHR::default()
            .flags(vk::MemoryMapFlags::PLACED_EXT)
            .memory(*handle)
            .size(self.padded)
            .push_next(&mut placed);
        let mut mapped = std::ptr::null_mut();
        let raw = &self.memory.raw;
        // SAFETY: the memory is alive and not mapped; address and size are multiples of the alignment, and the range is
        // reserved for this mapping.
        unsafe { (maps.functions.fp().map_memory2_khr)(raw.ash.handle(), &info, &mut mapped) }
            .result()
            .map_err(Error::vulkan("vkMapMemory2KHR"))?;
        *host = Some(reservation.start);
        // The mapping has taken its place, and ends with the allocation.
        std::mem::forget(reservation);
        Ok(true)
    }
}

/// A range of the host's addresses without memory, which is freed when dropped.
struct Reservation {
    start: NonNull<u8>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing is reserved"))]
    size: usize,
}

impl Reservation {
    /// Reserves a range that nothing uses yet.
    #[cfg(target_os = "linux")]
    fn new(address: u64, size: u64) -> Option<Self> {
        let (address, size) = (usize::try_from(address).ok()?, usize::try_from(size).ok()?);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        let wanted = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: without `MAP_FIXED`, no mapping is replaced.
        let start = unsafe { libc::mmap(wanted, size, libc::PROT_NONE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let reservation = Self { start: NonNull::new(start.cast())?, size };
        // Old kernels take the address for a hint.
        (start == wanted).then_some(reservation)
    }

    #[cfg(not(target_os = "linux"))]
    fn new(_address: u64, _size: u64) -> Option<Self> {
        None
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: the range was reserved above, and nothing else uses it.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.size);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_free_addresses_are_reserved() {
        let taken = Box::new(0_u8);
        let page = (&raw const *taken).addr() as u64 & !4095;
        assert!(Reservation::new(page, 4096).is_none());
        // Another thread may be faster to take an address that was free.
        let reserved = (0..100).find_map(|_| {
            // SAFETY: the mapping is new, and unmapped at once.
            let free = unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                let free = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0);
                libc::munmap(free, 4096);
                free.expose_provenance() as u64
            };
            Some((free, Reservation::new(free, 4096)?))
        });
        let (free, reservation) = reserved.unwrap();
        assert_eq!(reservation.start.addr().get() as u64, free);
        assert!(Reservation::new(free, 4096).is_none());
    }
}
