//! Builds a kernel's control-flow graph: finds basic blocks, lowers their instructions, and inlines calls.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::{self, Recursive};
use super::recursion::{Site, Slot, Stack};
use super::switch::switch;
use super::{BasicBlock, Cfg, End, Frame, Layout, ParamSlot, Stop};
use crate::ast::FunctionKind;
use crate::decode::program::{
    Base, FuncId, Function, Instruction, Item, Label, Operand, Param, ParamId, Program, Reg, Targets,
};
use crate::decode::types::ScalarType;
use crate::diagnostic::{Diagnostic, Span};
use crate::interface::{Cluster, Fault};
use crate::ir::{self, Builder, Stmt, Type, Value, Var};
use crate::lower::services::Service;
use crate::lower::{Lowering, Rule, activation, barriers, carrier};

/// The most basic blocks times variables of a kernel with functions that call themselves: bits of the tables of what lives
/// where.
const MAX_LIVENESS: usize = 1 << 30;

/// A kernel's graph.
#[derive(Debug)]
pub struct Built {
    /// Values and variables of the kernel; the body is still in the graph.
    pub function: ir::Function,
    /// The graph.
    pub graph: Cfg,
    /// Whether it may print something.
    pub prints: bool,
}

/// Builds the graph of a kernel. All errors are reported together.
pub fn build(program: &Program, kernel: FuncId, layout: &Layout) -> Result<Built, Vec<Diagnostic>> {
    let cluster = Cluster { size: layout.cluster, shared_align: layout.shared_align, own_shared_bytes: 0 };
    let function = ir::Function {
        cluster: (cluster.blocks() > 1).then_some(cluster),
        shared_bytes: layout.shared_bytes,
        dynamic_shared: layout.dynamic_shared,
        local_bytes: layout.local_bytes,
        ..ir::Function::default()
    };
    let mut build = Build {
        program,
        layout,
        function,
        blocks: Vec::new(),
        errors: Vec::new(),
        reported: FxHashSet::default(),
        prints: false,
        recursive: calls::check(program, kernel).map_err(|diagnostic| vec![diagnostic])?,
        stack: None,
        alloca: None,
        waiting: Vec::new(),
    };
    build.alloca = layout.stack.map(|_| build.function.var(Type::I32));
    let Some(ptx) = program.functions.get(kernel.0 as usize) else {
        return Err(vec![Diagnostic::internal("a kernel that isn't there", Span::default())]);
    };
    let params = layout.params.iter().map(|offset| ParamSlot::Kernel(*offset)).collect();
    let frame = build.frame(ptx, params);
    let entry = build.new_block();
    let exit = build.new_block();
    build.body(ptx, frame, entry, exit, exit);
    build.finish_recursive(exit);
    if !build.errors.is_empty() {
        return Err(build.errors);
    }
    build.note_exits(exit);
    Ok(Built { function: build.function, graph: Cfg { blocks: build.blocks }, prints: build.prints })
}

struct Build<'p> {
    program: &'p Program,
    layout: &'p Layout,
    function: ir::Function,
    blocks: Vec<BasicBlock>,
    errors: Vec<Diagnostic>,
    /// See [`Built::prints`].
    prints: bool,
    /// Where the errors stand: a function that is called twice has its errors once.
    reported: FxHashSet<Span>,
    /// The functions that call themselves.
    recursive: Recursive,
    /// Their instances and calls, once there is one.
    stack: Option<Stack>,
    /// See [`Frame::stack`].
    alloca: Option<Var>,
    /// Instances whose bodies are still to be built.
    waiting: Vec<(usize, &'p Function, Frame)>,
}

/// What one function instance's body is built from and into.
struct Instance<'p> {
    function: &'p Function,
    frame: Frame,
    labels: Vec<Option<u32>>,
    /// The block that is being filled, and its statements so far.
    current: u32,
    pending: ir::Block,
    /// Where `ret` goes, and where `exit` goes.
    returns: u32,
    exits: u32,
}

