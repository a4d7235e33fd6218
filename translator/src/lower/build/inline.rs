//! Calls: the callee's body is inlined at each call, or has one instance for all calls; recursive functions have a stack.

use std::sync::Arc;

use super::recursion::{Site, Slot, Stack};
use super::shared::{Returns, Shared};
use super::{Build, Instance, Waiting};
use crate::cfg::switch::switch;
use crate::cfg::{BlockId, End};
use crate::decode::program::{Base, FuncId, Function, Instruction, Operand, Param, ParamId, Reg, Targets};
use crate::diagnostic::{Diagnostic, Span};
use crate::index::IndexVec;
use crate::ir::{Stmt, Type, Value, Var};
use crate::lower::calls::frame::{Frame, ParamSlot};
use crate::lower::calls::services::Service;
use crate::lower::calls::{self, Single};
use crate::lower::lowering::{Lowering, carrier};
use crate::target::Fault;

/// The largest product of basic blocks and variables of a kernel with recursive functions, which is the size of the liveness tables in
/// bits.
const MAX_LIVENESS: usize = 1 << 30;

impl<'p> Build<'p> {
    /// A call from the current block; control then goes to `next`.
    pub(super) fn call(
        &mut self,
        instance: &mut Instance<'p>,
        instruction: &Instruction,
        next: BlockId,
    ) -> Result<(), Diagnostic> {
        let [Operand::List(results), callee, Operand::List(arguments), targets @ ..] = instruction.operands.as_slice()
        else {
            return Err(Diagnostic::internal("a call of another form", instruction.span));
        };
        let call = Call { at: instruction.span, results, arguments, next };
        match (callee, targets) {
            (Operand::Function(id), []) => self.call_function(instance, *id, &call),
            (Operand::Reg(register), [Operand::Targets(targets)]) => {
                self.call_through(instance, *register, targets, &call)
            }
            _ => Err(Diagnostic::internal("a call of another form", instruction.span)),
        }
    }

    /// A call through a register: a choice among its possible targets.
    fn call_through(
        &mut self,
        instance: &mut Instance<'p>,
        register: Reg,
        targets: &Targets,
        call: &Call<'_>,
    ) -> Result<(), Diagnostic> {
        let target = self.function.var(Type::I64);
        self.with(instance, |lowering| {
            lowering.b.at(call.at);
            let value = lowering.register(register)?;
            lowering.b.set(target, value);
            Ok::<_, Diagnostic>(())
        })?;
        let candidates = calls::candidates(self.program, targets);
        let cases: Vec<(u64, BlockId)> = candidates.iter().map(|id| (id.address(), self.new_block())).collect();
        self.choose(instance, call.at, target, &cases);
        for (id, (_, block)) in candidates.into_iter().zip(cases) {
            instance.current = block;
            self.call_function(instance, id, call)?;
        }
        Ok(())
    }

    /// Ends the current block with a jump that a variable selects; any other value is reported and ends the thread.
    pub(super) fn choose(&mut self, instance: &mut Instance<'p>, at: Span, var: Var, cases: &[(u64, BlockId)]) {
        let bad = self.new_block();
        if let Some(block) = self.blocks.at_mut(bad) {
            block.body = vec![Stmt::At(Some(at)), Stmt::Report(Fault::BadTarget, Vec::new())];
            block.end = End::Goto(instance.exits);
        }
        let first = switch(&mut self.function, &mut self.blocks, Some(at), var, cases, bad);
        self.finish(instance, End::Goto(first), first);
    }

    /// A call of one function.
    fn call_function(&mut self, instance: &mut Instance<'p>, id: FuncId, call: &Call<'_>) -> Result<(), Diagnostic> {
        let Some(callee) = self.program.functions.at(id) else {
            return Err(Diagnostic::internal("a call of a function that isn't there", call.at));
        };
        if callee.body.is_none() {
            return self.call_service(instance, callee, call);
        }
        match self.singles.get(&id) {
            Some(Single::Recursive(group)) => self.call_recursive(instance, (id, *group), callee, call),
            Some(Single::Shared) => self.call_shared(instance, id, callee, call),
            None => self.inline(instance, callee, call),
        }
    }

