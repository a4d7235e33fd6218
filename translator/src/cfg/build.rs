//! Builds a kernel's control-flow graph: finds basic blocks, lowers their instructions, and inlines calls.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{BasicBlock, Cfg, End, Frame, Layout, ParamSlot, calls};
use crate::decode::program::{Base, FuncId, Function, Instruction, Item, Label, Operand, Program, Reg};
use crate::decode::types::ScalarType;
use crate::diagnostic::{Diagnostic, Span};
use crate::ir::{self, Builder, Stmt, Type, Value, Var};
use crate::lower::{Lowering, Rule, carrier};

/// A kernel's graph.
#[derive(Debug)]
pub struct Built {
    /// Values and variables of the kernel; the body is still in the graph.
    pub function: ir::Function,
    /// The graph.
    pub graph: Cfg,
    /// The number of threads that its barriers wait for, where they name one: the block must have just as many.
    pub threads: Option<u32>,
}

/// Builds the graph of a kernel. All errors are reported together.
pub fn build(program: &Program, kernel: FuncId, layout: &Layout) -> Result<Built, Vec<Diagnostic>> {
    let function = ir::Function {
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
        threads: None,
        required: None,
    };
    if let Err(diagnostic) = calls::check(program, kernel) {
        return Err(vec![diagnostic]);
    }
    let Some(ptx) = program.functions.get(kernel.0 as usize) else {
        return Err(vec![Diagnostic::internal("a kernel that isn't there", Span::default())]);
    };
    build.required = ptx.required_block.map(|sizes| sizes.into_iter().map(u64::from).fold(1, u64::saturating_mul));
    let params = layout.params.iter().map(|offset| ParamSlot::Kernel(*offset)).collect();
    let frame = build.frame(ptx, params);
    let entry = build.new_block();
    let exit = build.new_block();
    build.body(ptx, frame, entry, exit, exit);
    if !build.errors.is_empty() {
        return Err(build.errors);
    }
    build.note_exits(exit);
    Ok(Built { function: build.function, graph: Cfg { blocks: build.blocks }, threads: build.threads })
}

