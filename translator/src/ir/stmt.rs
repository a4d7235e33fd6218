//! Statements, and walks over them.

use super::memory::{Access, Atomic, Ordered, Scope};
use super::op::Op;
use super::types::{Value, Var};
use super::warp::{SubgroupOp, Warp};
use crate::diagnostic::Span;
use ptx2spv_target::Fault;

/// A list of statements.
pub type Block = Vec<Stmt>;

/// Statements of a list and those nested in it, without marks.
pub fn size(block: &Block) -> usize {
    let stmts = block.iter().filter(|stmt| !matches!(stmt, Stmt::At(_)));
    stmts.map(|stmt| 1 + stmt.lists().map(size).sum::<usize>()).sum()
}

/// Whether a loop with this body is one over all lanes of a warp. `lane_numbers` are the variables that count in such
/// loops; the loop is one if its last statement, which alone leaves the loop, stands after the counting.
pub fn is_lane_loop(body: &[Stmt], lane_numbers: &[Var]) -> bool {
    lane_number(body, lane_numbers).is_some()
}

/// The variable that counts in a loop over all lanes of a warp: see [`is_lane_loop`].
pub fn lane_number(body: &[Stmt], lane_numbers: &[Var]) -> Option<Var> {
    let Some((Stmt::If { .. }, rest)) = body.split_last() else { return None };
    match rest.iter().rfind(|stmt| !matches!(stmt, Stmt::At(_) | Stmt::Let(..))) {
        Some(Stmt::Set(var, _)) if lane_numbers.contains(var) => Some(*var),
        _ => None,
    }
}

/// The deepest nesting of lists in a list.
pub fn depth(block: &Block) -> usize {
    let mut deepest = 0;
    let mut todo = vec![(block, 0)];
    while let Some((block, depth)) = todo.pop() {
        deepest = deepest.max(depth);
        todo.extend(block.iter().flat_map(Stmt::lists).map(|list| (list, depth + 1)));
    }
    deepest
}

/// Whether lists are nested deeper than `most` in a list. The search ends at the first that is.
pub fn is_deeper(block: &Block, most: usize) -> bool {
    let mut todo = vec![(block, 0)];
    while let Some((block, depth)) = todo.pop() {
        if depth > most {
            return true;
        }
        todo.extend(block.iter().flat_map(Stmt::lists).map(|list| (list, depth + 1)));
    }
    false
}

/// Whether a list, or one nested in it, has a statement for which `holds` is true.
pub fn any_stmt(block: &[Stmt], holds: &dyn Fn(&Stmt) -> bool) -> bool {
    let has_lists = |stmt: &Stmt| matches!(stmt, Stmt::If { .. } | Stmt::Loop(_));
    block.iter().any(|stmt| holds(stmt) || has_lists(stmt) && stmt.lists().any(|list| any_stmt(list, holds)))
}

/// Calls `visit` with the statements of a list and of those nested in it, list by list.
pub fn for_each_stmt<'b>(block: &'b Block, mut visit: impl FnMut(&'b Stmt)) {
    let mut lists = vec![block];
    while let Some(block) = lists.pop() {
        for stmt in block {
            visit(stmt);
            if let Stmt::If { .. } | Stmt::Loop(_) = stmt {
                lists.extend(stmt.lists());
            }
        }
    }
}

