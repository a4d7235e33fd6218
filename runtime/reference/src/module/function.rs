//! Functions and blocks of a module, the control flow between blocks, and the check for recursion.

use std::ops::Range;

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use super::instruction::{Instruction, Instructions};
use super::rule;
use crate::module::refusal::Refusal;

#[derive(Debug)]
pub(crate) struct Function {
    pub id: u32,
    pub result: u32,
    /// Ids and types of the parameters.
    pub parameters: Vec<(u32, u32)>,
    /// The blocks. The function begins with the first one.
    pub blocks: Vec<Block>,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub label: u32,
    /// Indices of the instructions, without label, merge instruction and terminator.
    pub instructions: Range<usize>,
    pub merge: Option<Merge>,
    /// Index of the last instruction.
    pub end: usize,
    /// The terminator. Blocks are named by their index in [`Function::blocks`].
    pub terminator: Terminator,
}

/// A merge instruction. Blocks are named by their index in [`Function::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    Selection { merge: usize },
    Loop { merge: usize, next: usize },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Terminator {
    Branch(usize),
    Conditional { condition: u32, yes: usize, no: usize },
    Return(Option<u32>),
    Unreachable,
}

impl Terminator {
    pub fn successors(&self) -> Vec<usize> {
        match self {
            Self::Branch(target) => vec![*target],
            Self::Conditional { yes, no, .. } => vec![*yes, *no],
            Self::Return(_) | Self::Unreachable => Vec::new(),
        }
    }
}

/// Reads the functions, from an instruction to the end of the module.
pub(super) fn read(all: &Instructions, mut index: usize) -> Result<Vec<Function>, Refusal> {
    let mut functions = Vec::new();
    while index < all.len() {
        let inst = all.get(index);
        if inst.op == Op::Function {
            let end = (index..all.len()).find(|&at| all.get(at).op == Op::FunctionEnd);
            let end = end.ok_or_else(|| inst.refuse(rule::LAYOUT, "has no OpFunctionEnd"))?;
            functions.push(function(all, index, end)?);
            index = end;
        } else if !is_line(inst.op) {
            return Err(inst.refuse(rule::LAYOUT, "is between functions"));
        }
        index += 1;
    }
    no_recursion(all, &functions)?;
    Ok(functions)
}

/// Whether an instruction only has line information, or no effect at all.
pub(crate) fn is_line(op: Op) -> bool {
    matches!(op, Op::Line | Op::NoLine | Op::Nop)
}

fn function(all: &Instructions, start: usize, end: usize) -> Result<Function, Refusal> {
    let head = all.get(start);
    let Some(ty) = all.definition(head.operand(1)?).filter(|ty| ty.op == Op::TypeFunction) else {
        return Err(head.refuse(rule::UNIVERSAL, "has no function type"));
    };
    let result = ty.operand(0)?;
    let mut index = start + 1;
    let mut parameters = Vec::new();
    while index < end {
        let inst = all.get(index);
        match inst.op {
            Op::FunctionParameter => parameters.push((inst.id, inst.ty)),
            op if is_line(op) => {}
            _ => break,
        }
        index += 1;
    }
    let wrong = result != head.ty || !parameters.iter().map(|parameter| &parameter.1).eq(ty.rest(1));
    head.refuse_if(wrong, "differs from its function type")?;
    let starts: Vec<usize> = (index..end).filter(|&at| all.get(at).op == Op::Label).collect();
    match starts.first() {
        None => return Err(head.refuse(rule::UNSUPPORTED, "has no body")),
        Some(&first) if first != index => {
            return Err(all.get(index).refuse(rule::LAYOUT, "is before the first block"));
        }
        Some(_) => {}
    }
    let labels: FxHashMap<u32, usize> = starts.iter().enumerate().map(|(at, &start)| (all.get(start).id, at)).collect();
    let ends = starts[1..].iter().copied().chain([end]);
    let blocks = starts.iter().zip(ends).map(|(&start, end)| block(all, &labels, start, end));
    Ok(Function { id: head.id, result, parameters, blocks: blocks.collect::<Result<_, _>>()? })
}

fn block(all: &Instructions, labels: &FxHashMap<u32, usize>, start: usize, end: usize) -> Result<Block, Refusal> {
    let label = all.get(start);
    // Line information may follow the terminator.
    let last = (start + 1..end).rev().find(|&at| !is_line(all.get(at).op));
    let last = last.ok_or_else(|| label.refuse(rule::UNIVERSAL, "begins a block without a terminator"))?;
    let target = |inst: &Instruction<'_>, operand: usize| -> Result<usize, Refusal> {
        let id = inst.operand(operand)?;
        match labels.get(&id) {
            Some(&block) if block != 0 => Ok(block),
            Some(_) => Err(inst.refuse(rule::UNIVERSAL, "leads to the first block of the function")),
            None => Err(inst.refuse(rule::UNIVERSAL, format!("%{id} is not a block of the function"))),
        }
    };
    let inst = all.get(last);
    let terminator = match inst.op {
        Op::Branch => Terminator::Branch(target(&inst, 0)?),
        Op::BranchConditional => {
            Terminator::Conditional { condition: inst.operand(0)?, yes: target(&inst, 1)?, no: target(&inst, 2)? }
        }
        Op::Switch => return Err(inst.refuse(rule::UNSUPPORTED, "a switch")),
        Op::Return => Terminator::Return(None),
        Op::ReturnValue => Terminator::Return(Some(inst.operand(0)?)),
        Op::Unreachable => Terminator::Unreachable,
        _ => return Err(inst.refuse(rule::UNIVERSAL, "ends a block but does not terminate it")),
    };
    let mut merge = None;
    let mut stop = last;
    let before = (start + 1..last).rev().find(|&at| !is_line(all.get(at).op));
    if let Some(at) = before {
        let inst = all.get(at);
        merge = match inst.op {
            Op::SelectionMerge => Some(Merge::Selection { merge: target(&inst, 0)? }),
            Op::LoopMerge => Some(Merge::Loop { merge: target(&inst, 0)?, next: target(&inst, 1)? }),
            _ => None,
        };
        if merge.is_some() {
            stop = at;
        }
    }
    Ok(Block { label: label.id, instructions: start + 1..stop, merge, end: last, terminator })
}

/// Refuses calls of ids that are not functions, and direct or mutual recursion.
fn no_recursion(all: &Instructions, functions: &[Function]) -> Result<(), Refusal> {
    let mut calls = DiGraph::<(), ()>::new();
    let nodes: FxHashMap<u32, NodeIndex> = functions.iter().map(|function| (function.id, calls.add_node(()))).collect();
    for function in functions {
        for inst in function.blocks.iter().flat_map(|block| block.instructions.clone()).map(|at| all.get(at)) {
            if inst.op == Op::FunctionCall {
                let Some(&callee) = nodes.get(&inst.operand(0)?) else {
                    return Err(inst.refuse(rule::UNIVERSAL, "calls something that is not a function"));
                };
                calls.update_edge(nodes[&function.id], callee, ());
            }
        }
    }
    let message = "the static function-call graph of an entry point has a cycle: a function calls itself";
    toposort(&calls, None).map(drop).map_err(|_| Refusal::new("VUID-StandaloneSpirv-None-04634", message))
}
