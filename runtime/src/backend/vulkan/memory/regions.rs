//! Recording of copies between buffers.

use ash::vk;

use crate::backend::shape::Shape;
use crate::backend::vulkan::submit::batch::Recorder;

/// Regions of one command: few enough for the stack.
const REGIONS: usize = 64;

/// Records a copy between two offsets of buffers, within both. The buffers live until the commands have finished.
pub(crate) fn copy_regions(
    recorder: &mut Recorder<'_>,
    (from, from_offset): (vk::Buffer, u64),
    (to, to_offset): (vk::Buffer, u64),
    shape: &Shape,
) {
    recorder.follow();
    let mut regions = shape.regions().map(|region| {
        vk::BufferCopy::default()
            .src_offset(from_offset + region.from)
            .dst_offset(to_offset + region.to)
            .size(region.size)
    });
    let mut piece = [vk::BufferCopy::default(); REGIONS];
    loop {
        let count = piece.iter_mut().zip(&mut regions).map(|(place, region)| *place = region).count();
        if count == 0 {
            return;
        }
        // SAFETY: the command buffer is being recorded; the caller guarantees ranges and buffers.
        unsafe { recorder.raw.ash.cmd_copy_buffer(recorder.commands, from, to, &piece[..count]) };
    }
}
