//! Analysis of a kernel's calls before anything is built: which functions have one copy in the kernel, and which are inlined.

pub mod frame;
pub(in crate::lower) mod grid;
pub(in crate::lower) mod heap;
pub mod prologue;
pub mod services;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::FunctionKind;
use crate::decode::program::{FuncId, Function, Instruction, Operand, Param, Passed, Program, Targets};
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::operation::Action;

/// The most instructions that a kernel may have with all its calls inlined.
const MAX_INSTRUCTIONS: u64 = 4_000_000;
/// The most instructions that copies of functions may add to those in the text. Each takes a few kilobytes while the kernel is translated.
const MAX_COPIED: u64 = 400_000;
/// Above so many, functions are shared until their number is below.
const MANY_COPIED: u64 = 100_000;
/// Above so many jumps in copies of a function, it is shared for a driver that takes long to compile basic blocks.
const MANY_JUMPS: u64 = 128;
/// The size of a call in instructions, besides those of the function.
const CALL: u64 = 16;
/// The deepest chain of inlined calls, since inlining recurses.
const MAX_DEPTH: usize = 128;

/// Why a function has one copy in the kernel, to which all calls go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Single {
    /// It may call itself. Functions that call each other have the same number.
    Recursive(usize),
    /// Its copies would be large or take a driver long to compile, or it lies deep in a chain of calls.
    Shared,
}

/// The functions with one copy, among those that a kernel may call.
pub(crate) type Singles = FxHashMap<FuncId, Single>;

/// Chooses which of a kernel's functions are not inlined; `blocks_slow` as in [`Policy`](crate::policy::Policy).
///
/// # Errors
/// A kernel that is too large either way.
pub(crate) fn choose(program: &Program, kernel: FuncId, blocks_slow: bool) -> Result<Singles, Diagnostic> {
    let graph = CallGraph::new(program, kernel);
    let written = graph.functions.iter().map(|called| own_size(called.function)).fold(0, u64::saturating_add);
    let most_jumps = if blocks_slow { MANY_JUMPS } else { u64::MAX };
    let mut most = u64::MAX;
    loop {
        let (singles, total) = graph.singles(most, most_jumps);
        let copied = total.saturating_sub(written);
        if copied <= MANY_COPIED || most == 0 {
            let span = program.functions.at(kernel).map(|function| function.span);
            if total > MAX_INSTRUCTIONS {
                let message = format!("kernels of more than {MAX_INSTRUCTIONS} instructions after inlining");
                return Err(Diagnostic::unsupported(message, span));
            }
            if copied > MAX_COPIED {
                let message =
                    format!("functions that are called so often that their copies have over {MAX_COPIED} instructions");
                return Err(Diagnostic::unsupported(message, span));
            }
            return Ok(singles);
        }
        most = most.min(MANY_COPIED) / 8;
    }
}

/// A function that a kernel may call, or the kernel.
struct Called<'p> {
    id: FuncId,
    function: &'p Function,
    /// The functions that it calls, once for each call.
    callees: Vec<FuncId>,
    /// The number of calls of it.
    sites: u64,
    /// See [`Single::Recursive`].
    group: Option<usize>,
}

/// A kernel and all functions that it may call, callees before their callers.
struct CallGraph<'p> {
    kernel: FuncId,
    functions: Vec<Called<'p>>,
}

