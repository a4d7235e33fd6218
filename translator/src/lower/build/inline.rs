//! Calls: the callee's body is inlined at each call, or has one instance for all calls; recursive functions have a stack.

use super::recursion::{Site, Slot, Stack};
use super::shared::{Returns, Shared};
use super::{Build, Instance, Waiting};
use crate::cfg::liveness::StackCall;
use crate::cfg::{BlockId, End};
use crate::decode::program::{Base, FuncId, Function, Instruction, Operand, Param, ParamId, Reg};
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::index::IndexVec;
use crate::ir::{Compare, Stmt, Type, Value, Var};
use crate::lower::calls::services::Service;
use crate::lower::layout::call_graph::{self, Code, Single};
use crate::lower::layout::frame::{Frame, ParamSlot};
use crate::lower::lowering::{Lowering, carrier};

/// The largest product of basic blocks and variables of a kernel with recursive functions, which is the size of the liveness tables in
/// bits.
const MAX_LIVENESS: usize = 1 << 30;

impl<'p> Build<'p> {
    /// A call from the current block; control then goes to `next`.
    pub(super) fn call(&mut self, instance: &mut Instance<'p>, instruction: &Instruction, next: BlockId) -> Result {
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

    pub(super) fn call_function(&mut self, instance: &mut Instance<'p>, id: FuncId, call: &Call<'_>) -> Result {
        let Some(function) = self.program.functions.at(id) else {
            return Err(Diagnostic::internal("a call of a function that isn't there", call.at));
        };
        if function.body.is_none() {
            return self.call_service(instance, function, call);
        }
        let code = Code::Function(id);
        match self.singles.get(&code).copied() {
            Some(single) => self.call_single(instance, single, &Callee { code, function, target: None }, call),
            None => self.inline(instance, function, call),
        }
    }

    /// A call of code with one copy.
    pub(super) fn call_single(
        &mut self,
        instance: &mut Instance<'p>,
        single: Single,
        callee: &Callee<'p>,
        call: &Call<'_>,
    ) -> Result {
        match single {
            Single::Recursive(group) => self.call_recursive(instance, group, callee, call),
            Single::Shared => self.call_shared(instance, callee, call),
        }
    }

    /// A call of a function that CUDA defines, not the module.
    fn call_service(&mut self, instance: &mut Instance<'p>, callee: &'p Function, call: &Call<'_>) -> Result {
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
            let value = self.with(instance, |lowering| match lowering.b.type_of(value) {
                // What a kernel computes from the address is not the host's own access any more, and so checked.
                Type::I64 if lowering.layout.services.allocations => {
                    let b = &lowering.b;
                    b.select(b.is_zero(value), b.i64(0), value)
                }
                _ => value,
            });
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

    fn inline(&mut self, instance: &mut Instance<'p>, callee: &'p Function, call: &Call<'_>) -> Result {
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

    /// A call of code with one copy: see [`shared`](super::shared).
    fn call_shared(&mut self, instance: &mut Instance<'p>, callee: &Callee<'p>, call: &Call<'_>) -> Result {
        let number = self.shared_instance(callee)?;
        let back = self.new_block();
        let Some(shared) = self.shared.get_mut(number) else {
            return Err(Diagnostic::internal("a call of a function without its copy", call.at));
        };
        let (entry, slots, site) = (shared.entry, shared.slots.clone(), shared.returns.site);
        let case = shared.returns.add_site(back);
        instance.pending.push(Stmt::At(Some(call.at)));
        let passed = self.passed(instance, callee, &slots, call)?;
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        self.with(instance, |lowering| {
            lowering.b.set(site, lowering.b.i32(case));
        });
        self.finish(instance, End::Goto(entry), back);
        instance.pending.push(Stmt::At(Some(call.at)));
        let values = self.read_results(instance, callee.function, &slots);
        self.returned(instance, callee, call, values)
    }

    /// The number of the one copy of code that is not recursive; its body is built later.
    fn shared_instance(&mut self, callee: &Callee<'p>) -> Result<usize> {
        if let Some(known) = self.shared.iter().position(|known| known.code == callee.code) {
            return Ok(known);
        }
        let (frame, slots) = self.interface(callee)?;
        let (entry, returns) = (self.new_block(), self.new_block());
        let waiting = Waiting::new(callee, frame, &slots, (entry, returns), None);
        let returns = Returns::from(&mut self.function, returns);
        self.shared.push(Shared { code: callee.code.clone(), entry, slots, returns });
        self.waiting.push(waiting);
        Ok(self.shared.len() - 1)
    }

    /// The frame of code with one copy, and where its parameters and results live.
    fn interface(&mut self, callee: &Callee<'p>) -> Result<(Frame, Vec<Slot>)> {
        let mut frame = self.frame(callee.function, IndexVec::new());
        let mut slots = self.slots(callee.function, &mut frame)?;
        if callee.target.is_some() {
            frame.param_memory.fill(None);
            slots.extend([Type::I64, Type::I32].map(|ty| Slot::Register(self.function.var(ty))));
        }
        Ok((frame, slots))
    }

    /// The values that a call passes to code with one copy, each with the variable that receives it.
    fn passed(
        &mut self,
        instance: &mut Instance<'p>,
        callee: &Callee<'p>,
        slots: &[Slot],
        call: &Call<'_>,
    ) -> Result<Vec<(Var, Value)>> {
        let mut passed = self.arguments(instance, callee.function, slots, call.arguments)?;
        if let (Some(register), [.., Slot::Register(target), _]) = (callee.target, slots) {
            passed.push((*target, self.with(instance, |lowering| lowering.register(register))?));
        }
        Ok(passed)
    }

    /// Gives the caller the results of code with one copy, and ends the current block. A choice that found no function is reported here, at the
    /// call.
    fn returned(
        &mut self,
        instance: &mut Instance<'p>,
        callee: &Callee<'p>,
        call: &Call<'_>,
        values: Vec<Vec<Value>>,
    ) -> Result {
        let found = callee.target.and(values.last()).and_then(|found| found.first().copied());
        self.results(instance, callee.function, call.results, values)?;
        let end = match found {
            None => End::Goto(call.next),
            Some(found) => {
                let otherwise = self.bad_target(instance, call.at);
                let condition = self.with(instance, |lowering| lowering.b.compare_const(Compare::NotEqual, found, 0));
                End::Branch { condition, then: call.next, otherwise }
            }
        };
        self.finish(instance, end, call.next);
        Ok(())
    }

    /// A call of recursive code: see [`recursion`](super::recursion).
    fn call_recursive(
        &mut self,
        instance: &mut Instance<'p>,
        group: usize,
        callee: &Callee<'p>,
        call: &Call<'_>,
    ) -> Result {
        let number = self.recursive_instance(group, callee)?;
        let Some((entry, slots)) = self.stack.as_ref().and_then(|stack| {
            let instance = stack.instances.get(number)?;
            Some((instance.entry, instance.slots.clone()))
        }) else {
            return Err(Diagnostic::internal("a recursive call without a stack", call.at));
        };
        let (check, push, back) = (self.new_block(), self.new_block(), self.new_block());
        self.finish(instance, End::Goto(check), push);
        instance.pending.push(Stmt::At(Some(call.at)));
        let passed = self.passed(instance, callee, &slots, call)?;
        let push = (push, instance.pending.len());
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        self.finish(instance, End::Goto(entry), back);
        instance.pending.push(Stmt::At(Some(call.at)));
        let values = self.read_results(instance, callee.function, &slots);
        let back = (back, instance.pending.len());
        self.returned(instance, callee, call, values)?;
        if let Some(stack) = &mut self.stack {
            let places = StackCall { check, push, back };
            stack.sites.push(Site { callee: number, places, exits: instance.exits, at: call.at });
        }
        Ok(())
    }

    /// The number of the one instance of recursive code; its body is built later.
    fn recursive_instance(&mut self, group: usize, callee: &Callee<'p>) -> Result<usize> {
        let code = &callee.code;
        let known = self.stack.as_ref().and_then(|stack| stack.instances.iter().position(|known| known.code == *code));
        if let Some(known) = known {
            return Ok(known);
        }
        let (frame, slots) = self.interface(callee)?;
        let (entry, returns) = (self.new_block(), self.new_block());
        let inlined = call_graph::inlined(self.program, code, &self.singles);
        let stack = self.stack.get_or_insert_with(|| Stack::new(&mut self.function));
        let number = stack.instances.len();
        let mut waiting = Waiting::new(callee, frame, &slots, (entry, returns), Some(number));
        let locals = stack.add(self.program, (code.clone(), group), (entry, returns), slots, &inlined)?;
        waiting.frame.locals = Some(locals);
        self.waiting.push(waiting);
        Ok(number)
    }

    /// Builds the bodies of functions with one copy, and the code of their calls.
    pub(super) fn finish_singles(&mut self, exits: BlockId) {
        while let Some(Waiting { function, frame, entry, returns, on_stack, choice }) = self.waiting.pop() {
            let first = self.blocks.len();
            // The entry was created before this range of blocks, so its statements go to a block inside the range.
            let start = self.new_block();
            match choice {
                None => self.body(function, frame, start, returns, exits),
                Some(choice) => self.choice(function, frame, &choice, (start, returns), exits),
            }
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

    /// The places of a function instance's parameters and results.
    fn slots(&mut self, function: &Function, frame: &mut Frame) -> Result<Vec<Slot>> {
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
    ) -> Result<Vec<(Var, Value)>> {
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
    fn words(&self, instance: &Instance<'p>, callee: &Function, param: &Param, actual: ParamId) -> Result<Vec<Var>> {
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
    ) -> Result {
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
                (actual, [low, high]) => {
                    self.with(instance, |lowering| lowering.assign(actual, param.ty, lowering.b.join(*low, *high)))?
                }
                _ => return Err(array_expected()),
            }
        }
        Ok(())
    }
}

/// A call as its instruction has it.
pub(super) struct Call<'c> {
    pub(super) at: Span,
    pub(super) results: &'c [Operand],
    pub(super) arguments: &'c [Operand],
    /// The block after the call.
    pub(super) next: BlockId,
}

/// Code with one copy, as a call needs it.
pub(super) struct Callee<'p> {
    pub(super) code: Code,
    /// The function, or one of those among which is chosen: they have the same parameters.
    pub(super) function: &'p Function,
    /// The register that has the address, if this is a choice. Two slots follow those of parameters and results then: the address, and whether
    /// it is that of a function among which is chosen.
    pub(super) target: Option<Reg>,
}

fn array_expected() -> Diagnostic {
    Diagnostic::invalid("an array parameter needs a `.param` variable as its argument", None)
}

fn register_expected(callee: &Function) -> Diagnostic {
    let message = format!("`{}` takes or gives a register here, not a `.param` variable", callee.name);
    Diagnostic::invalid(message, None)
}
