//! Prologue and epilogue of device functions (PTX sections 9.7.9.1 and 9.7.17).
//!
//! Parameters and results whose addresses are taken live in local memory while the function runs, and memory from `alloca` is freed when
//! the function returns. Kernels need neither.

use crate::ast::FunctionKind;
use crate::decode::program::{Base, Function, ParamId};
use crate::diagnostic::Result;
use crate::ir::{Access, MemoryOrder, Space, Value, Var};
use crate::lower::layout::frame::ParamSlot;
use crate::lower::layout::uses_stack;
use crate::lower::lowering::Lowering;
use crate::lower::memory;

const WORD: Access = Access { space: Space::Local, bytes: 4, order: MemoryOrder::Weak, read_only: false };

/// Whether a function needs a prologue or epilogue.
pub fn has_work(function: &Function) -> bool {
    function.kind == FunctionKind::Func
        && (function.params.iter().any(|param| param.memory.is_some()) || uses_stack(function))
}

/// The prologue: stores parameters to memory and notes how much of the stack is in use.
pub fn begin(l: &mut Lowering<'_, '_>, function: &Function) -> Result {
    for (param, words) in in_memory(l, function, 0..function.formals) {
        for (word, address) in places(l, param, &words)? {
            l.b.store(WORD, address, vec![l.b.get(word)]);
        }
    }
    if let (Some(stack), true) = (l.frame.stack, uses_stack(function)) {
        let used = l.b.get(stack);
        let before = l.b.var(l.b.type_of(used));
        l.b.set(before, used);
        l.frame.stack_before = Some(before);
    }
    Ok(())
}

/// The epilogue: loads results from memory and frees the function's part of the stack.
pub fn end(l: &mut Lowering<'_, '_>, function: &Function) -> Result {
    for (param, words) in in_memory(l, function, function.formals..function.formals + function.results) {
        for (word, address) in places(l, param, &words)? {
            l.b.set(word, l.b.load_one(WORD, address));
        }
    }
    if let (Some(stack), Some(before)) = (l.frame.stack, l.frame.stack_before) {
        l.b.set(stack, l.b.get(before));
    }
    Ok(())
}

/// The parameters among `numbers` that live in memory, with the words that pass them.
fn in_memory(l: &Lowering<'_, '_>, function: &Function, numbers: std::ops::Range<usize>) -> Vec<(ParamId, Vec<Var>)> {
    let numbered = (0..).map(ParamId).zip(function.params.iter().zip(&l.frame.params));
    let chosen = numbered.skip(numbers.start).take(numbers.len()).filter(|(_, (param, _))| param.memory.is_some());
    chosen
        .filter_map(|(id, (_, slot))| match slot {
            ParamSlot::Words(words) => Some((id, words.clone())),
            ParamSlot::Kernel(_) => None,
        })
        .collect()
}

/// The words of a parameter, with their addresses in local memory.
fn places(l: &mut Lowering<'_, '_>, param: ParamId, words: &[Var]) -> Result<Vec<(Var, Value)>> {
    let place = |(word, offset)| {
        let address = memory::variable_address(l, Base::Param(param), offset)?;
        Ok((word, l.narrow(address)))
    };
    words.iter().copied().zip((0..).step_by(4)).map(place).collect()
}
