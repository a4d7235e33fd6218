//! Code that relies on the threads of a warp running in lockstep.
//!
//! Before Volta they did. Code of that time passes words from lane to lane through `volatile` shared memory without any synchronization
//! between the store and the load, and NVIDIA's driver still compiles PTX for such targets accordingly. This pass puts a warp
//! synchronization of the threads that execute the code together before each such access, except for a load after a load.
//!
//! PTX for `sm_70` and above promises no lockstep, yet hardware keeps it where threads don't diverge. So such PTX is treated alike, except
//! kernels with loops that wait for other threads: these use such words as flags. The pass ignores words in global memory and accesses that
//! are not volatile.
//!
//! Before these loops, code relies on something weaker: threads that have met again after a branch are in step. CUDA's cooperative groups
//! do where a warp's first thread clears flags in a branch, and all threads then wait for one of the flags to be set: a thread that runs
//! ahead would still see it set. So the pass synchronizes threads before such a loop too, if some may have just changed what others wait for.

use rustc_hash::FxHashSet;

use crate::cfg::{BasicBlock, BlockId, Cfg, End, Kind, Stop, dependence};
use crate::index::{Index, IndexVec};
use crate::ir::{Function, MemoryOrder, Scope, Space, Stmt, Warp, WarpOp, any_stmt};

/// The first architecture with independent thread scheduling.
const VOLTA: u32 = 70;

/// Synchronizes the threads of a warp where a kernel relies on lockstep.
pub fn make_warp_sync_explicit(function: &Function, cfg: &mut Cfg, architecture: Option<u32>) {
    synchronize_before_waits(function, cfg);
    let spins = cfg.blocks.iter().any(|block| matches!(block.stop, Some(Stop::Yield { .. })));
    if spins && architecture.is_none_or(|number| number >= VOLTA) {
        return;
    }
    let generic = function.shared_bytes > 0 || function.dynamic_shared;
    if !communicates(cfg, generic) {
        return;
    }
    for block in &mut cfg.blocks {
        // The last access; `None` where the last access isn't known. Loads don't disturb each other.
        let mut last = None;
        let mut synchronized = false;
        for stmt in std::mem::take(&mut block.body) {
            let kind = accesses(&stmt, generic);
            if kind.is_some() {
                let undisturbed = last == Some(Access::Load) && kind == last;
                if !undisturbed && !synchronized {
                    block.body.push(warp_sync());
                }
                last = kind;
                synchronized = false;
            }
            synchronized |= is_warp_sync(&stmt);
            block.body.push(stmt);
        }
    }
}

/// Synchronizes threads on each way into a loop that waits, if some of them may have stored a signal that a loop can
/// wait for since the warp's last operation. Kernels without such operations know no warps, and stay so.
fn synchronize_before_waits(function: &Function, cfg: &mut Cfg) {
    if !cfg.blocks.iter().any(|block| any_stmt(&block.body, &is_warp)) {
        return;
    }
    let yields = |block: &BasicBlock| matches!(block.stop, Some(Stop::Yield { .. }));
    let mut heads: Vec<BlockId> =
        cfg.blocks.iter().filter(|block| yields(block)).flat_map(|block| block.end.successors()).collect();
    if heads.is_empty() {
        return;
    }
    heads.sort_unstable();
    heads.dedup();
    let divergent = dependence::divergent_blocks(function, cfg);
    let before = cfg.predecessors();
    for head in heads {
        let ways = before.at(head).into_iter().flatten().copied();
        let ways: Vec<BlockId> = ways.filter(|from| !cfg.blocks.at(*from).is_some_and(yields)).collect();
        if !ways.iter().any(|from| may_have_signalled(cfg, &before, &divergent, *from)) {
            continue;
        }
        // All ways join before the loop, so that threads that come by several are synchronized too.
        let join = BlockId::new(cfg.blocks.len());
        for from in ways {
            if let Some(block) = cfg.blocks.at_mut(from) {
                block.end = block.end.redirected(|next| if next == head { join } else { next });
            }
        }
        cfg.blocks.push(BasicBlock { body: vec![warp_sync()], stop: None, end: End::Goto(head) });
    }
}

