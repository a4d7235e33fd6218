//! Page-locked host memory.

use std::ffi::c_void;
use std::ptr;

use super::context::Context;
use super::error::CudaError;

/// Page-locked host memory, which the device can copy directly.
pub struct Pinned<'c> {
    context: &'c Context,
    pointer: *mut u8,
    len: usize,
}

impl Context {
    /// Allocates zeroed page-locked memory.
    pub fn alloc_pinned(&self, bytes: usize) -> Result<Pinned<'_>, CudaError> {
        let len = bytes.max(1);
        let mut pointer: *mut c_void = ptr::null_mut();
        // SAFETY: the pointer is to a live variable.
        unsafe { self.api.cuMemHostAlloc(&mut pointer, len, 0) }?;
        let pointer = pointer.cast::<u8>();
        // SAFETY: `len` bytes have been allocated there.
        unsafe { pointer.write_bytes(0, len) };
        Ok(Pinned { context: self, pointer, len })
    }
}

impl Pinned<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory has `len` initialized bytes, and copies to it are waited for.
        unsafe { std::slice::from_raw_parts(self.pointer, self.len) }
    }

    /// The bytes, mutably.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.len) }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        // SAFETY: the pointer is from `cuMemHostAlloc` and is freed once. An error can only be an earlier kernel's.
        unsafe { (self.context.api.cuMemFreeHost)(self.pointer.cast()) };
    }
}
