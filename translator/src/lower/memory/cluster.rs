//! Clusters of thread blocks, where each cluster is one workgroup: block ranks, and shared memory (PTX sections 9.7.9.13, 9.7.9.22,
//! 9.7.9.23, 9.7.12.7 and 10).
//!
//! The shared memory of a cluster is that of its blocks, one after the other. Every address of shared memory counts from the start of the
//! first block's. So an address in a block's own shared memory is also an address in the cluster's, as PTX requires, and accesses need
//! not know which block's memory they reach.

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Binary, Builder, Builtin, Compare, Stmt, Type, Value};
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;
use ptx2spv_target::Cluster;

/// Bytes from the start of one block's shared memory to the start of the next block's; `None` if clusters are single
/// blocks.
fn share(b: &Builder<'_>) -> Option<Value> {
    let cluster = b.function(|function| function.cluster)?;
    if b.function(|function| function.dynamic_shared) {
        let all = b.builtin(Builtin::SharedBytes);
        return Some(b.binary_const(Binary::DivUnsigned, all, cluster.blocks().into()));
    }
    Some(b.constant(Type::I32, cluster.share(b.function(|function| function.shared_bytes), 0)))
}

/// The end of a cluster's shared memory; `None` if clusters are single blocks.
pub fn end(b: &Builder<'_>) -> Option<Value> {
    let share = share(b)?;
    let blocks = b.function(|function| function.cluster).map_or(1, Cluster::blocks);
    Some(b.binary_const(Binary::Mul, share, blocks.into()))
}

/// The address of a byte of the block's own shared memory.
pub fn own_address(b: &Builder<'_>, byte: u32) -> Value {
    let Some(share) = share(b) else { return b.i32(byte) };
    b.add_const(b.mul(b.cluster_rank(), share), byte.into())
}

/// The number of the block in whose shared memory an offset lies.
fn rank_of(b: &Builder<'_>, address: Value) -> Value {
    match share(b) {
        Some(share) => b.div_unsigned(address, share),
        None => b.i32(0),
    }
}

/// Whether an address, as programs see addresses, lies in the block's own shared memory.
pub fn is_own(b: &Builder<'_>, address: Value) -> Value {
    let (rank, own) = (rank_of(b, b.shared_offset(address)), b.cluster_rank());
    b.compare(Compare::Equal, rank, own)
}

/// The same offset as `address` in the shared memory of the block with number `rank`. All addresses are offsets in
/// `I32`.
pub fn map(b: &Builder<'_>, address: Value, rank: Value) -> Value {
    let Some(share) = share(b) else { return address };
    let offset = b.rem_unsigned(address, share);
    b.add(b.mul(rank, share), offset)
}

/// The block whose mbarrier counts the bytes that are copied to a block.
#[derive(Clone, Copy)]
pub enum Barrier {
    /// The block's own.
    Own,
    /// The mbarrier of the even or of the odd block in its pair, as the given mbarrier's block is.
    OfPair,
}

/// Runs something for each block of the cluster whose bit a mask has, with the same places in shared memory as an address and an
/// mbarrier.
pub fn multicast(
    l: &mut Lowering<'_, '_>,
    mask: Value,
    address: Value,
    (barrier, of): (Value, Barrier),
    each: impl Fn(&mut Lowering<'_, '_>, [Value; 2]),
) {
    for number in 0..l.b.function(|function| function.cluster).map_or(1, Cluster::blocks) {
        let wanted = l.b.is_nonzero(l.b.and_const(mask, 1 << number));
        let outer = l.b.take_block();
        let rank = l.b.i32(number);
        let there = map(&l.b, address, rank);
        let counting = match of {
            Barrier::Own => rank,
            Barrier::OfPair => {
                let given = rank_of(&l.b, barrier);
                l.b.add_const(l.b.and_const(given, 1), u64::from(number & !1))
            }
        };
        let barrier = map(&l.b, barrier, counting);
        each(l, [there, barrier]);
        let then = l.b.replace_block(outer);
        l.b.push(Stmt::If { condition: wanted, then, otherwise: Vec::new() });
    }
}

/// The address of shared memory of a block that the cluster doesn't have: far from all blocks' memory.
const NOWHERE: u64 = 1 << 31;

/// `mapa`
pub fn map_address(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let address = l.int(i, 1, ty)?;
    let rank = l.int(i, 2, ScalarType::U32)?;
    let low = l.narrow(address);
    let mapped = l.b.add_const(map(&l.b, l.b.shared_offset(low), rank), l.layout.shared_start.into());
    let blocks = l.b.function(|function| function.cluster).map_or(1, Cluster::blocks);
    let is_block = l.b.compare_const(Compare::LessUnsigned, rank, blocks.into());
    let mapped = l.b.select(is_block, mapped, l.b.constant(Type::I32, NOWHERE));
    let mapped =
        if ty.bits() == 64 { l.b.or(l.b.and_const(address, u64::MAX << 32), l.b.zero_extend(mapped)) } else { mapped };
    l.set(i, 0, ty, mapped)
}

/// `getctarank`
pub fn rank(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let address = l.int(i, 1, i.ty(0)?)?;
    let low = l.narrow(address);
    l.set(i, 0, ScalarType::U32, rank_of(&l.b, l.b.shared_offset(low)))
}
