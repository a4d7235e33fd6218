//! What a compiler knows on a path: constants of variables, and conditions that the path went by.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::code::Code;
use crate::index::IndexVec;
use crate::ir::{
    Binary, Compare, Folded, Function, Op, Stmt, Type, Unary, Value, Var, VarSet, fold, for_each_op_operand,
    for_each_operand, for_each_result, map_op_operands,
};

/// How many operations deep the operands of an operation are looked for.
const DEPTH: u32 = 4;

/// What is known at a place of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Known {
    /// With the place where the path learned them.
    values: BTreeMap<Value, (u64, usize)>,
    vars: BTreeMap<Var, u64>,
}

/// What tells values and variables of a function apart, whatever the path.
pub struct Knowledge<'f> {
    function: &'f Function,
    /// The operations of values.
    definitions: IndexVec<Value, Option<Op>>,
    /// The first value, in scope or not, that the same operation gives.
    same: IndexVec<Value, Value>,
    /// The innermost loop, by its place, whose rounds can give each value different bits.
    varies: IndexVec<Value, Option<usize>>,
    /// The last place, in the order of the text, where each value matters.
    value_uses: IndexVec<Value, usize>,
    /// The last place that reads each variable.
    var_reads: IndexVec<Var, usize>,
    /// Whether each value is a condition, a constant, or one of several constants.
    choices: IndexVec<Value, bool>,
    /// The variables that hold nothing else.
    selectors: VarSet,
}

impl<'f> Knowledge<'f> {
    /// Goes through a function.
    pub fn new(function: &'f Function, code: &Code<'_>) -> Self {
        let values = function.values.len();
        let mut knowledge = Self {
            function,
            definitions: IndexVec::filled(None, values),
            same: (0..values as u32).map(Value).collect(),
            varies: IndexVec::filled(None, values),
            value_uses: IndexVec::filled(0, values),
            var_reads: IndexVec::filled(0, function.vars.len()),
            choices: IndexVec::filled(false, values),
            selectors: VarSet::new(function.vars.len()),
        };
        function.vars.indices().for_each(|var| knowledge.selectors.insert(var));
        knowledge.find_choices(code);
        let mut found = FxHashMap::default();
        for (place, instruction) in code.instructions.iter().enumerate() {
            let around = code.loops[place];
            match instruction.stmt() {
                Some(Stmt::Let(value, op)) => {
                    if let Op::Get(var) = op {
                        knowledge.var_reads[*var] = place;
                    }
                    let mut varies = match op {
                        Op::Get(var) => code.assigning_loop(place, *var),
                        _ if is_pure(op) => None,
                        _ => around,
                    };
                    for_each_op_operand(*op, |operand| varies = varies.max(knowledge.varies[operand]));
                    knowledge.varies[*value] = varies;
                    knowledge.definitions[*value] = Some(*op);
                    if is_pure(op) {
                        let key = map_op_operands(*op, |operand| knowledge.same[operand]);
                        knowledge.same[*value] = *found.entry((key, function.type_of(*value))).or_insert(*value);
                    }
                }
                Some(stmt) => for_each_result(stmt, |value| knowledge.varies[value] = around),
                None => {}
            }
        }
        for (place, instruction) in code.instructions.iter().enumerate().rev() {
            let Some(stmt) = instruction.stmt() else { continue };
            // A condition matters as long as those that are made of it.
            let last = match stmt {
                Stmt::Let(value, _) if knowledge.choices[*value] => place.max(knowledge.value_uses[*value]),
                _ => place,
            };
            for_each_operand(stmt, |operand| {
                let operand = knowledge.same[operand];
                let mut last = last;
                // One that doesn't change in a loop matters for the next rounds.
                let mut around = code.loops[place].filter(|_| function.type_of(operand) == Type::Bool);
                while let Some(header) = around.filter(|_| around > knowledge.varies[operand]) {
                    last = code.branch(header).map_or(last, |branch| last.max(branch.end));
                    around = code.loops[header];
                }
                knowledge.value_uses[operand] = last.max(knowledge.value_uses[operand]);
            });
        }
        knowledge
    }

    /// Finds the values that are conditions, constants, or one of several constants, and the variables that hold nothing else.
    fn find_choices(&mut self, code: &Code<'_>) {
        let mut selectors = None;
        while selectors.as_ref() != Some(&self.selectors) {
            selectors = Some(self.selectors.clone());
            for instruction in &code.instructions {
                match instruction.stmt() {
                    Some(Stmt::Let(value, op)) => {
                        self.choices[*value] = self.function.type_of(*value) == Type::Bool
                            || match op {
                                Op::Const(_) => true,
                                Op::Select(_, a, b) => self.choices[*a] && self.choices[*b],
                                Op::Get(var) => self.selectors.contains(*var),
                                _ => false,
                            };
                    }
                    Some(Stmt::Set(var, value)) if !self.choices[*value] => _ = self.selectors.remove(*var),
                    _ => {}
                }
            }
        }
    }

