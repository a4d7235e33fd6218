//! Addresses of 32 bits in modules whose addresses have 64: PTX has them for shared, local, constant and parameter memory.
//!
//! Those of constants and kernel parameters are the low halves of device addresses. The whole ones are found by their distance
//! from where that memory begins, which is less than 4 GiB. Global memory has no such beginning.

use super::{Lowering, Result};
use crate::ast::StateSpace;
use crate::decode::program::Base;
use crate::diagnostic::{Diagnostic, Span};
use crate::interface::push_constant;
use crate::ir::{Type, Value};

/// The refusal of an address of 32 bits.
pub fn refused(what: &str, span: impl Into<Option<Span>>) -> Diagnostic {
    Diagnostic::unsupported(format!("a 32-bit address of {what}: device addresses have 64 bits"), span)
}

/// Refuses to cut a variable's address to 32 bits where these don't tell the whole.
pub fn check(l: &Lowering<'_, '_>, base: Base) -> Result {
    if let Base::Variable(id) = base
        && let Some(variable) = l.program.variables.get(id.0 as usize)
        && variable.space == StateSpace::Global
    {
        return Err(refused("global memory", None));
    }
    Ok(())
}

/// The device address that a register holds, by which memory of a space, or generic memory, is accessed.
pub fn widen(l: &mut Lowering<'_, '_>, space: Option<StateSpace>, register: Value, span: Span) -> Result<Value> {
    let is_short = l.b.type_of(register) == Type::I32;
    let start = match space {
        // What was 32 bits may have become 64 since.
        Some(StateSpace::Const) if is_short || l.layout.short_addresses => push_constant::VARIABLES_ADDRESS,
        Some(StateSpace::Param) if is_short || l.layout.short_addresses => push_constant::PARAMS_ADDRESS,
        Some(StateSpace::Const | StateSpace::Param) => return Ok(register),
        Some(_) if is_short => return Err(refused("global memory", span)),
        None if is_short => return Err(refused("generic memory", span)),
        _ => return Ok(register),
    };
    let start = l.b.push_constant(Type::I64, start);
    let (from, to) = (l.narrow(start), l.narrow(register));
    let distance = l.b.sub(to, from);
    let distance = l.b.zero_extend(distance);
    Ok(l.b.add(start, distance))
}
