//! The positions of an invocation's threads in their block and warp, computed at the kernel's start.

use super::choose::WARP;
use crate::ir::{Builder, Builtin, Compare, Value};
use ptx2spv_target::{Cluster, Packing};

/// The order in which invocations take threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadOrder {
    /// Thread `g * S * L + l * S + s` is lane `l` of invocation `s` of subgroup `g`: warps stay together.
    Warps,
    /// Thread `l * W + i` is lane `l` of invocation `i` of a workgroup of `W`: neighbours access memory together.
    Rows,
}

/// The positions of an invocation's threads by lane, and of warps by group. Lanes `g * W` to `g * W + W - 1` belong to one warp, where `W`
/// is [`Packing::warp_lanes`].
pub(super) struct Positions {
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
    /// The number of the thread's warp in its block, where it follows from the subgroup's.
    pub(super) warp: Vec<Value>,
    /// `%lanemask_eq`.
    pub(super) bit: Vec<Value>,
    /// Whether the block has this thread.
    pub(super) exists: Vec<Value>,
    /// The lanes of the warp that the block has, by group.
    pub(super) existing: Vec<Value>,
    /// The block's size.
    pub(super) extent: Extent,
}

impl Positions {
    /// Appends the computation. `order` says which threads an invocation has; `listed` is the number of lanes to
    /// compute positions for.
    pub(super) fn new(
        b: &Builder<'_>,
        packing: Packing,
        order: ThreadOrder,
        cluster: Option<Cluster>,
        listed: u32,
    ) -> Self {
        let (size, lanes, span) = (packing.subgroup_size, packing.lanes, packing.span());
        let extent = Extent::new(b);
        let threads = extent.threads;
        let invocation = if size == 1 { b.i32(0) } else { b.builtin(Builtin::SubgroupLane) };
        let (rank, index, warp) = match order {
            ThreadOrder::Warps => {
                // An invocation counts as a subgroup where the device's subgroups don't matter.
                let subgroup = b.builtin(if size == 1 { Builtin::InvocationIndex } else { Builtin::SubgroupId });
                // Each block of a cluster has whole subgroups.
                let own = b.shr(b.add_const(threads, (span - 1).into()), span.trailing_zeros());
                let (rank, subgroup) = divided(b, subgroup, own, cluster);
                let base = b.add(b.mul_const(subgroup, span.into()), invocation);
                let index = (0..listed).map(|lane| b.add_const(base, (lane * size).into())).collect();
                let warp = if size > WARP {
                    Vec::new()
                } else {
                    let first = b.mul_const(subgroup, (span / WARP).into());
                    (0..listed).map(|lane| b.add_const(first, (lane * size / WARP).into())).collect()
                };
                (rank, index, warp)
            }
            ThreadOrder::Rows => {
                let all = b.builtin(Builtin::InvocationIndex);
                let row = extent.row(b, lanes);
                let (rank, base) = divided(b, all, row, cluster);
                let index = |lane: u32| b.add(base, b.mul_const(row, lane.into()));
                (rank, (0..listed).map(index).collect::<Vec<Value>>(), Vec::new())
            }
        };
        // The sizes are constants to the driver, so this value is one too, and the code below may fold away.
        let full = b.is_zero(b.and_const(threads, (span - 1).into()));
        let exists = index.iter().map(|&index| b.or(full, b.ult(index, threads)));
        let exists: Vec<Value> = exists.collect();

        let own = |lane: u32, b: &Builder<'_>| {
            if size > WARP {
                b.and_const(invocation, u64::from(WARP - 1))
            } else {
                b.add_const(invocation, u64::from(lane * size % WARP))
            }
        };
        let lane: Vec<Value> = (0..listed).map(|lane| own(lane, b)).collect();
        let one = b.i32(1);
        let bit = lane.iter().map(|&lane| b.shl_by(one, lane)).collect();
        let existing = match order {
            ThreadOrder::Warps => {
                let groups = index.iter().step_by(packing.warp_lanes() as usize);
                let groups =
                    groups.map(|&index| existing(b, threads, b.and_const(index, u64::from(!(WARP - 1))), full));
                groups.collect()
            }
            ThreadOrder::Rows => {
                let zero = b.i32(0);
                let bits: Vec<Value> =
                    exists.iter().zip(&bit).map(|(&exists, &bit)| b.select(exists, bit, zero)).collect();
                let groups = bits.chunks(packing.warp_lanes() as usize);
                groups.map(|bits| bits.iter().fold(zero, |joined, &bit| b.or(joined, bit))).collect()
            }
        };
        let mut tid = [Vec::new(), Vec::new(), Vec::new()];
        for &index in &index {
            for (list, value) in tid.iter_mut().zip(extent.tid(b, index)) {
                list.push(value);
            }
        }
        Self { invocation, rank, index, tid, lane, warp, bit, exists, existing, extent }
    }

    /// The number in its block of a lane's thread, where all threads of a warp are in one invocation.
    pub(super) fn index_at(&self, b: &Builder<'_>, lane: Value) -> Value {
        b.add(self.first_index(), lane)
    }

    /// The number in its block of the thread of an invocation's first lane.
    pub(super) fn first_index(&self) -> Value {
        self.index.first().copied().unwrap_or(self.invocation)
    }
}

