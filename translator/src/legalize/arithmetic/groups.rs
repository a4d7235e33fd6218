//! Results that are right except in rare cases, tested together: results in one list first have the values of the
//! common case. One test tells whether a rare case is among them; the rare case computes them again, and everything
//! that was made of them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::IndexVec;
use crate::ir::{
    Binary, Block, Builder, Compare, Function, Op, Stmt, Unary, Value, Var, bits_type, for_each_op_operand,
    for_each_operand, map_op_operands, uses,
};

/// Most results of a group. Their operands have to be kept until the test.
const MOST_RESULTS: usize = 16;
/// Most operations that are performed again.
const MOST_REPEATED: usize = 128;
/// Deepest operand that [`Again::repeat`] computes.
const DEEPEST: u32 = 8;

/// Results that are right but in rare cases.
pub trait Rare {
    /// Whether an operation gives such a result.
    fn has(&self, function: &Function, result: Value, op: Op) -> bool;

    /// The operation's result in most cases, for operands that are such results themselves. Takes note of the test.
    fn usual(&mut self, b: &Builder<'_>, op: Op) -> Value;

    /// Whether a rare case is among the results since the last call of this function.
    fn is_rare(&mut self, b: &Builder<'_>) -> Value;

    /// The values that are no NaN unless a rare case is among the results of these operations, of which it is said whether the results are
    /// tested.
    fn numbers(&self, _operations: &[(Value, Op, bool)]) -> FxHashSet<Value> {
        FxHashSet::default()
    }

    /// The result in all cases.
    fn always(&self, b: &Builder<'_>, op: Op, again: &mut Again<'_>) -> Value;
}

/// Groups results of a function.
pub fn group(function: &mut Function, rare: &mut impl Rare) {
    let uses = uses(&function.body, function.values.len());
    let mut body = std::mem::take(&mut function.body);
    Grouping { function, uses, rare }.list(&mut body);
    function.body = body;
}

struct Grouping<'f, R> {
    function: &'f mut Function,
    /// The number of uses of each value.
    uses: IndexVec<Value, u32>,
    rare: &'f mut R,
}

/// Statements of a list from the first result on that the next test is for.
#[derive(Default)]
struct Group {
    /// The values that depend on the first results, as they are in most cases.
    usual: FxHashMap<Value, Value>,
    /// The operations that these come from, in order, and whether their results are those to test.
    repeated: Vec<(Value, Op, bool)>,
    /// The number of results to test.
    tests: usize,
    /// Variables that are assigned such values, at the end.
    sets: Vec<(Var, Value)>,
}

impl<R: Rare> Grouping<'_, R> {
    /// Groups the results of a list and of those nested there. The recursion must fit a small stack, so this does nothing else.
    fn list(&mut self, list: &mut Block) {
        for stmt in list.iter_mut() {
            if let Stmt::If { .. } | Stmt::Loop(_) = stmt {
                stmt.lists_mut().for_each(|list| self.list(list));
            }
        }
        self.group(list);
    }

    /// Whether a statement has a result that is right except in rare cases.
    fn begins(&self, stmt: &Stmt) -> bool {
        matches!(*stmt, Stmt::Let(result, op) if self.rare.has(self.function, result, op))
    }

