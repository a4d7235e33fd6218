//! Statements and structured control flow of a kernel, and the blocks they become.
//!
//! The tree is walked with a stack of its own, because it may be nested deeper than a thread's stack allows to recurse.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, LoopControl, Op, SelectionControl, Word};

use super::body::{Body, Common};
use super::entry::{EmitEntry, EntryFacts};
use super::instruction::instruction;
use super::matrix::{self, Pair};
use super::module::{Global, Module};
use super::result::Result;
use super::select::{Selected, select};
use super::usage::SharedLayout;
use crate::diagnostic::{Diagnostic, ErrorKind, Span};
use crate::ir::{Function, HELPER_PARAMETERS, Helper, Stmt, Type, Value, WARP_SIZE, is_lane_loop};
use ptx2spv_target::{Feature, Packing, marks};

/// Lanes for which one function calls the round of a loop over lanes. Eight calls in it and four calls of it are the fewest for 32 lanes.
const LANES_OF_A_GROUP: u32 = 8;

/// Adds a kernel to the module.
pub(super) fn emit_entry(module: &mut Module<'_>, entry: &EmitEntry<'_>) -> Result<EntryFacts, Diagnostic> {
    module.begin_entry();
    let mut common = Common { helpers: vec![0; entry.function.helpers.len()], ..Common::default() };
    // Helpers call only those that come after them.
    for (number, helper) in entry.function.helpers.iter().enumerate().rev() {
        let shared = SharedLayout::choose(module, &helper.function);
        let mut body = Body::new(module, &helper.function, shared);
        body.common = common;
        let id = body.emit_helper(helper).map_err(|kind| Diagnostic::new(kind, body.at))?;
        let Common { helpers, push, interface, .. } = body.common;
        common = Common { helpers, push, interface, ..Common::default() };
        common.helpers[number] = id;
    }
    let shared = SharedLayout::choose(module, entry.function);
    let mut body = Body::new(module, entry.function, shared);
    body.common = common;
    body.emit(entry.name).map_err(|kind| Diagnostic::new(kind, body.at))
}

/// A list of statements under way.
struct Frame<'f> {
    rest: std::slice::Iter<'f, Stmt>,
    construct: Construct<'f>,
    /// The instruction that the construct comes from.
    at: Option<Span>,
    /// The merge block of the innermost loop.
    exit: Option<Word>,
}

/// The construct that a list of statements is part of, with the labels that the list's end leads to.
enum Construct<'f> {
    Function,
    Then { otherwise: &'f [Stmt], otherwise_label: Word, merge: Word },
    Otherwise { merge: Word, then_reaches_merge: bool },
    Loop { header: Word, proceed: Word, merge: Word },
}

impl<'f> Body<'_, '_, 'f> {
    fn emit(&mut self, name: &str) -> Result<EntryFacts> {
        let void = self.module.global(Global::Void)?;
        let ty = self.module.global(Global::Function(void, [0; HELPER_PARAMETERS]))?;
        let id = self.module.id();
        self.label = self.module.id();
        if self.has_lane_calls() {
            self.declare_rows()?;
            self.local_words()?;
        }
        self.statements(&self.function.body)?;
        let push_constant_size = self.finish_push_constants()?;
        // An invocation that carries a whole warp has nothing to do with its subgroup.
        if self.function.packing.is_some_and(|packing| packing.subgroup_size > 1) {
            self.module.need(Feature::ComputeFullSubgroups, "operations of a warp")?;
            if self.module.device.subgroup_choice {
                self.module.need(Feature::SubgroupSizeControl, "operations of a warp")?;
            }
            self.module.reconvergence(id)?;
        }

        let function = self.finish(void, id, ty, Vec::new());
        for (width, float) in [(32, Type::F32), (64, Type::F64)] {
            let mut helpers = self.function.helpers.iter().map(|helper| &helper.function);
            let has = |function: &Function| function.values.contains(&float);
            if self.common.added_floats.contains(&float) || has(self.function) || helpers.any(has) {
                self.module.float_controls(id, width)?;
            }
        }
        self.module.float_controls(id, 16)?;
        self.module.entry_point(name, &function, &self.common.interface);
        Ok(EntryFacts { features: self.module.entry_features(), push_constant_size })
    }