    /// A call of a function that CUDA defines, not the module.
    fn call_service(
        &mut self,
        instance: &mut Instance<'p>,
        callee: &'p Function,
        call: &Call<'_>,
    ) -> Result<(), Diagnostic> {
        let Some(service) = Service::find(callee) else {
            let message = format!("a call of `{}`, which this module does not define", callee.name);
            return Err(Diagnostic::undefined(message, call.at));
        };
        self.launches |= service.launches();
        let mut frame = self.frame(callee, IndexVec::new());
        let slots = self.slots(callee, &mut frame)?;
        instance.pending.push(Stmt::At(Some(call.at)));
        let passed = self.arguments(instance, callee, &slots, call.arguments)?;
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        let values = |lowering: &mut Lowering<'_, '_>| {
            let mut arguments = Vec::new();
            for slot in slots.iter().take(callee.formals) {
                match slot {
                    Slot::Words(words) => {
                        let words: Vec<Value> = words.iter().map(|word| lowering.b.get(*word)).collect();
                        match words.as_slice() {
                            [low, high] => arguments.push(lowering.b.join(*low, *high)),
                            words => arguments.extend(words),
                        }
                    }
                    Slot::Register(var) => arguments.push(lowering.b.get(*var)),
                }
            }
            arguments
        };
        let arguments = self.with(instance, values);
        let mut result = match service {
            Service::Print => self.print(instance, &arguments)?,
            Service::GridBarrier => arguments.first().copied(),
            service if service.waits_for_launches() => None,
            service => self.with(instance, |lowering| service.lower(lowering, &arguments))?,
        };
        if let (Service::GridBarrier, Some(handle)) = (service, result) {
            result = Some(self.grid_barrier(instance, handle));
        }
        if service.waits_for_launches() {
            result = Some(self.synchronize(instance)?);
        }
        if service.ends_thread() {
            self.finish(instance, End::Goto(instance.exits), call.next);
            return Ok(());
        }
        if let Some(value) = result.filter(|_| callee.results > 0) {
            let values = self.with(instance, |lowering| match lowering.b.type_of(value) {
                Type::I64 if callee.params.iter().skip(callee.formals).all(|param| param.register.is_none()) => {
                    let (low, high) = lowering.b.halves(value);
                    vec![low, high]
                }
                _ => vec![value],
            });
            self.results(instance, callee, call.results, vec![values])?;
        }
        self.finish(instance, End::Goto(call.next), call.next);
        Ok(())
    }

    /// Inlines a call.
    fn inline(&mut self, instance: &mut Instance<'p>, callee: &'p Function, call: &Call<'_>) -> Result<(), Diagnostic> {
        let mut frame = self.frame(callee, IndexVec::new());
        frame.locals.clone_from(&instance.frame.locals);
        let slots = self.slots(callee, &mut frame)?;
        instance.pending.push(Stmt::At(Some(call.at)));
        let passed = self.arguments(instance, callee, &slots, call.arguments)?;
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        let entry = self.new_block();
        let back = self.new_block();
        self.finish(instance, End::Goto(entry), back);
        self.body(callee, frame, entry, back, instance.exits);
        instance.pending.push(Stmt::At(Some(call.at)));
        let values = self.read_results(instance, callee, &slots);
        self.results(instance, callee, call.results, values)?;
        self.finish(instance, End::Goto(call.next), call.next);
        Ok(())
    }

    /// A call of a function with one copy: see [`shared`](super::shared).
    fn call_shared(
        &mut self,
        instance: &mut Instance<'p>,
        id: FuncId,
        callee: &'p Function,
        call: &Call<'_>,
    ) -> Result<(), Diagnostic> {
        let number = self.shared_instance(id, callee)?;
        let back = self.new_block();
        let Some(shared) = self.shared.get_mut(number) else {
            return Err(Diagnostic::internal("a call of a function without its copy", call.at));
        };
        let (entry, slots, site) = (shared.entry, shared.slots.clone(), shared.returns.site);
        let case = shared.returns.add_site(back);
        instance.pending.push(Stmt::At(Some(call.at)));
        let passed = self.arguments(instance, callee, &slots, call.arguments)?;
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        self.with(instance, |lowering| {
            let case = lowering.b.i32(case);
            lowering.b.set(site, case);
        });
        self.finish(instance, End::Goto(entry), back);
        instance.pending.push(Stmt::At(Some(call.at)));
        let values = self.read_results(instance, callee, &slots);
        self.results(instance, callee, call.results, values)?;
        self.finish(instance, End::Goto(call.next), call.next);
        Ok(())
    }

    /// The number of the one copy of a function that is not recursive; its body is built later.
    fn shared_instance(&mut self, id: FuncId, callee: &'p Function) -> Result<usize, Diagnostic> {
        if let Some(known) = self.shared.iter().position(|known| known.id == id) {
            return Ok(known);
        }
        let mut frame = self.frame(callee, IndexVec::new());
        let slots = self.slots(callee, &mut frame)?;
        let (entry, returns) = (self.new_block(), self.new_block());
        self.shared.push(Shared { id, entry, slots, returns: Returns::from(&mut self.function, returns) });
        self.waiting.push(Waiting { function: callee, frame, entry, returns, on_stack: None });
        Ok(self.shared.len() - 1)
    }

