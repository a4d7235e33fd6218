//! Checks the invariants of control-flow graphs. A broken one is always a bug of the translator.
//!
//! * There is an entry, and every successor exists.
//! * Each block's statements keep the rules of [`crate::ir::verify`], by themselves: a value is used in the block that defines it,
//!   by its statements, its stop and its end. Only variables carry data from block to block.
//! * The condition of a branch is a `Bool`.
//! * In a uniform graph ([`Stage::Uniform`]) no block has a stop.

use super::graph::{Cfg, End};
use super::stop::{Barrier, Kind, Stop};
use crate::index::Index;
use crate::ir::{Checker, Function, Stage, Type, Value};

/// Returns the first broken rule of a stage in words.
pub fn verify(function: &Function, cfg: &Cfg, stage: Stage) -> Result<(), String> {
    let mut checker = Checker::new(function, stage)?;
    if cfg.blocks.is_empty() {
        return Err("a graph without an entry".into());
    }
    for (number, block) in cfg.blocks.enumerated() {
        if let Some(next) = block.end.successors().find(|next| next.position() >= cfg.blocks.len()) {
            return Err(format!("{number} leads to {next}, which isn't there"));
        }
        let mut used: Vec<(Value, Type)> = Vec::new();
        match &block.stop {
            Some(_) if stage >= Stage::Uniform => return Err(format!("{number} still has a stop")),
            Some(Stop::Barrier(Barrier { kind, id, count, cluster: _, aligned: _ })) => {
                used.push((*id, Type::I32));
                used.extend(count.map(|count| (count, Type::I32)));
                if let Kind::Red(red) = kind {
                    used.push((red.predicate, Type::Bool));
                }
            }
            Some(Stop::Yield { .. } | Stop::Pause | Stop::Await) | None => {}
        }
        if let End::Branch { condition, .. } = block.end {
            used.push((condition, Type::Bool));
        }
        checker.list(&block.body, &used).map_err(|error| format!("{number}: {error}"))?;
    }
    Ok(())
}