impl<'p> Build<'p> {
    fn new_block(&mut self) -> u32 {
        self.blocks.push(BasicBlock::default());
        u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX)
    }

    /// A frame whose first parameters are given; the others get words of their own.
    fn frame(&mut self, function: &Function, mut params: Vec<ParamSlot>) -> Frame {
        for param in function.params.iter().skip(params.len()) {
            let words = if param.register.is_some() { 0 } else { param.size.div_ceil(4) };
            params.push(ParamSlot::Words((0..words).map(|_| self.function.var(Type::I32)).collect()));
        }
        Frame {
            is_device: function.kind == FunctionKind::Func,
            registers: function.registers.iter().map(|ty| (*ty, None)).collect(),
            upper: FxHashMap::default(),
            carry: None,
            stack: self.alloca,
            stack_before: None,
            params,
            param_sizes: function.params.iter().map(|param| param.size).collect(),
            param_memory: function.params.iter().map(|param| param.memory).collect(),
            locals: None,
        }
    }

    /// Where something asks who has exited, has every way to the end note it.
    ///
    /// The note stands in the block where ways part, since what follows may come to lie behind a loop that others are still
    /// in. What threads do alone from there to the end, nobody waits for.
    fn note_exits(&mut self, exit: u32) {
        let Some(exited) = self.function.exited else { return };
        let mut ending = vec![false; self.blocks.len()];
        let ends = |ending: &[bool], next: u32| next == exit || ending.get(next as usize) == Some(&true);
        loop {
            let before = ending.clone();
            for (number, block) in self.blocks.iter().enumerate() {
                let alone = block.stop.is_none() && block.end != End::Exit && !crate::warp::has_warp(&block.body);
                if let (true, Some(ending)) = (alone, ending.get_mut(number)) {
                    *ending = block.end.successors().all(|next| ends(&before, next));
                }
            }
            if ending == before {
                break;
            }
        }
        for block in &mut self.blocks {
            let mut b = Builder::new(&mut self.function);
            let note = match block.end {
                End::Branch { condition, then, otherwise } => match (ends(&ending, then), ends(&ending, otherwise)) {
                    (true, true) => b.bool(true),
                    (true, false) => condition,
                    (false, true) => b.not(condition),
                    (false, false) => continue,
                },
                End::Goto(next) if ends(&ending, next) => b.bool(true),
                End::Goto(_) | End::Exit => continue,
            };
            b.set(exited, note);
            block.body.append(&mut b.block);
        }
    }

    fn report(&mut self, function: &Function, mut diagnostic: Diagnostic, span: Span) {
        if diagnostic.span == Span::default() {
            diagnostic.span = span;
        }
        if self.reported.insert(diagnostic.span) {
            self.errors.push(diagnostic.in_function(&function.name));
        }
    }

    /// Builds one function instance from block `entry` on. [`calls`] bounds how deep calls make this recurse.
    fn body(&mut self, function: &'p Function, frame: Frame, entry: u32, returns: u32, exits: u32) {
        let Some(items) = &function.body else { return };
        for diagnostic in &function.unsupported {
            self.report(function, diagnostic.clone(), function.span);
        }
        let labels = vec![None; function.labels as usize];
        let mut instance = Instance { function, frame, labels, current: entry, pending: Vec::new(), returns, exits };
        if activation::has_work(function) {
            self.activate(&mut instance);
        }
        let mut rest = items.as_slice();
        while let Some((item, tail)) = rest.split_first() {
            match item {
                Item::Label(label) => {
                    let block = self.label(&mut instance, *label);
                    self.finish(&mut instance, End::Goto(block), block);
                    rest = tail;
                }
                Item::Instruction(instruction)
                    if matches!(instruction.form.row.rule, Rule::Lower(_) | Rule::Nothing) =>
                {
                    let straight = |item: &Item| matches!(item, Item::Instruction(i) if matches!(i.form.row.rule, Rule::Lower(_) | Rule::Nothing));
                    let length = rest.iter().take_while(|item| straight(item)).count();
                    let (run, tail) = rest.split_at(length);
                    self.straight(&mut instance, run);
                    rest = tail;
                }
                Item::Instruction(instruction) => {
                    self.control(&mut instance, instruction);
                    rest = tail;
                }
            }
        }
        let (returns, current) = (instance.returns, instance.current);
        self.finish(&mut instance, End::Goto(returns), current);
    }

    /// Has a device function begin and end as [`activation`] says.
    fn activate(&mut self, instance: &mut Instance<'p>) {
        let (function, entry, returns) = (instance.function, instance.current, instance.returns);
        instance.returns = self.new_block();
        let begun = self.with(instance, |lowering| activation::begin(lowering, function));
        let beginning = std::mem::take(&mut instance.pending);
        let ended = self.with(instance, |lowering| activation::end(lowering, function));
        instance.current = instance.returns;
        self.finish(instance, End::Goto(returns), entry);
        instance.pending = beginning;
        for diagnostic in [begun, ended].into_iter().filter_map(Result::err) {
            self.report(function, diagnostic, function.span);
        }
    }

    /// Ends the current block and goes on filling another.
    fn finish(&mut self, instance: &mut Instance<'p>, end: End, next: u32) {
        let body = std::mem::take(&mut instance.pending);
        if let Some(block) = self.blocks.get_mut(instance.current as usize) {
            block.body = body;
            block.end = end;
        }
        instance.current = next;
    }

    fn label(&mut self, instance: &mut Instance<'p>, label: Label) -> u32 {
        if let Some(Some(block)) = instance.labels.get(label.0 as usize) {
            return *block;
        }
        let block = self.new_block();
        if let Some(slot) = instance.labels.get_mut(label.0 as usize) {
            *slot = Some(block);
        }
        block
    }

    /// Appends to the current block with a [`Lowering`].
    fn with<T>(&mut self, instance: &mut Instance<'p>, work: impl FnOnce(&mut Lowering<'_, '_>) -> T) -> T {
        let mut builder = Builder::new(&mut self.function);
        builder.block = std::mem::take(&mut instance.pending);
        let mut lowering =
            Lowering { b: builder, program: self.program, layout: self.layout, frame: &mut instance.frame };
        let result = work(&mut lowering);
        instance.pending = lowering.b.block;
        result
    }

    fn straight(&mut self, instance: &mut Instance<'p>, run: &[Item]) {
        let errors = self.with(instance, |lowering| {
            let mut errors = Vec::new();
            for item in run {
                if let Item::Instruction(instruction) = item
                    && let Err(diagnostic) = lowering.instruction(instruction)
                {
                    errors.push((diagnostic, instruction.span));
                }
            }
            errors
        });
        for (diagnostic, span) in errors {
            self.report(instance.function, diagnostic, span);
        }
    }

    /// Instructions that end a basic block.
    fn control(&mut self, instance: &mut Instance<'p>, instruction: &Instruction) {
        let taken = match (instruction.form.row.rule, instruction.operands.first()) {
            (Rule::Branch, Some(Operand::Label(label))) => self.label(instance, *label),
            (Rule::Return, _) => instance.returns,
            (Rule::Exit, _) => instance.exits,
            _ => self.new_block(),
        };
        let next = self.new_block();
        let end = match instruction.guard {
            None => End::Goto(taken),
            Some((register, negated)) => {
                let condition = self.guard(instance, register, negated, instruction.span);
                End::Branch { condition, then: taken, otherwise: next }
            }
        };
        match instruction.form.row.rule {
            Rule::Barrier => {
                self.finish(instance, end, taken);
                match self.with(instance, |lowering| barriers::stop(lowering, instruction)) {
                    Ok(stop) => self.stop(instance, stop),
                    Err(diagnostic) => self.report(instance.function, diagnostic, instruction.span),
                }
                self.finish(instance, End::Goto(next), next);
            }
            Rule::IndexedBranch => {
                self.finish(instance, end, taken);
                if let Err(diagnostic) = self.indexed_branch(instance, instruction) {
                    self.report(instance.function, diagnostic, instruction.span);
                }
                instance.pending.clear();
                instance.current = next;
            }
            Rule::Fail(fault) => {
                self.finish(instance, end, taken);
                instance.pending = vec![Stmt::At(instruction.span), Stmt::Report(fault, Vec::new())];
                self.finish(instance, End::Goto(instance.exits), next);
            }
            Rule::Call => {
                self.finish(instance, end, taken);
                if let Err(diagnostic) = self.call(instance, instruction, next) {
                    self.report(instance.function, diagnostic, instruction.span);
                    self.finish(instance, End::Goto(next), next);
                }
            }
            _ => self.finish(instance, end, next),
        }
    }

    /// Ends the current block by going to one of several labels.
    fn indexed_branch(&mut self, instance: &mut Instance<'p>, instruction: &Instruction) -> Result<(), Diagnostic> {
        let [index, Operand::Labels(labels)] = instruction.operands.as_slice() else {
            return Err(Diagnostic::internal("an indexed branch without labels", instruction.span));
        };
        let var = self.function.var(Type::I32);
        self.with(instance, |lowering| {
            lowering.b.at(instruction.span);
            let value = lowering.source(index, ScalarType::U32)?;
            lowering.b.set(var, value);
            Ok::<_, Diagnostic>(())
        })?;
        let targets: Vec<u32> = labels.iter().map(|label| self.label(instance, *label)).collect();
        let cases: Vec<(u64, u32)> = (0..).zip(targets).collect();
        self.choose(instance, instruction.span, var, &cases);
        Ok(())
    }

    fn guard(&mut self, instance: &mut Instance<'p>, register: Reg, negated: bool, span: Span) -> Value {
        self.with(instance, |lowering| {
            lowering.b.at(span);
            let value = lowering.register(register);
            if negated { lowering.b.not(value) } else { value }
        })
    }

    /// Has the current block stop where it ends.
    fn stop(&mut self, instance: &Instance<'p>, stop: Stop) {
        if let Some(block) = self.blocks.get_mut(instance.current as usize) {
            block.stop = Some(stop);
        }
    }

    /// A call from the current block; control then goes to `next`.
    fn call(&mut self, instance: &mut Instance<'p>, instruction: &Instruction, next: u32) -> Result<(), Diagnostic> {
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

    /// A call through a register: a choice among the functions that it may go to.
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
            let value = lowering.register(register);
            lowering.b.set(target, value);
        });
        let candidates = calls::candidates(self.program, targets);
        let cases: Vec<(u64, u32)> = candidates.iter().map(|id| (id.address(), self.new_block())).collect();
        self.choose(instance, call.at, target, &cases);
        for (id, (_, block)) in candidates.into_iter().zip(cases) {
            instance.current = block;
            self.call_function(instance, id, call)?;
        }
        Ok(())
    }

    /// Ends the current block by going where a variable says; anything else is reported and ends the thread.
    fn choose(&mut self, instance: &mut Instance<'p>, at: Span, var: Var, cases: &[(u64, u32)]) {
        let bad = self.new_block();
        if let Some(block) = self.blocks.get_mut(bad as usize) {
            block.body = vec![Stmt::At(at), Stmt::Report(Fault::BadTarget, Vec::new())];
            block.end = End::Goto(instance.exits);
        }
        let first = switch(&mut self.function, &mut self.blocks, at, var, cases, bad);
        self.finish(instance, End::Goto(first), first);
    }

    /// A call of one function.
    fn call_function(&mut self, instance: &mut Instance<'p>, id: FuncId, call: &Call<'_>) -> Result<(), Diagnostic> {
        let Some(callee) = self.program.functions.get(id.0 as usize) else {
            return Err(Diagnostic::internal("a call of a function that isn't there", call.at));
        };
        if callee.body.is_none() {
            return self.call_service(instance, callee, call);
        }
        match self.recursive.get(&id) {
            Some(group) => self.call_recursive(instance, (id, *group), callee, call),
            None => self.inline(instance, callee, call),
        }
    }

    /// A call of a function that the module doesn't define, but CUDA does.
    fn call_service(
        &mut self,
        instance: &mut Instance<'p>,
        callee: &Function,
        call: &Call<'_>,
    ) -> Result<(), Diagnostic> {
        let Some(service) = Service::find(callee) else {
            let message = format!("a call of `{}`, which this module does not define", callee.name);
            return Err(Diagnostic::unsupported(message, call.at));
        };
        self.prints |= service == Service::Print;
        let mut frame = self.frame(callee, Vec::new());
        let slots = self.slots(callee, &mut frame);
        instance.pending.push(Stmt::At(call.at));
        let passed = self.arguments(instance, callee, &slots, call.arguments)?;
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        let result = self.with(instance, |lowering| {
            let value = |slot: &Slot| match slot {
                Slot::Words(words) => match words.as_slice() {
                    [low, high] => {
                        let (low, high) = (lowering.b.get(*low), lowering.b.get(*high));
                        lowering.b.join(low, high)
                    }
                    [word] => lowering.b.get(*word),
                    _ => lowering.b.i32(0),
                },
                Slot::Register(var) => lowering.b.get(*var),
            };
            let arguments: Vec<Value> = slots.iter().take(callee.formals).map(value).collect();
            service.lower(lowering, &arguments)
        })?;
        if service.ends_thread() {
            self.finish(instance, End::Goto(instance.exits), call.next);
            return Ok(());
        }
        if let Some(value) = result {
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
        let mut frame = self.frame(callee, Vec::new());
        frame.locals.clone_from(&instance.frame.locals);
        let slots = self.slots(callee, &mut frame);
        instance.pending.push(Stmt::At(call.at));
        let passed = self.arguments(instance, callee, &slots, call.arguments)?;
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        let entry = self.new_block();
        let back = self.new_block();
        self.finish(instance, End::Goto(entry), back);
        self.body(callee, frame, entry, back, instance.exits);
        instance.pending.push(Stmt::At(call.at));
        let values = self.read_results(instance, callee, &slots);
        self.results(instance, callee, call.results, values)?;
        self.finish(instance, End::Goto(call.next), call.next);
        Ok(())
    }

    /// A call of a function that calls itself: see [`recursion`](super::recursion).
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
        instance.pending.push(Stmt::At(call.at));
        let passed = self.arguments(instance, callee, &slots, call.arguments)?;
        let push = (push, instance.pending.len());
        instance.pending.extend(passed.into_iter().map(|(var, value)| Stmt::Set(var, value)));
        self.finish(instance, End::Goto(entry), back);
        instance.pending.push(Stmt::At(call.at));
        let values = self.read_results(instance, callee, &slots);
        let back = (back, instance.pending.len());
        self.results(instance, callee, call.results, values)?;
        self.finish(instance, End::Goto(call.next), call.next);
        if let Some(stack) = &mut self.stack {
            stack.sites.push(Site { callee: number, check, push, back, exits: instance.exits, at: call.at });
        }
        Ok(())
    }

    /// The number of the one instance of a function that calls itself; its body is built later.
    fn recursive_instance(&mut self, (id, group): (FuncId, usize), callee: &'p Function) -> Result<usize, Diagnostic> {
        let known = self.stack.as_ref().and_then(|stack| stack.instances.iter().position(|known| known.id == id));
        if let Some(known) = known {
            return Ok(known);
        }
        let mut frame = self.frame(callee, Vec::new());
        let slots = self.slots(callee, &mut frame);
        let (entry, returns) = (self.new_block(), self.new_block());
        let inlined = calls::inlined(self.program, id, &self.recursive);
        let stack = self.stack.get_or_insert_with(|| Stack::new(&mut self.function));
        let number = stack.add(self.program, (id, group), (entry, returns), slots, &inlined)?;
        frame.locals = stack.instances.get(number).map(|instance| Arc::clone(&instance.locals));
        self.waiting.push((number, callee, frame));
        Ok(number)
    }

    /// Builds the bodies of the functions that call themselves, and what their calls do.
    fn finish_recursive(&mut self, exits: u32) {
        while let Some((number, callee, frame)) = self.waiting.pop() {
            let place = self.stack.as_ref().and_then(|stack| stack.instances.get(number));
            let Some((entry, returns)) = place.map(|instance| (instance.entry, instance.returns)) else { continue };
            let first = self.blocks.len();
            // The entry is older than the others, but assigns like them: what stands in it is moved behind.
            let start = self.new_block();
            self.body(callee, frame, start, returns, exits);
            if let Some(block) = self.blocks.get_mut(entry as usize) {
                block.end = End::Goto(start);
            }
            let blocks = first..self.blocks.len();
            if let Some(instance) = self.stack.as_mut().and_then(|stack| stack.instances.get_mut(number)) {
                instance.blocks = blocks;
            }
        }
        if let Some(stack) = self.stack.take() {
            if self.blocks.len().saturating_mul(self.function.vars.len()) > MAX_LIVENESS {
                let at = stack.sites.first().map_or(Span::default(), |site| site.at);
                self.errors.push(Diagnostic::unsupported("recursion in a kernel as large as this", at));
                return;
            }
            stack.finish(&mut self.function, &mut self.blocks);
        }
    }

    /// Where a function instance's parameters and results live.
    fn slots(&mut self, function: &Function, frame: &mut Frame) -> Vec<Slot> {
        let mut slots = Vec::new();
        let interface = function.params.iter().zip(&frame.params).take(function.formals + function.results);
        for (param, slot) in interface {
            slots.push(match (param.register, slot) {
                (Some(register), _) => match frame.registers.get_mut(register.0 as usize) {
                    Some((ty, var)) => Slot::Register(*var.get_or_insert_with(|| self.function.var(carrier(*ty)))),
                    None => Slot::Words(Vec::new()),
                },
                (None, ParamSlot::Words(words)) => Slot::Words(words.clone()),
                (None, ParamSlot::Kernel(_)) => Slot::Words(Vec::new()),
            });
        }
        slots
    }

    /// The values of arguments, and the variables of the callee that they belong in.
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

    /// The words of a `.param` variable of this function that is passed to or from another's.
    fn words(
        &self,
        instance: &Instance<'p>,
        callee: &Function,
        param: &Param,
        actual: ParamId,
    ) -> Result<Vec<Var>, Diagnostic> {
        let size = instance.frame.param_sizes.get(actual.0 as usize).copied().unwrap_or(0);
        if instance.frame.memory(actual.0 as usize).is_some() {
            let message = "passing a function's own parameter by name, whose address is taken,";
            return Err(Diagnostic::unsupported(message, Span::default()));
        }
        match instance.frame.params.get(actual.0 as usize) {
            Some(ParamSlot::Words(words)) if size == param.size || param.open => Ok(words.clone()),
            Some(ParamSlot::Words(_)) => {
                let message = format!("`{}` takes {} bytes here, {size} are passed", callee.name, param.size);
                Err(Diagnostic::invalid(message, Span::default()))
            }
            _ => Err(Diagnostic::unsupported("passing a kernel's parameter by name", Span::default())),
        }
    }

    /// What a function's results hold when it has returned.
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
    /// Where control goes behind it.
    next: u32,
}

fn array_expected() -> Diagnostic {
    Diagnostic::invalid("an array parameter needs a `.param` variable as its argument", Span::default())
}

fn register_expected(callee: &Function) -> Diagnostic {
    let message = format!("`{}` takes or gives a register here, not a `.param` variable", callee.name);
    Diagnostic::invalid(message, Span::default())
}
