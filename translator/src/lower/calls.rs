//! Analysis of a kernel's calls before anything is built: which functions are recursive, and whether inlining the
//! others gives too deep chains of calls or too much code.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::FunctionKind;
use crate::decode::program::{FuncId, Function, Operand, Param, Passed, Program, Targets};
use crate::diagnostic::{Diagnostic, Span};

/// The most instructions that a kernel may have with all its calls inlined.
const MAX_INSTRUCTIONS: u64 = 4_000_000;
/// The most instructions that inlined copies may add to those in the text. Each takes a few kilobytes while the kernel is translated.
const MAX_COPIED: u64 = 400_000;
/// The size of a call in instructions, besides those of the function.
const CALL: u64 = 16;
/// The deepest chain of calls, since inlining recurses.
const MAX_DEPTH: usize = 128;

/// The recursive functions that a kernel may call, directly or mutually recursive. Functions that call each other have
/// the same number.
pub(super) type Recursive = FxHashMap<FuncId, usize>;

/// A function on the path from the kernel to the function being visited.
struct Visit<'p> {
    id: FuncId,
    function: &'p Function,
    /// Its calls not yet visited.
    calls: Vec<(FuncId, Span)>,
    /// Its size with all its callees visited so far.
    size: u64,
}

/// Checks that a kernel can be inlined into one body. Recursive functions are not inlined; each has one copy in the
/// body.
pub(super) fn check(program: &Program, kernel: FuncId) -> Result<Recursive, Diagnostic> {
    let recursive = recursive(program, kernel);
    let mut sizes: FxHashMap<FuncId, u64> = recursive.keys().map(|id| (*id, 0)).collect();
    let mut roots: Vec<FuncId> = recursive.keys().copied().collect();
    roots.sort_unstable();
    roots.push(kernel);
    let mut total = 0_u64;
    for root in roots {
        total = total.saturating_add(inlined_size(program, root, &mut sizes)?);
        if total > MAX_INSTRUCTIONS {
            let span = program.functions.get(kernel.0 as usize).map(|function| function.span);
            return Err(too_large(span));
        }
    }
    let reachable = reachable(program, kernel);
    let written = reachable.into_iter().map(own_size).fold(0, u64::saturating_add);
    if total.saturating_sub(written) > MAX_COPIED {
        let span = program.functions.get(kernel.0 as usize).map(|function| function.span);
        let message =
            format!("functions that are called so often that their copies have over {MAX_COPIED} instructions");
        return Err(Diagnostic::unsupported(message, span));
    }
    Ok(recursive)
}

fn too_large(span: Option<Span>) -> Diagnostic {
    Diagnostic::unsupported(format!("kernels of more than {MAX_INSTRUCTIONS} instructions after inlining"), span)
}

/// Size of a function with all that is inlined into it; functions of known size are not visited again.
fn inlined_size(program: &Program, root: FuncId, sizes: &mut FxHashMap<FuncId, u64>) -> Result<u64, Diagnostic> {
    let mut open: Vec<Visit<'_>> = Vec::new();
    let mut next = Some((root, None));
    loop {
        if let Some((id, span)) = next.take() {
            let caller = open.last().map_or("", |visit| visit.function.name.as_str());
            let Some(function) = program.functions.get(id.0 as usize) else {
                return Err(Diagnostic::internal("a call of a function that isn't there", span));
            };
            if open.len() > MAX_DEPTH {
                let message = format!("calls nested more than {MAX_DEPTH} deep");
                return Err(Diagnostic::unsupported(message, span).in_function(caller));
            }
            open.push(Visit { id, function, calls: calls(program, function), size: own_size(function) });
        }
        let Some(visit) = open.last_mut() else { return Ok(0) };
        if visit.size > MAX_INSTRUCTIONS {
            return Err(too_large(Some(visit.function.span)).in_function(&visit.function.name));
        }
        match visit.calls.pop() {
            Some((callee, span)) => match sizes.get(&callee) {
                Some(size) => visit.size = visit.size.saturating_add(*size),
                None => {
                    // Comes back to this call once the callee's size is known.
                    visit.calls.push((callee, span));
                    next = Some((callee, Some(span)));
                }
            },
            None => {
                let (id, size) = (visit.id, visit.size);
                open.pop();
                if open.is_empty() {
                    return Ok(size);
                }
                sizes.insert(id, size);
            }
        }
    }
}

