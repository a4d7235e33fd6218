//! Line information: from which line of the source the SPIR-V instructions come.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::instruction::instruction;
use crate::diagnostic::{Source, Span};
use crate::source::offset;

/// The string with a module's name, a line and a column, both counted from 1; columns in bytes.
pub(super) type Position = (Word, u32, u32);

/// The source as the module names it.
pub(super) struct Lines {
    /// By the offsets at which they begin: lines, with the string that has their module's name and their number.
    starts: Vec<(u32, Word, u32)>,
}

impl Lines {
    /// `files` are the strings with the names of the source's modules.
    pub(super) fn new(files: &[Word], source: &Source) -> Self {
        let mut starts = Vec::new();
        for (file, module) in files.iter().zip(source.modules()) {
            let mut start = module.span.start as usize;
            for (number, line) in (1..).zip(source.slice(module.span).split_inclusive('\n')) {
                starts.push((offset(start), *file, number));
                start += line.len();
            }
        }
        Self { starts }
    }

    /// The position of a span's beginning.
    pub(super) fn position(&self, span: Span) -> Option<Position> {
        let after = self.starts.partition_point(|&(start, ..)| start <= span.start);
        let &(start, file, line) = self.starts.get(after.checked_sub(1)?)?;
        Some((file, line, span.start - start + 1))
    }

    /// The instruction that says where those after it come from. It holds up to the end of the block.
    pub(super) fn mark(&self, position: Option<Position>) -> Instruction {
        match position {
            Some((file, line, column)) => {
                let operands = vec![Operand::IdRef(file), Operand::LiteralBit32(line), Operand::LiteralBit32(column)];
                instruction(Op::Line, 0, 0, operands)
            }
            None => instruction(Op::NoLine, 0, 0, vec![]),
        }
    }
}
