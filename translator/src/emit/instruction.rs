//! SPIR-V instructions by their opcode.

use std::sync::LazyLock;

use rspirv::dr::{Instruction, Operand};
use rspirv::grammar;
use rspirv::spirv::{Op, Word};

/// rspirv's description of each operation by opcode; its own look-up is a linear search.
static CLASSES: LazyLock<Vec<Option<&'static grammar::Instruction<'static>>>> = LazyLock::new(|| {
    let mut classes = Vec::new();
    for class in grammar::INSTRUCTION_TABLE.iter() {
        let opcode = class.opcode as usize;
        if classes.len() <= opcode {
            classes.resize(opcode + 1, None);
        }
        classes[opcode] = Some(class);
    }
    classes
});

/// An instruction; `0` stands for no result type or no result.
pub(super) fn instruction(op: Op, ty: Word, id: Word, operands: Vec<Operand>) -> Instruction {
    let class = CLASSES.get(op as usize).copied().flatten();
    let class = class.unwrap_or_else(|| grammar::INSTRUCTION_TABLE.get(op));
    let some = |word| if word == 0 { None } else { Some(word) };
    Instruction { class, result_type: some(ty), result_id: some(id), operands }
}
