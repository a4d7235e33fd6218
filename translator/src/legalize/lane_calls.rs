//! Makes loops over the lanes of a warp ready to become calls, for drivers with a budget of loop rounds.
//!
//! Such a driver ends all loops of an invocation after so many rounds together
//! ([`Quirks::loop_budget`](crate::target::Quirks)), which loops over lanes in a kernel's own loops would soon use up. So emission makes a
//! function of the body of such a loop, and calls it once for each lane. Drivers inline functions; the module has the body once.
//! A function has no values of another. Here they become variables.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Block, Builder, Function, Op, Stmt, Type, Unary, Value, Var, is_lane_loop};
use crate::opt::{for_each_operand, for_each_result, map_operands};

/// Lets what loops over lanes use of the function around them go through variables, where they are to be calls.
pub fn separate_lane_loops(function: &mut Function, are_calls: bool) {
    if !are_calls {
        function.lane_numbers.clear();
    }
    if function.lane_numbers.is_empty() {
        return;
    }
    let constants = function.constants();
    let body = std::mem::take(&mut function.body);
    let mut b = Builder::new(function);
    list(&mut b, body, &constants);
    b.finish();
}

fn list(b: &mut Builder<'_>, stmts: Block, constants: &[Option<u64>]) {
    for stmt in stmts {
        match stmt {
            Stmt::If { condition, then, otherwise } => {
                b.if_else(condition, |b| list(b, then, constants), |b| list(b, otherwise, constants));
            }
            Stmt::Loop(mut body) => {
                let outer =
                    if is_lane_loop(&body, &b.function.lane_numbers) { outer_values(&body) } else { Vec::new() };
                let carriers: Vec<_> = outer.into_iter().map(|value| (value, carry(b, value, constants))).collect();
                b.loop_(|b| {
                    let inner: FxHashMap<Value, Value> =
                        carriers.into_iter().map(|(value, carrier)| (value, carrier.value(b, value))).collect();
                    if !inner.is_empty() {
                        rename(&mut body, &inner);
                    }
                    list(b, body, constants);
                });
            }
            stmt => b.push(stmt),
        }
    }
}

/// How a value gets into a loop.
enum Carrier {
    Constant(u64),
    /// In variables: one for its bits, or for the halves of a pair.
    Variables(Vec<Var>),
}

fn carry(b: &mut Builder<'_>, value: Value, constants: &[Option<u64>]) -> Carrier {
    if let Some(bits) = constants.get(value.0 as usize).copied().flatten() {
        return Carrier::Constant(bits);
    }
    let parts = match b.type_of(value) {
        Type::Pair => [Unary::LowWord, Unary::HighWord].map(|half| b.op(Type::I32, Op::Unary(half, value))).to_vec(),
        _ => vec![b.bits(value)],
    };
    let variable = |part| {
        let var = b.var(b.type_of(part));
        b.set(var, part);
        var
    };
    Carrier::Variables(parts.into_iter().map(variable).collect())
}

impl Carrier {
    /// The same value, here.
    fn value(self, b: &mut Builder<'_>, old: Value) -> Value {
        let ty = b.type_of(old);
        match self {
            Carrier::Constant(bits) => b.constant(ty, bits),
            Carrier::Variables(vars) => {
                let parts: Vec<Value> = vars.into_iter().map(|var| b.get(var)).collect();
                match *parts.as_slice() {
                    [low, high] => b.op(ty, Op::Pair(low, high)),
                    [bits] => b.bitcast(bits, ty),
                    _ => old,
                }
            }
        }
    }
}

/// The values that a list uses and doesn't define.
fn outer_values(block: &Block) -> Vec<Value> {
    // In the order of statements, so that definitions come first.
    fn walk(block: &Block, visit: &mut impl FnMut(Value, bool)) {
        for stmt in block {
            match stmt {
                Stmt::If { condition, then, otherwise } => {
                    visit(*condition, false);
                    walk(then, visit);
                    walk(otherwise, visit);
                }
                Stmt::Loop(body) => walk(body, visit),
                stmt => {
                    for_each_operand(stmt, |value| visit(value, false));
                    for_each_result(stmt, |value| visit(value, true));
                }
            }
        }
    }
    let mut seen = FxHashSet::default();
    let mut outer = Vec::new();
    walk(block, &mut |value, is_defined| {
        if seen.insert(value) && !is_defined {
            outer.push(value);
        }
    });
    outer
}

fn rename(block: &mut Block, names: &FxHashMap<Value, Value>) {
    let name = |value: Value| names.get(&value).copied().unwrap_or(value);
    for stmt in block {
        match stmt {
            Stmt::If { condition, then, otherwise } => {
                *condition = name(*condition);
                rename(then, names);
                rename(otherwise, names);
            }
            Stmt::Loop(body) => rename(body, names),
            stmt => map_operands(stmt, name),
        }
    }
}
