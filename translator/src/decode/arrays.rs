//! Open arrays: the last parameter of a device function may be an array of no size, which takes all bytes that a call
//! packs into it (PTX section 5.1.6.4).
//!
//! Each array gets the size of the largest one that any call of the module may pass to it, or that the function itself
//! reaches by name. Bytes that a call doesn't pass are undefined.

use super::program::{Base, FuncId, Function, Operand, Program};

/// The largest parameter, in bytes.
const MAX_BYTES: i64 = 1 << 20;
/// The widest access, in bytes.
const WIDEST: i64 = 16;

/// Gives all open arrays their sizes.
pub(super) fn size_open(program: &mut Program) {
    if !program.functions.iter().any(|function| open_array(function).is_some()) {
        return;
    }
    let calls: Vec<_> = program.functions.iter().flat_map(calls).collect();
    for (number, function) in (0..).zip(&mut program.functions) {
        let Some(array) = open_array(function) else { continue };
        let reached = reached(function, array);
        // A call through a register may go to any function with such a parameter.
        let passed = calls.iter().filter(|call| call.callee.is_none_or(|callee| callee == FuncId(number)));
        let passed = passed.filter(|call| call.position == array).map(|call| call.bytes);
        let size = passed.chain([reached]).max().unwrap_or(0).next_multiple_of(4);
        let Some(param) = function.params.get_mut(array) else { continue };
        param.size = size;
        if let Some(variable) = param.memory.and_then(|id| program.variables.at_mut(id)) {
            variable.size = param.room().into();
        }
    }
}

fn open_array(function: &Function) -> Option<usize> {
    let last = function.formals.checked_sub(1)?;
    function.params.get(last).filter(|param| param.open).map(|_| last)
}

/// A `.param` variable that a call passes.
struct Call {
    /// `None` if a register says where it goes.
    callee: Option<FuncId>,
    /// The argument's position.
    position: usize,
    bytes: u32,
}

/// The arguments in `.param` variables that a function's calls pass.
fn calls(function: &Function) -> Vec<Call> {
    let mut found = Vec::new();
    for instruction in function.instructions() {
        let [Operand::List(_), callee, Operand::List(arguments), ..] = instruction.operands.as_slice() else {
            continue;
        };
        let callee = if let Operand::Function(id) = callee { Some(*id) } else { None };
        found.extend(arguments.iter().enumerate().filter_map(|(position, argument)| {
            let Operand::Address(Base::Param(param), _) = argument else { return None };
            Some(Call { callee, position, bytes: function.params.at(*param)?.size })
        }));
    }
    found
}

/// Bytes of a parameter that the function's accesses may reach by its name.
fn reached(function: &Function, param: usize) -> u32 {
    let ends = function.operands().filter_map(|operand| match operand {
        Operand::Address(Base::Param(id), offset) if id.0 as usize == param => offset.checked_add(WIDEST),
        _ => None,
    });
    let end = ends.filter(|end| *end <= MAX_BYTES).max().unwrap_or(0);
    u32::try_from(end).unwrap_or(0)
}
