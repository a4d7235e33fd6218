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
//! * 8- and 16-bit integers live in [`Type::I32`], zero-extended: whoever produces one clears the upper bits. Integers
//!   have no sign; operations do. Floats in registers live in integers of their width and are bitcast where arithmetic
//!   needs them, so that moving a NaN can't change it.

mod builder;
mod definitions;
mod fold;
mod function;
mod legal;
mod memory;
mod op;
mod position;
pub mod semantics;
pub(crate) mod text;
mod vars;
mod verify;
mod warp;

pub use builder::{Builder, bits_type};
pub use fold::{Folded, fold};
pub use function::{Constants, Function, Helper, OwnShared};
pub use legal::Legal;
pub use memory::{
    Access, Atomic, AtomicOp, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, HalfFormat, HalfOp, MemoryOrder,
    Ordered, Scope, Space,
};
pub use op::{Arithmetic, Binary, Builtin, Compare, HELPER_PARAMETERS, Halves, Op, Root, Rounding, Unary};
pub use semantics::mask;
pub use text::ParseError;
pub use vars::{VarSet, for_each_assigned, for_each_read};
pub(crate) use verify::Checker;
pub use verify::{Stage, verify, verify_at};
pub use warp::{Reduction, Shuffle, SubgroupOp, Vote, WARP_SIZE, Warp, WarpOp};

use crate::diagnostic::Span;
use crate::index::indices;
use crate::target::Fault;

/// Type of a [`Value`] or [`Var`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A truth value; PTX's `.pred`.
    Bool,
    /// 32 bits (or 8 or 16 zero-extended).
    I32,
    /// 64 bits.
    I64,
    /// Single precision; only for values, never for variables.
    F32,
    /// Double precision; only for values, never for variables.
    F64,
    /// Two words, the lower first, in place of an `I64` that a device without 64-bit integers can't have: an address in global
    /// memory, and what the clock gives. Only for values, never for variables.
    Pair,
}

/// Result of an operation, by number into [`Function::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// Mutable variable, by number into [`Function::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

indices!(Value, Var);

/// A list of statements.
pub type Block = Vec<Stmt>;

/// Statements of a list and those nested in it, without marks.
pub fn size(block: &Block) -> usize {
    let stmts = block.iter().map(|stmt| match stmt {
        Stmt::At(_) => 0,
        Stmt::If { then, otherwise, .. } => 1 + size(then) + size(otherwise),
        Stmt::Loop(body) => 1 + size(body),
        _ => 1,
    });
    stmts.sum()
}

/// Whether a loop with this body is one over all lanes of a warp, by the variables that count in such loops: if its last
/// statement, which alone leaves it, stands after the counting.
pub fn is_lane_loop(body: &[Stmt], lane_numbers: &[Var]) -> bool {
    let Some((Stmt::If { .. }, rest)) = body.split_last() else { return false };
    let last = rest.iter().rfind(|stmt| !matches!(stmt, Stmt::At(_) | Stmt::Let(..)));
    matches!(last, Some(Stmt::Set(var, _)) if lane_numbers.contains(var))
}

/// How deep lists are nested in a list.
pub fn depth(block: &Block) -> usize {
    let mut deepest = 0;
    let mut todo = vec![(block, 0)];
    while let Some((block, depth)) = todo.pop() {
        deepest = deepest.max(depth);
        for stmt in block {
            match stmt {
                Stmt::If { then, otherwise, .. } => todo.extend([(then, depth + 1), (otherwise, depth + 1)]),
                Stmt::Loop(body) => todo.push((body, depth + 1)),
                _ => {}
            }
        }
    }
    deepest
}

/// Calls `visit` with the statements of a list and of those nested in it, list by list.
pub fn for_each_stmt<'b>(block: &'b Block, mut visit: impl FnMut(&'b Stmt)) {
    let mut lists = vec![block];
    while let Some(block) = lists.pop() {
        for stmt in block {
            visit(stmt);
            match stmt {
                Stmt::If { then, otherwise, .. } => lists.extend([then, otherwise]),
                Stmt::Loop(body) => lists.push(body),
                _ => {}
            }
        }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// The following statements come from this PTX instruction: those of the same list up to its next mark, and those of
    /// lists nested there up to theirs; or from none.
    At(Option<Span>),
    /// Defines a value.
    Let(Value, Op),
    /// Assigns a variable.
    Set(Var, Value),
    /// Reads memory.
    Load {
        /// One value per element: `I32` for elements of up to 4 bytes (narrow ones zero-extended), else `I64`.
        results: Vec<Value>,
        /// How.
        access: Access,
        /// Where: `I64` for [`Space::Global`] and [`Space::Generic`], [`Type::Pair`] too for the former, a byte offset in `I32`
        /// for the others.
        address: Value,
    },
    /// Writes memory.
    Store {
        /// One value per element, types as for [`Stmt::Load`]; the upper bits of narrow ones are ignored.
        values: Vec<Value>,
        /// How.
        access: Access,
        /// Where, as for [`Stmt::Load`].
        address: Value,
    },
    /// Reads, changes and writes memory as one step.
    Atomic(Atomic),
    /// An operation between the threads of a warp; `crate::warp` replaces it.
    Warp(Warp),
    /// An operation of a subgroup, and what it gives.
    Subgroup(Vec<Value>, SubgroupOp),
    /// All threads of the workgroup wait for each other and see each other's earlier writes to this memory. Stands in control flow
    /// that is uniform over the workgroup.
    Barrier(Ordered),
    /// Tells the host that the launch has failed, why, and that it was at the last mark; then the thread goes on. Of
    /// several reports the first one stays. The values are the fault's details, `I32` words as [`Fault`] has them.
    Report(Fault, Vec<Value>),
    /// Marks for the reference device's checks that this thread of the workgroup stops at the barrier instruction of the last
    /// mark, which all threads of its warp must execute together; nothing to other devices. The number, an `I32`, counts threads
    /// so that those of a warp differ in the lowest five bits.
    Arrive(Value),
    /// Orders this thread's earlier memory accesses against later ones, as seen from a scope.
    Fence(Scope),
    /// Runs one of two lists.
    If {
        /// A `Bool`.
        condition: Value,
        /// If true.
        then: Block,
        /// If false.
        otherwise: Block,
    },
    /// Runs the list again and again until a [`Stmt::Break`].
    Loop(Block),
    /// Leaves the innermost loop; the last statement of its list.
    Break,
    /// What a [`Helper`] gives; the last statement of its body, and nowhere else.
    Return(Value),
}

/// The last mark of a list: which instruction what stands after it comes from, if any.
pub fn last_mark(block: &[Stmt]) -> Option<Option<Span>> {
    block.iter().rev().find_map(|stmt| match stmt {
        Stmt::At(at) => Some(*at),
        _ => None,
    })
}