/// Whether only some threads may have stored a signal that others wait for on a way to a block's end, with no operation
/// of the warp and no barrier after the store.
fn may_have_signalled(cfg: &Cfg, before: &IndexVec<BlockId, Vec<BlockId>>, divergent: &[bool], end: BlockId) -> bool {
    let mut seen = FxHashSet::from_iter([end]);
    let mut todo = vec![end];
    while let Some(number) = todo.pop() {
        let Some(block) = cfg.blocks.at(number) else { continue };
        if matches!(block.stop, Some(Stop::Barrier(_))) {
            continue;
        }
        let some = divergent.get(number.position()) == Some(&true);
        let mut since = 0;
        for stmt in block.body.iter().rev().take_while(|stmt| !is_warp(stmt)) {
            since += 1;
            if any_stmt(std::slice::from_ref(stmt), &is_signal) && (some || matches!(stmt, Stmt::If { .. })) {
                return true;
            }
        }
        if since == block.body.len() {
            let earlier = before.at(number).into_iter().flatten().copied();
            todo.extend(earlier.filter(|block| seen.insert(*block)));
        }
    }
    false
}

fn is_warp(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Warp(_))
}

/// Whether a statement writes memory that a loop in another thread may wait for.
fn is_signal(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Atomic(_) => true,
        Stmt::Store { access, .. } => access.order != MemoryOrder::Weak && access.space != Space::Local,
        _ => false,
    }
}

fn warp_sync() -> Stmt {
    Stmt::Warp(Warp { results: Vec::new(), op: WarpOp::Sync, members: None })
}

/// The access of a statement to words of shared memory that other threads read or write at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Load,
    Store,
}

/// The access that a statement is, or contains under a guard.
fn accesses(stmt: &Stmt, generic: bool) -> Option<Access> {
    let (access, kind) = match stmt {
        Stmt::Load { access, .. } => (access, Access::Load),
        Stmt::Store { access, .. } => (access, Access::Store),
        Stmt::If { then, otherwise, .. } => {
            return then.iter().chain(otherwise).find_map(|stmt| accesses(stmt, generic));
        }
        _ => return None,
    };
    let shared = access.space == Space::Shared || generic && access.space == Space::Generic;
    (shared && access.order == MemoryOrder::Relaxed(Scope::System)).then_some(kind)
}

/// Whether a statement synchronizes the threads of the warp, so that they see each other's stores.
fn is_warp_sync(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Warp(Warp { op: WarpOp::Sync, .. }))
}

/// Whether a path leads from a store to a load without synchronizing the warp.
fn communicates(cfg: &Cfg, generic: bool) -> bool {
    // For each block, whether a store is pending at its end; `None` once a load follows one.
    let through = |block: &BasicBlock, mut stored: bool| {
        for stmt in &block.body {
            match accesses(stmt, generic) {
                Some(Access::Load) if stored => return None,
                Some(Access::Store) => stored = true,
                _ if is_warp_sync(stmt) => stored = false,
                _ => {}
            }
        }
        let waits = matches!(&block.stop, Some(Stop::Barrier(barrier)) if !matches!(barrier.kind, Kind::Arrive));
        Some(stored && !waits)
    };
    let mut seen = vec![false; cfg.blocks.len()];
    let mut todo = Vec::new();
    for block in &cfg.blocks {
        match through(block, false) {
            None => return true,
            Some(true) => todo.extend(block.end.successors()),
            Some(false) => {}
        }
    }
    while let Some(id) = todo.pop() {
        let Some(block) = cfg.blocks.at(id) else { continue };
        if seen.get(id.position()) != Some(&false) {
            continue;
        }
        seen[id.position()] = true; // `get` has shown that it exists
        match through(block, true) {
            None => return true,
            Some(true) => todo.extend(block.end.successors()),
            Some(false) => {}
        }
    }
    false
}
