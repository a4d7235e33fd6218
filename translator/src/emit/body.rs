//! A kernel's function under construction: its blocks, variables and values, and how instructions are appended.
//!
//! Variables stay variables of the Function storage class, which drivers promote to values themselves. Where loops over lanes are calls
//! ([`Function::lane_numbers`]), variables and local memory are of the Private storage class, which all functions reach.

use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{BuiltIn, FunctionControl, Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::instruction::instruction;
use super::lines::Position;
use super::module::{Global, Module};
use super::offsets::Offsets;
use super::result::Result;
use super::usage::SharedLayout;
use crate::diagnostic::Span;
use crate::index::IndexVec;
use crate::ir::{Function, HELPER_PARAMETERS, Sample, Type, Value, Var};

/// The push constants of one entry. The block's type is made last, when its size is known.
pub(super) struct PushConstants {
    pub(super) variable: Word,
    /// Words up to the last one read.
    pub(super) words: u32,
}

/// Variables of a type, side by side.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) array: Word,
    /// The type of pointers to one of them.
    pub(super) pointer: Word,
}

/// A kernel or a helper under construction.
pub(super) struct Body<'m, 't, 'f> {
    pub(super) module: &'m mut Module<'t>,
    pub(super) function: &'f Function,
    pub(super) common: Common,
    /// Ids by the number of the value; 0 where there is none yet.
    values: IndexVec<Value, Word>,
    /// Function variables, or places in arrays of them, by the number of the variable; 0 where there is none yet.
    pub(super) vars: IndexVec<Var, Word>,
    /// Declarations of Function variables, which SPIR-V wants before everything else.
    variables: Vec<Instruction>,
    /// The inputs, which are computed once at the function's start.
    pub(super) start: Vec<Instruction>,
    blocks: Vec<dr::Block>,
    /// Label of the block under construction; 0 after a terminator.
    pub(super) label: Word,
    current: Vec<Instruction>,
    /// The merge blocks of loops that something leaves.
    pub(super) exits: FxHashSet<Word>,
    /// Inputs by built-in and component; `None` is the whole.
    pub(super) inputs: FxHashMap<(BuiltIn, Option<u8>), Word>,
    /// Push constants by the number of the word.
    pub(super) push_words: FxHashMap<u32, Word>,
    /// 64-bit push constants by the number of the first word.
    pub(super) push_pairs: FxHashMap<u32, Word>,
    pub(super) shared: SharedLayout,
    /// Ids of the parameters, in a helper.
    pub(super) parameters: Vec<Word>,
    /// The last sample of the block under construction, by its first channel, and its texel.
    pub(super) sampled: Option<(Sample, Word)>,
    /// Pairs of f16 by the word that has their bits, so that one operation's result is another's operand as it is: drivers take words apart.
    pub(super) half_pairs: FxHashMap<Word, Word>,
    /// Matrices of the block under construction, by their type and the words that have this invocation's elements.
    pub(super) matrices: FxHashMap<(Word, Vec<Word>), Word>,
    /// The 32-bit values that are sums of another value and a constant.
    pub(super) offsets: Offsets,
    /// Invocations of the workgroup, once used.
    pub(super) workgroup_size: Word,
    /// The instruction that statements come from.
    pub(super) at: Option<Span>,
    /// The instruction's place, if line information is wanted.
    position: Option<Position>,
    /// The line that the block under construction has named last.
    line: Option<Position>,
    /// The line that `start` has named last.
    start_line: Option<Position>,
}

/// The state that a function shares with those that are called for its loops over lanes ([`Function::lane_numbers`]).
#[derive(Default)]
pub(super) struct Common {
    /// Variables that all functions of the kernel reach, if it has several functions.
    pub(super) private: FxHashMap<Var, Word>,
    /// Arrays of variables, by type; `None` for types with few variables.
    pub(super) rows: FxHashMap<Type, Option<Row>>,
    /// The elements of these that are some variable's.
    pub(super) places: FxHashMap<Type, FxHashMap<Var, u32>>,
    /// The variable of local memory; 0 until used.
    pub(super) local: Word,
    pub(super) push: Option<PushConstants>,
    /// Ids of the helpers' functions; 0 where there is none yet.
    pub(super) helpers: Vec<Word>,
    /// Variables outside of functions that are used.
    pub(super) interface: Vec<(StorageClass, Word)>,
    /// Types that loops around compare-and-swap add, which need not be those of any value of the function.
    pub(super) added_floats: Vec<Type>,
    /// The number of loops that have got another exit.
    pub(super) decoys: u32,
    /// Whether a store to shared memory writes less than a word, once asked for.
    pub(super) shared_parts: Option<bool>,
    /// Whether a statement of the kernel orders memory accesses, once asked for.
    pub(super) memory_ordered: Option<bool>,
}

impl<'m, 't, 'f> Body<'m, 't, 'f> {
    pub(super) fn new(module: &'m mut Module<'t>, function: &'f Function, shared: SharedLayout) -> Self {
        Body {
            function,
            common: Common::default(),
            values: IndexVec::filled(0, function.values.len()),
            vars: IndexVec::filled(0, function.vars.len()),
            variables: Vec::new(),
            start: Vec::new(),
            blocks: Vec::new(),
            label: 0,
            current: Vec::new(),
            exits: FxHashSet::default(),
            inputs: FxHashMap::default(),
            matrices: FxHashMap::default(),
            push_words: FxHashMap::default(),
            push_pairs: FxHashMap::default(),
            shared,
            parameters: Vec::new(),
            sampled: None,
            half_pairs: FxHashMap::default(),
            offsets: Offsets::default(),
            workgroup_size: 0,
            at: None,
            position: None,
            line: None,
            start_line: None,
            module,
        }
    }