/// Calls `visit` with the statements of a list and of those nested in it, each before the statements nested there.
pub fn for_each_stmt_mut(block: &mut [Stmt], visit: &mut impl FnMut(&mut Stmt)) {
    for stmt in block {
        visit(stmt);
        if let Stmt::If { .. } | Stmt::Loop(_) = stmt {
            stmt.lists_mut().for_each(|list| for_each_stmt_mut(list, visit));
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
        /// Where: `I64` for [`Space::Global`](super::Space::Global) and [`Space::Generic`](super::Space::Generic),
        /// [`Type::Pair`](super::Type::Pair) too for the former, a byte offset in `I32`
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
    /// An operation of a subgroup, and its results.
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
    /// The result of a [`Helper`](super::Helper); the last statement of its body, and nowhere else.
    Return(Value),
}

/// The class of a statement, for users that need not know more of it. Analyses match all classes, so that a new
/// statement is thought of in [`Stmt::class`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Class<'s> {
    /// Is the thread's own affair: marks, values and variables.
    Private,
    /// Reads memory, writes it, or both: how, and at which address.
    Access(&'s Access, Value),
    /// Orders accesses, or sends something to the host or the reference device, without waiting.
    Signal,
    /// Threads execute it together, or wait for each other.
    Collective(Participants),
    /// Runs one of two lists.
    Branch([&'s Block; 2]),
    /// Runs a list again and again.
    Loop(&'s Block),
    /// Leaves a loop.
    Break,
    /// Leaves the function.
    Return,
}

/// The threads that execute a collective statement together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Participants {
    /// The threads of a warp.
    Warp,
    /// The invocations of a subgroup.
    Subgroup,
    /// The invocations of a workgroup.
    Workgroup,
}

impl Stmt {
    /// The statement's class.
    pub fn class(&self) -> Class<'_> {
        match self {
            Stmt::At(_) | Stmt::Let(..) | Stmt::Set(..) => Class::Private,
            Stmt::Load { access, address, .. } | Stmt::Store { access, address, .. } => Class::Access(access, *address),
            Stmt::Atomic(atomic) => Class::Access(&atomic.access, atomic.address),
            Stmt::Report(..) | Stmt::Arrive(_) | Stmt::Fence(_) => Class::Signal,
            Stmt::Warp(_) => Class::Collective(Participants::Warp),
            Stmt::Subgroup(..) => Class::Collective(Participants::Subgroup),
            Stmt::Barrier(_) => Class::Collective(Participants::Workgroup),
            Stmt::If { then, otherwise, .. } => Class::Branch([then, otherwise]),
            Stmt::Loop(body) => Class::Loop(body),
            Stmt::Break => Class::Break,
            Stmt::Return(_) => Class::Return,
        }
    }

    /// The lists that it runs.
    pub fn lists(&self) -> impl Iterator<Item = &Block> {
        let lists = match self.class() {
            Class::Branch([then, otherwise]) => [Some(then), Some(otherwise)],
            Class::Loop(body) => [Some(body), None],
            Class::Private
            | Class::Access(..)
            | Class::Signal
            | Class::Collective(_)
            | Class::Break
            | Class::Return => [None, None],
        };
        lists.into_iter().flatten()
    }

    /// [`Stmt::lists`], to be changed.
    pub fn lists_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let lists = match self {
            Stmt::If { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Stmt::Loop(body) => [Some(body), None],
            _ => [None, None],
        };
        lists.into_iter().flatten()
    }

    /// The statement's access to memory, if it has one, and the address.
    pub fn access(&self) -> Option<(&Access, Value)> {
        match self.class() {
            Class::Access(access, address) => Some((access, address)),
            Class::Private
            | Class::Signal
            | Class::Collective(_)
            | Class::Branch(_)
            | Class::Loop(_)
            | Class::Break
            | Class::Return => None,
        }
    }

    /// [`Stmt::access`], to be changed.
    pub fn access_mut(&mut self) -> Option<(&mut Access, &mut Value)> {
        match self {
            Stmt::Load { access, address, .. } | Stmt::Store { access, address, .. } => Some((access, address)),
            Stmt::Atomic(atomic) => Some((&mut atomic.access, &mut atomic.address)),
            Stmt::At(_)
            | Stmt::Let(..)
            | Stmt::Set(..)
            | Stmt::Report(..)
            | Stmt::Arrive(_)
            | Stmt::Fence(_)
            | Stmt::Warp(_)
            | Stmt::Subgroup(..)
            | Stmt::Barrier(_)
            | Stmt::If { .. }
            | Stmt::Loop(_)
            | Stmt::Break
            | Stmt::Return(_) => None,
        }
    }
}

/// The last mark of a list: the instruction that the statements after it come from, if any.
pub fn last_mark(block: &[Stmt]) -> Option<Option<Span>> {
    block.iter().rev().find_map(|stmt| match stmt {
        Stmt::At(at) => Some(*at),
        _ => None,
    })
}

/// Whether a list contains a warp operation at any depth.
pub fn has_warp(block: &Block) -> bool {
    any_stmt(block, &|stmt| stmt.class() == Class::Collective(Participants::Warp))
}

/// Whether a list contains a warp operation or a barrier at any depth.
pub fn has_collective(block: &[Stmt]) -> bool {
    any_stmt(block, &|stmt| matches!(stmt.class(), Class::Collective(_)))
}
