//! Recursive functions: each has one copy in the kernel's graph, and its calls save state on a stack.
//!
//! The stack lies in the thread's local memory and grows upwards. The stack pointer and the frame pointer are
//! variables, counted from the stack's beginning. A call first checks that there is room; if not, it reports an
//! overflow and ends the thread. Then it pushes the caller's variables that are live across the call and that the
//! callee may change, the number of the call site, and the caller's frame pointer. After these the callee's frame
//! begins, with its `.local` variables. A return goes to the call site that the frame names, and the code there pops
//! everything.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::StateSpace;
use crate::cfg::liveness::{Liveness, StackCall};
use crate::cfg::switch::switch_among;
use crate::cfg::{BasicBlock, BlockId, End};
use crate::decode::program::{Function, Program};
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::index::{Index, IndexVec};
use crate::ir::{self, Access, Block, Builder, Compare, MemoryOrder, Space, Type, Value, Var, VarSet};
use crate::lower::layout;
use crate::lower::layout::call_graph::Code;
use crate::lower::layout::frame::Locals;
use ptx2spv_target::Fault;

/// Bytes of the stack. CUDA gives a thread 1 KiB unless told otherwise.
pub(super) const STACK_BYTES: u32 = 8 << 10;
/// Frames begin at multiples of this.
const FRAME_ALIGN: u32 = 16;
/// Bytes below a frame for the number of the call site and the caller's frame pointer.
const HEADER: u32 = 8;
const WORD: Access = Access { space: Space::Local, bytes: 4, order: MemoryOrder::Weak, read_only: false };
const LONG: Access = Access { space: Space::Local, bytes: 8, order: MemoryOrder::Weak, read_only: false };

/// The place of a function's parameter or result.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// In 32-bit words.
    Words(Vec<Var>),
    /// In a register.
    Register(Var),
}

/// The one instance of a recursive function, or of a choice that may lead to itself.
pub(super) struct Instance {
    pub(super) code: Code,
    /// Functions that call each other have the same number.
    group: usize,
    pub(super) entry: BlockId,
    /// The target of its `ret`.
    pub(super) returns: BlockId,
    /// Its parameters and then its results.
    pub(super) slots: Vec<Slot>,
    /// Its `.local` variables and those of functions inlined into it.
    pub(super) locals: Arc<Locals>,
    /// The blocks of its body, once that is built.
    pub(super) blocks: Range<usize>,
}

/// A call site of such a function.
pub(super) struct Site {
    /// The number of the instance that is called.
    pub(super) callee: usize,
    /// Its places in the graph.
    pub(super) places: StackCall,
    /// The target of a thread whose stack is too small.
    pub(super) exits: BlockId,
    /// The call.
    pub(super) at: Span,
}

/// The stack and its users.
pub(super) struct Stack {
    /// Offset of the stack in local memory.
    base: u32,
    top: Var,
    frame: Var,
    pub(super) instances: Vec<Instance>,
    pub(super) sites: Vec<Site>,
}

impl Stack {
    /// A stack at the end of the function's local memory.
    pub(super) fn new(function: &mut ir::Function) -> Self {
        let base = function.local_bytes.max(layout::LOCAL_START).next_multiple_of(FRAME_ALIGN);
        function.local_bytes = base.saturating_add(STACK_BYTES);
        let (top, frame) = (function.var(Type::I32), function.var(Type::I32));
        Self { base, top, frame, instances: Vec::new(), sites: Vec::new() }
    }

