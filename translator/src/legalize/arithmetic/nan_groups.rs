//! Tests several results on f64 for NaN at once, where branches are cheap.
//!
//! The NaN that a result must be ([`Binary::OrNan`]) depends on which operand is NaN. Each of these comparisons takes as long as the operation
//! itself on most devices, and NaNs are rare. So results that stand in one list are first what the device gives. The greatest of their upper
//! words tells whether one of them is infinite or NaN. Only then they are computed again, with `OrNan`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::exposed::Exposed;
use crate::index::IndexVec;
use crate::ir::{
    Binary, Block, Builder, Compare, Function, Op, Stmt, Type, Unary, Value, Var, bits_type, for_each_operand,
    for_each_stmt, map_op_operands,
};
use crate::soft::DOUBLE;

/// Most results of a group. What they are made of has to be kept until the test.
const MOST_RESULTS: usize = 16;
/// Most operations that are performed again.
const MOST_REPEATED: usize = 128;

/// Groups the results of a function whose NaNs matter, and returns whether there are any.
pub fn group_nans(function: &mut Function) -> bool {
    let mut has_results = false;
    for_each_stmt(&function.body, |stmt| has_results |= result_of(function, stmt).is_some());
    if !has_results {
        return false;
    }
    let exposed = Exposed::of(function);
    let mut uses = IndexVec::filled(0, function.values.len());
    for_each_stmt(&function.body, |stmt| for_each_operand(stmt, |value| uses[value] += 1));
    let mut body = std::mem::take(&mut function.body);
    Grouping { function, exposed, uses }.list(&mut body);
    function.body = body;
    true
}

/// A result on `F64` with the NaN that it must be.
fn result_of(function: &Function, stmt: &Stmt) -> Option<Value> {
    match *stmt {
        Stmt::Let(result, Op::Binary(Binary::OrNan, ..)) if function.values.at(result) == Some(&Type::F64) => {
            Some(result)
        }
        _ => None,
    }
}

struct Grouping<'f> {
    function: &'f mut Function,
    exposed: Exposed,
    /// How often each value was used.
    uses: IndexVec<Value, u32>,
}

/// Statements of a list from the first `OrNan` on that the next test is for.
#[derive(Default)]
struct Group {
    /// The values that depend on the first results, as the device has them.
    fast: FxHashMap<Value, Value>,
    /// The operations that these come from, in order.
    repeated: Vec<(Value, Op)>,
    /// The results to test.
    tests: Vec<Value>,
    /// Variables that are assigned such values, at the end.
    sets: Vec<(Var, Value)>,
}