    /// A call of a recursive function: see [`recursion`](super::recursion).
    fn call_recursive(
        &mut self,
        instance: &mut Instance<'p>,
        id: (FuncId, usize),
        callee: &'p Function,
        call: &Call<'_>,
    ) -> Result<(), Diagnostic> {
        let number = self.recursive_instance(id, callee)?;
        let Some((entry, slots)) = self.stack.as_ref().and_then(|stack| {
            let callee = stack.instances.get(number)?;
            Some((callee.entry, callee.slots.clone()))
        }) else {
            return Err(Diagnostic::internal("a recursive call without a stack", call.at));
        };
        let (check, push, back) = (self.new_block(), self.new_block(), self.new_block());
        self.finish(instance, End::Goto(check), push);
        instance.pending.push(Stmt::At(Some(call.at)));
        let passed = self.arguments(instance, callee, &slots, call.arguments)?;
        let push = (push, instance.pending.len());
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        self.finish(instance, End::Goto(entry), back);
        instance.pending.push(Stmt::At(Some(call.at)));
        let values = self.read_results(instance, callee, &slots);
        let back = (back, instance.pending.len());
        self.results(instance, callee, call.results, values)?;
        self.finish(instance, End::Goto(call.next), call.next);
        if let Some(stack) = &mut self.stack {
            stack.sites.push(Site { callee: number, check, push, back, exits: instance.exits, at: call.at });
        }
        Ok(())
    }

    /// The number of the one instance of a recursive function; its body is built later.
    fn recursive_instance(&mut self, (id, group): (FuncId, usize), callee: &'p Function) -> Result<usize, Diagnostic> {
        let known = self.stack.as_ref().and_then(|stack| stack.instances.iter().position(|known| known.id == id));
        if let Some(known) = known {
            return Ok(known);
        }
        let mut frame = self.frame(callee, IndexVec::new());
        let slots = self.slots(callee, &mut frame)?;
        let (entry, returns) = (self.new_block(), self.new_block());
        let inlined = calls::inlined(self.program, id, &self.singles);
        let stack = self.stack.get_or_insert_with(|| Stack::new(&mut self.function));
        let number = stack.add(self.program, (id, group), (entry, returns), slots, &inlined)?;
        frame.locals = stack.instances.get(number).map(|instance| Arc::clone(&instance.locals));
        self.waiting.push(Waiting { function: callee, frame, entry, returns, on_stack: Some(number) });
        Ok(number)
    }

    /// Builds the bodies of functions with one copy, and the code of their calls.
    pub(super) fn finish_singles(&mut self, exits: BlockId) {
        while let Some(Waiting { function, frame, entry, returns, on_stack }) = self.waiting.pop() {
            let first = self.blocks.len();
            // The entry was created before this range of blocks, so its statements go to a block inside the range.
            let start = self.new_block();
            self.body(function, frame, start, returns, exits);
            if let Some(block) = self.blocks.at_mut(entry) {
                block.end = End::Goto(start);
            }
            let blocks = first..self.blocks.len();
            let stack = self.stack.as_mut().zip(on_stack);
            if let Some(instance) = stack.and_then(|(stack, number)| stack.instances.get_mut(number)) {
                instance.blocks = blocks;
            }
        }
        for shared in std::mem::take(&mut self.shared) {
            shared.returns.finish(&mut self.function, &mut self.blocks);
        }
        let reads = std::mem::take(&mut self.reads.shared).into_iter().map(|shared| shared.returns);
        for returns in reads.chain(self.prints.shared.take().map(|shared| shared.returns)) {
            returns.finish(&mut self.function, &mut self.blocks);
        }
        if let Some(stack) = self.stack.take() {
            if self.blocks.len().saturating_mul(self.function.vars.len()) > MAX_LIVENESS {
                let at = stack.sites.first().map(|site| site.at);
                self.errors.push(Diagnostic::unsupported("recursion in a kernel as large as this", at));
                return;
            }
            stack.finish(&mut self.function, &mut self.blocks);
        }
    }

    /// Where a function instance's parameters and results live.
    fn slots(&mut self, function: &Function, frame: &mut Frame) -> Result<Vec<Slot>, Diagnostic> {
        let mut slots = Vec::new();
        let interface = function.params.iter().zip(&frame.params).take(function.formals + function.results);
        for (param, slot) in interface {
            slots.push(match (param.register, slot) {
                (Some(register), _) => {
                    let Some((ty, var)) = frame.registers.at_mut(register) else {
                        return Err(Diagnostic::internal(
                            "a parameter's register without a declaration",
                            function.span,
                        ));
                    };
                    Slot::Register(*var.get_or_insert_with(|| self.function.var(carrier(*ty))))
                }
                (None, ParamSlot::Words(words)) => Slot::Words(words.clone()),
                (None, ParamSlot::Kernel(_)) => Slot::Words(Vec::new()),
            });
        }
        Ok(slots)
    }

