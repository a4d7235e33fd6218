//! Warps of 32 threads on subgroups of any size: replaces the operations of a warp by those of a subgroup.
//!
//! Runs only on kernels that have such operations; others keep one invocation for each thread. `docs/warps.md` shows the
//! mapping in a picture. In short:
//!
//! * An invocation carries several threads, its *lanes*, so that a warp lies within one subgroup (`choose`, `place`). What
//!   each thread does for itself is repeated for every lane (`segment`); what is the same for all threads of a subgroup
//!   (`uniform`) is done once.
//! * Control flow around an operation of a warp or a barrier (`collective`) is executed by the whole subgroup, with a mask
//!   that says for which threads (`flow`), unless all of them decide alike. So an operation of a warp finds all its threads
//!   (`operations`, `shuffle`), whatever the driver knows of reconvergence.

mod choose;
mod collective;
mod flow;
mod operations;
mod place;
mod segment;
mod shuffle;
mod uniform;
mod unpacked;

use crate::diagnostic::{ErrorKind, Span};
use crate::interface::{Cluster, Packing};
use crate::ir::{Block, Builder, Function, Stmt, Type, Value, Var, bits_type};
use crate::legalise;
use crate::target::Target;
pub(crate) use collective::has_warp;

use flow::{Flow, Loop};
use place::Place;
use uniform::Uniform;

/// Deepest nesting of control flow that is taken on: each level may become two, of the 1,023 that SPIR-V consumers must
/// accept.
const NESTING: usize = 400;

/// CUDA's limit for the threads of a block.
const MAX_THREADS: u32 = 1024;

/// Replaces the operations of a warp in a function that has some, and then says in [`Function::packing`] how threads lie
/// on subgroups. Blocks have at most `threads` threads, if that is known.
///
/// # Errors
/// [`ErrorKind::MissingFeature`] and [`ErrorKind::Unsupported`] where the target's subgroups don't serve, and
/// [`ErrorKind::Limit`] for control flow that is nested too deep.
pub fn replace_warps(function: &mut Function, target: &Target, threads: Option<u32>) -> Result<(), ErrorKind> {
    if !collective::has_warp(&function.body) {
        unpacked::spread_cluster(function);
        return Ok(());
    }
    let depth = collective::depth(&function.body);
    if depth > NESTING {
        return Err(ErrorKind::Limit {
            what: "nesting of control flow around operations of a warp".into(),
            needed: depth as u64,
            available: NESTING as u64,
        });
    }
    let blocks = function.cluster.map_or(1, Cluster::blocks);
    let packing = match threads {
        Some(threads) => choose::choose(target, threads.clamp(1, MAX_THREADS), blocks)?,
        // Blocks of clusters are taken to be small.
        None => choose::choose(target, MAX_THREADS, 1)?,
    };
    // Each lane has local memory of its own, at another offset; addresses don't tell whose.
    legalise::expand_generic(function);
    let uniform = Uniform::new(function, packing);
    let body = std::mem::take(&mut function.body);
    let local_bytes = function.local_bytes.next_multiple_of(16);
    function.local_bytes = local_bytes.saturating_mul(packing.lanes);
    function.packing = Some(packing);
    let cluster = function.cluster;
    let (values, vars) = (function.values.len(), function.vars.len());
    let mut b = Builder::new(function);
    let mut pack = Pack {
        place: Place::new(&mut b, packing, cluster),
        uses: segment::uses(&body, values),
        values: vec![Slot::None; values],
        vars: vec![Vec::new(); vars],
        local_bytes,
        at: Span::default(),
        b,
        packing,
        uniform,
    };
    pack.list(&body, &Flow::All, &Loop::None);
    pack.b.finish();
    function.exited = None;
    Ok(())
}

/// A function under reconstruction.
struct Pack<'f> {
    b: Builder<'f>,
    packing: Packing,
    uniform: Uniform,
    place: Place,
    /// Where each value of the old function is.
    values: Vec<Slot>,
    /// The variables that stand for each of the old function's that threads may differ in, by lane.
    vars: Vec<Vec<Var>>,
    /// How often each value of the old function is used.
    uses: Vec<u32>,
    /// Bytes of local memory of one lane.
    local_bytes: u32,
    /// The mark that holds at the present place of the old function.
    at: Span,
}

/// Where a value of the old function is.
#[derive(Clone, Debug)]
enum Slot {
    /// Not defined yet, or only within a segment.
    None,
    /// The same for all lanes.
    Same(Value),
    /// One for each lane.
    Each(Vec<Value>),
    /// In variables, one for each lane: it was computed under a condition.
    Stored(Vec<Var>),
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

    /// What a value of the old function is for each lane, here.
    fn lanes(&mut self, value: Value) -> Vec<Value> {
        let slot = self.values.get(value.0 as usize).cloned().unwrap_or(Slot::None);
        let ty = self.b.type_of(value);
        match slot {
            // Not before its definition, which the verifier has seen to.
            Slot::None => vec![value; self.lane_count()],
            Slot::Same(same) => vec![same; self.lane_count()],
            Slot::Each(values) => values,
            Slot::Stored(vars) => vars.into_iter().map(|var| self.stored(var, ty)).collect(),
        }
    }

    /// The content of a variable that holds the bits of a value of some type.
    fn stored(&mut self, var: Var, ty: Type) -> Value {
        let bits = self.b.get(var);
        self.b.bitcast(bits, ty)
    }

    /// What a value that is the same for all lanes is, here.
    fn same(&mut self, value: Value) -> Value {
        self.lanes(value).first().copied().unwrap_or(value)
    }

    fn set_slot(&mut self, value: Value, slot: Slot) {
        if let Some(entry) = self.values.get_mut(value.0 as usize) {
            *entry = slot;
        }
    }

    /// Marks what follows in the new function's present list as coming from where the old one is.
    fn mark(&mut self) {
        if self.at != Span::default() {
            self.b.push(Stmt::At(self.at));
        }
    }

    /// Variables for a value of each lane.
    fn storage(&mut self, value: Value) -> Vec<Var> {
        let ty = bits_type(self.b.type_of(value));
        (0..self.lane_count()).map(|_| self.b.var(ty)).collect()
    }
}

/// A list of statements of the old function.
type Old = Block;