impl Grouping<'_> {
    /// Groups the results of a list and of those nested there. The recursion must fit a small stack, so this does nothing else.
    fn list(&mut self, list: &mut Block) {
        for stmt in list.iter_mut() {
            match stmt {
                Stmt::If { then, otherwise, .. } => {
                    self.list(then);
                    self.list(otherwise);
                }
                Stmt::Loop(body) => self.list(body),
                _ => {}
            }
        }
        self.group(list);
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
            if !group.takes(&stmt) {
                self.finish(&mut grouped, std::mem::take(&mut group), &earlier);
            }
            match stmt {
                Stmt::Let(result, Op::Binary(Binary::OrNan, value, nan)) if self.begins(&stmt) => {
                    let value_of_device = group.fast.get(&value).copied().unwrap_or(value);
                    group.fast.insert(result, value_of_device);
                    group.tests.push(value_of_device);
                    group.repeated.push((result, Op::Binary(Binary::OrNan, value, nan)));
                }
                Stmt::Let(result, op) if group.uses(&stmt) => {
                    let value_of_device = self.function.value(self.function.values[result]);
                    let with_device = map_op_operands(op, |value| group.fast.get(&value).copied().unwrap_or(value));
                    grouped.push(Stmt::Let(value_of_device, with_device));
                    group.fast.insert(result, value_of_device);
                    group.repeated.push((result, op));
                }
                Stmt::Set(var, value) if group.fast.contains_key(&value) => group.sets.push((var, value)),
                stmt => {
                    if let Stmt::Let(result, op) = stmt {
                        earlier.insert(result, op);
                    }
                    grouped.push(stmt);
                }
            }
            if group.tests.len() == MOST_RESULTS || group.repeated.len() == MOST_REPEATED {
                self.finish(&mut grouped, std::mem::take(&mut group), &earlier);
            }
        }
        self.finish(&mut grouped, group, &earlier);
        *list = grouped;
    }

    /// Whether a statement is a result on f64 whose NaN matters.
    fn begins(&self, stmt: &Stmt) -> bool {
        result_of(self.function, stmt).is_some_and(|result| self.exposed.value(result))
    }

    /// Appends the test of a group, the rare case, and what others use of the results.
    fn finish(&mut self, list: &mut Block, group: Group, earlier: &FxHashMap<Value, Op>) {
        let Group { fast, repeated, tests, sets } = group;
        let mut inside = FxHashMap::<Value, u32>::default();
        for (_, op) in &repeated {
            map_op_operands(*op, |value| {
                *inside.entry(value).or_default() += 1;
                value
            });
        }
        sets.iter().for_each(|(_, value)| *inside.entry(*value).or_default() += 1);
        let used_by_others = |value: &Value| {
            let all = self.uses.at(*value).copied().unwrap_or(u32::MAX);
            all > inside.get(value).copied().unwrap_or(0)
        };
        let results: Vec<Value> = repeated.iter().map(|(value, _)| *value).filter(used_by_others).collect();
        let b = Builder::new(self.function);
        b.replace_block(std::mem::take(list));
        let mut tested = FxHashSet::default();
        let mut greatest = None;
        for value in tests.into_iter().filter(|value| tested.insert(*value)) {
            let magnitude = b.shl(b.unary(Unary::HighWord, value), 1);
            greatest = Some(greatest.map_or(magnitude, |before| b.binary(Binary::MaxUnsigned, before, magnitude)));
        }
        let Some(greatest) = greatest else {
            *list = b.into_block();
            return;
        };
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
        assign(&b, &fast);
        let infinity = b.constant_like(greatest, DOUBLE.infinity() >> 31);
        let is_rare = b.compare(Compare::LessEqualUnsigned, infinity, greatest);
        b.if_(is_rare, |b| {
            let mut again = FxHashMap::default();
            for (result, op) in &repeated {
                let ty = b.type_of(*result);
                let op = match *op {
                    Op::Binary(Binary::OrNan, value, nan) => {
                        let value = again.get(&value).copied().unwrap_or(value);
                        Op::Binary(Binary::OrNan, value, repeat(b, nan, earlier, &mut again, DEEPEST))
                    }
                    op => map_op_operands(op, |value| again.get(&value).copied().unwrap_or(value)),
                };
                again.insert(*result, b.op(ty, op));
            }
            assign(b, &again);
        });
        for (value, var) in &vars {
            let bits = b.get(*var);
            let ty = b.type_of(*value);
            let op = if b.type_of(bits) == ty { Op::Get(*var) } else { Op::Unary(Unary::Bitcast(ty), bits) };
            b.push(Stmt::Let(*value, op));
        }
        *list = b.into_block();
    }
}

impl Group {
    /// Whether a statement can stand between the group's results and their test.
    fn takes(&self, stmt: &Stmt) -> bool {
        let is_assigned = |var: &Var| self.sets.iter().any(|(set, _)| set == var);
        match stmt {
            Stmt::If { .. } | Stmt::Loop(_) | Stmt::Break | Stmt::Return(_) => self.tests.is_empty(),
            Stmt::Let(_, Op::Get(var)) => !is_assigned(var),
            Stmt::Let(_, op) => !self.uses(stmt) || is_repeatable(op),
            Stmt::Set(var, _) => !is_assigned(var),
            Stmt::At(_) => true,
            _ => !self.uses(stmt),
        }
    }

    fn uses(&self, stmt: &Stmt) -> bool {
        let mut uses = false;
        for_each_operand(stmt, |value| uses |= self.fast.contains_key(&value));
        uses
    }
}

/// Deepest operand of a NaN's choice that is computed in the rare case alone.
const DEEPEST: u32 = 8;

/// A value that only the rare case needs, computed there if it is cheap.
fn repeat(
    b: &Builder<'_>,
    value: Value,
    earlier: &FxHashMap<Value, Op>,
    again: &mut FxHashMap<Value, Value>,
    depth: u32,
) -> Value {
    if let Some(known) = again.get(&value) {
        return *known;
    }
    let Some(&op) = earlier.get(&value).filter(|op| depth > 0 && is_repeatable(op)) else { return value };
    let ty = b.type_of(value);
    let op = map_op_operands(op, |operand| repeat(b, operand, earlier, again, depth - 1));
    let repeated = b.op(ty, op);
    again.insert(value, repeated);
    repeated
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
