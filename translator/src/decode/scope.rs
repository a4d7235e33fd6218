//! Names and what they stand for, with PTX's nested scopes and shadowing, and numbered register ranges (`%r<10>`).

use rustc_hash::FxHashMap;

use super::program::{FuncId, Label, ParamId, Reg, VarId};
use super::types::ScalarType;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A register.
    Reg(Reg),
    /// A variable in memory.
    Variable(VarId),
    /// A `.param` variable.
    Param(ParamId),
    /// A function.
    Function(FuncId),
    /// A register declared at module scope: each function has its own.
    ModuleReg(ScalarType),
    /// A `.branchtargets`, `.calltargets` or `.callprototype` label.
    Table,
}

/// Registers `prefix0` to `prefix{count - 1}`.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u32,
    count: u32,
}

#[derive(Debug, Default)]
struct Scope<'s> {
    names: FxHashMap<&'s str, Symbol>,
    ranges: FxHashMap<&'s str, Range>,
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

    /// Declares a name in the innermost scope; gives back false if that scope has it already.
    pub fn declare(&mut self, name: &'s str, symbol: Symbol) -> bool {
        let Some(scope) = self.open.last_mut() else { return false };
        scope.names.insert(name, symbol).is_none()
    }

    /// Declares registers `prefix0 …`; gives back false if the innermost scope has that range already.
    pub fn declare_range(&mut self, prefix: &'s str, first: Reg, count: u32) -> bool {
        let Some(scope) = self.open.last_mut() else { return false };
        scope.ranges.insert(prefix, Range { first: first.0, count }).is_none()
    }

    /// Finds a name, innermost scope first.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = name.split_at(name.len() - digits);
        let canonical = number.len() == 1 || !number.starts_with('0');
        let number = if canonical { number.parse::<u32>().ok() } else { None };
        self.open.iter().rev().find_map(|scope| {
            if let Some(symbol) = scope.names.get(name) {
                return Some(*symbol);
            }
            let number = number?;
            let range = scope.ranges.get(prefix)?;
            (number < range.count).then(|| Symbol::Reg(Reg(range.first + number)))
        })
    }

    /// Finds a label, innermost scope first.
    pub fn find_label(&self, labels: &Labels<'_>, name: &str) -> Option<Label> {
        self.open.iter().rev().find_map(|scope| labels.by_scope.get(&(scope.labels, name)).copied())
    }
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

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }
}
