//! Calls through registers: a choice among the functions that the address may be of.
//!
//! Each call chooses for itself, or calls with the same possible targets share a choice ([`calls`]). Such a choice is called like a function, with
//! the address in a variable. The calls report an address that isn't that of a function, so that the report names the call.

use std::sync::Arc;

use super::inline::{Call, Callee};
use super::recursion::Slot;
use super::{Build, Instance, Waiting};
use crate::cfg::switch::switch;
use crate::cfg::{BlockId, End};
use crate::decode::program::{Base, FuncId, Function, Operand, ParamId, Reg, Targets};
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::index::{Index, IndexVec};
use crate::ir::{Stmt, Type, Var};
use crate::lower::layout::call_graph::{self, Code};
use crate::lower::layout::frame::Frame;
use ptx2spv_target::Fault;

/// A choice with one copy.
pub(super) struct Choice {
    targets: Arc<[FuncId]>,
    /// The address.
    target: Var,
    /// Set to 1 if the address was that of a function, else to 0.
    found: Var,
}

impl<'p> Waiting<'p> {
    /// The one copy of code, from its entry to where it returns.
    pub(super) fn new(
        callee: &Callee<'p>,
        frame: Frame,
        slots: &[Slot],
        (entry, returns): (BlockId, BlockId),
        on_stack: Option<usize>,
    ) -> Self {
        let choice = match (&callee.code, slots) {
            (Code::Choice(targets), [.., Slot::Register(target), Slot::Register(found)]) => {
                Some(Choice { targets: Arc::clone(targets), target: *target, found: *found })
            }
            _ => None,
        };
        Self { function: callee.function, frame, entry, returns, on_stack, choice }
    }
}

impl<'p> Build<'p> {
    pub(super) fn call_through(
        &mut self,
        instance: &mut Instance<'p>,
        register: Reg,
        targets: &Targets,
        call: &Call<'_>,
    ) -> Result {
        let candidates = call_graph::candidates(self.program, targets);
        let code = Code::Choice(candidates.as_slice().into());
        let function = candidates.first().and_then(|first| self.program.functions.at(*first));
        if let (Some(&single), Some(function)) = (self.singles.get(&code), function) {
            return self.call_single(instance, single, &Callee { code, function, target: Some(register) }, call);
        }
        let target = self.function.var(Type::I64);
        self.with(instance, |lowering| {
            lowering.b.at(call.at);
            let value = lowering.register(register)?;
            lowering.b.set(target, value);
            Ok::<_, Diagnostic>(())
        })?;
        let cases: Vec<(u64, BlockId)> = candidates.iter().map(|id| (id.address(), self.new_block())).collect();
        self.choose(instance, call.at, target, &cases);
        for (id, (_, block)) in candidates.into_iter().zip(cases) {
            instance.current = block;
            self.call_function(instance, id, call)?;
        }
        Ok(())
    }

    /// Builds a choice with one copy, which has a frame like that of one of its functions.
    pub(super) fn choice(
        &mut self,
        function: &'p Function,
        frame: Frame,
        choice: &Choice,
        (entry, returns): (BlockId, BlockId),
        exits: BlockId,
    ) {
        let labels = IndexVec::new();
        let mut instance = Instance { function, frame, labels, current: entry, pending: Vec::new(), returns, exits };
        let passed_on = function.params.iter().enumerate().map(|(number, param)| match param.register {
            Some(register) => Operand::Reg(register),
            None => Operand::Address(Base::Param(ParamId::new(number)), 0),
        });
        let operands: Vec<Operand> = passed_on.take(function.formals + function.results).collect();
        let (arguments, results) = operands.split_at_checked(function.formals).unwrap_or_default();
        let cases: Vec<(u64, BlockId)> = choice.targets.iter().map(|id| (id.address(), self.new_block())).collect();
        let [next, otherwise] = [(); 2].map(|()| self.new_block());
        let first = switch(&mut self.function, &mut self.blocks, None, choice.target, &cases, otherwise);
        self.finish(&mut instance, End::Goto(first), first);
        for (id, (_, block)) in choice.targets.iter().zip(cases) {
            let Some(at) = self.program.functions.at(*id).map(|callee| callee.span) else { continue };
            instance.current = block;
            if let Err(diagnostic) = self.call_function(&mut instance, *id, &Call { at, results, arguments, next }) {
                self.report(function, diagnostic, at);
            }
        }
        for (block, found) in [(next, 1), (otherwise, 0)] {
            instance.current = block;
            self.with(&mut instance, |lowering| {
                lowering.b.set(choice.found, lowering.b.i32(found));
            });
            self.finish(&mut instance, End::Goto(returns), block);
        }
    }

    /// Ends the current block with a jump that a variable selects; any other value is reported and ends the thread.
    pub(super) fn choose(&mut self, instance: &mut Instance<'p>, at: Span, var: Var, cases: &[(u64, BlockId)]) {
        let bad = self.bad_target(instance, at);
        let first = switch(&mut self.function, &mut self.blocks, Some(at), var, cases, bad);
        self.finish(instance, End::Goto(first), first);
    }

    /// A new block that reports a wrong target and ends the thread.
    pub(super) fn bad_target(&mut self, instance: &Instance<'p>, at: Span) -> BlockId {
        let bad = self.new_block();
        if let Some(block) = self.blocks.at_mut(bad) {
            block.body = vec![Stmt::At(Some(at)), Stmt::Report(Fault::BadTarget, Vec::new())];
            block.end = End::Goto(instance.exits);
        }
        bad
    }
}