    /// The function, of whose type the id is given.
    pub(super) fn finish(&mut self, result: Word, id: Word, ty: Word, parameters: Vec<Instruction>) -> dr::Function {
        let mut blocks = std::mem::take(&mut self.blocks);
        let mut head = std::mem::take(&mut self.variables);
        head.append(&mut self.start);
        if let (Some(lines), Some(_)) = (&self.module.lines, self.start_line) {
            head.push(lines.mark(None));
        }
        if let Some(first) = blocks.first_mut() {
            first.instructions.splice(0..0, head);
        }
        let control = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(ty)];
        dr::Function {
            def: Some(instruction(Op::Function, result, id, control)),
            end: Some(instruction(Op::FunctionEnd, 0, 0, vec![])),
            parameters,
            blocks,
        }
    }

    /// The result of a helper.
    pub(super) fn call(&mut self, helper: u32, operands: [Option<Value>; HELPER_PARAMETERS], ty: Type) -> Result<Word> {
        let mut ids = vec![self.common.helpers[helper as usize]];
        for operand in operands.into_iter().flatten() {
            ids.push(self.value(operand));
        }
        let ty = self.ty(ty)?;
        Ok(self.compute(Op::FunctionCall, ty, &ids))
    }

    /// A parameter of the helper.
    pub(super) fn parameter(&self, number: u8) -> Word {
        self.parameters[usize::from(number)]
    }

    /// Notes the instruction that the following statements come from.
    pub(super) fn come_from(&mut self, span: Option<Span>) {
        self.at = span;
        self.position = self.module.lines.as_ref().zip(span).and_then(|(lines, span)| lines.position(span));
    }

    pub(super) fn begin_block(&mut self, label: Word) {
        self.label = label;
        self.line = None;
        self.sampled = None;
        self.matrices.clear();
    }

    pub(super) fn branch(&mut self, target: Word) {
        self.terminate(Op::Branch, vec![Operand::IdRef(target)]);
    }

    pub(super) fn branch_if(&mut self, condition: Word, then: Word, otherwise: Word) {
        let operands = [condition, then, otherwise].map(Operand::IdRef).to_vec();
        self.terminate(Op::BranchConditional, operands);
    }

    pub(super) fn terminate(&mut self, op: Op, operands: Vec<Operand>) {
        self.effect(op, operands);
        let label = Some(instruction(Op::Label, 0, self.label, vec![]));
        self.blocks.push(dr::Block { label, instructions: std::mem::take(&mut self.current) });
        self.label = 0;
    }

    /// Appends an instruction without a result.
    pub(super) fn effect(&mut self, op: Op, operands: Vec<Operand>) {
        self.append(instruction(op, 0, 0, operands));
    }

    /// Appends an instruction with a result.
    pub(super) fn result(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let id = self.module.id();
        self.append(instruction(op, ty, id, operands));
        id
    }

    /// Appends an instruction to the present block, after the line it comes from where that is another.
    fn append(&mut self, instruction: Instruction) {
        if let Some(lines) = self.module.lines.as_ref().filter(|_| self.line != self.position) {
            self.current.push(lines.mark(self.position));
            self.line = self.position;
        }
        self.current.push(instruction);
    }

    /// Appends an instruction with a result whose operands are all ids.
    pub(super) fn compute(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        self.result(op, ty, operands.iter().copied().map(Operand::IdRef).collect())
    }

    /// Adds an instruction to the function's start, whose result all blocks can use. It comes from where that is used first.
    pub(super) fn at_start(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let id = self.module.id();
        if let Some(lines) = self.module.lines.as_ref().filter(|_| self.start_line != self.position) {
            self.start.push(lines.mark(self.position));
            self.start_line = self.position;
        }
        self.start.push(instruction(op, ty, id, operands));
        id
    }

    /// Whether loops over lanes are calls.
    pub(super) fn has_lane_calls(&self) -> bool {
        !self.function.lane_numbers.is_empty()
    }

    pub(super) fn variable_class(&self) -> StorageClass {
        if self.has_lane_calls() { StorageClass::Private } else { StorageClass::Function }
    }

    /// Declares a variable of the function, or of all functions of the kernel.
    pub(super) fn declare(&mut self, ty: Word, initializer: Option<Word>, name: &str) -> Result<Word> {
        let class = self.variable_class();
        let pointer = self.module.global(Global::Pointer(class, ty))?;
        let mut operands = vec![Operand::StorageClass(class)];
        operands.extend(initializer.map(Operand::IdRef));
        if class == StorageClass::Private {
            let id = self.module.define(Op::Variable, pointer, operands);
            self.uses(class, id);
            return Ok(id);
        }
        let id = self.module.id();
        self.variables.push(instruction(Op::Variable, pointer, id, operands));
        self.module.name(id, name);
        Ok(id)
    }

    /// Notes the use of a variable outside of functions.
    pub(super) fn uses(&mut self, class: StorageClass, variable: Word) {
        if !self.common.interface.contains(&(class, variable)) {
            self.common.interface.push((class, variable));
        }
    }

    /// The SPIR-V type of an IR type.
    pub(super) fn ty(&mut self, ty: Type) -> Result<Word> {
        self.module.global(match ty {
            Type::Bool => Global::Bool,
            Type::I32 => Global::Int(32),
            Type::I64 => Global::Int(64),
            Type::F32 => Global::Float(32),
            Type::F64 => Global::Float(64),
            Type::Pair => return self.module.u32_vector(2),
        })
    }

    /// The id of a value, which a legal function has defined before.
    pub(super) fn value(&self, value: Value) -> Word {
        self.values[value]
    }

    /// Gives a value its id.
    pub(super) fn set_value(&mut self, value: Value, id: Word) {
        self.values[value] = id;
    }
}
