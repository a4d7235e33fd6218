//! Builds a kernel's control-flow graph: finds basic blocks, lowers their instructions, and inlines calls.

mod choices;
mod grid_barrier;
mod inline;
mod prints;
mod products;
mod reads;
mod recursion;
mod shared;
mod synchronize;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use choices::Choice;
use prints::Prints;
use products::Products;
use reads::Reads;
use recursion::Stack;
use shared::Shared;

use super::launches;
use super::lowering::{Lowering, carrier};
use super::texture::batch::{self, Step};
use crate::ast::FunctionKind;
use crate::cfg::{BasicBlock, BlockId, Cfg, End, Stop};
use crate::decode::program::{FuncId, Function, Instruction, Item, Label, ModuleReg, Operand, ParamId, Program, Reg};
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::index::{Index, IndexVec};
use crate::ir::{self, Access, Builder, Builtin, Compare, MemoryOrder, Scope, Space, Stmt, Type, Value, Var};
use crate::isa::operation::{Action, Operation};
use crate::isa::types::ScalarType;
use crate::lower::calls::prologue;
use crate::lower::layout::call_graph::{self, Singles};
use crate::lower::layout::frame::{Frame, ParamSlot};
use crate::lower::layout::pending_copies::PendingCopies;
use crate::lower::layout::{Layout, RESERVED_SHARED_WORDS};
use crate::lower::memory::cluster;
use crate::lower::memory::guard;
use crate::lower::thread::barriers;
use crate::policy::Policy;
use ptx2spv_target::Cluster;

/// A kernel's graph.
#[derive(Debug)]
pub struct Built {
    /// Values and variables of the kernel; the body is still in the graph.
    pub function: ir::Function,
    pub graph: Cfg,
    /// Whether the kernel may print something.
    pub prints: bool,
    /// Whether the kernel may launch kernels.
    pub launches: bool,
}

/// Builds the graph of a kernel. All errors are reported together.
pub fn build(program: &Program, kernel: FuncId, layout: &Layout, policy: &Policy) -> Result<Built, Vec<Diagnostic>> {
    let cluster = Cluster { size: layout.cluster, shared_align: layout.shared_align, own_shared_bytes: 0 };
    let function = ir::Function {
        cluster: (cluster.blocks() > 1).then_some(cluster),
        shared_bytes: layout.shared_bytes,
        shared_start: layout.shared_start,
        dynamic_shared: layout.dynamic_shared,
        local_bytes: layout.local_bytes,
        ..ir::Function::default()
    };
    let mut build = Build {
        program,
        layout,
        function,
        blocks: IndexVec::new(),
        errors: Vec::new(),
        reported: FxHashSet::default(),
        prints: Prints::default(),
        launches: false,
        singles: call_graph::choose(program, kernel, policy.blocks_slow).map_err(|diagnostic| vec![diagnostic])?,
        stack: None,
        shared: Vec::new(),
        reads: Reads::default(),
        products: Products::default(),
        module_registers: FxHashMap::default(),
        alloca: None,
        copied_outside: None,
        pending_copies: None,
        waiting: Vec::new(),
    };
    build.alloca = layout.stack.map(|_| build.function.var(Type::I32));
    build.copied_outside = layout.copies.then(|| build.function.var(Type::I32));
    let Some(ptx) = program.functions.at(kernel) else {
        return Err(vec![Diagnostic::internal("a kernel that isn't there", None)]);
    };
    if layout.copies {
        build.pending_copies = PendingCopies::of(ptx, &mut build.function).map(Arc::new);
    }
    let params = layout.params.iter().map(|offset| ParamSlot::Kernel(*offset)).collect();
    let frame = build.frame(ptx, params);
    build.clear_own();
    let entry = build.new_block();
    if let Some(first) = build.blocks.get_mut(0).filter(|_| entry != BlockId::ENTRY) {
        first.end = End::Goto(entry);
    }
    let exit = build.new_block();
    build.body(ptx, frame, entry, exit, exit);
    // Calls of recursive functions put variables aside. NVIDIA's assembler refuses such modules as well.
    if build.stack.is_some() && !build.module_registers.is_empty() {
        let what = "registers at module scope in a kernel with recursive functions";
        build.errors.push(Diagnostic::unsupported(what, ptx.span));
    }
    build.finish_singles(exit);
    build.share_products(policy);
    build.finish_copies(exit);
    if !build.errors.is_empty() {
        return Err(build.errors);
    }
    build.note_exits(exit);
    Ok(Built {
        function: build.function,
        graph: Cfg { blocks: build.blocks },
        prints: build.prints.any,
        launches: build.launches,
    })
}

