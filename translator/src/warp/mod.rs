//! Warps of 32 threads on subgroups of any size, and blocks of any size on workgroups: lets invocations carry several threads, and replaces
//! warp operations by subgroup operations.
//!
//! Runs only on kernels with warp operations, or with blocks that don't fit the device; other kernels keep one
//! invocation for each thread. `docs/warps.md` shows the mapping in a picture. In short:
//!
//! * An invocation carries several threads, its *lanes*, so that a warp lies within one subgroup and a block in a workgroup (`choose`,
//!   `positions`). Code that each thread executes for itself is repeated for every lane (`parallel_region`); code that gives the same for
//!   all threads of a subgroup (`uniform`) is executed once.
//! * The whole subgroup executes the control flow around a warp operation or a barrier (`collective`), with an execution mask (`flow`)
//!   unless all its threads decide alike. So all threads of a warp operation are there (`operations`, `shuffle`), even if the driver
//!   doesn't guarantee reconvergence.
//! * Where a whole warp lies in one invocation, regions and operations are loops over its lanes instead (`lane_loop`,
//!   `lane_operations`), which emission writes as calls where a driver has a budget of loop iterations.
//! * In a kernel with barriers but no warp operations, each invocation counts as a subgroup. In a kernel whose threads never synchronize,
//!   an invocation runs its threads one after another (`thread_loop`).

mod arrays;
mod choose;
mod collective;
mod flow;
mod lane_loop;
mod lane_operations;
mod operations;
mod pack;
mod parallel_region;
mod positions;
mod recompute;
mod shuffle;
mod thread_loop;
mod uniform;
mod unpacked;

use crate::diagnostic::ErrorKind;
use crate::index::IndexVec;
use crate::ir::{
    self, Builder, Function, Stmt, Value, Warp, WarpOp, definitions, for_each_stmt, has_collective, has_warp, uses,
};
use crate::opt;
use crate::policy::Workgroups;
pub use choose::Blocks;
use ptx2spv_target::{Cluster, Packing};

use arrays::Arrays;
use flow::{Flow, Loop};
use pack::{Pack, Slot};
use positions::{Positions, ThreadOrder};
use uniform::Uniform;

/// Deepest nesting of control flow that the pass accepts. Each level may become two, and SPIR-V consumers must accept
/// 1,023.
const NESTING: usize = 400;

/// Replaces warp operations and makes `blocks` fit the target. [`Function::packing`] then says how threads lie on invocations, unless each
/// thread is one.
///
/// # Errors
/// [`ErrorKind::Limit`] for control flow that is nested too deeply.
pub fn pack(function: &mut Function, workgroups: &Workgroups, blocks: Blocks) -> Result<(), ErrorKind> {
    let cluster = function.cluster;
    let order = if has_warp(&function.body) {
        ThreadOrder::Warps
    } else {
        // Only warp operations ask which threads have exited.
        function.exited = None;
        ThreadOrder::Rows
    };
    let Some(packing) = packing(function, workgroups, blocks) else {
        unpacked::spread_cluster(function);
        return Ok(());
    };
    if order == ThreadOrder::Rows && cluster.is_none() && !has_collective(&function.body) {
        thread_loop::loop_over_threads(function, packing);
        return Ok(());
    }
    let depth = ir::depth(&function.body);
    if depth > NESTING {
        return Err(ErrorKind::Limit {
            what: "nesting of control flow around barriers and operations of a warp".into(),
            needed: depth as u64,
            available: NESTING as u64,
        });
    }
    // Each lane has local memory of its own, at a different offset, and generic addresses don't tell which lane's.
    opt::expand_generic(function);
    let uniform = Uniform::new(function, packing, order);
    let body = std::mem::take(&mut function.body);
    let local_bytes = function.local_bytes.next_multiple_of(16);
    function.local_bytes = local_bytes.saturating_mul(packing.lanes);
    function.packing = Some(packing);
    let (values, vars) = (function.values.len(), function.vars.len());
    let in_loops = order == ThreadOrder::Warps && packing == Packing { subgroup_size: 1, lanes: choose::WARP };
    let arrays = Arrays::new(&body, function.local_bytes);
    let b = Builder::new(function);
    let mut pack = Pack {
        positions: Positions::new(&b, packing, order, cluster, if in_loops { 1 } else { packing.lanes }),
        in_loops,
        arrays,
        uses: uses(&body, values),
        definitions: definitions(&body, values),
        values: IndexVec::filled(Slot::None, values),
        vars: IndexVec::filled(Vec::new(), vars),
        local_bytes,
        at: None,
        expected: Vec::new(),
        b,
        packing,
        uniform,
    };
    pack.list(&body, &Flow::All, &Loop::None);
    let Pack { b, arrays, .. } = pack;
    b.finish();
    arrays.clear(function);
    function.exited = None;
    Ok(())
}

/// The mapping of a function's threads to invocations by [`pack`]; `None` if each thread is an invocation.
fn packing(function: &Function, workgroups: &Workgroups, blocks: Blocks) -> Option<Packing> {
    let count = function.cluster.map_or(1, Cluster::blocks);
    if has_warp(&function.body) {
        Some(choose::for_warps(workgroups, blocks, count, distant_shuffles(function)))
    } else {
        choose::for_threads(workgroups, blocks, count)
    }
}

/// The number of a function's threads that [`pack`] lays on an invocation.
pub fn lanes(function: &Function, workgroups: &Workgroups, blocks: Blocks) -> u32 {
    packing(function, workgroups, blocks).map_or(1, |packing| packing.lanes)
}

/// Whether [`pack`] maps each warp of a function with warp operations to a subgroup of 32 invocations.
pub fn are_lanes_invocations(function: &Function, workgroups: &Workgroups, blocks: Blocks) -> bool {
    let count = function.cluster.map_or(1, Cluster::blocks);
    let packing = choose::for_warps(workgroups, blocks, count, distant_shuffles(function));
    packing == Packing { subgroup_size: choose::WARP, lanes: 1 }
}

/// The number of shuffles whose lanes may differ from thread to thread.
fn distant_shuffles(function: &Function) -> usize {
    let constants = function.constants();
    let is_constant = |value: Value| constants.at(value).is_some_and(Option::is_some);
    let mut count = 0;
    for_each_stmt(&function.body, |stmt| {
        if let Stmt::Warp(Warp { op: WarpOp::Shuffle { lane, clamp, .. }, .. }) = stmt {
            count += usize::from(!is_constant(*lane) || !is_constant(*clamp));
        }
    });
    count
}
