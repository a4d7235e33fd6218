//! Memory orders of instructions.

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{MemoryOrder, Scope};
use crate::isa::modifiers::{self, CacheOperator, Order};

/// The memory order that the modifiers ask for.
pub fn order(i: &Instruction, default: MemoryOrder) -> MemoryOrder {
    let scope = i.modifiers.scope().map_or(Scope::Device, scope);
    match i.modifiers.cache_operator() {
        Some(CacheOperator::Cv | CacheOperator::Wt) => return MemoryOrder::Relaxed(Scope::System),
        None
        | Some(CacheOperator::Ca | CacheOperator::Cg | CacheOperator::Cs | CacheOperator::Lu | CacheOperator::Wb) => {}
    }
    match i.modifiers.order() {
        Some(Order::Volatile | Order::Mmio) => MemoryOrder::Relaxed(Scope::System),
        Some(Order::Relaxed) => MemoryOrder::Relaxed(scope),
        Some(Order::Acquire) => MemoryOrder::Acquire(scope),
        Some(Order::Release) => MemoryOrder::Release(scope),
        Some(Order::AcqRel) => MemoryOrder::AcquireRelease(scope),
        None | Some(Order::Weak) => match default {
            MemoryOrder::Relaxed(_) => MemoryOrder::Relaxed(scope),
            default => default,
        },
    }
}

/// The scope that a modifier must name.
pub fn required_scope(i: &Instruction) -> Result<Scope> {
    i.required(i.modifiers.scope()).map(scope)
}

/// The device's scope for a scope of PTX, where clusters have none of their own.
fn scope(scope: modifiers::Scope) -> Scope {
    match scope {
        modifiers::Scope::Cta => Scope::Cta,
        modifiers::Scope::Cluster | modifiers::Scope::Gl | modifiers::Scope::Gpu => Scope::Device,
        modifiers::Scope::Sys => Scope::System,
    }
}