struct Build<'p> {
    program: &'p Program,
    layout: &'p Layout,
    function: ir::Function,
    blocks: IndexVec<BlockId, BasicBlock>,
    errors: Vec<Diagnostic>,
    prints: Prints,
    /// See [`Built::launches`].
    launches: bool,
    /// Positions of errors already reported: a function that is inlined twice reports its errors once.
    reported: FxHashSet<Span>,
    /// The functions that are not inlined.
    singles: Singles,
    /// The instances and calls of recursive functions, once there is one.
    stack: Option<Stack>,
    /// Functions that are not recursive and have one copy.
    shared: Vec<Shared>,
    /// The reads of textures by much code.
    reads: Reads,
    /// The products of matrices.
    products: Products,
    /// The registers that the module's functions share.
    module_registers: FxHashMap<&'p ModuleReg, Var>,
    /// See [`Frame::stack`].
    alloca: Option<Var>,
    /// The variable for an address past the end of shared memory that `cp.async` notes.
    copied_outside: Option<Var>,
    /// See [`Frame::pending_copies`].
    pending_copies: Option<Arc<PendingCopies>>,
    /// Instances whose bodies are still to be built.
    waiting: Vec<Waiting<'p>>,
}

/// The one copy of a function or choice that is still to be built.
struct Waiting<'p> {
    function: &'p Function,
    frame: Frame,
    entry: BlockId,
    returns: BlockId,
    /// Its number among the stack's instances, if it is recursive.
    on_stack: Option<usize>,
    choice: Option<Choice>,
}

/// The state of building one function instance's body.
struct Instance<'p> {
    function: &'p Function,
    frame: Frame,
    labels: IndexVec<Label, Option<BlockId>>,
    /// The block that is being filled, and its statements so far.
    current: BlockId,
    pending: ir::Block,
    /// The targets of `ret` and of `exit`.
    returns: BlockId,
    exits: BlockId,
}

impl<'p> Build<'p> {
    fn new_block(&mut self) -> BlockId {
        self.blocks.push(BasicBlock::default())
    }

    /// Adds a block that clears memory that kernels expect to be clear, if there is any: the words with which tiles of several warps wait,
    /// and the thread's last error.
    fn clear_own(&mut self) {
        let layout = self.layout;
        if layout.reserved_shared == 0 && layout.last_error.is_none() {
            return;
        }
        let number = self.new_block();
        let b = Builder::new(&mut self.function);
        if layout.reserved_shared > 0 {
            clear_reserved_shared(&b);
        }
        if let Some(place) = layout.last_error {
            launches::clear_error(&b, place);
        }
        let body = b.into_block();
        if let Some(block) = self.blocks.at_mut(number) {
            block.body = body;
        }
    }

    /// Reports at the end an address that asynchronous copies have noted and that nothing waited for.
    fn finish_copies(&mut self, exit: BlockId) {
        let Some(noted) = self.copied_outside else { return };
        let b = Builder::new(&mut self.function);
        guard::report_noted(&b, self.layout, noted);
        let mut body = b.into_block();
        if let Some(block) = self.blocks.at_mut(exit) {
            block.body.append(&mut body);
        }
    }

    /// A frame whose first parameters are given; other parameters get words of their own.
    fn frame(&mut self, function: &'p Function, mut params: IndexVec<ParamId, ParamSlot>) -> Frame {
        for param in function.params.iter().skip(params.len()) {
            let words = if param.register.is_some() { 0 } else { param.room().div_ceil(4) };
            params.push(ParamSlot::Words((0..words).map(|_| self.function.var(Type::I32)).collect()));
        }
        let rooms = function.params.iter().zip(&params).map(|(param, slot)| match slot {
            ParamSlot::Kernel(_) => param.room(),
            ParamSlot::Words(words) => 4 * u32::try_from(words.len()).unwrap_or(0),
        });
        let param_rooms = rooms.collect();
        let mut registers: IndexVec<Reg, _> = function.registers.iter().map(|ty| (*ty, None)).collect();
        for (name, &register) in &function.module_registers {
            if let Some((ty, var)) = registers.at_mut(register) {
                let ir = &mut self.function;
                *var = Some(*self.module_registers.entry(name).or_insert_with(|| ir.var(carrier(*ty))));
            }
        }
        Frame {
            param_rooms,
            is_device: function.kind == FunctionKind::Func,
            registers,
            upper: FxHashMap::default(),
            carry: None,
            factors: FxHashMap::default(),
            stack: self.alloca,
            stack_before: None,
            copied_outside: self.copied_outside,
            pending_copies: self.pending_copies.clone(),
            params,
            param_sizes: function.params.iter().map(|param| param.size).collect(),
            param_memory: function.params.iter().map(|param| param.memory).collect(),
            locals: None,
        }
    }

