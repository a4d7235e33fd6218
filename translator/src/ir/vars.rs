//! The variables that statements read and assign, and sets of variables.

use super::{Op, Stmt, Var};

/// Calls `visit` for every read of a variable, however deep the statement is nested.
pub fn for_each_read(block: &[Stmt], visit: &mut impl FnMut(Var)) {
    for stmt in block {
        match stmt {
            Stmt::Let(_, Op::Get(var)) => visit(*var),
            Stmt::If { .. } | Stmt::Loop(_) => stmt.lists().for_each(|list| for_each_read(list, visit)),
            _ => {}
        }
    }
}

/// Calls `visit` for every assignment to a variable, however deep the statement is nested.
pub fn for_each_assigned(block: &[Stmt], visit: &mut impl FnMut(Var)) {
    for stmt in block {
        match stmt {
            Stmt::Set(var, _) => visit(*var),
            Stmt::If { .. } | Stmt::Loop(_) => stmt.lists().for_each(|list| for_each_assigned(list, visit)),
            _ => {}
        }
    }
}

/// A set of a function's variables.
#[derive(Clone, Debug, PartialEq)]
pub struct VarSet(Vec<u64>);

impl VarSet {
    /// The variables in a word of a set.
    pub const WORD: usize = 64;

    /// The empty set for a function with `vars` variables.
    pub fn new(vars: usize) -> Self {
        Self(vec![0; vars.div_ceil(64)])
    }

    /// Adds a variable.
    pub fn insert(&mut self, var: Var) {
        if let Some(word) = self.0.get_mut(var.0 as usize / 64) {
            *word |= 1 << (var.0 % 64);
        }
    }

    /// Removes a variable, and tells whether it was there.
    pub fn remove(&mut self, var: Var) -> bool {
        let was_there = self.contains(var);
        if let Some(word) = self.0.get_mut(var.0 as usize / 64) {
            *word &= !(1 << (var.0 % 64));
        }
        was_there
    }

    /// Whether the set has a variable.
    pub fn contains(&self, var: Var) -> bool {
        self.0.get(var.0 as usize / 64).is_some_and(|word| word & 1 << (var.0 % 64) != 0)
    }

    /// The variables, in order.
    pub fn iter(&self) -> impl Iterator<Item = Var> {
        let bits = |(index, word): (usize, &u64)| {
            let (index, word) = (index as u32, *word);
            (0..64).filter(move |bit| word & 1 << bit != 0).map(move |bit| Var(index * 64 + bit))
        };
        self.0.iter().enumerate().flat_map(bits)
    }

    /// Adds the variables of another set, and tells whether one of them was new.
    pub fn extend(&mut self, other: &VarSet) -> bool {
        let mut new = 0;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            new |= more & !*word;
            *word |= more;
        }
        new != 0
    }

    /// Whether the set has a variable among the first, as many as another set is for, that the other set may have.
    pub fn has_among_first(&self, other: &VarSet) -> bool {
        self.0.iter().zip(&other.0).any(|(word, _)| *word != 0)
    }

    /// Replaces its first variables by those of another set, as many as that set is for.
    pub fn start_with(&mut self, other: &VarSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, new)| *word = *new);
    }

    /// Removes the variables of another set.
    pub fn subtract(&mut self, other: &VarSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, less)| *word &= !less);
    }

    /// Keeps only the variables of another set.
    pub fn intersect(&mut self, other: &VarSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, only)| *word &= only);
    }
}