    /// Adds the function of a helper, and returns its id.
    fn emit_helper(&mut self, helper: &Helper) -> Result<Word> {
        let result = self.ty(helper.result)?;
        let mut types = [0; HELPER_PARAMETERS];
        let mut parameters = Vec::new();
        for (slot, parameter) in types.iter_mut().zip(&helper.parameters) {
            *slot = self.ty(*parameter)?;
            let id = self.module.id();
            self.parameters.push(id);
            parameters.push(instruction(Op::FunctionParameter, *slot, id, vec![]));
        }
        let ty = self.module.global(Global::Function(result, types))?;
        let id = self.module.id();
        self.label = self.module.id();
        self.statements(&self.function.body)?;
        let function = self.finish(result, id, ty, parameters);
        self.module.helper(&function);
        Ok(id)
    }

    fn statements(&mut self, body: &'f [Stmt]) -> Result<()> {
        let first = Frame { rest: body.iter(), construct: Construct::Function, at: self.at, exit: None };
        let mut stack = vec![first];
        while let Some(frame) = stack.last_mut() {
            // What stands after a terminator can't be reached: a Break, or a construct that nothing leaves.
            let next = if self.label == 0 { None } else { frame.rest.next() };
            let exit = frame.exit;
            let list = match next {
                Some(stmt) => match matrix::pair(stmt, frame.rest.as_slice()) {
                    Some(Pair { between, products, rest }) => {
                        frame.rest = rest.iter();
                        for stmt in between {
                            self.statement(stmt, exit)?;
                        }
                        self.matrix_products(&products)?;
                        None
                    }
                    None => self.statement(stmt, exit)?,
                },
                None => {
                    let Some(frame) = stack.pop() else { break };
                    self.end_of_list(frame)?
                }
            };
            stack.extend(list);
        }
        Ok(())
    }

    /// Calls a function that does a round of a loop over lanes, once for each lane. Another function makes some of the calls at a time, so
    /// that the module doesn't have all of them for each loop.
    fn lane_calls(&mut self, body: &'f [Stmt]) -> Result<()> {
        let (void, id) = (self.module.global(Global::Void)?, self.module.id());
        let ty = self.module.global(Global::Function(void, [0; HELPER_PARAMETERS]))?;
        let (common, label) = (std::mem::take(&mut self.common), self.module.id());
        let mut round = Body::new(&mut *self.module, self.function, self.shared);
        round.common = common;
        round.label = label;
        // The last statement leaves the loop.
        let emitted = round.statements(body.split_last().map_or(body, |(_, round)| round));
        let finished = emitted.map(|()| round.finish(void, id, ty, Vec::new()));
        let (at, common) = (round.at, round.common);
        self.common = common;
        self.module.helper(&finished.inspect_err(|_| self.at = at)?);
        let (several, label) = (self.module.id(), self.module.id());
        let mut group = Body::new(&mut *self.module, self.function, self.shared);
        group.label = label;
        for _ in 0..LANES_OF_A_GROUP {
            group.compute(Op::FunctionCall, void, &[id]);
        }
        group.terminate(Op::Return, vec![]);
        let finished = group.finish(void, several, ty, Vec::new());
        self.module.helper(&finished);
        for _ in 0..WARP_SIZE / LANES_OF_A_GROUP {
            self.compute(Op::FunctionCall, void, &[several]);
        }
        Ok(())
    }

