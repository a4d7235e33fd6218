//! Status words: where kernels report what went wrong, and the host's look at them.
//!
//! Launches only note which kernels are to be looked at. The words are read when the host waits or reads, and never
//! while nothing was launched.

use std::sync::Arc;

use ptx2spv_translator::interface::Status;

use super::device::Device;
use super::memory::Block;
use crate::error::Error;

/// A module's status word.
#[derive(Clone)]
pub(crate) struct StatusWord {
    block: Arc<Block>,
    offset: u64,
}

impl StatusWord {
    /// The word at an offset of a block.
    pub fn new(block: &Arc<Block>, offset: u64) -> Self {
        Self { block: block.clone(), offset }
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.block, &other.block) && self.offset == other.offset
    }
}

/// Kernels that were launched, by module.
#[derive(Default)]
pub(crate) struct Watched(Vec<(StatusWord, Vec<String>)>);

impl Watched {
    /// Adds a kernel, unless it is there already.
    pub fn add(&mut self, word: &StatusWord, kernel: &str) {
        let index = self.0.iter().position(|(other, _)| other.is(word)).unwrap_or_else(|| {
            self.0.push((word.clone(), Vec::new()));
            self.0.len() - 1
        });
        // The index of an entry that was found or pushed just now.
        let kernels = &mut self.0[index].1;
        if !kernels.iter().any(|other| other == kernel) {
            kernels.push(kernel.to_owned());
        }
    }

    /// Takes out the kernels of one module.
    fn take(&mut self, word: &StatusWord) -> Vec<String> {
        match self.0.iter().position(|(other, _)| other.is(word)) {
            Some(index) => self.0.swap_remove(index).1,
            None => Vec::new(),
        }
    }
}

impl Device {
    /// Waits for the kernels launched so far that may report something, and fails if one did.
    pub fn check_status(&self) -> Result<(), Error> {
        let mut rest = self.queue.take_watched().0.into_iter();
        while let Some((word, mut kernels)) = rest.next() {
            let mut bytes = [0; 4];
            self.read(&word.block, word.offset, &mut bytes)?;
            let code = u32::from_le_bytes(bytes);
            if code == Status::FINE {
                continue;
            }
            self.queue.record(|recorder| {
                // Kernels launched since the reading may have reported too, with no effect on the word.
                for kernel in recorder.watched.take(&word) {
                    if !kernels.contains(&kernel) {
                        kernels.push(kernel);
                    }
                }
                // What was not looked at waits for the next time.
                for (word, kernels) in rest {
                    kernels.iter().for_each(|kernel| recorder.watched.add(&word, kernel));
                }
                recorder.barrier();
                // SAFETY: the command buffer is being recorded; the word lies in the buffer at a multiple of 4, and the
                // buffer is retired through the queue below, for the case that its module is gone.
                unsafe {
                    recorder.raw.ash.cmd_fill_buffer(
                        recorder.commands,
                        word.block.buffer,
                        word.offset,
                        4,
                        Status::FINE,
                    );
                }
                Ok(())
            })?;
            self.queue.retire(word.block);
            return Err(Error::Aborted { kernels, reason: self.reason(code) });
        }
        Ok(())
    }

    fn reason(&self, code: u32) -> String {
        match (code, self.loop_budget) {
            (Status::LOOP_CUT_SHORT, Some(rounds)) => {
                format!("the driver of {} ends loops after {rounds} iterations of a thread's loops together", self.name)
            }
            (Status::LOOP_CUT_SHORT, None) => format!("the driver of {} ended a loop early", self.name),
            _ => format!("it reported the unknown status {code}"),
        }
    }
}
