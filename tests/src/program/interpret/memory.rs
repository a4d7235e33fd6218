//! Memory with race detection.

use super::Invalid;
use crate::program::collective::gather;
use crate::program::{GATHERED, Gather};

pub(super) struct Memory {
    pub(super) words: Vec<Word>,
    /// Number of barriers that the block has passed.
    pub(super) phase: usize,
    pub(super) gathered: [u32; GATHERED],
    /// The phase of the last atomic on each word.
    pub(super) gathered_in: [Option<usize>; GATHERED],
    /// The phase of the last read of each word.
    pub(super) read_in: [Option<usize>; GATHERED],
    pub(super) global: Vec<u32>,
}

/// A word of shared memory, with its last accesses as phase and thread.
#[derive(Clone, Default)]
pub(super) struct Word {
    value: u32,
    written: Option<(usize, u32)>,
    read: Option<(usize, u32)>,
}

impl Memory {
    pub(super) fn write(&mut self, thread: u32, value: u32) -> Result<(), Invalid> {
        let word = &mut self.words[thread as usize];
        if word.read.is_some_and(|(phase, reader)| phase == self.phase && reader != thread) {
            return Err(Invalid::Race);
        }
        word.value = value;
        word.written = Some((self.phase, thread));
        Ok(())
    }

    pub(super) fn read(&mut self, thread: u32, from: u32) -> Result<u32, Invalid> {
        let threads = self.words.len() as u32;
        let word = &mut self.words[(from % threads) as usize];
        if word.written.is_some_and(|(phase, writer)| phase == self.phase && writer != thread) {
            return Err(Invalid::Race);
        }
        // Only a word's own thread writes it, so of several readers only another thread matters.
        if from % threads != thread || word.read.is_none_or(|(phase, _)| phase != self.phase) {
            word.read = Some((self.phase, thread));
        }
        Ok(word.value)
    }

    pub(super) fn gather(&mut self, word: usize, shared: bool, value: u32) -> Result<(), Invalid> {
        let how = Gather::OF[word];
        if !shared {
            self.global[word] = gather(how, self.global[word], value);
            return Ok(());
        }
        self.gathered_in[word] = Some(self.phase);
        self.gathered[word] = gather(how, self.gathered[word], value);
        if self.read_in[word] == Some(self.phase) { Err(Invalid::Race) } else { Ok(()) }
    }

    pub(super) fn gathered(&mut self, word: usize) -> Result<u32, Invalid> {
        self.read_in[word] = Some(self.phase);
        if self.gathered_in[word] == Some(self.phase) { Err(Invalid::Race) } else { Ok(self.gathered[word]) }
    }
}
