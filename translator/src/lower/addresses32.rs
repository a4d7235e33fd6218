//! 32-bit addresses in modules with 64-bit addresses: PTX allows them for shared, local, constant and parameter memory.
//!
//! A 32-bit address of a constant or kernel parameter is the low half of its device address. The whole address is computed from the
//! distance to the start of that memory, which is less than 4 GiB. Global memory has no such start.

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

/// Refuses to truncate a variable's address to 32 bits where the whole can't be recovered.
pub fn check(l: &Lowering<'_, '_>, base: Base) -> Result {
    if let Base::Variable(id) = base
        && let Some(variable) = l.program.variables.get(id.0 as usize)
        && variable.space == StateSpace::Global
    {
        return Err(refused("global memory", None));
    }
    Ok(())
}

/// The device address in a register, for an access to a space or to generic memory.
pub fn widen(l: &mut Lowering<'_, '_>, space: Option<StateSpace>, register: Value, span: Span) -> Result<Value> {
    let is_short = l.b.type_of(register) == Type::I32;
    let start = match space {
        // A 32-bit address may have been extended to 64 bits since.
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
