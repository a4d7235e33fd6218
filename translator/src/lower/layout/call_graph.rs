//! Analysis of a kernel's calls before anything is built: which functions have one copy in the kernel, and which are inlined. The choice among
//! the possible targets of calls through registers is such code too: calls with the same targets may share it.

use std::sync::Arc;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::FunctionKind;
use crate::decode::program::{FuncId, Function, Operand, Param, Passed, Program, Targets};
use crate::diagnostic::{Diagnostic, Result};
use crate::isa::operation::Action;

/// The most instructions that a kernel may have with all its calls inlined.
const MAX_INSTRUCTIONS: u64 = 4_000_000;
/// The most instructions that copies of functions may add to those in the text. Each takes a few kilobytes while the kernel is translated.
const MAX_COPIED: u64 = 400_000;
/// Above so many, functions are shared until their number is below.
const MANY_COPIED: u64 = 20_000;
/// Above so many jumps in copies of a function, it is shared for a driver that takes long to compile basic blocks.
const MANY_JUMPS: u64 = 128;
/// Above so many pairs of a call through a register and a possible target, the calls share the choice among the same targets.
const MANY_PAIRS: u64 = 16;
/// The size of a call in instructions, besides those of the function.
const CALL: u64 = 16;
/// The deepest chain of inlined calls, since inlining recurses.
const MAX_DEPTH: usize = 128;

/// Code that may have one copy in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    Function(FuncId),
    /// The choice among the possible targets of calls through registers, with the call of each.
    Choice(Arc<[FuncId]>),
}

/// Why code has one copy in the kernel, to which all calls go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Single {
    /// The code may call itself. Functions that call each other have the same number.
    Recursive(usize),
    /// The code is a choice, or its copies would be large or take a driver long to compile, or it lies deep in a chain
    /// of calls.
    Shared,
}

/// The code with one copy, among all code that a kernel may call.
pub(crate) type Singles = FxHashMap<Code, Single>;

/// Chooses the functions and choices of a kernel that are not inlined; `blocks_slow` as in
/// [`Policy`](crate::policy::Policy).
///
/// # Errors
/// A kernel that is too large either way.
pub(crate) fn choose(program: &Program, kernel: FuncId, blocks_slow: bool) -> Result<Singles> {
    let graph = CallGraph::new(program, kernel);
    let written = graph.called.iter().map(|called| called.own().size).fold(0, u64::saturating_add);
    let most_jumps = if blocks_slow { MANY_JUMPS } else { u64::MAX };
    let mut most = u64::MAX;
    // This ends: `most` falls to nothing.
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

/// Code that a kernel may call, or the kernel.
struct Called<'p> {
    code: Code,
    /// The function, or one of those among which is chosen.
    function: &'p Function,
    /// The code that it calls, once for each call.
    callees: Vec<Code>,
    /// The number of calls of it.
    sites: u64,
    /// See [`Single::Recursive`].
    group: Option<usize>,
}

impl Called<'_> {
    /// The size of this code without its callees.
    fn own(&self) -> Added {
        match &self.code {
            Code::Function(_) => Added::own(self.function),
            Code::Choice(targets) => {
                let jumps = targets.len() as u64;
                let size = jumps.saturating_mul(call_size(self.function));
                Added { size, depth: 1, jumps, meets_others: false }
            }
        }
    }
}

/// A kernel and all that it may call, callees before their callers.
struct CallGraph<'p> {
    kernel: Code,
    called: Vec<Called<'p>>,
}

