//! Status records, in which kernels report errors, and the host's checks of them.
//!
//! Launches only register the kernels to check. The records are read when the host waits or reads, and never if no such
//! kernel was launched.

use ptx2spv_translator::interface::{Status, output};

use crate::backend::deadline::Deadline;
use crate::backend::order::{Point, StreamKey};
use crate::backend::report::printf;
use crate::backend::report::{Circumstances, Record, Report};
use crate::backend::vulkan::device::Device;
use crate::backend::vulkan::submit::watched::{Launched, WatchedRecord};
use crate::error::Result;
use crate::sync::lock;

impl Device {
    /// Waits for the kernels launched before a point that may report something, and fails if one of them, or another
    /// kernel of the same modules, has done so.
    pub fn check_status(&self, point: Point, deadline: Deadline) -> Result {
        let mut rest = self.queues.take_watched(point).into_iter();
        while let Some(launched) = rest.next() {
            let report = match self.look_at(&launched, point, deadline) {
                Ok(Some(report)) => report,
                Ok(None) => {
                    // Other kernels of the module may still run.
                    self.queues.watch_again(launched.after(point));
                    continue;
                }
                Err(error) => {
                    // The rest is checked the next time.
                    self.queues.watch_again(std::iter::once(launched).chain(rest));
                    return Err(error);
                }
            };
            let Launched { record, mut kernels, .. } = launched;
            let offset = record.offset(record.record.address);
            self.queues.record(StreamKey::Everything, |recorder| {
                // Kernels launched after the record was read may have reported too, with no effect on the record.
                for kernel in recorder.watched.take(&record) {
                    if !kernels.contains(&kernel) {
                        kernels.push(kernel);
                    }
                }
                // The remaining kernels are checked the next time.
                recorder.watched.extend(rest);
                recorder.follow();
                // SAFETY: the command buffer is being recorded; the record lies in the buffer at a multiple of 4. The
                // buffer is retired through the queue below, in case its module is dropped.
                unsafe {
                    recorder.raw.ash.cmd_fill_buffer(
                        recorder.commands,
                        record.block.buffer,
                        offset,
                        Status::SIZE,
                        Status::FINE,
                    );
                }
                Ok(())
            })?;
            let launched = kernels.clone();
            let circumstances = Circumstances {
                kernels,
                device: &self.raw.name,
                loop_budget: self.loop_budget,
                nearest: &|address| self.live.nearest(&self.blocks, &record.record, &launched, address),
            };
            let error = record.record.reporters.error(&report, circumstances, &mut |at| self.string(&record, at));
            self.queues.retire(record.block);
            return Err(error);
        }
        Ok(())
    }

    /// Waits for the kernels launched before a point that may be stopped. Fails if one was, also if it has ended after the point.
    pub fn settle(&self, before: Point, deadline: Deadline) -> Result {
        let Some(point) = self.queues.unsettled(before)? else { return Ok(()) };
        self.queues.wait(point, deadline)?;
        if self.queues.were_all_fine(point) { Ok(()) } else { self.check_status(point, deadline) }
    }

    /// Reads the output and the report of a module's kernels, if there are any.
    fn look_at(&self, launched: &Launched, point: Point, deadline: Deadline) -> Result<Option<Report>> {
        self.queues.wait(point, deadline)?;
        if !launched.has_news(point)? {
            return Ok(None);
        }
        let record = &launched.record;
        let offset = record.offset(record.record.address);
        // To read output or a report, the device must be idle, so that no kernel changes them meanwhile.
        self.queues.synchronize(deadline)?;
        self.read_output(record)?;
        let mut words = Record::default();
        self.read_block(&record.block, offset, bytemuck::cast_slice_mut(&mut words))?;
        Ok(Report::read(words.map(u32::from_le)))
    }

    /// Reads the output of a module's kernels, and clears it.
    fn read_output(&self, watched: &WatchedRecord) -> Result {
        let WatchedRecord { record, block, .. } = watched;
        let Some(region) = record.output else { return Ok(()) };
        let _printing = lock(&record.printing);
        let offset = watched.offset(region.address);
        let mut first = [0; output::RECORDS as usize];
        self.read_block(block, offset, &mut first)?;
        let used = printf::used(&first, region.size);
        if used == 0 {
            return Ok(());
        }
        // At most the region's size, which is small.
        let mut bytes = vec![0; used as usize];
        self.read_block(block, offset, &mut bytes)?;
        printf::render(&bytes, &mut |at| self.string(watched, at), &mut lock(&self.output));
        self.queues.record(StreamKey::Everything, |recorder| {
            recorder.follow();
            let (buffer, size) = (block.buffer, used.next_multiple_of(4));
            // SAFETY: the command buffer is being recorded; the region lies in the buffer at a multiple of 16 and its
            // size is a multiple of 16. The buffer is retired through the queue when its module is dropped, or below.
            unsafe { recorder.raw.ash.cmd_fill_buffer(recorder.commands, buffer, offset, size, 0) };
            Ok(())
        })?;
        self.queues.retire(block.clone());
        Ok(())
    }

    /// The string at an address in device memory. The module's variables may have been freed already; then only the
    /// watch keeps them.
    fn string(&self, watched: &WatchedRecord, address: u64) -> Option<Vec<u8>> {
        let own = watched.record.variables;
        let read = |at: u64, bytes: &mut [u8]| {
            if at.checked_sub(own.address).is_some_and(|offset| offset < own.size) {
                return self.read_block(&watched.block, watched.offset(at), bytes);
            }
            let (block, offset) = self.block(at)?;
            self.read_block(&block, offset, bytes)
        };
        watched.record.string(address, |at| self.find(at), read)
    }
}
