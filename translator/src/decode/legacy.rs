//! What old modules leave unsaid. PTX before 1.4 has no modifiers that say how quotients, roots and functions are rounded, and
//! targets before sm_20 flush subnormal single-precision numbers whether an instruction says so or not.

use super::program::Program;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::isa::modifiers::Modifiers;
use crate::isa::table::{self, Form};

/// The first version of PTX with those modifiers.
const EXPLICIT: (u32, u32) = (1, 4);
/// The first architecture that keeps subnormal numbers.
const SUBNORMAL: u32 = 20;

/// Finds the row that an instruction of a module belongs to.
pub(super) fn find(
    program: &Program,
    instruction: &ast::Instruction<'_>,
) -> Result<(&'static Form, Modifiers), Diagnostic> {
    let with = |words: &[&'static str]| {
        let mut instruction = instruction.clone();
        let span = instruction.opcode.span;
        instruction.modifiers.splice(..0, words.iter().map(|text| ast::Ident { text, span }));
        table::find(&instruction)
    };
    if program.version < EXPLICIT
        && let Some(words) = default_rounding(instruction)
    {
        return with(words);
    }
    if flushes(program, instruction)
        && let Ok(found) = with(&["ftz"])
    {
        return Ok(found);
    }
    table::find(instruction)
}

/// What PTX before 1.4 means by an instruction that names nothing but its type.
fn default_rounding(instruction: &ast::Instruction<'_>) -> Option<&'static [&'static str]> {
    let [ty] = instruction.modifiers.as_slice() else { return None };
    match (instruction.opcode.text, ty.text) {
        ("div" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2", "f32") => Some(&["approx", "ftz"]),
        ("div" | "rcp" | "sqrt", "f64") => Some(&["rn"]),
        ("rsqrt", "f64") => Some(&["approx"]),
        _ => None,
    }
}

/// Whether an instruction flushes where it has a form that says so.
fn flushes(program: &Program, instruction: &ast::Instruction<'_>) -> bool {
    let has = |words: &[&str]| instruction.modifiers.iter().any(|modifier| words.contains(&modifier.text));
    // Up to PTX 1.4 conversions from or to 64 bits keep subnormal numbers on all targets.
    let kept = instruction.opcode.text == "cvt" && program.version <= EXPLICIT && has(&["f64", "s64", "u64"]);
    program.architecture().is_some_and(|number| number < SUBNORMAL) && has(&["f32"]) && !has(&["ftz"]) && !kept
}
