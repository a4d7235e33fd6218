//! Kernels without the code that no texture of a launch needs. Drivers give such code up as well, by the specialization
//! constant, but only after they have compiled most of it, which takes seconds for kernels with many reads.

use std::collections::BTreeSet;

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::{Decoration, Op};
use rustc_hash::FxHashMap;

use crate::spec_id;

/// Words before the first instruction.
const HEADER: usize = 5;

/// A module of the translator for launches where all textures have these bits ([`spec_id::TEXTURE_BITS`]), without the branches that
/// depend on nothing else and are not taken. The same words if there are none.
pub fn specialize(spirv: &[u32], bits: u32) -> Vec<u32> {
    let mut known = Known::default();
    let mut dropped = BTreeSet::new();
    let mut kept: Vec<&[u32]> = Vec::new();
    let mut made: Vec<[u32; 2]> = Vec::new();
    // The labels that end what is being dropped.
    let mut until: Option<[u32; 2]> = None;
    let mut list = instructions(spirv).peekable();
    let mut taken_at = Vec::new();
    while let Some(words) = list.next() {
        let Some(op) = op(words) else { return spirv.to_vec() };
        if op == Op::Phi {
            return spirv.to_vec();
        }
        if let Some(labels) = until {
            let ends = op == Op::Label && words.get(1).is_some_and(|label| labels.contains(label));
            if !ends {
                dropped.extend(result(op, words));
                continue;
            }
            until = None;
        }
        known.note(op, words, bits);
        let branch = list.peek().filter(|_| op == Op::SelectionMerge);
        if let (Some(&[_, merge, ..]), Some(&&[head, condition, yes, no, ..])) = (Some(words), branch)
            && head & 0xffff == Op::BranchConditional as u32
            && let Some(&value) = known.values.get(&condition)
        {
            let (taken, other) = if value != 0 { (yes, no) } else { (no, yes) };
            taken_at.push(kept.len());
            made.push([2 << 16 | Op::Branch as u32, taken]);
            kept.push(&[]);
            list.next();
            // The arms follow each other, before the block where they meet.
            if other != merge {
                if taken != merge && list.peek().is_some_and(|label| label.get(1) == Some(&taken)) {
                    // The arm that stays comes first, and ends where the other begins.
                    return spirv.to_vec();
                }
                until = Some([merge, taken]);
            }
            continue;
        }
        kept.push(words);
    }
    for (at, words) in taken_at.into_iter().zip(&made) {
        kept[at] = words;
    }
    let describes_dropped = |words: &&[u32]| {
        let is_description = matches!(op(words), Some(Op::Name | Op::Decorate));
        is_description && words.get(1).is_some_and(|target| dropped.contains(target))
    };
    let body = kept.into_iter().filter(|words| !describes_dropped(words)).flatten();
    spirv.iter().take(HEADER).chain(body).copied().collect()
}

/// Whether a module asks for the bits, so that [`specialize`] can change it.
pub fn is_specializable(spirv: &[u32]) -> bool {
    let declarations = instructions(spirv).take_while(|words| op(words) != Some(Op::Function));
    declarations.filter_map(constant).next().is_some()
}

/// The constant for the bits, if an instruction decorates it.
fn constant(words: &[u32]) -> Option<u32> {
    match *words {
        [_, id, decoration, spec_id::TEXTURE_BITS]
            if op(words) == Some(Op::Decorate) && decoration == Decoration::SpecId as u32 =>
        {
            Some(id)
        }
        _ => None,
    }
}

/// The instructions of a module, each with its first word. An instruction that is cut off at the end counts as one.
fn instructions(spirv: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = spirv.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (rest.first()? >> 16) as usize;
        let (words, after) = rest.split_at(length.clamp(1, rest.len()));
        rest = after;
        Some(words)
    })
}

fn op(words: &[u32]) -> Option<Op> {
    Op::from_u32(words.first()? & 0xffff)
}

/// The value that an instruction defines.
fn result(op: Op, words: &[u32]) -> Option<u32> {
    let operands = INSTRUCTION_TABLE.get(op).operands;
    let place = operands.iter().position(|operand| operand.kind == OperandKind::IdResult)?;
    words.get(1 + place).copied()
}

