//! Control-flow graphs as restructuring sees them: numbers of blocks.

use super::tree::MAX_DEPTH;

/// A control-flow graph. A node is a basic block by number; block 0 is the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The terminators of the blocks.
    pub blocks: Vec<Terminator>,
}

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// The thread ends.
    Exit,
    /// Control goes on in another block.
    Goto(u32),
    /// Control goes on in one of two blocks, by a condition that belongs to this block. The same block twice is a [`Terminator::Goto`].
    Branch {
        /// The target if the condition holds.
        then: u32,
        /// The target if the condition doesn't hold.
        otherwise: u32,
    },
}

impl Terminator {
    /// The blocks that may come next: none, one, or two different ones, the `then` first.
    pub(super) fn successors(self) -> impl Iterator<Item = u32> + Clone {
        let (first, second) = match self {
            Self::Exit => (None, None),
            Self::Goto(target) => (Some(target), None),
            Self::Branch { then, otherwise } => (Some(then), (then != otherwise).then_some(otherwise)),
        };
        first.into_iter().chain(second)
    }
}

impl Graph {
    /// The number of blocks, once it is known that there are any and that all targets are among them.
    pub(super) fn checked_len(&self) -> Result<u32, Error> {
        let len = u32::try_from(self.blocks.len()).map_err(|_| Error::TooLarge)?;
        let bad = self.blocks.iter().flat_map(|terminator| terminator.successors()).find(|&target| target >= len);
        match bad {
            Some(target) => Err(Error::Malformed(target)),
            None if len == 0 => Err(Error::Malformed(0)),
            None => Ok(len),
        }
    }
}

/// Why a graph can't be restructured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The tree would be deeper than [`MAX_DEPTH`].
    #[error("control flow is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    /// There are more blocks than numbers for them.
    #[error("the control-flow graph has 2^32 blocks or more")]
    TooLarge,
    /// A terminator names a block that isn't there, or there is none at all.
    #[error("there is no block {0} in the control-flow graph")]
    Malformed(u32),
}