    /// The bits of a value, if they are known.
    pub fn bits(&self, known: &Known, value: Value) -> Option<u64> {
        self.bits_to(known, value, DEPTH)
    }

    fn bits_to(&self, known: &Known, value: Value, depth: u32) -> Option<u64> {
        if let Some((bits, _)) = known.values.get(&self.same[value]) {
            return Some(*bits);
        }
        match self.definitions[value]? {
            Op::Const(bits) => Some(bits),
            op if depth > 0 && self.choices[value] && !known.values.is_empty() => {
                match self.folded_to(known, &op, depth - 1)? {
                    Folded::Const(bits) => Some(bits),
                    Folded::Value(value) => self.bits_to(known, value, depth - 1),
                }
            }
            _ => None,
        }
    }

    /// What an operation comes to, if that is less than itself.
    pub fn folded(&self, known: &Known, op: &Op) -> Option<Folded> {
        self.folded_to(known, op, DEPTH)
    }

    fn folded_to(&self, known: &Known, op: &Op, depth: u32) -> Option<Folded> {
        fold(self.function, op, |value| self.bits_to(known, value, depth).map(Op::Const))
    }

    /// The first unknown condition by which a statement gives a variable one of several constants.
    pub fn undecided(&self, known: &Known, stmt: &Stmt) -> Option<Value> {
        let Stmt::Set(var, mut value) = *stmt else { return None };
        if !self.selectors.contains(var) {
            return None;
        }
        while let Some(Op::Select(condition, a, b)) = self.definitions[value] {
            value = match self.bits(known, condition) {
                Some(0) => b,
                Some(_) => a,
                None => return Some(condition),
            };
        }
        None
    }

    /// Adds what the statement of a place tells.
    pub fn pass(&self, known: &mut Known, place: usize, stmt: &Stmt) {
        match stmt {
            Stmt::Let(value, op) if self.choices[*value] => {
                let bits = match op {
                    Op::Const(_) => None,
                    Op::Get(var) => known.vars.get(var).copied(),
                    _ => self.bits(known, *value),
                };
                if let Some(bits) = bits {
                    known.values.entry(self.same[*value]).or_insert((bits, place));
                }
            }
            Stmt::Set(var, value) => match self.bits(known, *value) {
                Some(bits) if self.selectors.contains(*var) => _ = known.vars.insert(*var, bits),
                _ => _ = known.vars.remove(var),
            },
            _ => {}
        }
    }

    /// Adds that a condition holds at a place, or that it doesn't, and what follows for the conditions that it is made of.
    pub fn learn(&self, known: &mut Known, place: usize, condition: Value, holds: bool) {
        let condition = self.same[condition];
        known.values.entry(condition).or_insert((holds.into(), place));
        match self.definitions[condition] {
            Some(Op::Unary(Unary::Not, a)) => self.learn(known, place, a, !holds),
            Some(Op::Binary(op, a, b)) if op == if holds { Binary::And } else { Binary::Or } => {
                self.learn(known, place, a, holds);
                self.learn(known, place, b, holds);
            }
            Some(Op::Compare(compare, a, b)) if holds == (compare == Compare::Equal) => {
                if let (Compare::Equal | Compare::NotEqual, Some(bits)) = (compare, self.bits(known, b)) {
                    known.values.entry(self.same[a]).or_insert((bits, place));
                }
            }
            _ => {}
        }
    }

    /// Drops what doesn't matter for a statement and those after it.
    pub fn forget_unused(&self, known: &mut Known, position: usize) {
        known.values.retain(|value, _| self.value_uses[*value] >= position);
        known.vars.retain(|var, _| self.var_reads[*var] >= position);
    }

    /// What is still known in the next round of a loop, except of variables.
    pub fn repeat(&self, known: &mut Known, header: usize) {
        known.values.retain(|value, (_, learned)| {
            *learned = header.min(*learned);
            self.varies[*value] < Some(header)
        });
    }
}

impl Known {
    /// Drops what an arm of a condition taught: compilers follow variables to other places, but repeat no conditions.
    pub fn leave(&mut self, condition: usize) {
        self.values.retain(|_, (_, learned)| *learned <= condition);
    }

    /// Drops what is known of these variables.
    pub fn forget(&mut self, vars: &VarSet) {
        self.vars.retain(|var, _| !vars.contains(*var));
    }
}

/// Whether an operation gives the same for the same operands.
fn is_pure(op: &Op) -> bool {
    matches!(op, Op::Const(_) | Op::Unary(..) | Op::Binary(..) | Op::Compare(..) | Op::Select(..) | Op::DotFma(..))
}