struct Build<'p> {
    program: &'p Program,
    layout: &'p Layout,
    function: ir::Function,
    blocks: Vec<BasicBlock>,
    errors: Vec<Diagnostic>,
    /// See [`Built::threads`].
    threads: Option<u32>,
    /// Threads of the block that the kernel requires, if it does.
    required: Option<u64>,
    /// Where the errors stand: a function that is called twice has its errors once.
    reported: FxHashSet<Span>,
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
            registers: function.registers.iter().map(|ty| (*ty, None)).collect(),
            upper: FxHashMap::default(),
            carry: None,
            params,
            param_sizes: function.params.iter().map(|param| param.size).collect(),
        }
    }

    /// Where something asks who has exited, has every way to the end note it.
    fn note_exits(&mut self, exit: u32) {
        let Some(exited) = self.function.exited else { return };
        // Each way has a note of its own, so that it stands where threads part.
        let ends: Vec<End> = self.blocks.iter().map(|block| block.end).collect();
        for (number, end) in ends.into_iter().enumerate().filter(|(_, end)| end.successors().any(|next| next == exit)) {
            let note = self.new_block();
            let mut b = Builder::new(&mut self.function);
            let yes = b.bool(true);
            b.set(exited, yes);
            let noting = BasicBlock { body: b.block, end: End::Goto(exit) };
            if let Some(block) = self.blocks.get_mut(note as usize) {
                *block = noting;
            }
            if let Some(block) = self.blocks.get_mut(number) {
                block.end = end.redirected(|next| if next == exit { note } else { next });
            }
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

    /// Builds one function instance from block `entry` on; its frame is given back filled. [`calls`] bounds how deep
    /// calls make this recurse.
    fn body(&mut self, function: &'p Function, frame: Frame, entry: u32, returns: u32, exits: u32) -> Frame {
        let Some(items) = &function.body else { return frame };
        for diagnostic in &function.unsupported {
            self.report(function, diagnostic.clone(), function.span);
        }
        let labels = vec![None; function.labels as usize];
        let mut instance = Instance { function, frame, labels, current: entry, pending: Vec::new(), returns, exits };
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
        let current = instance.current;
        self.finish(&mut instance, End::Goto(returns), current);
        instance.frame
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
                self.check_barrier(instance, instruction);
                instance.pending = vec![Stmt::At(instruction.span), Stmt::Barrier];
                self.finish(instance, End::Goto(next), next);
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

    fn guard(&mut self, instance: &mut Instance<'p>, register: Reg, negated: bool, span: Span) -> Value {
        self.with(instance, |lowering| {
            lowering.b.at(span);
            let value = lowering.register(register);
            if negated { lowering.b.not(value) } else { value }
        })
    }

    /// A barrier waits for the whole block: if it names a number of threads, that becomes the block's.
    fn check_barrier(&mut self, instance: &Instance<'p>, instruction: &Instruction) {
        let count = match instruction.operands.get(1) {
            None => return,
            Some(Operand::Imm(count)) => u32::try_from(*count).ok(),
            Some(_) => None,
        };
        if let Some(count) = count
            && self.threads.is_none_or(|threads| threads == count)
            && self.required.is_none_or(|required| required == u64::from(count))
        {
            self.threads = Some(count);
            return;
        }
        let diagnostic = Diagnostic::unsupported("a barrier for a part of the block's threads", instruction.span);
        self.report(instance.function, diagnostic, instruction.span);
    }

    /// Inlines a call into the current block and those behind it; control then goes to `next`.
    fn call(&mut self, instance: &mut Instance<'p>, instruction: &Instruction, next: u32) -> Result<(), Diagnostic> {
        let [Operand::List(results), Operand::Function(id), Operand::List(arguments)] = instruction.operands.as_slice()
        else {
            return Err(Diagnostic::internal("a call of another form", instruction.span));
        };
        let Some(callee) = self.program.functions.get(id.0 as usize) else {
            return Err(Diagnostic::internal("a call of a function that isn't there", instruction.span));
        };
        if callee.body.is_none() {
            let message = format!("a call of `{}`, which this module does not define", callee.name);
            return Err(Diagnostic::unsupported(message, instruction.span));
        }
        let mut frame = self.frame(callee, Vec::new());
        instance.pending.push(Stmt::At(instruction.span));
        for (formal, argument) in (0..callee.formals).zip(arguments) {
            self.pass(instance, &mut frame, callee, formal, argument, Direction::In)?;
        }
        let entry = self.new_block();
        let back = self.new_block();
        self.finish(instance, End::Goto(entry), back);
        let mut frame = self.body(callee, frame, entry, back, instance.exits);
        instance.pending.push(Stmt::At(instruction.span));
        for (formal, result) in (callee.formals..).zip(results) {
            self.pass(instance, &mut frame, callee, formal, result, Direction::Out)?;
        }
        self.finish(instance, End::Goto(next), next);
        Ok(())
    }

    /// Copies an argument to its formal parameter, or a result back.
    fn pass(
        &mut self,
        instance: &mut Instance<'p>,
        frame: &mut Frame,
        callee: &Function,
        formal: usize,
        actual: &Operand,
        direction: Direction,
    ) -> Result<(), Diagnostic> {
        let Some(param) = callee.params.get(formal) else { return Ok(()) };
        if let Operand::Address(Base::Param(actual), _) = actual {
            let size = instance.frame.param_sizes.get(actual.0 as usize).copied().unwrap_or(0);
            let (Some(ParamSlot::Words(theirs)), Some(ParamSlot::Words(ours))) =
                (frame.params.get(formal), instance.frame.params.get(actual.0 as usize))
            else {
                return Err(Diagnostic::unsupported("passing a kernel's parameter by name", Span::default()));
            };
            if size != param.size || theirs.len() != ours.len() {
                let message = format!("`{}` takes {} bytes here, {size} are passed", callee.name, param.size);
                return Err(Diagnostic::invalid(message, Span::default()));
            }
            let pairs: Vec<(Var, Var)> = theirs.iter().copied().zip(ours.iter().copied()).collect();
            self.with(instance, |lowering| {
                for (theirs, ours) in pairs {
                    let (from, to) = if direction == Direction::In { (ours, theirs) } else { (theirs, ours) };
                    let value = lowering.b.get(from);
                    lowering.b.set(to, value);
                }
            });
            return Ok(());
        }
        let Some(register) = param.register else {
            return self.pass_to_words(instance, frame, param.ty, formal, actual, direction);
        };
        let function = &mut self.function;
        let Some((ty, slot)) = frame.registers.get_mut(register.0 as usize) else { return Ok(()) };
        let ty = *ty;
        let var = *slot.get_or_insert_with(|| function.var(carrier(ty)));
        self.with(instance, |lowering| {
            if direction == Direction::In {
                let value = lowering.source(actual, ty)?;
                lowering.b.set(var, value);
                Ok(())
            } else {
                let value = lowering.b.get(var);
                lowering.assign(actual, ty, value)
            }
        })
    }

    /// Passes a register or constant to or from a `.param` parameter, as old PTX does.
    fn pass_to_words(
        &mut self,
        instance: &mut Instance<'p>,
        frame: &Frame,
        ty: ScalarType,
        formal: usize,
        actual: &Operand,
        direction: Direction,
    ) -> Result<(), Diagnostic> {
        let Some(ParamSlot::Words(words)) = frame.params.get(formal).cloned() else { return Ok(()) };
        self.with(instance, |lowering| match (direction, words.as_slice()) {
            (Direction::In, [low]) => {
                let value = lowering.source(actual, ty)?;
                lowering.b.set(*low, value);
                Ok(())
            }
            (Direction::In, [low, high]) => {
                let value = lowering.source(actual, ty)?;
                let (low_value, high_value) = lowering.b.halves(value);
                lowering.b.set(*low, low_value);
                lowering.b.set(*high, high_value);
                Ok(())
            }
            (Direction::Out, [low]) => {
                let value = lowering.b.get(*low);
                lowering.assign(actual, ty, value)
            }
            (Direction::Out, [low, high]) => {
                let low = lowering.b.get(*low);
                let high = lowering.b.get(*high);
                let value = lowering.b.join(low, high);
                lowering.assign(actual, ty, value)
            }
            _ => Err(Diagnostic::invalid(
                "an array parameter needs a `.param` variable as its argument",
                Span::default(),
            )),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}
