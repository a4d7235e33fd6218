//! Prepares loops over the lanes of a warp to become calls, for drivers with a budget of loop iterations.
//!
//! Such a driver ends the loops of an invocation once their total of iterations reaches a limit
//! ([`Quirks::loop_budget`](ptx2spv_target::Quirks)). Loops over lanes inside a kernel's own loops would soon use up that budget. So
//! emission makes the body of such a loop a function, and calls the function once for each lane. Drivers inline functions, while the module
//! has the body only once. A function can't use another function's values, so a pass turns these into variables.
//!
//! A loop over lanes that is in no other loop takes 32 rounds in all. Such loops stay loops as long as the budget allows, since a driver
//! takes long to compile 32 copies.

use rustc_hash::FxHashMap;

use crate::ir::{Block, Builder, Constants, Function, Stmt, Value, Var, WARP_SIZE, depth, is_lane_loop, lane_number};
use crate::legalize::carry::{Carrier, outer_values, rename};

/// The part of the driver's rounds that loops over lanes take at most together. Twice as many are counted where threads are suspended, and that
/// must leave enough for the kernel's own loops.
const PART: u32 = 16;

/// Chooses the loops over lanes that become calls: none without a `budget` of rounds, else those in other loops, those
/// for which a part of the budget doesn't suffice, and those that would be nested deeper than half of the driver's
/// limit.
pub fn choose_lane_calls(function: &mut Function, budget: Option<u32>, nesting: Option<u32>) {
    let mut calls = Vec::new();
    if let Some(budget) = budget {
        let most_depth = nesting.map_or(usize::MAX, |most| most as usize / 2);
        // The test at a loop's end counts as a round.
        let most = (budget / PART / (WARP_SIZE + 1)) as usize;
        let mut loops = Vec::new();
        outermost(&function.body, most_depth, &function.lane_numbers, &mut loops);
        loops.truncate(most);
        calls = function.lane_numbers.iter().copied().filter(|number| !loops.contains(number)).collect();
    }
    function.lane_numbers = calls;
}

/// Adds the numbers of the loops over lanes that are in no other loop, and whose lists are nested at most this deep.
fn outermost(stmts: &Block, most_depth: usize, lane_numbers: &[Var], found: &mut Vec<Var>) {
    for stmt in stmts {
        match stmt {
            Stmt::If { then, otherwise, .. } if most_depth > 0 => {
                outermost(then, most_depth - 1, lane_numbers, found);
                outermost(otherwise, most_depth - 1, lane_numbers, found);
            }
            Stmt::Loop(body) if depth(body) < most_depth => found.extend(lane_number(body, lane_numbers)),
            _ => {}
        }
    }
}

/// Makes values that loops over lanes use from the enclosing function go through variables, if the loops are to be
/// calls.
pub fn separate_lane_loops(function: &mut Function) {
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
