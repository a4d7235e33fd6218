//! Clusters of blocks in kernels without warp operations, where each thread is an invocation: the thread's block in the
//! workgroup, and its position there.

use crate::ir::{Builder, Builtin, Function, Op, rewrite_ops};

/// Replaces a thread's position in its block, and the block's rank in its cluster, by computations for a workgroup that is a whole cluster.
/// Functions for single blocks don't change: the device has their positions.
pub(super) fn spread_cluster(function: &mut Function) {
    if function.cluster.is_none() {
        return;
    }
    let b = Builder::new(function);
    let extent = [0, 1, 2].map(|dimension| b.builtin(Builtin::BlockSize(dimension)));
    let area = b.mul(extent[0], extent[1]);
    let threads = b.mul(area, extent[2]);
    let invocation = b.builtin(Builtin::InvocationIndex);
    let rank = b.div_unsigned(invocation, threads);
    let index = b.rem_unsigned(invocation, threads);
    let x = b.rem_unsigned(index, extent[0]);
    let row = b.div_unsigned(index, extent[0]);
    let y = b.rem_unsigned(row, extent[1]);
    let z = b.div_unsigned(index, area);
    let mut head = b.into_block();

    rewrite_ops(function, |_, _, op| match op {
        Op::Builtin(Builtin::ClusterRank) => Some(rank),
        Op::Builtin(Builtin::ThreadIndex) => Some(index),
        Op::Builtin(Builtin::ThreadId(0)) => Some(x),
        Op::Builtin(Builtin::ThreadId(1)) => Some(y),
        Op::Builtin(Builtin::ThreadId(_)) => Some(z),
        _ => None,
    });
    head.append(&mut function.body);
    function.body = head;
}