impl<'p> CallGraph<'p> {
    fn new(program: &'p Program, kernel: FuncId) -> Self {
        let mut graph = DiGraph::<(FuncId, Vec<FuncId>), ()>::new();
        let mut nodes: FxHashMap<FuncId, NodeIndex> = FxHashMap::default();
        let mut sites: FxHashMap<FuncId, u64> = FxHashMap::default();
        let mut todo = vec![kernel];
        nodes.insert(kernel, graph.add_node((kernel, Vec::new())));
        while let Some(id) = todo.pop() {
            let (Some(function), Some(&from)) = (program.functions.at(id), nodes.get(&id)) else {
                continue;
            };
            let callees: Vec<FuncId> = calls(program, function).into_iter().map(|(callee, _)| callee).collect();
            for callee in &callees {
                let count = sites.entry(*callee).or_default();
                *count += 1;
                let to = *nodes.entry(*callee).or_insert_with(|| {
                    todo.push(*callee);
                    graph.add_node((*callee, Vec::new()))
                });
                graph.update_edge(from, to, ());
            }
            if let Some(node) = graph.node_weight_mut(from) {
                node.1 = callees;
            }
        }
        let mut functions = Vec::new();
        // Components come in postorder.
        for (group, members) in kosaraju_scc(&graph).into_iter().enumerate() {
            let calls_itself = |node: &NodeIndex| graph.contains_edge(*node, *node);
            let group = (members.len() > 1 || members.iter().any(calls_itself)).then_some(group);
            for (id, callees) in members.into_iter().filter_map(|node| graph.node_weight(node)) {
                let Some(function) = program.functions.at(*id) else { continue };
                let sites = sites.get(id).copied().unwrap_or(0);
                functions.push(Called { id: *id, function, callees: callees.clone(), sites, group });
            }
        }
        Self { kernel, functions }
    }

    /// The functions that are not inlined if the copies of an inlined one may have so many instructions and jumps, and the size of the kernel
    /// then.
    fn singles(&self, most: u64, most_jumps: u64) -> (Singles, u64) {
        let mut singles: Singles =
            self.functions.iter().filter_map(|called| Some((called.id, Single::Recursive(called.group?)))).collect();
        let mut added: FxHashMap<FuncId, Added> = FxHashMap::default();
        let mut total = 0_u64;
        for called in &self.functions {
            let mut inlined = Added::own(called.function);
            for callee in &called.callees {
                // Only members of a recursive group come before their callees.
                let unknown = Added { size: CALL, depth: 0, jumps: 0, meets_others: true };
                inlined.include(added.get(callee).copied().unwrap_or(unknown));
            }
            let copies = |of_one: u64| of_one.saturating_mul(called.sites.saturating_sub(1));
            let takes_long = copies(inlined.jumps) > most_jumps && !inlined.meets_others;
            let is_large = copies(inlined.size) > most || takes_long || inlined.depth >= MAX_DEPTH;
            if called.group.is_none() && called.id != self.kernel && called.function.body.is_some() && is_large {
                singles.insert(called.id, Single::Shared);
            }
            if called.id == self.kernel || singles.contains_key(&called.id) {
                total = total.saturating_add(inlined.size);
                let call = Added { size: call_size(called.function), depth: 0, jumps: 1, ..inlined };
                added.insert(called.id, call);
            } else {
                added.insert(called.id, inlined);
            }
        }
        (singles, total)
    }
}

/// What a call of a function adds to its caller.
#[derive(Clone, Copy)]
struct Added {
    /// Instructions.
    size: u64,
    /// The length of the longest chain of inlined calls that begins with it.
    depth: usize,
    /// Jumps, and instructions under a condition.
    jumps: u64,
    /// Whether threads may meet there, at barriers, operations of a warp or atomics. Copies then say who meets whom.
    meets_others: bool,
}

impl Added {
    /// A function without its callees.
    fn own(function: &Function) -> Self {
        let mut own = Self { size: own_size(function), depth: 1, jumps: 0, meets_others: function.body.is_none() };
        for instruction in function.instructions() {
            let action = instruction.form.row.action;
            let jumps = matches!(action, Action::Branch | Action::IndexedBranch) || instruction.guard.is_some();
            own.jumps += u64::from(jumps);
            let effects = action.effects();
            let meets = effects.may_report || effects.waits || effects.atomic || effects.sequential;
            own.meets_others |= meets && !matches!(action, Action::Call | Action::IndexedBranch);
        }
        own
    }