    /// The values of arguments, and the callee's variables for them.
    fn arguments(
        &mut self,
        instance: &mut Instance<'p>,
        callee: &Function,
        slots: &[Slot],
        actuals: &[Operand],
    ) -> Result<Vec<(Var, Value)>, Diagnostic> {
        let mut passed = Vec::new();
        for ((param, slot), actual) in callee.params.iter().zip(slots).zip(actuals) {
            match (slot, actual) {
                (Slot::Words(theirs), Operand::Address(Base::Param(actual), _)) => {
                    let ours = self.words(instance, callee, param, *actual)?;
                    self.with(instance, |lowering| {
                        passed.extend(theirs.iter().zip(ours).map(|(theirs, ours)| (*theirs, lowering.b.get(ours))));
                    });
                }
                (Slot::Register(_), Operand::Address(Base::Param(_), _)) => return Err(register_expected(callee)),
                (Slot::Register(var), actual) => {
                    let value = self.with(instance, |lowering| lowering.source(actual, param.ty))?;
                    passed.push((*var, value));
                }
                (Slot::Words(words), actual) => {
                    // A register or constant for a `.param` parameter, as old PTX passes it.
                    let value = self.with(instance, |lowering| lowering.source(actual, param.ty))?;
                    match words.as_slice() {
                        [word] => passed.push((*word, value)),
                        [low, high] => {
                            let (first, second) = self.with(instance, |lowering| lowering.b.halves(value));
                            passed.extend([(*low, first), (*high, second)]);
                        }
                        _ => return Err(array_expected()),
                    }
                }
            }
        }
        Ok(passed)
    }

    /// The words of a `.param` variable of this function that is passed to or from another function.
    fn words(
        &self,
        instance: &Instance<'p>,
        callee: &Function,
        param: &Param,
        actual: ParamId,
    ) -> Result<Vec<Var>, Diagnostic> {
        let size = instance.frame.param_sizes.at(actual).copied().unwrap_or(0);
        if instance.frame.memory(actual.0 as usize).is_some() {
            let message = "passing a function's own parameter by name, whose address is taken,";
            return Err(Diagnostic::unsupported(message, None));
        }
        match instance.frame.params.at(actual) {
            Some(ParamSlot::Words(words)) if size == param.size || param.open => Ok(words.clone()),
            Some(ParamSlot::Words(_)) => {
                let message = format!("`{}` takes {} bytes here, {size} are passed", callee.name, param.size);
                Err(Diagnostic::invalid(message, None))
            }
            _ => Err(Diagnostic::unsupported("passing a kernel's parameter by name", None)),
        }
    }

    /// The values of a function's results after its return.
    fn read_results(&mut self, instance: &mut Instance<'p>, callee: &Function, slots: &[Slot]) -> Vec<Vec<Value>> {
        let slots = slots.get(callee.formals..).unwrap_or_default();
        self.with(instance, |lowering| {
            let mut read = |slot: &Slot| match slot {
                Slot::Words(words) => words.iter().map(|word| lowering.b.get(*word)).collect(),
                Slot::Register(var) => vec![lowering.b.get(*var)],
            };
            slots.iter().map(&mut read).collect()
        })
    }

    /// Gives the caller a call's results.
    fn results(
        &mut self,
        instance: &mut Instance<'p>,
        callee: &Function,
        actuals: &[Operand],
        values: Vec<Vec<Value>>,
    ) -> Result<(), Diagnostic> {
        let params = callee.params.get(callee.formals..).unwrap_or_default();
        for ((param, actual), values) in params.iter().zip(actuals).zip(values) {
            match (actual, values.as_slice()) {
                (Operand::Address(Base::Param(_), _), _) if param.register.is_some() => {
                    return Err(register_expected(callee));
                }
                (Operand::Address(Base::Param(actual), _), values) => {
                    let ours = self.words(instance, callee, param, *actual)?;
                    instance.pending.extend(ours.into_iter().zip(values).map(|(var, value)| Stmt::Set(var, *value)));
                }
                (actual, [value]) => self.with(instance, |lowering| lowering.assign(actual, param.ty, *value))?,
                (actual, [low, high]) => self.with(instance, |lowering| {
                    let value = lowering.b.join(*low, *high);
                    lowering.assign(actual, param.ty, value)
                })?,
                _ => return Err(array_expected()),
            }
        }
        Ok(())
    }
}

/// A call as its instruction has it.
struct Call<'c> {
    at: Span,
    results: &'c [Operand],
    arguments: &'c [Operand],
    /// Where control goes after it.
    next: BlockId,
}

fn array_expected() -> Diagnostic {
    Diagnostic::invalid("an array parameter needs a `.param` variable as its argument", None)
}

fn register_expected(callee: &Function) -> Diagnostic {
    let message = format!("`{}` takes or gives a register here, not a `.param` variable", callee.name);
    Diagnostic::invalid(message, None)
}
