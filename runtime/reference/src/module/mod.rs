//! A SPIR-V module, read from its words: types, decorations, entry points, functions, and all other instructions.
//!
//! Checks the rules that don't depend on the target; [`crate::requirements`] checks the others.

mod disassemble;
pub(crate) mod function;
mod instruction;
mod refusal;

use rspirv::spirv::{Decoration, Op};
use rustc_hash::FxHashMap;

pub(crate) use function::{Block, Function, Merge, Terminator};
pub(crate) use instruction::Instruction;
pub use refusal::Refusal;
pub(crate) use refusal::rule;

use instruction::Instructions;

/// A decoration of an id or of a member of a struct.
#[derive(Clone, Copy, Debug)]
struct Decorated {
    kind: u32,
    member: Option<u32>,
    value: u32,
}

#[derive(Debug)]
pub(crate) struct EntryPoint {
    /// The execution model, as a number.
    pub model: u32,
    pub function: u32,
    pub name: String,
    pub modes: Vec<Mode>,
}

#[derive(Clone, Debug)]
pub(crate) struct Mode {
    pub mode: u32,
    /// The operands: literals, or ids of constants if [`Mode::ids`].
    pub operands: Vec<u32>,
    /// Whether the mode was declared by `OpExecutionModeId`.
    pub ids: bool,
    pub word: u32,
}

