//! Prepares loops over the lanes of a warp to become calls, for drivers with a budget of loop iterations.
//!
//! Such a driver ends the loops of an invocation once their total of iterations reaches a limit
//! ([`Quirks::loop_budget`](ptx2spv_target::Quirks)). Loops over lanes inside a kernel's own loops would soon use up that budget. So
//! emission makes the body of such a loop a function, and calls the function once for each lane. Drivers inline functions, while the module
//! has the body only once. A function can't use another function's values, so this pass turns these into variables.

use rustc_hash::FxHashMap;

use crate::ir::{Block, Builder, Constants, Function, Stmt, Value, is_lane_loop};
use crate::legalize::carry::{Carrier, outer_values, rename};

/// Makes values that loops over lanes use from the enclosing function go through variables, if the loops are to be
/// calls.
pub fn separate_lane_loops(function: &mut Function, are_calls: bool) {
    if !are_calls {
        function.lane_numbers.clear();
    }
    if function.lane_numbers.is_empty() {
        return;
    }
    let constants = function.constants();
    let body = std::mem::take(&mut function.body);
    let b = Builder::new(function);
    list(&b, body, &constants);
    b.finish();
}

fn list(b: &Builder<'_>, stmts: Block, constants: &Constants) {
    for stmt in stmts {
        match stmt {
            Stmt::If { condition, then, otherwise } => {
                b.if_else(condition, |b| list(b, then, constants), |b| list(b, otherwise, constants));
            }
            Stmt::Loop(mut body) => {
                let is_lane_loop = b.function(|function| is_lane_loop(&body, &function.lane_numbers));
                let outer = if is_lane_loop { outer_values(&body) } else { Vec::new() };
                let carriers: Vec<_> =
                    outer.into_iter().map(|value| (value, Carrier::take(b, value, constants))).collect();
                b.loop_(|b| {
                    let names: FxHashMap<Value, Value> =
                        carriers.into_iter().map(|(value, carrier)| (value, carrier.give(b, value))).collect();
                    if !names.is_empty() {
                        rename(&mut body, &|value| names.get(&value).copied().unwrap_or(value));
                    }
                    list(b, body, constants);
                });
            }
            stmt => b.push(stmt),
        }
    }
}