    /// Emits a statement, or begins it, and then returns the list in it that comes first.
    fn statement(&mut self, stmt: &'f Stmt, exit: Option<Word>) -> Result<Option<Frame<'f>>> {
        let selected = select(self.function, stmt, exit)
            .ok_or_else(|| ErrorKind::Internal("emission of a function that is not legal".into()))?;
        match selected {
            Selected::At(span) => self.come_from(span),
            Selected::Let(value, op) => {
                let id = self.operation(op, self.function.type_of(value))?;
                self.set_value(value, id);
            }
            Selected::Set(var, value) => {
                let (variable, id) = (self.variable(var)?, self.value(value));
                self.effect(Op::Store, vec![Operand::IdRef(variable), Operand::IdRef(id)]);
            }
            Selected::Load { results, access, address } => self.load(results, access, address)?,
            Selected::Store { values, access, address } => self.store(values, access, address)?,
            Selected::Atomic(atomic) => self.atomic(atomic)?,
            Selected::Ballot { results, predicate } => self.ballot(results, predicate)?,
            Selected::Shuffle { result, value, lane } => {
                let id = self.shuffle(value, lane)?;
                self.set_value(result, id);
            }
            Selected::ShuffleXor { result, value, bits } => {
                let id = self.exchange(Op::GroupNonUniformShuffleXor, value, bits)?;
                self.set_value(result, id);
            }
            Selected::MatrixProduct { results, types, fragments } => {
                self.matrix_products(&[(results, types, fragments)])?;
            }
            Selected::SubgroupBarrier => self.subgroup_barrier()?,
            Selected::Barrier(ordered) => self.barrier(ordered)?,
            Selected::Arrive(thread) => self.arrive(thread)?,
            Selected::Fence(scope) => self.fence(scope)?,
            Selected::If { condition, then, otherwise } => return self.begin_if(condition, then, otherwise, exit),
            Selected::Loop(body) if is_lane_loop(body, &self.function.lane_numbers) => self.lane_calls(body)?,
            Selected::Loop(body) => return self.begin_loop(body).map(Some),
            Selected::Break(merge) => {
                self.exits.insert(merge);
                self.branch(merge);
            }
            Selected::Return(value) => {
                let value = self.value(value);
                self.terminate(Op::ReturnValue, vec![Operand::IdRef(value)]);
            }
        }
        Ok(None)
    }

    /// Marks a thread's arrival at the barrier instruction that statements come from.
    fn arrive(&mut self, thread: Value) -> Result<()> {
        let instruction = self.at.map_or(0, |at| at.start);
        let place = self.module.u32_constant(instruction)?;
        let (void, set, thread) = (self.module.global(Global::Void)?, self.module.marks(), self.value(thread));
        let number = Operand::LiteralExtInstInteger(marks::ARRIVE);
        let operands = vec![Operand::IdRef(set), number, Operand::IdRef(thread), Operand::IdRef(place)];
        self.result(Op::ExtInst, void, operands);
        Ok(())
    }

    /// Begins the first arm that isn't empty; `None` if both are.
    fn begin_if(
        &mut self,
        condition: Value,
        then: &'f [Stmt],
        otherwise: &'f [Stmt],
        exit: Option<Word>,
    ) -> Result<Option<Frame<'f>>> {
        if then.is_empty() && otherwise.is_empty() {
            return Ok(None);
        }
        let condition = self.value(condition);
        let merge = self.module.id();
        let then_label = if then.is_empty() { merge } else { self.module.id() };
        let otherwise_label = if otherwise.is_empty() { merge } else { self.module.id() };
        let control = Operand::SelectionControl(SelectionControl::NONE);
        self.effect(Op::SelectionMerge, vec![Operand::IdRef(merge), control]);
        self.branch_if(condition, then_label, otherwise_label);
        Ok(Some(if then.is_empty() {
            self.begin_block(otherwise_label);
            let construct = Construct::Otherwise { merge, then_reaches_merge: true };
            Frame { rest: otherwise.iter(), construct, at: self.at, exit }
        } else {
            self.begin_block(then_label);
            let construct = Construct::Then { otherwise, otherwise_label, merge };
            Frame { rest: then.iter(), construct, at: self.at, exit }
        }))
    }

