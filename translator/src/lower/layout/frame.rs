//! The frame of a function instance during lowering: registers, parameters, local variables.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::decode::program::{ParamId, Reg, VarId};
use crate::index::IndexVec;
use crate::ir::Var;
use crate::isa::types::ScalarType;
use crate::lower::layout::pending_copies::PendingCopies;

/// One instance of a function: the kernel itself, or an inlined call.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Whether the function is a device function.
    pub is_device: bool,
    /// Its registers: the type, and the variable once the register is used.
    pub registers: IndexVec<Reg, (ScalarType, Option<Var>)>,
    /// The upper halves of its 128-bit registers that are used; `registers` has the lower ones.
    pub upper: FxHashMap<Reg, Var>,
    /// Its carry flag, once it is used.
    pub carry: Option<Var>,
    /// The factors of its products that are fused with sums, by the products' numbers.
    pub factors: FxHashMap<u32, [Var; 2]>,
    /// Bytes that `alloca` has allocated; all instances of a kernel's functions share the variable.
    pub stack: Option<Var>,
    /// The value of `stack` when the function was called, if this is a device function that may change it.
    pub stack_before: Option<Var>,
    /// The address of a `cp.async` past the end of shared memory, plus one, or 0; shared as `stack` is.
    pub copied_outside: Option<Var>,
    /// The copies that may be pending, of all instances of a kernel's functions.
    pub pending_copies: Option<Arc<PendingCopies>>,
    /// Its `.param` variables.
    pub params: IndexVec<ParamId, ParamSlot>,
    /// Their sizes in bytes.
    pub param_sizes: IndexVec<ParamId, u32>,
    /// Bytes of each that accesses may reach, padding included.
    pub param_rooms: Vec<u32>,
    /// For parameters whose address is taken: the variables in local memory that hold them while the function runs.
    pub param_memory: Vec<Option<VarId>>,
    /// The places of its `.local` variables, if the function is recursive or inlined into a recursive one.
    pub locals: Option<Arc<Locals>>,
}

impl Frame {
    /// The variable in local memory that holds a parameter, if its address is taken.
    pub fn memory(&self, param: usize) -> Option<VarId> {
        self.param_memory.get(param).copied().flatten()
    }
}

/// The `.local` variables of a recursive function, of which each call has its own copy.
#[derive(Debug)]
pub struct Locals {
    /// Offset of the current call's variables, counted from `base`.
    pub frame: Var,
    /// Offset of the stack in local memory.
    pub base: u32,
    /// Offsets of the variables in a call's frame.
    pub places: FxHashMap<VarId, u64>,
    /// Size of a call's frame in bytes.
    pub bytes: u32,
}

/// The place of a `.param` variable.
#[derive(Clone, Debug)]
pub enum ParamSlot {
    /// In the kernel's parameter block at an offset.
    Kernel(u32),
    /// In variables, a 32-bit word each.
    Words(Vec<Var>),
}
