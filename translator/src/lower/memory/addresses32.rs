//! 32-bit addresses: those of modules whose pointers have 32 bits, and those that modules with 64-bit pointers may use for shared, local,
//! constant and parameter memory.
//!
//! A 32-bit address of device memory is the low half of its device address. Modules with 32-bit pointers have all their memory within 1 GiB
//! of their variables ([`Variables::near`](ptx2spv_interface::Variables::near)), so that the distance to these gives the whole address. What
//! lies further away stands for shared and local memory in generic addresses: the distance's top two bits are the tag that a generic
//! address of 64 bits has. Other modules have constants and parameters less than 4 GiB after the start of that memory; their global memory
//! has no such start.

use crate::ast::StateSpace;
use crate::decode::program::{Base, Program};
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::ir::{Compare, GENERIC_TAG_SHIFT, Type, Value};
use crate::lower::lowering::Lowering;
use ptx2spv_interface::push_constant;

/// Position of the two tag bits in the distance of a generic address.
const TAG_SHIFT: u32 = 30;

/// The first architecture that is refused with 32-bit pointers: hardware has never had both, and instructions that came
/// with that architecture take whole addresses.
const TOO_NEW: u32 = 80;

/// The refusal of an address of 32 bits.
pub fn refused(what: &str, span: impl Into<Option<Span>>) -> Diagnostic {
    Diagnostic::unsupported(format!("a 32-bit address of {what}: device addresses have 64 bits"), span)
}

/// Refuses 32-bit pointers for architectures that never had them.
pub fn check_architecture(program: &Program) -> Result {
    let newest = program.functions.iter().filter_map(|function| function.architecture).max();
    if program.address_bits == 32 && newest.is_some_and(|newest| newest >= TOO_NEW) {
        let message = format!("32-bit addresses for sm_{TOO_NEW} or newer, for which a module says `.address_size 64`");
        return Err(Diagnostic::unsupported(message, program.address_bits_span));
    }
    Ok(())
}

/// Whether the module's pointers have 32 bits.
fn are_pointers(l: &Lowering<'_, '_>) -> bool {
    l.program.address_bits == 32
}

/// Refuses to truncate a variable's address to 32 bits where the whole can't be recovered.
pub fn check(l: &Lowering<'_, '_>, base: Base) -> Result {
    if let Some(id) = base.variable()
        && let Some(variable) = l.program.variables.at(id)
        && variable.space == StateSpace::Global
        && !are_pointers(l)
    {
        return Err(refused("global memory", None));
    }
    Ok(())
}

/// The device address in a register, for an access to a space or to generic memory.
pub fn widen(l: &mut Lowering<'_, '_>, space: Option<StateSpace>, register: Value, span: Span) -> Result<Value> {
    let is_short = l.b.type_of(register) == Type::I32;
    let start = match space {
        None if are_pointers(l) => return Ok(widen_generic(l, register)),
        Some(StateSpace::Global) if are_pointers(l) => return Ok(widen_global(l, register)),
        // A 32-bit address may have been extended to 64 bits since.
        Some(StateSpace::Const) if is_short || l.layout.short_addresses => l.layout.variables_address(),
        Some(StateSpace::Param) if is_short || l.layout.short_addresses => push_constant::PARAMS_ADDRESS,
        Some(StateSpace::Const | StateSpace::Param) => return Ok(register),
        Some(_) if is_short => return Err(refused("global memory", span)),
        None if is_short => return Err(refused("generic memory", span)),
        _ => return Ok(register),
    };
    let start = l.b.push_constant(Type::I64, start);
    let (from, to) = (l.narrow(start), l.narrow(register));
    let distance = l.b.zero_extend(l.b.sub(to, from));
    Ok(l.b.add(start, distance))
}

/// The address of the module's variables, and the distance from there to an address of 32 bits; `I64` and `I32`.
fn distance(l: &mut Lowering<'_, '_>, register: Value) -> (Value, Value) {
    let start = l.b.push_constant(Type::I64, l.layout.variables_address());
    let (from, to) = (l.narrow(start), l.narrow(register));
    (start, l.b.sub(to, from))
}

fn widen_global(l: &mut Lowering<'_, '_>, register: Value) -> Value {
    let (start, distance) = distance(l, register);
    l.b.add(start, l.b.sign_extend(distance))
}

/// A generic address of 64 bits.
pub fn widen_generic(l: &mut Lowering<'_, '_>, register: Value) -> Value {
    let (start, distance) = distance(l, register);
    let tag = l.b.shr(distance, TAG_SHIFT);
    // Tags 0 and 3 are device memory on either side of the variables.
    let tagged = l.b.compare_const(Compare::LessUnsigned, l.b.sub_const(tag, 1), 2);
    let offset = offset_of(l, distance);
    let own = l.b.or(l.b.zero_extend(offset), l.b.shl(l.b.zero_extend(tag), GENERIC_TAG_SHIFT));
    let device = l.b.add(start, l.b.sign_extend(distance));
    l.b.select(tagged, own, device)
}

fn offset_of(l: &Lowering<'_, '_>, distance: Value) -> Value {
    l.b.and_const(distance, (1 << TAG_SHIFT) - 1)
}

/// `cvta` between 32-bit addresses: of memory with a tag, or of device memory without one, which has the same address in either form.
pub fn convert(l: &mut Lowering<'_, '_>, tag: Option<u64>, to_space: bool, address: Value) -> Value {
    let Some(tag) = tag else { return address };
    let start = l.narrow(l.b.push_constant(Type::I64, l.layout.variables_address()));
    let window = l.b.add_const(start, tag << TAG_SHIFT);
    if to_space { l.b.sub(address, window) } else { l.b.add(address, window) }
}
