//! Code that relies on the threads of a warp running in lockstep.
//!
//! Before Volta they did. Code of that time passes words from lane to lane through `volatile` shared memory without any synchronization
//! between the store and the load, and NVIDIA's driver still compiles PTX for such targets accordingly. This pass puts a warp
//! synchronization of the threads that execute the code together before each such access, except for a load after a load.
//!
//! PTX for `sm_70` and above promises no lockstep, yet hardware keeps it where threads don't diverge. So such PTX is treated alike, except
//! kernels with loops that wait for other threads: these use such words as flags. The pass ignores words in global memory and accesses that
//! are not volatile.

use crate::cfg::{BasicBlock, Cfg, Kind, Stop};
use crate::index::Index;
use crate::ir::{Function, MemoryOrder, Scope, Space, Stmt, Warp, WarpOp};

/// The first architecture with independent thread scheduling.
const VOLTA: u32 = 70;

/// Synchronizes the threads of a warp where a kernel relies on lockstep.
pub fn make_warp_sync_explicit(function: &Function, cfg: &mut Cfg, architecture: Option<u32>) {
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
                    let sync = Warp { results: Vec::new(), op: WarpOp::Sync, members: None };
                    block.body.push(Stmt::Warp(sync));
                }
                last = kind;
                synchronized = false;
            }
            synchronized |= is_warp_sync(&stmt);
            block.body.push(stmt);
        }
    }
}

/// How a statement accesses words of shared memory that other threads read or write at any time.
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