#[derive(Debug)]
pub(crate) struct Module {
    pub instructions: Instructions,
    decorations: FxHashMap<u32, Vec<Decorated>>,
    names: FxHashMap<u32, String>,
    strings: FxHashMap<u32, String>,
    sets: FxHashMap<u32, String>,
    /// Capabilities by number, and the words of their declarations.
    pub capabilities: Vec<(u32, u32)>,
    pub extensions: Vec<String>,
    /// Addressing model and memory model, as numbers.
    pub memory_model: (u32, u32),
    pub entry_points: Vec<EntryPoint>,
    /// Indices of the instructions that declare types, constants and variables.
    pub globals: Vec<usize>,
    /// Functions with bodies.
    pub functions: Vec<Function>,
}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    /// The module is malformed.
    pub fn parse(words: &[u32]) -> Result<Self, Refusal> {
        let mut module = Module {
            instructions: Instructions::split(words)?,
            decorations: FxHashMap::default(),
            names: FxHashMap::default(),
            strings: FxHashMap::default(),
            sets: FxHashMap::default(),
            capabilities: Vec::new(),
            extensions: Vec::new(),
            memory_model: (0, 0),
            entry_points: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
        };
        let mut index = 0;
        let mut memory_models = 0;
        let mut modes = Vec::new();
        while index < module.instructions.len() {
            let inst = module.instructions.get(index);
            match inst.op {
                Op::Function => break,
                Op::Capability => module.capabilities.push((inst.operand(0)?, inst.word)),
                Op::Extension => module.extensions.push(inst.string(0)?.0),
                Op::ExtInstImport => drop(module.sets.insert(inst.id, inst.string(0)?.0)),
                Op::MemoryModel => {
                    memory_models += 1;
                    module.memory_model = (inst.operand(0)?, inst.operand(1)?);
                }
                Op::EntryPoint => {
                    let (model, function) = (inst.operand(0)?, inst.operand(1)?);
                    let name = inst.string(2)?.0;
                    let wrong = module.entry_points.iter().any(|entry| entry.name == name && entry.model == model);
                    inst.refuse_if(wrong, format_args!("there is a `{name}` already"))?;
                    module.entry_points.push(EntryPoint { model, function, name, modes: Vec::new() });
                }
                Op::ExecutionMode | Op::ExecutionModeId => {
                    let ids = inst.op == Op::ExecutionModeId;
                    let operands = inst.rest(2).to_vec();
                    modes.push((inst.operand(0)?, Mode { mode: inst.operand(1)?, operands, ids, word: inst.word }));
                }
                Op::String => drop(module.strings.insert(inst.id, inst.string(0)?.0)),
                Op::Name => drop(module.names.insert(inst.operand(0)?, inst.string(1)?.0)),
                Op::Decorate | Op::MemberDecorate => {
                    let (member, rest) = match inst.op {
                        Op::Decorate => (None, inst.rest(1)),
                        _ => (Some(inst.operand(1)?), inst.rest(2)),
                    };
                    let kind = *rest.first().ok_or_else(|| inst.refuse(rule::INSTRUCTION, "lacks an operand"))?;
                    let decorated = Decorated { kind, member, value: rest.get(1).copied().unwrap_or(0) };
                    module.decorations.entry(inst.operand(0)?).or_default().push(decorated);
                }
                Op::GroupDecorate | Op::GroupMemberDecorate => {
                    return Err(inst.refuse(rule::UNSUPPORTED, "decoration groups, which are deprecated"));
                }
                // These don't affect the computation, or are about source text.
                Op::DecorateId
                | Op::DecorateString
                | Op::MemberDecorateString
                | Op::DecorationGroup
                | Op::MemberName
                | Op::Source
                | Op::SourceContinued
                | Op::SourceExtension
                | Op::ModuleProcessed
                | Op::Nop
                | Op::Line
                | Op::NoLine => {}
                _ => module.global(index)?,
            }
            index += 1;
        }
        if memory_models != 1 {
            return Err(Refusal::new(rule::LAYOUT, format!("{memory_models} memory models, not one")));
        }
        module.functions = function::read(&module.instructions, index)?;
        for (function, mode) in modes {
            let entries = module.entry_points.iter_mut().filter(|entry| entry.function == function);
            entries.for_each(|entry| entry.modes.push(mode.clone()));
        }
        Ok(module)
    }

    /// Reads a type, constant, variable or similar.
    fn global(&mut self, index: usize) -> Result<(), Refusal> {
        let inst = self.instructions.get(index);
        match inst.op {
            Op::Variable
            | Op::Constant
            | Op::ConstantTrue
            | Op::ConstantFalse
            | Op::ConstantComposite
            | Op::ConstantNull
            | Op::SpecConstant
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstantComposite
            | Op::SpecConstantOp => {}
            // Debug information, which nothing else uses.
            Op::ExtInst if self.is_debug_set(inst.operand(0)?) => return Ok(()),
            Op::TypeForwardPointer => {}
            op if op.is_type() => {}
            _ => return Err(inst.refuse(rule::LAYOUT, "is outside of functions")),
        }
        self.globals.push(index);
        Ok(())
    }

    /// The id of the type of a vector's components; 0 for other types.
    pub fn component_type(&self, vector: u32) -> u32 {
        let vector = self.instructions.definition(vector).filter(|inst| inst.op == Op::TypeVector);
        vector.and_then(|inst| inst.operands.first().copied()).unwrap_or(0)
    }

    /// Whether an extended instruction set only has debug information.
    pub fn is_debug_set(&self, set: u32) -> bool {
        self.sets.get(&set).is_some_and(|name| name.starts_with("NonSemantic."))
    }

    pub fn set_name(&self, set: u32) -> Option<&str> {
        self.sets.get(&set).map(String::as_str)
    }

    pub fn set_names(&self) -> impl Iterator<Item = &str> {
        self.sets.values().map(String::as_str)
    }

    pub fn string(&self, id: u32) -> Option<&str> {
        self.strings.get(&id).map(String::as_str)
    }

    /// An id's `OpName`, else `%id`.
    pub fn name(&self, id: u32) -> String {
        match self.names.get(&id) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("%{id}"),
        }
    }

    /// The value of a decoration of an id; 0 if the decoration has no operand.
    pub fn decoration(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.find_decoration(id, None, decoration)
    }

    /// The value of a decoration of a struct member; 0 if the decoration has no operand.
    pub fn member_decoration(&self, id: u32, member: u32, decoration: Decoration) -> Option<u32> {
        self.find_decoration(id, Some(member), decoration)
    }

    fn find_decoration(&self, id: u32, member: Option<u32>, decoration: Decoration) -> Option<u32> {
        let all = self.decorations.get(&id)?;
        let found = all.iter().find(|decorated| decorated.member == member && decorated.kind == decoration as u32);
        found.map(|decorated| decorated.value)
    }

    pub fn has_vulkan_memory_model(&self) -> bool {
        self.memory_model.1 == rspirv::spirv::MemoryModel::Vulkan as u32
    }
}
