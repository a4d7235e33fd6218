//! Clusters of thread blocks: here each block is one of its own. `mapa` and `getctarank` (PTX sections 9.7.9.22 and 23).

use super::{Lowering, Result};
use crate::decode::program::Instruction;
use crate::decode::types::ScalarType;

/// `mapa`: the only block that the address can be mapped to is the thread's own.
pub fn map_address(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.modifiers.ty(0);
    let address = l.int(i, 1, ty)?;
    l.set(i, 0, ty, address)
}

/// `getctarank`: the only block has number 0.
pub fn rank(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let rank = l.b.i32(0);
    l.set(i, 0, ScalarType::U32, rank)
}
