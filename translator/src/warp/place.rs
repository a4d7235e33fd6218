//! Where an invocation's threads stand in their block and warp, computed once at the kernel's start.

use super::choose::WARP;
use crate::interface::{Cluster, Packing};
use crate::ir::{Builder, Builtin, Compare, Value};

/// The places of an invocation's threads, by lane; of warps by group: lanes `g * W` to `g * W + W - 1` belong to one warp,
/// `W` being [`Packing::warp_lanes`].
pub(super) struct Place {
    /// The invocation's number in its subgroup.
    pub(super) invocation: Value,
    /// The number of the threads' block in its cluster.
    pub(super) rank: Value,
    /// The thread's number in its block.
    pub(super) index: Vec<Value>,
    /// `%tid`, by dimension.
    pub(super) tid: [Vec<Value>; 3],
    /// `%laneid`.
    pub(super) lane: Vec<Value>,
    /// `%lanemask_eq`.
    pub(super) bit: Vec<Value>,
    /// Whether the block has such a thread.
    pub(super) exists: Vec<Value>,
    /// The lanes of the warp that the block has, by group.
    pub(super) existing: Vec<Value>,
}

impl Place {
    /// Appends the computation.
    pub(super) fn new(b: &mut Builder<'_>, packing: Packing, cluster: Option<Cluster>) -> Self {
        let (size, lanes, span) = (packing.subgroup_size, packing.lanes, packing.span());
        let invocation = if size == 1 { b.i32(0) } else { b.builtin(Builtin::SubgroupLane) };
        let extent = [0, 1, 2].map(|dimension| b.builtin(Builtin::BlockSize(dimension)));
        let area = b.mul(extent[0], extent[1]);
        let threads = b.mul(area, extent[2]);
        let subgroup = b.builtin(Builtin::SubgroupId);
        let (rank, subgroup) = match cluster {
            None => (b.i32(0), subgroup),
            // Each block has whole subgroups.
            Some(_) => {
                let up = b.add_const(threads, (span - 1).into());
                let own = b.shr(up, span.trailing_zeros());
                (b.div_unsigned(subgroup, own), b.rem_unsigned(subgroup, own))
            }
        };
        let start = b.mul_const(subgroup, span.into());
        let base = b.add(start, invocation);
        let index: Vec<Value> = (0..lanes).map(|lane| b.add_const(base, (lane * size).into())).collect();

        // The sizes are constants to the driver, so that this is one too and what follows may vanish.
        let rest = b.and_const(threads, (span - 1).into());
        let full = b.is_zero(rest);
        let exists = index.iter().map(|&index| {
            let below = b.ult(index, threads);
            b.or(full, below)
        });
        let exists = exists.collect();

        let own = |lane: u32, b: &mut Builder<'_>| {
            if size > WARP {
                b.and_const(invocation, u64::from(WARP - 1))
            } else {
                b.add_const(invocation, u64::from(lane * size % WARP))
            }
        };
        let lane: Vec<Value> = (0..lanes).map(|lane| own(lane, b)).collect();
        let one = b.i32(1);
        let bit = lane.iter().map(|&lane| b.shl_by(one, lane)).collect();
        let existing = index.iter().step_by(packing.warp_lanes() as usize).map(|&index| {
            let first = b.and_const(index, u64::from(!(WARP - 1)));
            existing(b, threads, first, full)
        });
        let existing = existing.collect();

        let flat = b.eq(threads, extent[0]);
        let tid = [
            index
                .iter()
                .map(|&index| {
                    let x = b.rem_unsigned(index, extent[0]);
                    b.select(flat, index, x)
                })
                .collect(),
            index
                .iter()
                .map(|&index| {
                    let y = b.div_unsigned(index, extent[0]);
                    b.rem_unsigned(y, extent[1])
                })
                .collect(),
            index.iter().map(|&index| b.div_unsigned(index, area)).collect(),
        ];
        Self { invocation, rank, index, tid, lane, bit, exists, existing }
    }
}

/// The lanes of the warp that begins at a thread, of a block of so many.
fn existing(b: &mut Builder<'_>, threads: Value, first: Value, full: Value) -> Value {
    let left = b.sub(threads, first);
    let whole = b.compare_const(Compare::LessUnsigned, left, WARP.into());
    let amount = b.and_const(left, u64::from(WARP - 1));
    let one = b.i32(1);
    let above = b.shl_by(one, amount);
    let some = b.sub_const(above, 1);
    let all = b.i32(u32::MAX);
    let zero = b.i32(0);
    let part = b.select(whole, some, all);
    // A subgroup of several warps may have some that the block hasn't.
    let begun = b.ult(first, threads);
    let part = b.select(begun, part, zero);
    b.select(full, all, part)
}
