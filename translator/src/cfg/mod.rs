//! The control-flow graph of a kernel, with calls inlined and instructions lowered.
//!
//! [`build`] makes it, [`barriers`] gives barriers a form that Vulkan has, and [`tree`] turns the graph into
//! the structured form with the help of [`crate::restructure`].

mod barriers;
mod build;
mod calls;
mod dependence;
mod layout;
mod lockstep;
mod meetings;
mod recursion;
mod reports;
mod services;
mod spin;
mod switch;
mod tree;

pub use barriers::{Barrier, Kind, Red, Reduction, Resolved, Stop, resolve};
pub use build::{Built, build};
pub use layout::{Layout, Places, RESERVED_SHARED, STACK_BYTES, lay_out, module_variables, uses_stack};
pub use lockstep::keep_in_step;
pub use meetings::meet_apart;
pub use reports::{line_origin, place};
pub use services::{Services, services};
pub use spin::yield_in_loops;
pub use tree::{barriers_unconditional, structure};

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::decode::program::{Reg, VarId};
use crate::decode::types::ScalarType;
use crate::ir::{Block, Value, Var};

/// A control-flow graph; block 0 is the entry.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    /// The blocks.
    pub blocks: Vec<BasicBlock>,
}

/// Straight-line statements and where control goes behind them.
#[derive(Clone, Debug, Default)]
pub struct BasicBlock {
    /// What it does.
    pub body: Block,
    /// Where it stops before it goes on; [`resolve`] replaces these.
    pub stop: Option<Stop>,
    /// What follows.
    pub end: End,
}

/// The end of a basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The thread ends.
    #[default]
    Exit,
    /// Goes on there.
    Goto(u32),
    /// Goes on in one of two blocks.
    Branch {
        /// A `Bool` that this block has computed; its last mark is the branch's.
        condition: Value,
        /// If true.
        then: u32,
        /// If false.
        otherwise: u32,
    },
}

impl End {
    /// The same end with every successor replaced by what `map` gives for it.
    pub fn redirected(self, map: impl Fn(u32) -> u32) -> End {
        match self {
            End::Exit => End::Exit,
            End::Goto(next) => End::Goto(map(next)),
            End::Branch { condition, then, otherwise } => {
                End::Branch { condition, then: map(then), otherwise: map(otherwise) }
            }
        }
    }

    /// The blocks that may follow.
    pub fn successors(self) -> impl Iterator<Item = u32> {
        let (first, second) = match self {
            End::Exit => (None, None),
            End::Goto(next) => (Some(next), None),
            End::Branch { then, otherwise, .. } => (Some(then), Some(otherwise)),
        };
        first.into_iter().chain(second)
    }
}

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
