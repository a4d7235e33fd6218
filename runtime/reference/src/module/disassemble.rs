//! Disassembles single instructions for messages.

use rspirv::grammar::{OperandKind, OperandQuantifier};
use rspirv::spirv::{BuiltIn, Capability, Decoration, GlslStd450Op, GroupOperation, MemoryAccess, Op, StorageClass};

use super::Module;
use super::instruction::{Instruction, grammar};

impl Module {
    /// The instruction that begins at a word, disassembled in one line; empty if there is none.
    pub fn disassemble(&self, word: u32) -> String {
        self.instructions.at_word(word).map_or_else(String::new, |inst| line(&inst))
    }
}

fn line(inst: &Instruction<'_>) -> String {
    let mut text = if inst.id == 0 { String::new() } else { format!("%{} = ", inst.id) };
    text += &format!("Op{:?}", inst.op);
    if inst.ty != 0 {
        text += &format!(" %{}", inst.ty);
    }
    let kinds = grammar(inst.op as u32).map_or(&[][..], |grammar| grammar.operands);
    let mut kinds = kinds.iter().filter(|kind| !matches!(kind.kind, OperandKind::IdResult | OperandKind::IdResultType));
    let mut kind = kinds.next();
    let mut index = 0;
    while let Some(&word) = inst.operands.get(index) {
        let (now, many) = kind.map_or((OperandKind::LiteralInteger, true), |kind| {
            (kind.kind, kind.quantifier == OperandQuantifier::ZeroOrMore)
        });
        index += 1;
        text.push(' ');
        if now == OperandKind::LiteralString
            && let Ok((string, next)) = inst.string(index - 1)
        {
            text += &format!("{string:?}");
            index = next;
        } else {
            text += &operand(now, word);
        }
        // Further operands of a mask or an enumerant have kinds of their own. They are printed as numbers.
        let extended = matches!(now, OperandKind::MemoryAccess | OperandKind::Decoration);
        if !many {
            kind = if extended { None } else { kinds.next() };
        }
    }
    text
}

fn operand(kind: OperandKind, word: u32) -> String {
    let named = match kind {
        OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => return format!("%{word}"),
        OperandKind::StorageClass => StorageClass::from_u32(word).map(|value| format!("{value:?}")),
        OperandKind::GroupOperation => GroupOperation::from_u32(word).map(|value| format!("{value:?}")),
        OperandKind::Decoration => Decoration::from_u32(word).map(|value| format!("{value:?}")),
        OperandKind::BuiltIn => BuiltIn::from_u32(word).map(|value| format!("{value:?}")),
        OperandKind::Capability => Capability::from_u32(word).map(|value| format!("{value:?}")),
        // The only supported set.
        OperandKind::LiteralExtInstInteger => GlslStd450Op::from_u32(word).map(|value| format!("{value:?}")),
        OperandKind::LiteralSpecConstantOpInteger => Op::from_u32(word).map(|value| format!("{value:?}")),
        OperandKind::MemoryAccess => MemoryAccess::from_bits(word).map(|value| {
            let names: Vec<&str> = value.iter_names().map(|(name, _)| name).collect();
            if names.is_empty() { "None".into() } else { names.join("|") }
        }),
        _ => None,
    };
    named.unwrap_or_else(|| word.to_string())
}