    /// If an operation asks which threads have exited, makes every path to the end record the exit.
    ///
    /// The record is made in the block where paths diverge, since the code that follows may end up after a loop that other threads are
    /// still in. No other thread waits for the code from there to the end.
    fn note_exits(&mut self, exit: BlockId) {
        let Some(exited) = self.function.exited else { return };
        let alone = self
            .blocks
            .iter()
            .map(|block| block.stop.is_none() && block.end != End::Exit && !crate::ir::has_warp(&block.body));
        let alone: Vec<bool> = alone.collect();
        let mut ending = vec![false; self.blocks.len()];
        let ends = |ending: &[bool], next: BlockId| next == exit || ending.get(next.position()) == Some(&true);
        // This ends: blocks are only added. Most come before those that they lead to.
        let mut grows = true;
        while grows {
            grows = false;
            for (number, (block, _)) in
                self.blocks.iter().zip(&alone).enumerate().rev().filter(|(_, (_, alone))| **alone)
            {
                if block.end.successors().all(|next| ends(&ending, next)) {
                    grows |= !std::mem::replace(&mut ending[number], true); // there is one for each block
                }
            }
        }
        for block in &mut self.blocks {
            let b = Builder::new(&mut self.function);
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
            block.body.append(&mut b.take_block());
        }
    }

    fn report(&mut self, function: &Function, mut diagnostic: Diagnostic, span: Span) {
        let place = *diagnostic.span.get_or_insert(span);
        if self.reported.insert(place) {
            self.errors.push(diagnostic.in_function(&function.name));
        }
    }

