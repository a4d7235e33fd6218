//! Memory orders of instructions.

use crate::decode::program::Instruction;
use crate::ir::{MemoryOrder, Scope};

/// The memory order that the modifiers ask for.
pub fn order(i: &Instruction, default: MemoryOrder) -> MemoryOrder {
    let scope = match i.modifiers.one_of(&["cta", "cluster", "gpu", "sys"]) {
        Some("cta") => Scope::Cta,
        Some("sys") => Scope::System,
        _ => Scope::Device,
    };
    match i.modifiers.one_of(&["volatile", "mmio", "cv", "wt", "relaxed", "acquire", "release", "acq_rel"]) {
        Some("volatile" | "mmio" | "cv" | "wt") => MemoryOrder::Relaxed(Scope::System),
        Some("relaxed") => MemoryOrder::Relaxed(scope),
        Some("acquire") => MemoryOrder::Acquire(scope),
        Some("release") => MemoryOrder::Release(scope),
        Some("acq_rel") => MemoryOrder::AcquireRelease(scope),
        _ => match default {
            MemoryOrder::Relaxed(_) => MemoryOrder::Relaxed(scope),
            default => default,
        },
    }
}