/// The number of the oldest architecture among the kernel and all functions that it may call.
pub(crate) fn oldest_architecture(program: &Program, kernel: FuncId) -> Option<u32> {
    reachable(program, kernel).into_iter().filter_map(|function| function.architecture).min()
}

/// The kernel and all functions it may call, each once.
pub(super) fn reachable(program: &Program, kernel: FuncId) -> Vec<&Function> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![kernel];
    let mut found = Vec::new();
    while let Some(id) = todo.pop() {
        let Some(function) = program.functions.get(id.0 as usize) else { continue };
        if !seen.insert(id) {
            continue;
        }
        found.push(function);
        todo.extend(calls(program, function).into_iter().map(|(callee, _)| callee));
    }
    found
}

/// Finds the recursive functions among those that the kernel may call.
fn recursive(program: &Program, kernel: FuncId) -> Recursive {
    let mut graph = DiGraph::<FuncId, ()>::new();
    let mut nodes: FxHashMap<FuncId, NodeIndex> = FxHashMap::default();
    let mut todo = vec![kernel];
    nodes.insert(kernel, graph.add_node(kernel));
    while let Some(id) = todo.pop() {
        let (Some(function), Some(&from)) = (program.functions.get(id.0 as usize), nodes.get(&id)) else { continue };
        let callees: FxHashSet<FuncId> = calls(program, function).into_iter().map(|(callee, _)| callee).collect();
        for callee in callees {
            let to = *nodes.entry(callee).or_insert_with(|| {
                todo.push(callee);
                graph.add_node(callee)
            });
            graph.add_edge(from, to, ());
        }
    }
    let mut found = Recursive::default();
    for (group, members) in kosaraju_scc(&graph).into_iter().enumerate() {
        let calls_itself = |node: &NodeIndex| graph.contains_edge(*node, *node);
        if members.len() > 1 || members.iter().any(calls_itself) {
            found.extend(members.iter().filter_map(|node| graph.node_weight(*node)).map(|id| (*id, group)));
        }
    }
    found
}

/// The calls of a function, last one first; a call through a register once for each function that it may go to.
pub(super) fn calls(program: &Program, function: &Function) -> Vec<(FuncId, Span)> {
    let mut found = Vec::new();
    for instruction in function.instructions().rev() {
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
pub(super) fn candidates(program: &Program, targets: &Targets) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = match &targets.functions {
        Some(functions) => functions.clone(),
        None => program.address_taken.clone(),
    };
    found.retain(|id| {
        program.functions.get(id.0 as usize).is_some_and(|function| {
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
pub(super) fn inlined<'p>(program: &'p Program, root: FuncId, recursive: &Recursive) -> Vec<&'p Function> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![root];
    let mut found = Vec::new();
    while let Some(id) = todo.pop() {
        let Some(function) = program.functions.get(id.0 as usize) else { continue };
        if !seen.insert(id) || (id != root && recursive.contains_key(&id)) {
            continue;
        }
        found.push(function);
        todo.extend(calls(program, function).into_iter().map(|(callee, _)| callee));
    }
    found
}

/// Instructions of a function and its call, without its callees. Words of parameters and (at a low weight) registers of an instance count
/// too.
fn own_size(function: &Function) -> u64 {
    let items = function.body.as_ref().map_or(0, Vec::len) as u64;
    let words: u64 = function.params.iter().map(|param| u64::from(param.size / 4)).sum();
    let registers = function.registers.len() as u64 / 32;
    items.saturating_add(words).saturating_add(registers).saturating_add(CALL)
}
