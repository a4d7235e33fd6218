//! The instructions that can report faults, and the source positions that reports name.

use std::ops::RangeInclusive;

use crate::decode::program::{Function, Instruction, Operand, Program};
use crate::diagnostic::{Source, Span};
use crate::index::number;
use crate::isa::word::Word;
use ptx2spv_interface::SourceLocation;

/// Whether an instruction is a barrier at which threads can be stuck: any but number 0 for the whole block.
pub(super) fn may_wait_in_vain(instruction: &Instruction) -> bool {
    let plain = instruction.modifiers.has(Word::Sync) && instruction.operands == [Operand::Imm(0)];
    instruction.form.row.action.effects().waits && !plain
}

/// Describes a source position in a kernel or in a function that it calls, or the kernel as a whole.
/// Names the module if asked to, or if there are several.
pub fn place(
    program: &Program,
    kernel: &Function,
    source: &Source,
    span: Option<Span>,
    names_module: bool,
) -> SourceLocation {
    let Some(span) = span else { return SourceLocation::default() };
    let at = source.place(span.start);
    let line = number(at.line);
    let module = (names_module || source.is_linked()).then(|| at.file.to_string());
    let function = function_at(program, span.start..=span.start);
    let origin = function.and_then(|function| origin(program, function, span.start));
    let function = function.filter(|function| function.name != kernel.name).map(|function| function.name.clone());
    SourceLocation { line, module, function, source: origin }
}

/// The source position that `.loc` gives for a line, counted from 1, of a module's text: see
/// [`SourceLocation::source`].
pub fn line_origin(program: &Program, source: &Source, file: &str, line: u32) -> Option<String> {
    let Span { start, end } = source.line(file, line)?;
    let function = function_at(program, start..=end)?;
    // The line's first instruction.
    let at = function.instructions().map(|instruction| instruction.span.start).find(|at| (start..=end).contains(at))?;
    origin(program, function, at)
}

/// The function with an instruction that begins somewhere between two bytes of the text, or with instructions around them.
fn function_at(program: &Program, bytes: RangeInclusive<u32>) -> Option<&Function> {
    let holds = |function: &&Function| {
        let mut instructions = function.instructions().map(|instruction| instruction.span.start);
        let first = instructions.next();
        let last = instructions.next_back().or(first);
        first.zip(last).is_some_and(|(first, last)| first <= *bytes.end() && *bytes.start() <= last)
    };
    program.functions.iter().find(holds)
}

/// The source position that `.loc` gives for a place in a function's code.
fn origin(program: &Program, function: &Function, at: u32) -> Option<String> {
    let before = function.lines.partition_point(|line| line.at <= at);
    let line = function.lines.get(before.checked_sub(1)?)?;
    let place = |file, line| format!("{}:{line}", program.files.get(&file).map_or("?", String::as_str));
    let calls = line.calls.iter().map(|&(file, line)| format!(", inlined at {}", place(file, line)));
    Some(place(line.file, line.line) + &calls.collect::<String>())
}