    #[inline(never)]
    fn group(&mut self, list: &mut Block) {
        if !list.iter().any(|stmt| self.begins(stmt)) {
            return;
        }
        // What stands in the list already, for operations that only the rare case needs.
        let mut earlier = FxHashMap::default();
        let mut group = Group::default();
        let mut grouped = Vec::with_capacity(list.len());
        for stmt in list.drain(..) {
            let begins = self.begins(&stmt);
            if !group.takes(&stmt, begins) {
                self.finish(&mut grouped, std::mem::take(&mut group), &earlier);
            }
            match stmt {
                Stmt::Let(result, op) if begins || group.uses(&stmt) => {
                    let of_usual = map_op_operands(op, |value| group.usual.get(&value).copied().unwrap_or(value));
                    let b = Builder::new(self.function);
                    b.replace_block(std::mem::take(&mut grouped));
                    let ty = b.type_of(result);
                    let usual = if begins { self.rare.usual(&b, of_usual) } else { b.op(ty, of_usual) };
                    grouped = b.into_block();
                    group.usual.insert(result, usual);
                    group.repeated.push((result, op, begins));
                    group.tests += usize::from(begins);
                }
                Stmt::Set(var, value) if group.usual.contains_key(&value) => group.sets.push((var, value)),
                stmt => {
                    if let Stmt::Let(result, op) = stmt {
                        earlier.insert(result, op);
                    }
                    grouped.push(stmt);
                }
            }
            if group.tests == MOST_RESULTS || group.repeated.len() == MOST_REPEATED {
                self.finish(&mut grouped, std::mem::take(&mut group), &earlier);
            }
        }
        self.finish(&mut grouped, group, &earlier);
        *list = grouped;
    }

    /// Leaves tests for NaN from an operation on to the rare case, if only that may have one. Returns where the operations end that it repeats.
    fn leave_nans(&self, operations: &[(Value, Op, bool)], from: usize, usual: &mut FxHashMap<Value, Value>) -> usize {
        let numbers = self.rare.numbers(operations);
        let mut end = from;
        for (index, &(result, op, _)) in operations.iter().enumerate().skip(from) {
            let Op::Select(is_number, value, _) = op else { continue };
            let tests = |&(test, op, _): &(Value, Op, bool)| {
                test == is_number && op == Op::Compare(Compare::FEqual, value, value)
            };
            if numbers.contains(&value)
                && operations.iter().any(tests)
                && let Some(&number) = usual.get(&value)
            {
                usual.insert(result, number);
                end = index + 1;
            }
        }
        end
    }

    /// Appends the test of a group, the rare case, and the values of the results for other uses.
    fn finish(&mut self, list: &mut Block, group: Group, earlier: &FxHashMap<Value, Op>) {
        let Group { mut usual, mut repeated, tests, sets } = group;
        if tests == 0 {
            return;
        }
        // What is made of the last result can wait for the test.
        let last = repeated.iter().rposition(|(.., is_tested)| *is_tested).map_or(0, |last| last + 1);
        let end = self.leave_nans(&repeated, last, &mut usual);
        let later = repeated.split_off(end);
        let (later_sets, sets): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|(_, set)| later.iter().any(|(value, ..)| value == set));
        let mut inside = FxHashMap::<Value, u32>::default();
        for (_, op, _) in &repeated {
            for_each_op_operand(*op, |value| *inside.entry(value).or_default() += 1);
        }
        sets.iter().for_each(|(_, value)| *inside.entry(*value).or_default() += 1);
        let used_by_others = |value: &Value| {
            let all = self.uses.at(*value).copied().unwrap_or(u32::MAX);
            all > inside.get(value).copied().unwrap_or(0)
        };
        let results: Vec<Value> = repeated.iter().map(|(value, ..)| *value).filter(used_by_others).collect();
        let b = Builder::new(self.function);
        b.replace_block(std::mem::take(list));
        let is_rare = self.rare.is_rare(&b);
        let vars: Vec<(Value, Var)> = results
            .into_iter()
            .map(|value| {
                let ty = bits_type(b.type_of(value));
                (value, b.var(ty))
            })
            .collect();
        let assign = |b: &Builder<'_>, values: &FxHashMap<Value, Value>| {
            let of = |value: &Value| values.get(value).copied().unwrap_or(*value);
            sets.iter().for_each(|(var, value)| b.set(*var, of(value)));
            for (value, var) in &vars {
                b.set(*var, b.bits(of(value)));
            }
        };
        assign(&b, &usual);
        b.if_(is_rare, |b| {
            let mut again = Again { values: FxHashMap::default(), earlier };
            for (result, op, is_tested) in &repeated {
                let ty = b.type_of(*result);
                let value = if *is_tested {
                    self.rare.always(b, *op, &mut again)
                } else {
                    b.op(ty, map_op_operands(*op, |value| again.of(value)))
                };
                again.values.insert(*result, value);
            }
            assign(b, &again.values);
        });
        for (value, var) in &vars {
            let bits = b.get(*var);
            let ty = b.type_of(*value);
            let op = if b.type_of(bits) == ty { Op::Get(*var) } else { Op::Unary(Unary::Bitcast(ty), bits) };
            b.push(Stmt::Let(*value, op));
        }
        later.into_iter().for_each(|(value, op, _)| b.push(Stmt::Let(value, op)));
        later_sets.into_iter().for_each(|(var, value)| b.set(var, value));
        *list = b.into_block();
    }
}

