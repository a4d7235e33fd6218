//! Names and their meanings, with PTX's nested scopes and shadowing, and numbered names (`%r<10>`), which all state
//! spaces have.

use rustc_hash::FxHashMap;

use super::program::{FuncId, Label, ParamId, Reg, VarId};
use crate::index::indices;
use crate::isa::types::ScalarType;

/// A table of labels or types for calls and branches, by number into the function decoder's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId(pub u32);

/// Why something isn't translated, by number into the module decoder's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReasonId(pub u32);

indices!(TableId, ReasonId);

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    Reg(Reg),
    /// A vector of consecutive registers, with their number: `.reg .v4 .f32 v`.
    Vector(Reg, u32),
    /// A variable in memory.
    Variable(VarId),
    /// A `.param` variable.
    Param(ParamId),
    Function(FuncId),
    /// A register declared at module scope: each function has its own.
    ModuleReg(ScalarType),
    /// A `.branchtargets`, `.calltargets` or `.callprototype` label.
    Table(TableId),
    /// Something whose declaration isn't translated.
    Unsupported(ReasonId),
}

/// `prefix0` to `prefix{count - 1}`.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// The symbol of `prefix0`; the numbers of the others count up from its number.
    first: Symbol,
    count: u32,
}

/// Ranges by their prefixes.
#[derive(Debug, Default)]
pub(super) struct Ranges<'s>(FxHashMap<&'s str, Range>);

impl<'s> Ranges<'s> {
    /// Declares `prefix0 …`; gives back false if that prefix has a range already.
    pub(super) fn declare(&mut self, prefix: &'s str, first: Symbol, count: u32) -> bool {
        self.0.insert(prefix, Range { first, count }).is_none()
    }

    /// Finds a name by its parts; see [`numbered`].
    pub(super) fn find(&self, (prefix, number): (&str, u32)) -> Option<Symbol> {
        let range = self.0.get(prefix)?;
        (number < range.count).then_some(match range.first {
            Symbol::Reg(Reg(first)) => Symbol::Reg(Reg(first.saturating_add(number))),
            Symbol::Vector(Reg(first), width) => {
                Symbol::Vector(Reg(first.saturating_add(number.saturating_mul(width))), width)
            }
            Symbol::Variable(VarId(first)) => Symbol::Variable(VarId(first.saturating_add(number))),
            Symbol::Param(ParamId(first)) => Symbol::Param(ParamId(first.saturating_add(number))),
            other => other,
        })
    }
}

#[derive(Debug, Default)]
struct Scope<'s> {
    names: FxHashMap<&'s str, Symbol>,
    ranges: Ranges<'s>,
    /// For names that a range could hold, such as `%r3`: the smallest number of each prefix.
    numbered: FxHashMap<&'s str, u32>,
    labels: u32,
}

/// The scopes open at one place of a function, innermost last, over those of the module.
#[derive(Debug)]
pub struct Scopes<'s> {
    open: Vec<Scope<'s>>,
}

impl<'s> Scopes<'s> {
    /// The function's outermost scope; `labels` numbers it in [`Labels`].
    pub fn new() -> Self {
        Self { open: vec![Scope::default()] }
    }

    /// Opens a nested scope, whose labels were collected under that number.
    pub fn enter(&mut self, labels: u32) {
        self.open.push(Scope { labels, ..Scope::default() });
    }

    /// Closes the innermost scope, but never the outermost.
    pub fn leave(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    /// Declares a name in the innermost scope; gives back false if that scope has it already, by itself or in a range.
    pub fn declare(&mut self, name: &'s str, symbol: Symbol) -> bool {
        let Some(scope) = self.open.last_mut() else { return false };
        let mut new = scope.names.insert(name, symbol).is_none();
        if let Some((prefix, number)) = numbered(name) {
            new &= scope.ranges.find((prefix, number)).is_none();
            let smallest = scope.numbered.entry(prefix).or_insert(number);
            *smallest = number.min(*smallest);
        }
        new
    }

    /// Declares `prefix0 …`; gives back false if the innermost scope has that range or one of them already.
    pub fn declare_range(&mut self, prefix: &'s str, first: Symbol, count: u32) -> bool {
        let Some(scope) = self.open.last_mut() else { return false };
        let new = scope.ranges.declare(prefix, first, count);
        new && scope.numbered.get(prefix).is_none_or(|smallest| *smallest >= count)
    }

    /// Finds a name, innermost scope first.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        let parts = numbered(name);
        // Most names are those of ranges. No scope has a name both by itself and in a range.
        self.open.iter().rev().find_map(|scope| {
            let numbered = parts.and_then(|parts| scope.ranges.find(parts));
            numbered.or_else(|| scope.names.get(name).copied())
        })
    }

    /// Finds a label, innermost scope first.
    pub fn find_label(&self, labels: &Labels<'_>, name: &str) -> Option<Label> {
        self.open.iter().rev().find_map(|scope| labels.by_scope.get(&(scope.labels, name)).copied())
    }
}

/// The parts of a name that a range could declare: `%r10` has the prefix `%r` and the number 10.
pub(super) fn numbered(name: &str) -> Option<(&str, u32)> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name.get(prefix.len()..)?;
    let canonical = digits.len() == 1 || !digits.starts_with('0');
    if canonical { Some((prefix, digits.parse().ok()?)) } else { None }
}

/// All labels of a function, which may be used before they stand; scopes are numbered as they open, the outermost 0.
#[derive(Debug, Default)]
pub struct Labels<'s> {
    by_scope: FxHashMap<(u32, &'s str), Label>,
    count: u32,
}

impl<'s> Labels<'s> {
    /// Declares a label in a scope; `None` if the scope has it already.
    pub fn declare(&mut self, scope: u32, name: &'s str) -> Option<Label> {
        let label = Label(self.count);
        let new = self.by_scope.insert((scope, name), label).is_none();
        self.count += 1;
        new.then_some(label)
    }

    /// The number of labels.
    pub fn count(&self) -> u32 {
        self.count
    }
}
