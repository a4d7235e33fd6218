//! Defaults for old modules. PTX before 1.4 has no modifiers for the rounding of quotients, roots and functions, and
//! targets before sm_20 flush subnormal single-precision numbers whether an instruction says so or not.

use super::program::Program;
use crate::ast;
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::modifiers::Modifiers;
use crate::isa::operation::{Action, Operation};
use crate::isa::table::{self, Form};

/// The first version of PTX with those modifiers.
const EXPLICIT: (u32, u32) = (1, 4);
/// The first version of PTX without banks of constant memory.
const WITHOUT_BANKS: (u32, u32) = (2, 2);
/// The first architecture that keeps subnormal numbers.
const SUBNORMAL: u32 = 20;

/// Refuses banks of constant memory in modules that have none.
pub(super) fn check_bank(program: &Program, span: Span) -> Result<(), Diagnostic> {
    if program.version < WITHOUT_BANKS {
        return Ok(());
    }
    let (major, minor) = WITHOUT_BANKS;
    Err(Diagnostic::invalid(
        format!("a bank of constant memory, which there is none of since PTX {major}.{minor}"),
        span,
    ))
}

/// Finds the row that an instruction of a module belongs to.
pub(super) fn find(
    program: &Program,
    instruction: &ast::Instruction<'_>,
) -> Result<(&'static Form, Modifiers), Diagnostic> {
    // The banks are parts of one space here.
    if let Some(bank) = instruction.modifiers.iter().position(|modifier| modifier.text.starts_with("const[")) {
        let mut instruction = instruction.clone();
        let bank = &mut instruction.modifiers[bank];
        check_bank(program, bank.span)?;
        bank.text = "const";
        return find(program, &instruction);
    }
    let with = |words: &[&'static str]| {
        let mut instruction = instruction.clone();
        let span = instruction.opcode.span;
        instruction.modifiers.splice(..0, words.iter().map(|text| ast::Ident { text, span }));
        table::find(&instruction)
    };
    if program.version < EXPLICIT
        && let [ty] = instruction.modifiers.as_slice()
        && let Some(words) = table::implied(instruction.opcode.text, ty.text)
    {
        return with(&words);
    }
    let has = |word| instruction.modifiers.iter().any(|modifier| modifier.text == word);
    let is_old = program.architecture().is_some_and(|number| number < SUBNORMAL);
    if is_old
        && has("f32")
        && !has("ftz")
        && let Ok((form, modifiers)) = with(&["ftz"])
        && !(program.version <= EXPLICIT && is_long_conversion(form, &modifiers))
    {
        return Ok((form, modifiers));
    }
    table::find(instruction)
}

/// Whether an instruction converts from or to 64 bits. Up to PTX 1.4 such conversions keep subnormal numbers on all targets.
fn is_long_conversion(form: &Form, modifiers: &Modifiers) -> bool {
    use Operation::{ConvertFloatToFloat, ConvertFloatToInt, ConvertIntToFloat};
    matches!(form.row.action, Action::Compute(ConvertFloatToFloat | ConvertFloatToInt | ConvertIntToFloat))
        && modifiers.types.iter().any(|ty| ty.bits() == 64)
}