    /// Builds one function instance from block `entry` on. [`calls`] bounds how deep calls make this recurse.
    fn body(&mut self, function: &'p Function, frame: Frame, entry: BlockId, returns: BlockId, exits: BlockId) {
        let Some(items) = &function.body else { return };
        for diagnostic in &function.unsupported {
            self.report(function, diagnostic.clone(), function.span);
        }
        let labels = IndexVec::filled(None, function.labels as usize);
        let mut instance = Instance { function, frame, labels, current: entry, pending: Vec::new(), returns, exits };
        if prologue::has_work(function) {
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
                Item::Instruction(instruction) if instruction.form.row.action.is_straight_line() => {
                    let straight =
                        |item: &Item| matches!(item, Item::Instruction(i) if i.form.row.action.is_straight_line());
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

    /// Adds the [`prologue`] and epilogue of a device function.
    fn activate(&mut self, instance: &mut Instance<'p>) {
        let (function, entry, returns) = (instance.function, instance.current, instance.returns);
        instance.returns = self.new_block();
        let begun = self.with(instance, |lowering| prologue::begin(lowering, function));
        let beginning = std::mem::take(&mut instance.pending);
        let ended = self.with(instance, |lowering| prologue::end(lowering, function));
        instance.current = instance.returns;
        self.finish(instance, End::Goto(returns), entry);
        instance.pending = beginning;
        for diagnostic in [begun, ended].into_iter().filter_map(Result::err) {
            self.report(function, diagnostic, function.span);
        }
    }

    /// Ends the current block and goes on filling another.
    fn finish(&mut self, instance: &mut Instance<'p>, end: End, next: BlockId) {
        let body = std::mem::take(&mut instance.pending);
        if let Some(block) = self.blocks.at_mut(instance.current) {
            block.body = body;
            block.end = end;
        }
        instance.current = next;
    }

    fn label(&mut self, instance: &mut Instance<'p>, label: Label) -> BlockId {
        if let Some(Some(block)) = instance.labels.at(label) {
            return *block;
        }
        let block = self.new_block();
        if let Some(slot) = instance.labels.at_mut(label) {
            *slot = Some(block);
        }
        block
    }

    /// Appends to the current block with a [`Lowering`].
    fn with<T>(&mut self, instance: &mut Instance<'p>, work: impl FnOnce(&mut Lowering<'_, '_>) -> T) -> T {
        let builder = Builder::new(&mut self.function);
        builder.replace_block(std::mem::take(&mut instance.pending));
        let mut lowering =
            Lowering { b: builder, program: self.program, layout: self.layout, frame: &mut instance.frame };
        let result = work(&mut lowering);
        instance.pending = lowering.b.into_block();
        result
    }

    fn straight(&mut self, instance: &mut Instance<'p>, run: &[Item]) {
        let instructions = run.iter().filter_map(|item| match item {
            Item::Instruction(instruction) => Some(instruction),
            Item::Label(_) => None,
        });
        for step in batch::steps(instructions) {
            if let Step::Single(product) = step
                && let Action::Compute(Operation::MatrixMultiply | Operation::WarpgroupMultiply) =
                    product.form.row.action
            {
                if let Err(diagnostic) = self.product(instance, product) {
                    self.report(instance.function, diagnostic, product.span);
                }
                continue;
            }
            let shared = self.reads.sharing(&step);
            if shared.is_empty()
                && let Err(diagnostic) = self.with(instance, |lowering| lowering.step(&step))
            {
                self.report(instance.function, diagnostic, step.span());
            }
            for read in shared {
                if let Err(diagnostic) = self.read_shared(instance, read) {
                    self.report(instance.function, diagnostic, read.span);
                }
            }
        }
    }

    /// Instructions that end a basic block.
    fn control(&mut self, instance: &mut Instance<'p>, instruction: &Instruction) {
        let taken = match (instruction.form.row.action, instruction.operands.first()) {
            (Action::Branch, Some(Operand::Label(label))) => self.label(instance, *label),
            (Action::Return, _) => instance.returns,
            (Action::Exit, _) => instance.exits,
            _ => self.new_block(),
        };
        let next = self.new_block();
        let end = match instruction.guard {
            None => End::Goto(taken),
            Some((register, negated)) => match self.guard(instance, register, negated, instruction.span) {
                Ok(condition) => End::Branch { condition, then: taken, otherwise: next },
                Err(diagnostic) => return self.report(instance.function, diagnostic, instruction.span),
            },
        };
        match instruction.form.row.action {
            Action::Barrier(alignment) => {
                self.finish(instance, end, taken);
                match self.with(instance, |lowering| barriers::stop(lowering, instruction, alignment)) {
                    Ok(stop) => self.stop(instance, stop),
                    Err(diagnostic) => self.report(instance.function, diagnostic, instruction.span),
                }
                self.finish(instance, End::Goto(next), next);
            }
            Action::IndexedBranch => {
                self.finish(instance, end, taken);
                if let Err(diagnostic) = self.indexed_branch(instance, instruction) {
                    self.report(instance.function, diagnostic, instruction.span);
                }
                instance.pending.clear();
                instance.current = next;
            }
            Action::Fail(fault) => {
                self.finish(instance, end, taken);
                instance.pending = vec![Stmt::At(Some(instruction.span)), Stmt::Report(fault, Vec::new())];
                self.finish(instance, End::Goto(instance.exits), next);
            }
            Action::Call => {
                self.finish(instance, end, taken);
                if let Err(diagnostic) = self.call(instance, instruction, next) {
                    self.report(instance.function, diagnostic, instruction.span);
                    self.finish(instance, End::Goto(next), next);
                }
            }
            Action::Branch | Action::Return | Action::Exit | Action::Compute(_) | Action::Nothing(_) => {
                self.finish(instance, end, next);
            }
        }
    }

    /// Ends the current block with an indexed branch.
    fn indexed_branch(&mut self, instance: &mut Instance<'p>, instruction: &Instruction) -> Result {
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
        let targets: Vec<BlockId> = labels.iter().map(|label| self.label(instance, *label)).collect();
        let cases: Vec<(u64, BlockId)> = (0..).zip(targets).collect();
        self.choose(instance, instruction.span, var, &cases);
        Ok(())
    }

    fn guard(&mut self, instance: &mut Instance<'p>, register: Reg, negated: bool, span: Span) -> Result<Value> {
        self.with(instance, |lowering| {
            lowering.b.at(span);
            let value = lowering.register(register)?;
            Ok(if negated { lowering.b.not(value) } else { value })
        })
    }

    /// Gives the current block a stop at its end.
    fn stop(&mut self, instance: &Instance<'p>, stop: Stop) {
        if let Some(block) = self.blocks.at_mut(instance.current) {
            block.stop = Some(stop);
        }
    }
}

/// Clears the words with which tiles of several warps wait. The tiles clear only their own bits, by atomics, and Vulkan leaves
/// uninitialised memory undefined.
fn clear_reserved_shared(b: &Builder<'_>) {
    let index = b.builtin(Builtin::ThreadIndex);
    let clears = b.compare_const(Compare::LessUnsigned, index, RESERVED_SHARED_WORDS.into());
    b.if_(clears, |b| {
        let first = cluster::own_address(b, 0);
        let address = b.add(first, b.shl(index, 2));
        let order = MemoryOrder::Relaxed(Scope::Cta);
        let zero = b.i32(0);
        b.store(Access { space: Space::Shared, bytes: 4, order, read_only: false }, address, vec![zero]);
    });
}
