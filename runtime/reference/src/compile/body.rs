//! Functions: blocks in order, edges between blocks with their moves for phis, and calls.

use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Result;
use super::compiler::{Callee, Cells, Compiler, Value};
use super::emit::Label;
use super::flow::Flow;
use super::group::waits_for_others;
use super::layout::Scalar;
use crate::code::{Block, Inst, Slot, SourceLine};
use crate::module::{self, Function, Instruction, Refusal, Terminator, function::is_line, rule};

struct Phi {
    ty: u32,
    result: Cells,
    /// The values by the label of the preceding block.
    incoming: FxHashMap<u32, u32>,
}

struct Body<'m> {
    function: &'m Function,
    flow: Flow,
    /// For each block of the function, its number in the code, and its label.
    numbers: Vec<u32>,
    labels: Vec<Label>,
    phis: Vec<Vec<Phi>>,
    /// The number of the function's first loop in the code.
    first_loop: u32,
    /// For each loop whether invocations wait for each other inside.
    loop_waits: Vec<bool>,
    callee: Callee,
}

impl<'m> Compiler<'m> {
    /// Compiles a function without parameters and everything that it calls. Returns its label.
    pub(super) fn functions(&mut self, main: u32) -> Result<Label> {
        let module = self.module;
        let by_id: FxHashMap<u32, usize> =
            module.functions.iter().enumerate().map(|(number, function)| (function.id, number)).collect();
        let find = |id: u32| {
            by_id.get(&id).copied().ok_or_else(|| Refusal::new(rule::UNIVERSAL, format!("%{id} is not a function")))
        };
        let first = find(main)?;
        if !module.functions[first].parameters.is_empty() {
            return Err(Refusal::new("VUID-StandaloneSpirv-None-04633", "the entry point has parameters"));
        }
        // In the order of discovery. A function waits if it contains a wait or calls a function that waits.
        let mut order = vec![first];
        let mut met: FxHashSet<usize> = FxHashSet::from_iter([first]);
        let mut callers: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut waiting = Vec::new();
        let mut next = 0;
        while let Some(&number) = order.get(next) {
            next += 1;
            let blocks = &module.functions[number].blocks;
            for inst in blocks.iter().flat_map(|block| block.instructions.clone()).map(|at| module.instructions.get(at))
            {
                if inst.op == Op::FunctionCall {
                    let callee = find(inst.operand(0)?)?;
                    callers.entry(callee).or_default().push(number);
                    if met.insert(callee) {
                        order.push(callee);
                    }
                } else if waits_for_others(inst.op) {
                    waiting.push(number);
                }
            }
        }
        let mut waits: FxHashSet<usize> = FxHashSet::default();
        while let Some(number) = waiting.pop() {
            if waits.insert(number) {
                waiting.extend(callers.get(&number).into_iter().flatten());
            }
        }
        for &number in &order {
            let function = &module.functions[number];
            let callee = self.callee(function, waits.contains(&number))?;
            self.callees.insert(function.id, callee);
        }
        for &number in &order {
            self.function(&module.functions[number])?;
        }
        Ok(self.callees.get(&main).map_or(0, |callee| callee.label))
    }

    /// Assigns registers to a function.
    fn callee(&mut self, function: &Function, waits: bool) -> Result<Callee> {
        let mut parameters = Vec::new();
        for &(id, ty) in &function.parameters {
            let count = self.layouts.cells(ty)?;
            let first = self.emit.fresh(count)?;
            let cells: Cells = (first..first + count).collect();
            parameters.extend_from_slice(&cells);
            self.define(id, Value::Cells(cells))?;
        }
        let is_void = self.definition(function.result)?.op == Op::TypeVoid;
        let count = if is_void { 0 } else { self.layouts.cells(function.result)? };
        let first = self.emit.fresh(count)?;
        let result = (first..first + count).collect();
        Ok(Callee { label: self.emit.label(), parameters: parameters.into(), result, waits })
    }