    /// Adds the instance of code into which `inlined` are inlined; its blocks are still empty. Gives its `.local` variables.
    pub(super) fn add(
        &mut self,
        program: &Program,
        (code, group): (Code, usize),
        (entry, returns): (BlockId, BlockId),
        slots: Vec<Slot>,
        inlined: &[&Function],
    ) -> Result<Arc<Locals>> {
        let mut used = FxHashSet::default();
        for function in inlined {
            layout::collect_variables(function, &mut used);
        }
        let mut used: Vec<_> = used.into_iter().collect();
        used.sort_unstable();
        let mut locals = Locals { frame: self.frame, base: self.base, places: FxHashMap::default(), bytes: 0 };
        for id in used {
            let Some(variable) = program.variables.at(id) else { continue };
            if variable.space != StateSpace::Local {
                continue;
            }
            if variable.align > FRAME_ALIGN {
                let message =
                    format!("`{}` in a recursive function, aligned to more than {FRAME_ALIGN} bytes", variable.name);
                return Err(Diagnostic::unsupported(message, variable.span));
            }
            let offset = u64::from(locals.bytes).next_multiple_of(variable.align.into());
            let end = offset.saturating_add(variable.size);
            locals.bytes = u32::try_from(end).ok().filter(|end| *end <= STACK_BYTES).ok_or_else(|| {
                let message =
                    format!("`{}` in a recursive function, with more than {STACK_BYTES} bytes", variable.name);
                Diagnostic::unsupported(message, variable.span)
            })?;
            locals.places.insert(id, offset);
        }
        let locals = Arc::new(locals);
        self.instances.push(Instance { code, group, entry, returns, slots, locals: Arc::clone(&locals), blocks: 0..0 });
        Ok(locals)
    }

    /// Writes the code of calls and returns, once all bodies are built.
    pub(super) fn finish(self, function: &mut ir::Function, blocks: &mut IndexVec<BlockId, BasicBlock>) {
        // The instance whose returns end in a block, since liveness after a return depends on the instance.
        let mut returns: FxHashMap<BlockId, usize> = FxHashMap::default();
        for (number, instance) in self.instances.iter().enumerate() {
            let sites = (0_u64..).zip(&self.sites).filter(|(_, site)| site.callee == number);
            let cases: Vec<(u64, BlockId)> = sites.map(|(id, site)| (id, site.places.back.0)).collect();
            let which = function.var(Type::I32);
            let Some(first) = switch_among(function, blocks, None, which, &cases) else { continue };
            let b = Builder::new(function);
            b.at(None);
            b.set(which, self.load(&b, WORD, b.get(self.frame), HEADER));
            let body = b.into_block();
            if let Some(block) = blocks.at_mut(instance.returns) {
                *block = BasicBlock { body, stop: None, end: End::Goto(first) };
            }
            returns.insert(instance.returns, number);
        }
        let assigned = self.assigned(function, blocks);
        let calls: Vec<StackCall> = self.sites.iter().map(|site| site.places).collect();
        let live = Liveness::new(function, blocks, &calls, |block| {
            let instance = self.instances.get(*returns.get(&block)?)?;
            let mut results = VarSet::new(function.vars.len());
            for var in instance.slots.iter().flat_map(Slot::vars) {
                results.insert(var);
            }
            Some((assigned.get(&instance.group)?.clone(), results))
        });
        for (id, site) in (0_u32..).zip(&self.sites) {
            let Some(callee) = self.instances.get(site.callee) else { continue };
            let caller =
                self.instances.iter().find(|instance| instance.blocks.contains(&(site.places.push.0.position())));
            let mut saved = Vec::new();
            if caller.is_some_and(|caller| caller.group == callee.group)
                && let Some(assigned) = assigned.get(&callee.group)
            {
                let across = live.at(blocks, site.places.back);
                saved = across.iter().filter(|var| assigned.contains(*var)).collect();
                saved.retain(|var| ![self.top, self.frame].contains(var));
                // Wide variables first, so that all are aligned.
                saved.sort_by_key(|var| (function.var_type(*var) != Type::I64, *var));
            }
            self.call(function, blocks, id, site, callee, &saved);
        }
    }

    /// The variables that the functions of each group assign.
    fn assigned(&self, function: &ir::Function, blocks: &[BasicBlock]) -> FxHashMap<usize, VarSet> {
        let mut found: FxHashMap<usize, VarSet> = FxHashMap::default();
        for instance in &self.instances {
            let set = found.entry(instance.group).or_insert_with(|| VarSet::new(function.vars.len()));
            for block in blocks.get(instance.blocks.clone()).unwrap_or_default() {
                ir::for_each_assigned(&block.body, &mut |var| set.insert(var));
            }
        }
        found
    }

