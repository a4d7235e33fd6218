//! What the host reads after a batch, copied for it by the batch.

use ash::vk;

/// Words of device memory that are copied to host memory at a batch's end, so that a wait for the batch needs no further
/// submission to read them.
#[derive(Clone, Copy)]
pub(crate) struct Mirrored {
    pub from: vk::Buffer,
    pub to: vk::Buffer,
    pub status: vk::BufferCopy,
    pub output: Option<vk::BufferCopy>,
}

impl Mirrored {
    /// Whether both have the same place in host memory.
    pub fn is(&self, other: &Self) -> bool {
        self.to == other.to && self.status.dst_offset == other.status.dst_offset
    }
}
