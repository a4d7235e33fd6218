//! Which modules have something to report, and the places in the source that reports name.

use crate::decode::program::{Function, Instruction, Item, Operand, Program};
use crate::diagnostic::{Source, Span};
use crate::interface::Place;
use crate::lower::Rule;
use crate::target::Target;

/// Opcodes of instructions that may report something on every target.
const REPORTING: &[&str] = &["trap", "brkpt", "call", "brx", "shfl", "vote", "match", "redux", "elect", "alloca"];

/// Whether a kernel of the module may have to report something on the target.
pub(super) fn any(program: &Program, target: &Target) -> bool {
    target.quirks.loop_budget.is_some() || program.functions.iter().any(may_report)
}

fn may_report(function: &Function) -> bool {
    function.instructions().any(|instruction| {
        let row = instruction.form.row;
        REPORTING.contains(&row.opcode()) || row.syntax == "bar.warp.sync" || may_wait_in_vain(instruction)
    })
}

/// Whether an instruction is a barrier at which threads can be stuck: any but number 0 for the whole block.
fn may_wait_in_vain(instruction: &Instruction) -> bool {
    let plain = instruction.modifiers.has("sync") && instruction.operands == [Operand::Imm(0)];
    matches!(instruction.form.row.rule, Rule::Barrier) && !plain
}

/// Describes a place in a kernel or in what it calls; the empty span is the kernel as a whole.
pub fn place(program: &Program, kernel: &Function, source: &Source, span: Span) -> Place {
    if span == Span::default() {
        return Place::default();
    }
    let line = u32::try_from(source.line_column(span.start).0).unwrap_or(u32::MAX);
    let holds = |function: &&Function| {
        let body = function.body.as_deref().unwrap_or_default();
        let mut spans = body.iter().filter_map(|item| match item {
            Item::Instruction(instruction) => Some(instruction.span),
            Item::Label(_) => None,
        });
        let first = spans.next();
        let last = spans.next_back().or(first);
        first.zip(last).is_some_and(|(first, last)| first.start <= span.start && span.start <= last.start)
    };
    let function = program.functions.iter().find(holds);
    let lines = function.map(|function| function.lines.as_slice()).unwrap_or_default();
    let before = lines.partition_point(|line| line.at <= span.start);
    let origin = before.checked_sub(1).and_then(|index| lines.get(index)).map(|line| {
        let file = program.files.get(&line.file).map_or("?", String::as_str);
        format!("{file}:{}", line.line)
    });
    let function = function.filter(|function| function.name != kernel.name).map(|function| function.name.clone());
    Place { line, function, source: origin }
}
