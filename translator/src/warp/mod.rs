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

mod choose;
mod collective;
mod flow;
mod lane_loop;
mod lane_operations;
mod operations;
mod parallel_region;
mod positions;
mod shuffle;
mod thread_loop;
mod uniform;
mod unpacked;

use crate::diagnostic::{ErrorKind, Span};
use crate::ir::{self, Block, Builder, Function, Stmt, Type, Value, Var, bits_type};
use crate::legalize;
use crate::policy::Workgroups;
use crate::target::{Cluster, Packing};
pub use choose::Blocks;
pub(crate) use collective::has_warp;

use flow::{Flow, Loop};
use lane_loop::{Array, Arrays};
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
    let count = cluster.map_or(1, Cluster::blocks);
    let (packing, order) = if collective::has_warp(&function.body) {
        (choose::for_warps(workgroups, blocks, count), ThreadOrder::Warps)
    } else {
        // Only warp operations ask which threads have exited.
        function.exited = None;
        match choose::for_threads(workgroups, blocks, count) {
            Some(packing) => (packing, ThreadOrder::Rows),
            None => {
                unpacked::spread_cluster(function);
                return Ok(());
            }
        }
    };
    if order == ThreadOrder::Rows && cluster.is_none() && !collective::has_synchronization(&function.body) {
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
    legalize::expand_generic(function);
    let uniform = Uniform::new(function, packing, order);
    let body = std::mem::take(&mut function.body);
    let local_bytes = function.local_bytes.next_multiple_of(16);
    function.local_bytes = local_bytes.saturating_mul(packing.lanes);
    function.packing = Some(packing);
    let (values, vars) = (function.values.len(), function.vars.len());
    let in_loops = order == ThreadOrder::Warps && packing == Packing { subgroup_size: 1, lanes: choose::WARP };
    let arrays = Arrays::new(&body, function.local_bytes);
    let mut b = Builder::new(function);
    let mut pack = Pack {
        positions: Positions::new(&mut b, packing, order, cluster, if in_loops { 1 } else { packing.lanes }),
        in_loops,
        arrays,
        uses: parallel_region::uses(&body, values),
        values: vec![Slot::None; values],
        vars: vec![Vec::new(); vars],
        local_bytes,
        at: None,
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

/// A function under reconstruction.
struct Pack<'f> {
    b: Builder<'f>,
    packing: Packing,
    uniform: Uniform,
    positions: Positions,
    /// Whether regions and operations are loops over the lanes.
    in_loops: bool,
    /// Arrays of values that differ from lane to lane, for such loops.
    arrays: Arrays,
    /// Where each value of the old function is.
    values: Vec<Slot>,
    /// The variables, by lane, that stand for each variable of the old function that may differ between threads.
    vars: Vec<Vec<Var>>,
    /// How often each value of the old function is used.
    uses: Vec<u32>,
    /// Bytes of local memory of one lane.
    local_bytes: u32,
    /// The source mark at the current place of the old function.
    at: Option<Span>,
}

/// The lane for which statements are appended.
#[derive(Clone, Copy)]
enum Lane {
    /// A lane by its number.
    Known(usize),
    /// The current lane of a loop over all lanes.
    Present(Value),
}

/// Where a value of the old function is.
#[derive(Clone, Debug)]
enum Slot {
    /// Not defined yet, or only within a parallel region.
    None,
    /// The same for all lanes.
    Same(Value),
    /// A value for each lane.
    Each(Vec<Value>),
    /// In variables, one for each lane, since it was computed under a condition.
    Stored(Vec<Var>),
    /// In an array for loops over the lanes.
    Array(Array),
}

impl Pack<'_> {
    fn lane_count(&self) -> usize {
        self.packing.lanes as usize
    }

    /// The group of lanes, all of one warp, that a lane belongs to.
    fn group(&self, lane: usize) -> usize {
        lane / self.packing.warp_lanes() as usize
    }

    /// The variable of a lane that stands for one of the old function.
    fn var(&mut self, var: Var, lane: usize) -> Var {
        if self.uniform.var(var) {
            return var;
        }
        let ty = self.b.function.var_type(var);
        let lanes = self.lane_count();
        let Some(vars) = self.vars.get_mut(var.0 as usize) else { return var };
        if vars.is_empty() {
            vars.push(var);
            vars.extend((1..lanes).map(|_| self.b.function.var(ty)));
        }
        vars.get(lane).copied().unwrap_or(var)
    }

    /// The values that the lanes have here for a value of the old function.
    fn lanes(&mut self, value: Value) -> Vec<Value> {
        let slot = self.values.get(value.0 as usize).cloned().unwrap_or(Slot::None);
        let ty = self.b.type_of(value);
        match slot {
            // Unreachable: the verifier has checked that definitions come before uses.
            Slot::None => vec![value; self.lane_count()],
            Slot::Same(same) => vec![same; self.lane_count()],
            Slot::Each(values) => values,
            Slot::Stored(vars) => vars.into_iter().map(|var| self.stored(var, ty)).collect(),
            Slot::Array(array) => {
                let element = |number| {
                    let lane = self.b.i32(number);
                    self.element(array, lane, ty)
                };
                (0..choose::WARP).map(element).collect()
            }
        }
    }

    /// The content of a variable that holds the bits of a value of some type.
    fn stored(&mut self, var: Var, ty: Type) -> Value {
        let bits = self.b.get(var);
        self.b.bitcast(bits, ty)
    }

    /// The new function's value for a value that is the same for all lanes.
    fn same(&mut self, value: Value) -> Value {
        self.lanes(value).first().copied().unwrap_or(value)
    }

    fn set_slot(&mut self, value: Value, slot: Slot) {
        if let Some(entry) = self.values.get_mut(value.0 as usize) {
            *entry = slot;
        }
    }

    /// Marks what follows in the new function with the current source position of the old function.
    fn mark(&mut self) {
        if self.at.is_some() {
            self.b.push(Stmt::At(self.at));
        }
    }

    /// A variable for each lane's value.
    fn storage(&mut self, value: Value) -> Vec<Var> {
        let ty = bits_type(self.b.type_of(value));
        (0..self.lane_count()).map(|_| self.b.var(ty)).collect()
    }
}

/// A list of statements of the old function.
type Old = Block;