    fn function(&mut self, function: &'m Function) -> Result<()> {
        let mut body = self.body(function)?;
        for block in (0..function.blocks.len()).filter(|&block| body.flow.reached[block]) {
            body.phis[block] = self.phis(&function.blocks[block])?;
        }
        for block in (0..function.blocks.len()).filter(|&block| body.flow.reached[block]) {
            self.emit.bind(body.labels[block]);
            self.emit.place.block = body.numbers[block];
            self.code.blocks[body.numbers[block] as usize].start = self.emit.position(body.labels[block]);
            self.emit.place.line = None;
            let source = &function.blocks[block];
            for at in source.instructions.clone() {
                self.instruction(&self.module.instructions.get(at))?;
            }
            let end = self.module.instructions.get(source.end);
            for at in source.instructions.end..source.end {
                self.line(&self.module.instructions.get(at))?;
            }
            self.emit.place.word = end.word;
            self.terminator(&body, block, &end)?;
        }
        Ok(())
    }

    /// Analyses a function, and numbers its blocks and loops.
    fn body(&mut self, function: &'m Function) -> Result<Body<'m>> {
        let Some(callee) = self.callees.get(&function.id).cloned() else {
            return Err(Refusal::new(rule::UNIVERSAL, format!("%{} is not a function", function.id)));
        };
        let flow = Flow::new(function)?;
        let first_loop = self.code.loops.len() as u32;
        let mut numbers = vec![0; function.blocks.len()];
        let reached = numbers.iter_mut().zip(&flow.reached).filter(|(_, reached)| **reached);
        for (count, (number, _)) in (self.code.blocks.len() as u32..).zip(reached) {
            *number = count;
        }
        let mut loop_waits = vec![false; flow.loops.len()];
        for (block, source) in function.blocks.iter().enumerate().filter(|(block, _)| flow.reached[*block]) {
            let mut forward = source.terminator.successors();
            forward.retain(|&to| !flow.goes_back(block, to));
            forward.sort_unstable();
            forward.dedup();
            self.code.blocks.push(Block {
                start: 0,
                loops: flow.around[block].iter().map(|&number| first_loop + number as u32).collect(),
                forward: forward.into_iter().map(|to| numbers[to]).collect(),
            });
            let mut instructions = source.instructions.clone().map(|at| self.module.instructions.get(at));
            let waits = instructions.any(|inst| match inst.op {
                Op::FunctionCall => {
                    let callee = inst.operands.first().and_then(|id| self.callees.get(id));
                    callee.is_some_and(|callee| callee.waits)
                }
                op => waits_for_others(op),
            });
            if waits {
                flow.around[block].iter().for_each(|&number| loop_waits[number] = true);
            }
        }
        self.code.loops.extend(flow.loops.iter().map(|&header| numbers[header]));
        let mut labels: Vec<Label> = function.blocks.iter().map(|_| self.emit.label()).collect();
        // A function's first block has no predecessors.
        labels[0] = callee.label;
        let phis = function.blocks.iter().map(|_| Vec::new()).collect();
        Ok(Body { function, flow, numbers, labels, phis, first_loop, loop_waits, callee })
    }

    /// Assigns registers to the phis of a block.
    fn phis(&mut self, block: &module::Block) -> Result<Vec<Phi>> {
        let mut phis = Vec::new();
        let instructions = block.instructions.clone().map(|at| self.module.instructions.get(at));
        let phis_and_lines = instructions.take_while(|inst| inst.op == Op::Phi || is_line(inst.op));
        for inst in phis_and_lines.filter(|inst| inst.op == Op::Phi) {
            let count = self.layouts.cells(inst.ty)?;
            let first = self.emit.fresh(count)?;
            let result: Cells = (first..first + count).collect();
            self.define(inst.id, Value::Cells(result.clone()))?;
            let incoming = inst.operands.chunks_exact(2).map(|pair| (pair[1], pair[0])).collect();
            phis.push(Phi { ty: inst.ty, result, incoming });
        }
        Ok(phis)
    }

    /// Records the source line of an instruction.
    fn line(&mut self, inst: &Instruction<'_>) -> Result<()> {
        match inst.op {
            Op::Line => {
                let name = self.module.string(inst.operand(0)?).unwrap_or_default();
                let files = &mut self.code.files;
                let file = files.iter().position(|file| file == name).unwrap_or_else(|| {
                    files.push(name.into());
                    files.len() - 1
                });
                let line = inst.operand(1)?;
                // Lines are counted from 1.
                self.emit.place.line = (line != 0).then_some(SourceLine { file: file as u32, line });
            }
            Op::NoLine => self.emit.place.line = None,
            _ => {}
        }
        Ok(())
    }

    fn instruction(&mut self, inst: &Instruction<'m>) -> Result<()> {
        if is_line(inst.op) {
            return self.line(inst);
        }
        self.emit.place.word = inst.word;
        match inst.op {
            // Registers of phis are already assigned, and are filled on the edges.
            Op::Phi if self.values.contains_key(&inst.id) => {}
            Op::FunctionCall => self.call(inst)?,
            Op::ExtInst => self.extended(inst)?,
            _ => {
                let known = self.memory_operation(inst)?
                    || self.atomic(inst)?
                    || self.group_operation(inst)?
                    || self.pure(inst)?;
                if !known {
                    return Err(inst.refuse(rule::UNSUPPORTED, "the instruction"));
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let id = inst.operand(0)?;
        let Some(callee) = self.callees.get(&id).cloned() else {
            return Err(inst.refuse(rule::UNIVERSAL, "calls something that is not a function"));
        };
        let ty = self.definition(self.definition(id)?.operand(1)?)?;
        let (result, parameters) = (ty.operand(0)?, ty.rest(1));
        let arguments = inst.rest(1);
        let wrong = result != inst.ty || arguments.len() != parameters.len();
        inst.refuse_if(wrong, "does not fit the function that it calls")?;
        let mut targets = callee.parameters.iter();
        for (&argument, &parameter) in arguments.iter().zip(parameters) {
            if self.type_of(argument)? != parameter {
                return Err(
                    inst.refuse(rule::UNIVERSAL, "has arguments of other types than the function that it calls")
                );
            }
            for (&a, &d) in self.cells(argument)?.iter().zip(targets.by_ref()) {
                self.emit.emit(Inst::Move { d, a })?;
            }
        }
        self.emit.emit(Inst::Call(callee.label))?;
        if callee.result.is_empty() {
            // A function without a result has the type void, so nothing can use the result.
            return Ok(());
        }
        let first = self.copies(&callee.result)?;
        self.result_at(inst, first)
    }

    fn terminator(&mut self, body: &Body<'m>, block: usize, inst: &Instruction<'_>) -> Result<()> {
        match &body.function.blocks[block].terminator {
            &Terminator::Branch(to) => self.follow(body, block, to)?,
            &Terminator::Conditional { condition, yes, no } => {
                let wrong = self.vector_of(condition)? != (Scalar::Bool, 1);
                inst.refuse_if(wrong, "branches on something that is not a boolean")?;
                let condition = self.scalar(condition)?;
                let mut detours = Vec::new();
                let yes = self.edge(body, block, yes, &mut detours)?;
                let no = self.edge(body, block, no, &mut detours)?;
                self.emit.emit(Inst::Branch { condition, yes, no })?;
                for (label, to) in detours {
                    self.emit.bind(label);
                    self.follow(body, block, to)?;
                }
            }
            Terminator::Return(value) => {
                if let Some(value) = *value {
                    inst.refuse_if(self.type_of(value)? != body.function.result, "returns a value of another type")?;
                    for (&a, &d) in self.cells(value)?.iter().zip(body.callee.result.iter()) {
                        self.emit.emit(Inst::Move { d, a })?;
                    }
                }
                self.emit.emit(Inst::Return)?;
            }
            Terminator::Unreachable => self.emit.emit(Inst::Unreachable)?,
        }
        Ok(())
    }

    /// The target of a conditional branch: the block itself, or a detour if the edge needs moves.
    fn edge(&mut self, body: &Body<'m>, from: usize, to: usize, detours: &mut Vec<(Label, usize)>) -> Result<Label> {
        if let Some(&(label, _)) = detours.iter().find(|detour| detour.1 == to) {
            return Ok(label);
        }
        if body.phis[to].is_empty() && loop_step(body, from, to).is_none() {
            return Ok(body.labels[to]);
        }
        let label = self.emit.label();
        detours.push((label, to));
        Ok(label)
    }

    /// Follows an edge: fills the phis of the target block, counts iterations, and jumps there.
    fn follow(&mut self, body: &Body<'m>, from: usize, to: usize) -> Result<()> {
        let label = body.function.blocks[from].label;
        let mut moves = Vec::new();
        for phi in &body.phis[to] {
            let Some(&value) = phi.incoming.get(&label) else {
                let message = format!("a phi of %{} lacks a value for %{label}", body.function.blocks[to].label);
                return Err(Refusal::new(rule::UNIVERSAL, message));
            };
            let cells = self.cells(value)?;
            if self.type_of(value)? != phi.ty {
                return Err(Refusal::new(rule::UNIVERSAL, format!("a phi takes %{value}, which is of another type")));
            }
            moves.extend(phi.result.iter().copied().zip(cells.iter().copied()));
        }
        self.moves_at_once(moves)?;
        if let Some(step) = loop_step(body, from, to) {
            self.emit.emit(step)?;
        }
        self.emit.emit(Inst::Jump(body.labels[to]))
    }

    /// Moves registers (target, source) in parallel: all sources are read before any target is written.
    fn moves_at_once(&mut self, mut moves: Vec<(Slot, Slot)>) -> Result<()> {
        moves.retain(|(d, a)| d != a);
        let mut readers: FxHashMap<Slot, u32> = FxHashMap::default();
        moves.iter().for_each(|&(_, a)| *readers.entry(a).or_default() += 1);
        let mut sources: FxHashMap<Slot, Slot> = moves.iter().copied().collect();
        let mut ready: Vec<Slot> = moves.iter().map(|&(d, _)| d).filter(|d| !readers.contains_key(d)).collect();
        while let Some(d) = ready.pop() {
            let Some(a) = sources.remove(&d) else { continue };
            self.emit.emit(Inst::Move { d, a })?;
            if let Some(count) = readers.get_mut(&a) {
                *count -= 1;
                if *count == 0 {
                    ready.push(a);
                }
            }
        }
        // The remaining moves form cycles. One register of each is saved elsewhere, which frees it for the others.
        for (d, _) in moves {
            if !sources.contains_key(&d) {
                continue;
            }
            let aside = self.emit.fresh(1)?;
            self.emit.emit(Inst::Move { d: aside, a: d })?;
            // Walk the cycle backwards: every register has exactly one reader.
            let mut at = d;
            while let Some(a) = sources.remove(&at) {
                let a_or_aside = if a == d { aside } else { a };
                self.emit.emit(Inst::Move { d: at, a: a_or_aside })?;
                at = a;
            }
        }
        Ok(())
    }
}

/// The effect of an edge on iteration counts, for loops in which invocations wait for each other.
fn loop_step(body: &Body<'_>, from: usize, to: usize) -> Option<Inst> {
    let number = body.flow.headed[to].filter(|&number| body.loop_waits[number])?;
    let index = body.first_loop + number as u32;
    Some(if body.flow.goes_back(from, to) { Inst::NextRound(index) } else { Inst::EnterLoop(index) })
}
