//! Live variables: those whose contents may be read later.

use rustc_hash::FxHashMap;

use super::{BasicBlock, BlockId, Cfg};
use crate::index::Index;
use crate::ir::{Function, Op, Stmt, VarSet, for_each_read};

/// The places of a call that is to save variables on a stack.
#[derive(Clone, Copy)]
pub struct StackCall {
    /// The block that is to check for room on the stack.
    pub check: BlockId,
    /// The block that is to push, and where in it.
    pub push: (BlockId, usize),
    /// The block after the call, and where in it everything is to be popped.
    pub back: (BlockId, usize),
}

/// The variables that are live where a block of a graph without such calls begins.
pub fn live_at(function: &Function, cfg: &Cfg, block: BlockId) -> VarSet {
    live_at_any(function, cfg, &[block])
}

/// The variables that are live where one of these blocks begins.
pub fn live_at_any(function: &Function, cfg: &Cfg, blocks: &[BlockId]) -> VarSet {
    let liveness = Liveness::new(function, &cfg.blocks, &[], |_| None);
    let mut live = VarSet::new(function.vars.len());
    for block in blocks {
        live.extend(&liveness.at(&cfg.blocks, (*block, 0)));
    }
    live
}

/// The live variables at the ends of blocks.
pub struct Liveness {
    ends: Vec<VarSet>,
}

impl Liveness {
    /// Liveness in a graph whose calls don't check and save yet. A block with an entry in `returning` is a function's return: it keeps
    /// alive only variables that the function doesn't assign, and the function's results.
    ///
    /// A variable that is live after a call is live before it too, since the call saves it. The results are not among
    /// these: the caller reads them before it restores the saved variables.
    pub fn new(
        function: &Function,
        blocks: &[BasicBlock],
        calls: &[StackCall],
        returning: impl Fn(BlockId) -> Option<(VarSet, VarSet)>,
    ) -> Self {
        let empty = VarSet::new(function.vars.len());
        let mut starts = vec![empty.clone(); blocks.len()];
        let ends = starts.clone();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
        let mut successors: Vec<Vec<BlockId>> = blocks.iter().map(|block| block.end.successors().collect()).collect();
        for call in calls {
            if let Some(list) = successors.get_mut(call.check.position()) {
                list.push(call.push.0);
            }
        }
        for (number, successors) in successors.iter().enumerate() {
            for next in successors {
                if let Some(list) = before.get_mut(next.position()) {
                    list.push(number);
                }
            }
        }
        let callers: FxHashMap<usize, usize> =
            calls.iter().map(|call| (call.back.0.position(), call.push.0.position())).collect();
        let calls: FxHashMap<usize, &StackCall> = calls.iter().map(|call| (call.push.0.position(), call)).collect();
        let limits: Vec<_> = (0..blocks.len()).map(|block| returning(BlockId::new(block))).collect();
        let mut waiting = vec![true; blocks.len()];
        let mut todo: Vec<usize> = (0..blocks.len()).collect();
        let mut live = Self { ends };
        while let Some(number) = todo.pop() {
            // All lists have an entry for each block.
            waiting[number] = false;
            let mut here = empty.clone();
            for &next in &successors[number] {
                if let Some(start) = starts.get(next.position()) {
                    here.extend(start);
                }
            }
            if let Some((assigned, results)) = &limits[number] {
                let mut kept = here.clone();
                kept.intersect(results);
                here.subtract(assigned);
                here.extend(&kept);
            }
            // The restored variables depend on the end of the block after the call, and not only on its start.
            let mut earlier: Vec<usize> = Vec::new();
            if live.ends[number] != here {
                live.ends[number] = here.clone();
                earlier.extend(callers.get(&number));
            }
            let body = blocks[number].body.as_slice();
            let saves = calls.get(&number).map_or(body.len(), |call| call.push.1.min(body.len()));
            let (before_saves, passing) = body.split_at(saves);
            backwards(passing, &mut here);
            if let Some(call) = calls.get(&number) {
                here.extend(&live.at(blocks, call.back));
            }
            backwards(before_saves, &mut here);
            if here != starts[number] {
                starts[number] = here;
                earlier.extend(&before[number]);
            }
            for earlier in earlier {
                if !std::mem::replace(&mut waiting[earlier], true) {
                    todo.push(earlier);
                }
            }
        }
        live
    }

    /// The variables that are live at a position in a block.
    pub fn at(&self, blocks: &[BasicBlock], (block, position): (BlockId, usize)) -> VarSet {
        let mut live = self.ends.get(block.position()).cloned().unwrap_or_else(|| VarSet::new(0));
        let body = blocks.get(block.position()).map(|block| block.body.as_slice()).unwrap_or_default();
        backwards(body.get(position..).unwrap_or_default(), &mut live);
        live
    }
}

/// Transfers liveness from after statements to before them. Nested lists may run or not.
fn backwards(stmts: &[Stmt], live: &mut VarSet) {
    for stmt in stmts.iter().rev() {
        match stmt {
            Stmt::Let(_, Op::Get(var)) => live.insert(*var),
            Stmt::Set(var, _) => {
                live.remove(*var);
            }
            Stmt::If { .. } | Stmt::Loop(_) => {
                stmt.lists().for_each(|list| for_each_read(list, &mut |var| live.insert(var)));
            }
            _ => {}
        }
    }
}
