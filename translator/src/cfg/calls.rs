//! What a kernel calls, looked at before any of it is inlined: refuses recursion, chains of calls that are too long, and
//! calls that multiply to too much code.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::decode::program::{FuncId, Function, Item, Operand, Program};
use crate::diagnostic::{Diagnostic, Span};

/// The most instructions that a kernel may have with all its calls inlined.
const MAX_INSTRUCTIONS: u64 = 4_000_000;
/// The most calls inside each other: inlining recurses so deep.
const MAX_DEPTH: usize = 128;

/// A function on the way from the kernel to the function that is being looked at.
struct Visit<'p> {
    id: FuncId,
    function: &'p Function,
    /// Its calls that have not been looked at.
    calls: Vec<(FuncId, Span)>,
    /// Its size with all that it calls, as far as looked at.
    size: u64,
}

/// Checks that a kernel can be inlined into one body.
pub(super) fn check(program: &Program, kernel: FuncId) -> Result<(), Diagnostic> {
    let mut sizes: FxHashMap<FuncId, u64> = FxHashMap::default();
    let mut open_ids = FxHashSet::default();
    let mut open: Vec<Visit<'_>> = Vec::new();
    let mut next = Some((kernel, Span::default()));
    loop {
        if let Some((id, span)) = next.take() {
            let caller = open.last().map_or("", |visit| visit.function.name.as_str());
            let Some(function) = program.functions.get(id.0 as usize) else {
                return Err(Diagnostic::internal("a call of a function that isn't there", span));
            };
            if !open_ids.insert(id) {
                let message = format!("the recursive call of `{}`", function.name);
                return Err(Diagnostic::unsupported(message, span).in_function(caller));
            }
            if open.len() > MAX_DEPTH {
                let message = format!("calls nested more than {MAX_DEPTH} deep");
                return Err(Diagnostic::unsupported(message, span).in_function(caller));
            }
            open.push(Visit { id, function, calls: calls(function), size: own_size(function) });
        }
        let Some(visit) = open.last_mut() else { return Ok(()) };
        if visit.size > MAX_INSTRUCTIONS {
            let message = format!("kernels of more than {MAX_INSTRUCTIONS} instructions after inlining");
            return Err(Diagnostic::unsupported(message, visit.function.span).in_function(&visit.function.name));
        }
        match visit.calls.pop() {
            Some((callee, span)) => match sizes.get(&callee) {
                Some(size) => visit.size = visit.size.saturating_add(*size),
                None => {
                    // Comes back to this call once the callee's size is known.
                    visit.calls.push((callee, span));
                    next = Some((callee, span));
                }
            },
            None => {
                sizes.insert(visit.id, visit.size);
                open_ids.remove(&visit.id);
                open.pop();
            }
        }
    }
}

/// The calls of a function, last one first.
fn calls(function: &Function) -> Vec<(FuncId, Span)> {
    let callee = |item: &Item| match item {
        Item::Instruction(instruction) => instruction.operands.iter().find_map(|operand| match operand {
            Operand::Function(callee) => Some((*callee, instruction.span)),
            _ => None,
        }),
        Item::Label(_) => None,
    };
    function.body.iter().flatten().rev().filter_map(callee).collect()
}

/// Instructions of a function without its callees. What an instance of it needs besides counts as well: words of
/// parameters, and registers, which are cheap.
fn own_size(function: &Function) -> u64 {
    let items = function.body.as_ref().map_or(0, Vec::len) as u64;
    let words: u64 = function.params.iter().map(|param| u64::from(param.size / 4)).sum();
    let registers = function.registers.len() as u64 / 32;
    items.saturating_add(words).saturating_add(registers)
}
