//! A kernel before and after emission.

use std::collections::BTreeSet;

use crate::ir::Legal;
use ptx2spv_target::Feature;

/// A kernel to emit.
#[derive(Clone, Copy, Debug)]
pub struct EmitEntry<'a> {
    /// Name of the entry point.
    pub name: &'a str,
    /// Its body.
    pub function: &'a Legal,
    /// `.reqntid`, the default of the block size's specialization constants where all entries agree on it.
    pub required_block: Option<[u32; 3]>,
}

/// Facts about one entry that emission finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFacts {
    /// Device features that it needs.
    pub features: BTreeSet<Feature>,
    /// Size of its push constant block in bytes: up to the end of the last word that it reads.
    pub push_constant_size: u32,
}