    fn begin_loop(&mut self, body: &'f [Stmt]) -> Result<Frame<'f>> {
        let (header, proceed, merge) = (self.module.id(), self.module.id(), self.module.id());
        // Loops over lanes access arrays of all lanes, of which compilers would make 32 copies.
        let has_lane_loops = self.function.packing == Some(Packing { subgroup_size: 1, lanes: WARP_SIZE });
        let stays = is_long(body) || has_lane_loops && self.module.device.workarounds.blocks_slow;
        let control = if stays { LoopControl::DONT_UNROLL } else { LoopControl::NONE };
        self.loop_header(header, proceed, merge, control)?;
        let construct = Construct::Loop { header, proceed, merge };
        Ok(Frame { rest: body.iter(), construct, at: self.at, exit: Some(merge) })
    }

    /// Enters a loop: its header, and the block where its body begins.
    pub(super) fn loop_header(&mut self, header: Word, proceed: Word, merge: Word, control: LoopControl) -> Result<()> {
        self.branch(header);
        self.begin_block(header);
        let control = Operand::LoopControl(control);
        self.effect(Op::LoopMerge, vec![Operand::IdRef(merge), Operand::IdRef(proceed), control]);
        let body = self.module.id();
        self.branch(body);
        self.begin_block(body);
        self.decoy_exit(merge)
    }

    /// Gives the loop another exit, which no invocation takes, where the driver loses values that leave loops. Then
    /// variables that the code after the loop reads have several origins, and drivers keep such values right. Where the
    /// driver runs loops for more invocations than there are, the surplus ones leave by that exit.
    fn decoy_exit(&mut self, merge: Word) -> Result<()> {
        let quirks = &self.module.device.workarounds;
        if !quirks.loop_values_lost && !quirks.surplus_invocations_loop {
            return Ok(());
        }
        let condition = self.decoy_condition(quirks.surplus_invocations_loop)?;
        let proceed = self.module.id();
        let control = Operand::SelectionControl(SelectionControl::NONE);
        self.effect(Op::SelectionMerge, vec![Operand::IdRef(proceed), control]);
        self.exits.insert(merge);
        self.branch_if(condition, merge, proceed);
        self.begin_block(proceed);
        Ok(())
    }

    /// A condition that no invocation of the workgroup meets, but that looks possible to the driver: to have one of the
    /// highest numbers, or one after the last.
    ///
    /// Each loop has a condition of its own: drivers know that a condition is false after the loop that it leaves, and
    /// would take away the exits of the loops inside.
    fn decoy_condition(&mut self, is_surplus: bool) -> Result<Word> {
        let word = self.module.u32()?;
        let index = self.input(BuiltIn::LocalInvocationIndex, word)?;
        let truth = self.module.global(Global::Bool)?;
        let number = self.common.decoys;
        self.common.decoys += 1;
        if !is_surplus {
            let bound = self.module.u32_constant(u32::MAX - number)?;
            return Ok(self.at_start(Op::IEqual, truth, vec![Operand::IdRef(index), Operand::IdRef(bound)]));
        }
        let number = self.module.u32_constant(number)?;
        let size = self.workgroup_size()?;
        let [index, size] =
            [index, size].map(|term| self.at_start(Op::IAdd, word, vec![Operand::IdRef(term), Operand::IdRef(number)]));
        Ok(self.at_start(Op::UGreaterThanEqual, truth, vec![Operand::IdRef(index), Operand::IdRef(size)]))
    }

    /// Leads the end of a list to where it belongs, and returns the list that follows, if the construct has another.
    fn end_of_list(&mut self, Frame { construct, at, exit, .. }: Frame<'f>) -> Result<Option<Frame<'f>>> {
        let open = self.label != 0;
        match construct {
            Construct::Function => {
                if open {
                    self.terminate(Op::Return, vec![]);
                }
            }
            Construct::Then { otherwise, otherwise_label, merge } => {
                if open {
                    self.branch(merge);
                }
                if otherwise.is_empty() {
                    self.begin_block(merge);
                } else {
                    self.begin_block(otherwise_label);
                    self.come_from(at);
                    let construct = Construct::Otherwise { merge, then_reaches_merge: open };
                    return Ok(Some(Frame { rest: otherwise.iter(), construct, at, exit }));
                }
            }
            Construct::Otherwise { merge, then_reaches_merge } => {
                if open {
                    self.branch(merge);
                }
                self.begin_merge(merge, open || then_reaches_merge);
            }
            Construct::Loop { header, proceed, merge } => {
                if open {
                    self.branch(proceed);
                }
                // SPIR-V wants the continue target with its back edge even where nothing reaches it.
                self.begin_block(proceed);
                self.branch(header);
                let reached = self.exits.contains(&merge);
                self.begin_merge(merge, reached);
            }
        }
        self.come_from(at);
        Ok(None)
    }

    fn begin_merge(&mut self, merge: Word, reached: bool) {
        self.begin_block(merge);
        if !reached {
            self.terminate(Op::Unreachable, vec![]);
        }
    }
}

/// Statements from which a loop's body counts as long.
const LONG: usize = 1000;

/// Whether a loop gains nothing from being unrolled, since its body is long already. NVIDIA's driver unrolls such loops
/// all the same, and then compiles for seconds code that runs slower.
fn is_long(body: &[Stmt]) -> bool {
    let mut count = 0;
    let mut lists = vec![body];
    while let Some(list) = lists.pop() {
        count += list.len();
        if count >= LONG {
            return true;
        }
        lists.extend(list.iter().flat_map(Stmt::lists).map(Vec::as_slice));
    }
    false
}