    /// Address in local memory that is `below` bytes below a frame.
    fn address(&self, b: &Builder<'_>, frame: Value, below: u32) -> Value {
        b.add_const(frame, u64::from(self.base.wrapping_sub(below)))
    }

    fn load(&self, b: &Builder<'_>, access: Access, frame: Value, below: u32) -> Value {
        b.load_one(access, self.address(b, frame, below))
    }

    /// Writes one call: the check for room, the pushes and the pops.
    fn call(
        &self,
        function: &mut ir::Function,
        blocks: &mut IndexVec<BlockId, BasicBlock>,
        id: u32,
        site: &Site,
        callee: &Instance,
        saved: &[Var],
    ) {
        let size = |function: &ir::Function, var: Var| if function.var_type(var) == Type::I64 { 8 } else { 4 };
        let bytes: u32 = saved.iter().map(|var| size(function, *var)).sum();
        let pushed = (bytes + HEADER).next_multiple_of(FRAME_ALIGN);
        let room = callee.locals.bytes.next_multiple_of(FRAME_ALIGN);

        let b = Builder::new(function);
        b.at(site.at);
        b.report(Fault::StackOverflow);
        let overflow = push_block(blocks, BasicBlock { body: b.into_block(), stop: None, end: End::Goto(site.exits) });
        let b = Builder::new(function);
        b.at(site.at);
        let top = b.get(self.top);
        let most = STACK_BYTES.checked_sub(pushed + room);
        let condition = match most {
            Some(most) => b.compare(Compare::LessUnsigned, b.i32(most), top),
            None => b.bool(true),
        };
        if let Some(block) = blocks.at_mut(site.places.check) {
            block.body.append(&mut b.take_block());
            block.end = End::Branch { condition, then: overflow, otherwise: site.places.push.0 };
        }

        let b = Builder::new(function);
        let top = b.get(self.top);
        let old = b.get(self.frame);
        let frame = b.add_const(top, pushed.into());
        let mut below = pushed;
        for var in saved {
            let value = b.get(*var);
            let (access, value) = match b.type_of(value) {
                Type::I64 => (LONG, value),
                Type::Bool => (WORD, b.bool_to(Type::I32, value)),
                _ => (WORD, value),
            };
            b.store(access, self.address(&b, frame, below), vec![value]);
            below -= u32::from(access.bytes);
        }
        let number = b.i32(id);
        b.store(WORD, self.address(&b, frame, HEADER), vec![number]);
        b.store(WORD, self.address(&b, frame, HEADER - 4), vec![old]);
        b.set(self.frame, frame);
        b.set(self.top, b.add_const(frame, room.into()));
        insert(blocks, site.places.push, b.into_block());

        let b = Builder::new(function);
        let frame = b.get(self.frame);
        let mut below = pushed;
        for var in saved {
            let ty = b.var_type(*var);
            let access = if ty == Type::I64 { LONG } else { WORD };
            let value = self.load(&b, access, frame, below);
            let value = if ty == Type::Bool { b.is_nonzero(value) } else { value };
            b.set(*var, value);
            below -= u32::from(access.bytes);
        }
        b.set(self.frame, self.load(&b, WORD, frame, HEADER - 4));
        b.set(self.top, b.sub_const(frame, pushed.into()));
        insert(blocks, site.places.back, b.into_block());
    }
}

impl Slot {
    fn vars(&self) -> impl Iterator<Item = Var> {
        match self {
            Slot::Words(words) => words.clone(),
            Slot::Register(var) => vec![*var],
        }
        .into_iter()
    }
}

fn push_block(blocks: &mut IndexVec<BlockId, BasicBlock>, block: BasicBlock) -> BlockId {
    blocks.push(block)
}

/// Inserts statements at a position that is not beyond the block's end.
fn insert(blocks: &mut [BasicBlock], (block, position): (BlockId, usize), stmts: Block) {
    if let Some(block) = blocks.get_mut(block.position()) {
        let position = position.min(block.body.len());
        block.body.splice(position..position, stmts);
    }
}