/// Values that follow from constants and the bits.
#[derive(Default)]
struct Known {
    values: FxHashMap<u32, u32>,
    constant: Option<u32>,
}

impl Known {
    fn note(&mut self, op: Op, words: &[u32], bits: u32) {
        self.constant = self.constant.or_else(|| constant(words));
        let of = |id: &u32| self.values.get(id).copied();
        let (value, id) = match (op, words) {
            (Op::SpecConstant, &[_, _, id, _]) if self.constant == Some(id) => (Some(bits), id),
            (Op::Constant, &[_, _, id, value]) => (Some(value), id),
            (Op::BitwiseAnd, [_, _, id, a, b]) => (of(a).zip(of(b)).map(|(a, b)| a & b), *id),
            (Op::IEqual, [_, _, id, a, b]) => (of(a).zip(of(b)).map(|(a, b)| u32::from(a == b)), *id),
            (Op::INotEqual, [_, _, id, a, b]) => (of(a).zip(of(b)).map(|(a, b)| u32::from(a != b)), *id),
            (Op::LogicalNot, [_, _, id, a]) => (of(a).map(|a| 1 - a.min(1)), *id),
            _ => return,
        };
        if let Some(value) = value {
            self.values.insert(id, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with a function that has an arm for textures without bit 1, with a value and its name.
    fn module() -> Vec<u32> {
        let instruction = |op: Op, operands: &[u32]| {
            let mut words = vec![(operands.len() as u32 + 1) << 16 | op as u32];
            words.extend(operands);
            words
        };
        let list = [
            instruction(Op::Name, &[20, 0]),
            instruction(Op::Name, &[21, 0]),
            instruction(Op::Decorate, &[3, Decoration::SpecId as u32, spec_id::TEXTURE_BITS]),
            instruction(Op::SpecConstant, &[1, 3, 0]),
            instruction(Op::Constant, &[1, 4, 2]),
            instruction(Op::Label, &[10]),
            instruction(Op::BitwiseAnd, &[1, 5, 3, 4]),
            instruction(Op::IEqual, &[2, 6, 5, 4]),
            instruction(Op::SelectionMerge, &[12, 0]),
            instruction(Op::BranchConditional, &[6, 12, 11]),
            instruction(Op::Label, &[11]),
            instruction(Op::IAdd, &[1, 20, 4, 4]),
            instruction(Op::Branch, &[12]),
            instruction(Op::Label, &[12]),
            instruction(Op::IAdd, &[1, 21, 4, 4]),
            instruction(Op::Return, &[]),
        ];
        [0x0723_0203, 0x0001_0500, 0, 30, 0].into_iter().chain(list.into_iter().flatten()).collect()
    }

    /// The operations of a module with their first operands.
    fn outline(spirv: &[u32]) -> Vec<(Op, u32)> {
        instructions(spirv).map(|words| (op(words).unwrap(), words.get(1).copied().unwrap_or(0))).collect()
    }

    #[test]
    fn what_no_texture_needs_is_left_out() {
        assert!(is_specializable(&module()));
        let found = outline(&specialize(&module(), 3));
        let all = outline(&module());
        // The names, decoration and constants but for the name of what is dropped; the block; a branch; and what follows.
        let mut expected = all[1..8].to_vec();
        expected.push((Op::Branch, 12));
        expected.extend(&all[13..]);
        assert_eq!(found, expected);
    }

    #[test]
    fn what_textures_need_stays() {
        let found = outline(&specialize(&module(), 1));
        let all = outline(&module());
        let mut expected = all[..8].to_vec();
        expected.push((Op::Branch, 11));
        expected.extend(&all[10..]);
        assert_eq!(found, expected);
    }

    #[test]
    fn words_that_are_no_module_stay() {
        for words in [vec![], vec![1; 3], vec![7, 7, 7, 7, 7, 0, u32::MAX], vec![0; 9]] {
            assert_eq!(specialize(&words, 1), words);
            assert!(!is_specializable(&words));
        }
    }
}