impl Group {
    /// Whether a statement can stand between the group's results and their test.
    fn takes(&self, stmt: &Stmt, begins: bool) -> bool {
        let is_assigned = |var: &Var| self.sets.iter().any(|(set, _)| set == var);
        match stmt {
            Stmt::If { .. } | Stmt::Loop(_) | Stmt::Break | Stmt::Return(_) => self.tests == 0,
            Stmt::Let(_, Op::Get(var)) => !is_assigned(var),
            Stmt::Let(_, op) => begins || !self.uses(stmt) || is_repeatable(op),
            Stmt::Set(var, _) => !is_assigned(var),
            Stmt::At(_) => true,
            _ => !self.uses(stmt),
        }
    }

    fn uses(&self, stmt: &Stmt) -> bool {
        let mut uses = false;
        for_each_operand(stmt, |value| uses |= self.usual.contains_key(&value));
        uses
    }
}

/// The rare case.
pub struct Again<'g> {
    /// Values as they are there.
    values: FxHashMap<Value, Value>,
    /// The operations before the rare case, by their results.
    earlier: &'g FxHashMap<Value, Op>,
}

impl Again<'_> {
    /// A value as it is in the rare case.
    pub fn of(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// A value that only the rare case needs, computed there if it is cheap.
    pub fn repeat(&mut self, b: &Builder<'_>, value: Value) -> Value {
        self.repeat_to(b, value, DEEPEST)
    }

    fn repeat_to(&mut self, b: &Builder<'_>, value: Value, depth: u32) -> Value {
        if let Some(known) = self.values.get(&value) {
            return *known;
        }
        let Some(&op) = self.earlier.get(&value).filter(|op| depth > 0 && is_repeatable(op)) else { return value };
        let ty = b.type_of(value);
        let op = map_op_operands(op, |operand| self.repeat_to(b, operand, depth - 1));
        let repeated = b.op(ty, op);
        self.values.insert(value, repeated);
        repeated
    }
}

/// Whether the greatest of some unsigned numbers reaches a bound.
pub fn reaches(b: &Builder<'_>, bound: u64, numbers: impl IntoIterator<Item = Value>) -> Value {
    let greatest = numbers.into_iter().reduce(|greatest, number| b.binary(Binary::MaxUnsigned, greatest, number));
    greatest.map_or_else(|| b.bool(false), |greatest| b.ule(b.constant_like(greatest, bound), greatest))
}

/// Whether an operation is cheap, and so may be performed twice.
fn is_repeatable(op: &Op) -> bool {
    use Binary::{Add, And, FAdd, FMul, FSub, Or, Shl, Shr, Sub, Xor};
    match op {
        Op::Const(_) | Op::Compare(..) | Op::Select(..) | Op::Pair(..) | Op::Fma(..) => true,
        Op::Unary(op, _) => {
            matches!(op, Unary::Bitcast(_) | Unary::HighWord | Unary::LowWord | Unary::Not | Unary::FNeg)
        }
        Op::Binary(op, ..) => {
            matches!(op, Add | Sub | And | Or | Xor | Shl | Shr | FAdd | FSub | FMul | Binary::OrNan)
        }
        _ => false,
    }
}