/// Divides a number in the workgroup into the block of the cluster and the number in that block, where each block has `of_block`.
fn divided(b: &Builder<'_>, number: Value, of_block: Value, cluster: Option<Cluster>) -> (Value, Value) {
    match cluster {
        Some(_) => (b.div_unsigned(number, of_block), b.rem_unsigned(number, of_block)),
        None => (b.i32(0), number),
    }
}

/// The block's size.
pub(super) struct Extent {
    size: [Value; 3],
    area: Value,
    /// Threads of the block.
    pub(super) threads: Value,
    /// Whether the block is one row.
    pub(super) flat: Value,
}

impl Extent {
    pub(super) fn new(b: &Builder<'_>) -> Self {
        let size = [0, 1, 2].map(|dimension| b.builtin(Builtin::BlockSize(dimension)));
        let area = b.mul(size[0], size[1]);
        let threads = b.mul(area, size[2]);
        let flat = b.eq(threads, size[0]);
        Self { size, area, threads, flat }
    }

    /// Invocations of the workgroup where each carries `lanes` threads, a power of two.
    pub(super) fn row(&self, b: &Builder<'_>, lanes: u32) -> Value {
        b.shr(b.add_const(self.threads, (lanes - 1).into()), lanes.trailing_zeros())
    }

    /// `%tid` of a thread by its number in the block.
    pub(super) fn tid(&self, b: &Builder<'_>, index: Value) -> [Value; 3] {
        let [width, height, _] = self.size;
        let x = b.select(self.flat, index, b.rem_unsigned(index, width));
        let row = b.div_unsigned(index, width);
        let y = b.rem_unsigned(row, height);
        [x, y, b.div_unsigned(index, self.area)]
    }
}

/// The mask of existing lanes of the warp that begins at thread `first`, in a block of `threads`.
fn existing(b: &Builder<'_>, threads: Value, first: Value, full: Value) -> Value {
    let left = b.sub(threads, first);
    let whole = b.compare_const(Compare::LessUnsigned, left, WARP.into());
    let amount = b.and_const(left, u64::from(WARP - 1));
    let above = b.shl_by(b.i32(1), amount);
    let some = b.sub_const(above, 1);
    let all = b.i32(u32::MAX);
    let zero = b.i32(0);
    let part = b.select(whole, some, all);
    // A subgroup of several warps may have warps that don't exist in the block.
    let begun = b.ult(first, threads);
    b.select(full, all, b.select(begun, part, zero))
}
