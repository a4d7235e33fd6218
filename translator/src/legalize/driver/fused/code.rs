//! A function's statements in the order of the text, so that each has a number.

use fixedbitset::FixedBitSet;

use super::dependents::Dependents;
use crate::index::Index;
use crate::ir::{Function, Op, Stmt, Value, Var, VarSet, for_each_operand};

/// A function's statements. Their numbers are called places.
pub struct Code<'f> {
    /// What stands at each place.
    pub instructions: Vec<Instruction<'f>>,
    /// The loop around each place.
    pub loops: Vec<Option<usize>>,
}

/// What stands at a place.
pub enum Instruction<'f> {
    /// A statement without nested lists.
    Plain(&'f Stmt),
    /// A condition. The first arm follows.
    If {
        stmt: &'f Stmt,
        condition: Value,
        branch: Branch,
    },
    /// The end of an arm of the condition at a place, and whether the other arm has such an end, too.
    Join {
        condition: usize,
        meets: bool,
    },
    /// A loop. Its body follows.
    Loop {
        assigned: VarSet,
        used: FixedBitSet,
        branch: Branch,
    },
    /// The end of a loop's body.
    Repeat,
    /// Leaves a loop.
    Break,
    End,
}

/// A condition or a loop.
#[derive(Default)]
pub struct Branch {
    /// The places where its arms begin; a loop's body is the first.
    pub arms: [usize; 2],
    /// The place after it.
    pub end: usize,
    /// The items that each arm reads, assigns or uses; a loop's body is the first.
    pub touched: [FixedBitSet; 2],
    /// The places of the `Break`s in a condition that leave the loop around it.
    pub breaks: Vec<usize>,
}

/// Writes a function's statements down.
struct Writer<'f, 'd> {
    function: &'f Function,
    dependents: &'d Dependents,
    code: Code<'f>,
}

/// What a list has in it.
struct Contents {
    /// The items that it reads or uses.
    used: FixedBitSet,
    /// These, and those that it assigns.
    touched: FixedBitSet,
    assigned: VarSet,
    breaks: Vec<usize>,
}

impl<'f> Writer<'f, '_> {
    fn push(&mut self, around: Option<usize>, instruction: Instruction<'f>) -> usize {
        self.code.loops.push(around);
        self.code.instructions.push(instruction);
        self.code.loops.len() - 1
    }

    fn list(&mut self, list: &'f [Stmt], around: Option<usize>) -> Contents {
        let mut contents = Contents {
            used: FixedBitSet::with_capacity(self.dependents.len()),
            touched: FixedBitSet::with_capacity(self.dependents.len()),
            assigned: VarSet::new(self.function.vars.len()),
            breaks: Vec::new(),
        };
        for stmt in list {
            for_each_operand(stmt, |value| contents.used.extend(self.dependents.value(value).map(Index::position)));
            match stmt {
                Stmt::If { condition, then, otherwise } => {
                    let at = self.push(around, Instruction::End);
                    let first = self.list(then, around);
                    let jump = self.push(around, Instruction::End);
                    let second = self.list(otherwise, around);
                    let end = self.push(around, Instruction::End) + 1;
                    for (join, other) in [(jump, otherwise), (end - 1, then)] {
                        self.code.instructions[join] = Instruction::Join { condition: at, meets: goes_on(other) };
                    }
                    for arm in [&first, &second] {
                        contents.used.union_with(&arm.used);
                        contents.touched.union_with(&arm.touched);
                        contents.assigned.extend(&arm.assigned);
                        contents.breaks.extend(&arm.breaks);
                    }
                    let breaks = [first.breaks, second.breaks].concat();
                    let arms = [at + 1, jump + 1];
                    let branch = Branch { arms, end, touched: [first.touched, second.touched], breaks };
                    self.code.instructions[at] = Instruction::If { stmt, condition: *condition, branch };
                }
                Stmt::Loop(body) => {
                    let at = self.push(around, Instruction::End);
                    let body = self.list(body, Some(at));
                    let end = self.push(Some(at), Instruction::Repeat) + 1;
                    contents.used.union_with(&body.used);
                    contents.touched.union_with(&body.touched);
                    contents.assigned.extend(&body.assigned);
                    let touched = [body.touched, FixedBitSet::new()];
                    let branch = Branch { arms: [at + 1, end], end, touched, breaks: Vec::new() };
                    self.code.instructions[at] = Instruction::Loop { assigned: body.assigned, used: body.used, branch };
                }
                Stmt::Break => contents.breaks.push(self.push(around, Instruction::Break)),
                _ => {
                    if let Stmt::Let(_, Op::Get(var)) = stmt {
                        contents.used.extend(self.dependents.var(*var).map(Index::position));
                    }
                    if let Stmt::Set(var, _) = stmt {
                        contents.touched.extend(self.dependents.var(*var).map(Index::position));
                        contents.assigned.insert(*var);
                    }
                    self.push(around, Instruction::Plain(stmt));
                }
            }
        }
        contents.touched.union_with(&contents.used);
        contents
    }
}

impl<'f> Code<'f> {
    /// Writes a function down.
    pub fn new(function: &'f Function, dependents: &Dependents) -> Self {
        let code = Self { instructions: Vec::new(), loops: Vec::new() };
        let mut writer = Writer { function, dependents, code };
        writer.list(&function.body, None);
        writer.push(None, Instruction::End);
        writer.code
    }

    /// The innermost loop around a place that assigns a variable.
    pub fn assigning_loop(&self, place: usize, var: Var) -> Option<usize> {
        let mut around = self.loops[place];
        while let Some(header) = around
            && let Instruction::Loop { assigned, .. } = &self.instructions[header]
            && !assigned.contains(var)
        {
            around = self.loops[header];
        }
        around
    }

    /// The condition or loop at a place.
    pub fn branch(&self, place: usize) -> Option<&Branch> {
        match self.instructions.get(place)? {
            Instruction::If { branch, .. } | Instruction::Loop { branch, .. } => Some(branch),
            _ => None,
        }
    }
}

impl<'f> Instruction<'f> {
    /// The statement, unless it has no operands.
    pub fn stmt(&self) -> Option<&'f Stmt> {
        match self {
            Self::Plain(stmt) | Self::If { stmt, .. } => Some(stmt),
            _ => None,
        }
    }

    /// The condition or loop.
    pub fn into_branch(self) -> Option<Branch> {
        match self {
            Self::If { branch, .. } | Self::Loop { branch, .. } => Some(branch),
            _ => None,
        }
    }
}

/// Whether the end of a list can be reached.
fn goes_on(list: &[Stmt]) -> bool {
    match list.last() {
        Some(Stmt::If { then, otherwise, .. }) => goes_on(then) || goes_on(otherwise),
        last => !matches!(last, Some(Stmt::Break | Stmt::Return(_))),
    }
}
