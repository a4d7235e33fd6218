//! What an instance of a function has of its own while it is lowered: registers, parameters, local variables.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::decode::program::{Reg, VarId};
use crate::ir::Var;
use crate::isa::types::ScalarType;

/// One instance of a function: the kernel itself, or a call that is inlined.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Whether it is of a device function.
    pub is_device: bool,
    /// Its registers: type, and variable once it is used.
    pub registers: Vec<(ScalarType, Option<Var>)>,
    /// The upper halves of its 128-bit registers that are used; `registers` has the lower ones.
    pub upper: FxHashMap<Reg, Var>,
    /// Its carry flag, once it is used.
    pub carry: Option<Var>,
    /// Bytes that `alloca` has given away, which all instances of a kernel's functions share.
    pub stack: Option<Var>,
    /// What they were when the function was called, if it is a device function that may change them.
    pub stack_before: Option<Var>,
    /// Its `.param` variables.
    pub params: Vec<ParamSlot>,
    /// Their sizes in bytes.
    pub param_sizes: Vec<u32>,
    /// Bytes of them that accesses may reach, padding included.
    pub param_rooms: Vec<u32>,
    /// The variables in local memory that hold them while the function runs, for those whose address is taken.
    pub param_memory: Vec<Option<VarId>>,
    /// Where its `.local` variables are, if it is a function that calls itself or is inlined into one.
    pub locals: Option<Arc<Locals>>,
}

impl Frame {
    /// The variable in local memory that holds a parameter, if its address is taken.
    pub fn memory(&self, param: usize) -> Option<VarId> {
        self.param_memory.get(param).copied().flatten()
    }
}

/// The `.local` variables of a function that calls itself, of which each activation has its own.
#[derive(Debug)]
pub struct Locals {
    /// Where the present activation's begin, counted from `base`.
    pub frame: Var,
    /// Where the stack begins in local memory.
    pub base: u32,
    /// Offsets of the variables in an activation's.
    pub places: FxHashMap<VarId, u64>,
    /// Size of an activation's in bytes.
    pub bytes: u32,
}

/// Where a `.param` variable lives.
#[derive(Clone, Debug)]
pub enum ParamSlot {
    /// In the kernel's parameter block at an offset.
    Kernel(u32),
    /// In variables, a 32-bit word each.
    Words(Vec<Var>),
}
