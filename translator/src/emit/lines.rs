//! Line information: from which line of the source the SPIR-V instructions come.

use codespan_reporting::files::line_starts;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::instruction::instruction;
use crate::diagnostic::{Source, Span};

/// A line and a column, both counted from 1; columns in bytes.
pub(super) type Position = (u32, u32);

/// The source as the module names it.
pub(super) struct Lines {
    /// The string with its name.
    file: Word,
    /// Byte offsets at which its lines begin.
    starts: Vec<u32>,
}

impl Lines {
    pub(super) fn new(file: Word, source: &Source) -> Self {
        // Spans have 32 bits, too.
        let starts = line_starts(source.text()).map(|start| u32::try_from(start).unwrap_or(u32::MAX)).collect();
        Self { file, starts }
    }

    /// Where a span begins.
    pub(super) fn position(&self, span: Span) -> Option<Position> {
        // The first line begins at 0, so the line is 1 at least.
        let line = self.starts.partition_point(|&start| start <= span.start);
        let start = self.starts.get(line.checked_sub(1)?)?;
        Some((u32::try_from(line).ok()?, span.start - start + 1))
    }

    /// The instruction that says where those after it come from. It holds up to the end of the block.
    pub(super) fn mark(&self, position: Option<Position>) -> Instruction {
        match position {
            Some((line, column)) => {
                let operands =
                    vec![Operand::IdRef(self.file), Operand::LiteralBit32(line), Operand::LiteralBit32(column)];
                instruction(Op::Line, 0, 0, operands)
            }
            None => instruction(Op::NoLine, 0, 0, vec![]),
        }
    }
}
