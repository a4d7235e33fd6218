//! The intermediate form between PTX and SPIR-V: a structured tree of small typed operations.
//!
//! Lowering turns each PTX instruction into these operations; passes rewrite them; emission maps them to SPIR-V one
//! to one. An operation here means the same on every device and leaves nothing undefined inside the preconditions
//! that its documentation names, which lowering upholds (such as "the shift amount is below the width").
//!
//! * A [`Value`] is assigned once, by the statement that defines it, and may be used after that statement in the same
//!   list and in lists nested there. Values carry the results of operations.
//! * A [`Var`] is a mutable variable of the function: a PTX register, or an auxiliary of the translator. Only variables
//!   carry data around loops and out of nested lists. They start as zero.
//! * 8- and 16-bit integers live in [`Type::I32`], zero-extended: the producer of a value clears the upper bits. Integers
//!   have no sign; operations do. Floats in registers live in integers of their width and are bitcast where arithmetic
//!   needs them, so that moving a NaN can't change it.

mod builder;
mod dataflow;
mod definitions;
mod fold;
mod function;
mod legal;
pub mod locks;
mod memory;
mod op;
mod operand_types;
mod operands;
mod position;
mod rewrite;
pub mod semantics;
mod stage;
mod stmt;
pub(crate) mod text;
mod types;
mod vars;
mod verify;
mod warp;

pub use builder::{Builder, bits_type};
pub(crate) use dataflow::{Fact, Flow, Marks};
pub use fold::{Folded, fold, looks_through};
pub use function::{Constants, Function, Helper, OwnShared, definitions};
pub use legal::Legal;
pub use memory::{
    Access, Atomic, AtomicOp, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, HalfFormat, HalfOp, MemoryOrder,
    Ordered, Scope, Space,
};
pub use op::{
    Accumulator, Arithmetic, Binary, Builtin, Compare, Factors, HELPER_PARAMETERS, Halves, MatrixStep, Minifloat, Op,
    Root, Rounding, Sample, Unary, Varies,
};
pub use operands::{
    for_each_op_operand, for_each_operand, for_each_result, for_each_use, map_op_operands, map_operands, uses,
};
pub use rewrite::{Rewritten, rewrite, rewrite_ops};
pub use semantics::mask;
pub use stage::Stage;
pub use stmt::{
    Block, Class, Participants, Stmt, any_stmt, depth, for_each_stmt, for_each_stmt_mut, has_collective, has_warp,
    is_deeper, is_lane_loop, lane_number, last_mark, size,
};
pub use text::ParseError;
pub use types::{Type, Value, Var};
pub use vars::{VarSet, for_each_assigned, for_each_read};
pub(crate) use verify::Checker;
pub use verify::{verify, verify_at};
pub use warp::{Fragments, Reduction, Shuffle, SubgroupOp, Vote, WARP_SIZE, Warp, WarpOp};
