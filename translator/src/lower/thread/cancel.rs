//! `clusterlaunchcontrol` (PTX section 9.7.13.16): takes over the work of a cluster that has not been launched yet. All clusters of a grid
//! count as launched here, so no request finds one, as PTX allows at any time.
//!
//! A response is 16 bytes, which only these instructions read: whether a cluster was cancelled, then the numbers of its first block.

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, MemoryOrder, Space};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::Lowering;
use crate::lower::memory::mbarrier::{self, shared_address};

/// `clusterlaunchcontrol.try_cancel`: stores the response that there was none.
pub fn try_cancel(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let address = shared_address(l, i, 0)?;
    let barrier = shared_address(l, i, 1)?;
    let access = Access { space: Space::Shared, bytes: 4, order: MemoryOrder::Weak, read_only: false };
    l.b.store(access, address, vec![l.b.i32(0); 4]);
    mbarrier::complete(l, barrier, l.b.i32(16));
    Ok(())
}

/// `clusterlaunchcontrol.query_cancel.is_canceled`
pub fn is_canceled(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let [low, _] = l.source128(l.operand(i, 1))?;
    l.set(i, 0, ScalarType::Pred, l.b.is_nonzero(l.b.truncate(low)))
}

/// `clusterlaunchcontrol.query_cancel.get_first_ctaid`
pub fn first_canceled(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let [low, high] = l.source128(l.operand(i, 1))?;
    let (_, x) = l.b.halves(low);
    let (y, z) = l.b.halves(high);
    let has = |word| i.modifiers.has(word);
    match l.operand(i, 0) {
        Operand::Vector(destinations) => {
            let zero = l.b.i32(0);
            let numbers = [x, y, z, zero];
            destinations.iter().zip(numbers).try_for_each(|(to, number)| l.assign(to, ScalarType::B32, number))
        }
        _ if has(Word::GetFirstCtaidX) => l.set(i, 0, ScalarType::B32, x),
        _ if has(Word::GetFirstCtaidY) => l.set(i, 0, ScalarType::B32, y),
        _ if has(Word::GetFirstCtaidZ) => l.set(i, 0, ScalarType::B32, z),
        _ => Err(Diagnostic::internal("a block's number without its dimension", i.span)),
    }
}
