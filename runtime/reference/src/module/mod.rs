//! A SPIR-V module as read from its words: types, constants, decorations, functions.

use crate::finding::Refusal;

/// A module.
#[derive(Debug)]
pub(crate) struct Module {}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    /// It is malformed.
    pub fn parse(words: &[u32]) -> Result<Self, Refusal> {
        todo!()
    }

    /// The instruction that begins at a word, disassembled in one line.
    pub fn disassemble(&self, word: u32) -> String {
        todo!()
    }
}