impl<'p> CallGraph<'p> {
    fn new(program: &'p Program, kernel: FuncId) -> Self {
        let choices = shared_choices(program, kernel);
        let kernel = Code::Function(kernel);
        let mut graph = DiGraph::<Called<'p>, ()>::new();
        let mut nodes: FxHashMap<Code, Option<NodeIndex>> = FxHashMap::default();
        let mut add = |graph: &mut DiGraph<Called<'p>, ()>, code: &Code| {
            *nodes.entry(code.clone()).or_insert_with(|| {
                let function = program.functions.at(match code {
                    Code::Function(id) => *id,
                    Code::Choice(targets) => *targets.first()?,
                })?;
                let callees = match code {
                    Code::Function(_) => callees(program, function, |choice| choices.contains(choice)),
                    Code::Choice(targets) => targets.iter().copied().map(Code::Function).collect(),
                };
                Some(graph.add_node(Called { code: code.clone(), function, callees, sites: 0, group: None }))
            })
        };
        add(&mut graph, &kernel);
        // Each node is visited once, in the order in which nodes are added.
        let mut next = 0;
        while let Some(called) = graph.node_weight(NodeIndex::new(next)) {
            for callee in called.callees.clone() {
                let Some(to) = add(&mut graph, &callee) else { continue };
                graph.update_edge(NodeIndex::new(next), to, ());
                if let Some(called) = graph.node_weight_mut(to) {
                    called.sites += 1;
                }
            }
            next += 1;
        }
        // Components come in postorder.
        let components = kosaraju_scc(&graph);
        let is_cycle =
            |members: &[NodeIndex]| members.len() > 1 || members.iter().any(|node| graph.contains_edge(*node, *node));
        let order: Vec<(NodeIndex, Option<usize>)> = components
            .iter()
            .enumerate()
            .flat_map(|(group, members)| {
                let group = is_cycle(members).then_some(group);
                members.iter().map(move |node| (*node, group))
            })
            .collect();
        let (nodes, _) = graph.into_nodes_edges();
        let mut nodes: Vec<Option<Called<'p>>> = nodes.into_iter().map(|node| Some(node.weight)).collect();
        let take = |(node, group): (NodeIndex, Option<usize>)| {
            nodes.get_mut(node.index()).and_then(Option::take).map(|called| Called { group, ..called })
        };
        Self { kernel, called: order.into_iter().filter_map(take).collect() }
    }

    /// The code that is not inlined if the copies of an inlined function may have so many instructions and jumps, and
    /// the size of the kernel then.
    fn singles(&self, most: u64, most_jumps: u64) -> (Singles, u64) {
        let recursive =
            self.called.iter().filter_map(|called| Some((called.code.clone(), Single::Recursive(called.group?))));
        let mut singles: Singles = recursive.collect();
        let mut added: FxHashMap<&Code, Added> = FxHashMap::default();
        let mut total = 0_u64;
        for called in &self.called {
            let mut inlined = called.own();
            for callee in &called.callees {
                // Only members of a recursive group come before their callees.
                let unknown = Added { size: CALL, depth: 0, jumps: 0, meets_others: true };
                inlined.include(added.get(callee).copied().unwrap_or(unknown));
            }
            let copies = |of_one: u64| of_one.saturating_mul(called.sites.saturating_sub(1));
            let takes_long = copies(inlined.jumps) > most_jumps && !inlined.meets_others;
            let is_large = copies(inlined.size) > most || takes_long || inlined.depth >= MAX_DEPTH;
            let is_shared = match called.code {
                Code::Function(_) => called.code != self.kernel && called.function.body.is_some() && is_large,
                Code::Choice(_) => true,
            };
            if called.group.is_none() && is_shared {
                singles.insert(called.code.clone(), Single::Shared);
            }
            if called.code == self.kernel || singles.contains_key(&called.code) {
                total = total.saturating_add(inlined.size);
                let call = Added { size: call_size(called.function), depth: 0, jumps: 1, ..inlined };
                added.insert(&called.code, call);
            } else {
                added.insert(&called.code, inlined);
            }
        }
        (singles, total)
    }
}

/// The choices that a kernel's calls share.
fn shared_choices(program: &Program, kernel: FuncId) -> FxHashSet<Code> {
    let mut sites: FxHashMap<Vec<FuncId>, u64> = FxHashMap::default();
    for function in reachable(program, kernel) {
        for operand in called_operands(function) {
            if let Operand::Targets(targets) = operand {
                *sites.entry(candidates(program, targets)).or_default() += 1;
            }
        }
    }
    // The size of an open parameter differs by function.
    let is_open =
        |id: &FuncId| program.functions.at(*id).is_none_or(|function| function.params.iter().any(|param| param.open));
    let is_shared = |(candidates, sites): &(Vec<FuncId>, u64)| {
        *sites > 1 && sites.saturating_mul(candidates.len() as u64) > MANY_PAIRS && !candidates.iter().any(is_open)
    };
    sites.into_iter().filter(is_shared).map(|(candidates, _)| Code::Choice(candidates.into())).collect()
}

/// The additions of a call to its caller.
#[derive(Clone, Copy)]
struct Added {
    /// Instructions.
    size: u64,
    /// The length of the longest chain of inlined calls that begins with it.
    depth: usize,
    /// Jumps, and instructions under a condition.
    jumps: u64,
    /// Whether threads may meet in the function, at barriers, operations of a warp or atomics. Copies of the function
    /// then say who meets whom.
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

    /// Adds the additions of one of the code's calls.
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
    inlined(program, &Code::Function(kernel), &Singles::default())
}

/// The operands that name the callees of a function's calls, last call first.
fn called_operands(function: &Function) -> impl Iterator<Item = &Operand> {
    let calls = function.instructions().rev().filter(|instruction| instruction.form.row.action == Action::Call);
    calls
        .flat_map(|call| &call.operands)
        .filter(|operand| matches!(operand, Operand::Function(_) | Operand::Targets(_)))
}

/// The callees of a function, last call first: of a call through a register the choice if calls share it, else each
/// function that the call may go to.
fn callees(program: &Program, function: &Function, is_shared: impl Fn(&Code) -> bool) -> Vec<Code> {
    let mut found = Vec::new();
    for operand in called_operands(function) {
        match operand {
            Operand::Function(callee) => found.push(Code::Function(*callee)),
            Operand::Targets(targets) => {
                let candidates = candidates(program, targets);
                let choice = Code::Choice(candidates.as_slice().into());
                if is_shared(&choice) {
                    found.push(choice);
                } else {
                    found.extend(candidates.into_iter().rev().map(Code::Function));
                }
            }
            _ => {}
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

/// The functions that are inlined into code, itself included if it is one.
pub(crate) fn inlined<'p>(program: &'p Program, root: &Code, singles: &Singles) -> Vec<&'p Function> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(code) = todo.pop() {
        if (code != *root && singles.contains_key(&code)) || !seen.insert(code.clone()) {
            continue;
        }
        match code {
            Code::Function(id) => {
                let Some(function) = program.functions.at(id) else { continue };
                found.push(function);
                todo.extend(callees(program, function, |choice| singles.contains_key(choice)));
            }
            Code::Choice(targets) => todo.extend(targets.iter().copied().map(Code::Function)),
        }
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