    /// Adds what a call in it adds.
    fn include(&mut self, callee: Self) {
        self.size = self.size.saturating_add(callee.size);
        self.depth = self.depth.max(callee.depth + 1);
        self.jumps = self.jumps.saturating_add(callee.jumps);
        self.meets_others |= callee.meets_others;
    }
}

/// The number of the oldest architecture among the kernel and all functions that it may call.
pub(crate) fn oldest_architecture(program: &Program, kernel: FuncId) -> Option<u32> {
    reachable(program, kernel).into_iter().filter_map(|function| function.architecture).min()
}

/// The kernel and all functions it may call, each once.
pub(crate) fn reachable(program: &Program, kernel: FuncId) -> Vec<&Function> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![kernel];
    let mut found = Vec::new();
    while let Some(id) = todo.pop() {
        let Some(function) = program.functions.at(id) else { continue };
        if !seen.insert(id) {
            continue;
        }
        found.push(function);
        todo.extend(calls(program, function).into_iter().map(|(callee, _)| callee));
    }
    found
}

/// The calls of a function, last one first; a call through a register once for each function that it may go to.
pub(crate) fn calls(program: &Program, function: &Function) -> Vec<(FuncId, Span)> {
    let mut found = Vec::new();
    let is_call = |instruction: &&Instruction| instruction.form.row.action == Action::Call;
    for instruction in function.instructions().rev().filter(is_call) {
        for operand in &instruction.operands {
            match operand {
                Operand::Function(callee) => found.push((*callee, instruction.span)),
                Operand::Targets(targets) => {
                    let all = candidates(program, targets);
                    found.extend(all.into_iter().rev().map(|callee| (callee, instruction.span)));
                }
                _ => {}
            }
        }
    }
    found
}

/// The possible targets of a call through a register, in ascending order: the listed functions, or those that match the
/// prototype and whose address the module takes.
pub(crate) fn candidates(program: &Program, targets: &Targets) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = match &targets.functions {
        Some(functions) => functions.clone(),
        None => program.address_taken.clone(),
    };
    found.retain(|id| {
        program.functions.at(*id).is_some_and(|function| {
            let (formals, rest) = function.params.split_at_checked(function.formals).unwrap_or_default();
            let results = rest.get(..function.results).unwrap_or_default();
            function.kind == FunctionKind::Func
                && function.body.is_some()
                && fits(formals, &targets.formals)
                && fits(results, &targets.results)
        })
    });
    found.sort_unstable();
    found.dedup();
    found
}

fn fits(params: &[Param], passed: &[Passed]) -> bool {
    params.len() == passed.len()
        && params.iter().zip(passed).all(|(param, passed)| {
            let same_size = param.open || u64::from(param.size) == passed.bytes;
            same_size && param.open == passed.open && param.register.is_some() == passed.register
        })
}

/// A function and what is inlined into it.
pub(crate) fn inlined<'p>(program: &'p Program, root: FuncId, singles: &Singles) -> Vec<&'p Function> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![root];
    let mut found = Vec::new();
    while let Some(id) = todo.pop() {
        let Some(function) = program.functions.at(id) else { continue };
        if !seen.insert(id) || (id != root && singles.contains_key(&id)) {
            continue;
        }
        found.push(function);
        todo.extend(calls(program, function).into_iter().map(|(callee, _)| callee));
    }
    found
}

/// Instructions of a function and its call, without its callees. Registers of an instance count at a low weight.
fn own_size(function: &Function) -> u64 {
    let items = function.body.as_ref().map_or(0, Vec::len) as u64;
    let registers = function.registers.len() as u64 / 32;
    items.saturating_add(registers).saturating_add(call_size(function))
}

/// Instructions of a call, with a word of a parameter as one.
fn call_size(function: &Function) -> u64 {
    let words: u64 = function.params.iter().map(|param| u64::from(param.size / 4)).sum();
    words.saturating_add(CALL)
}
