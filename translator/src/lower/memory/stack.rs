//! `alloca`, `stacksave` and `stackrestore` (PTX section 9.7.17): local memory that a thread allocates at run time.
//!
//! The stack grows upwards from the end of the kernel's other local memory and has a fixed size. A thread that needs more reports an
//! overflow to the host, and the launch fails. Addresses are offsets in local memory. A device function's allocations are freed when it
//! returns ([`crate::lower::calls::prologue`]).

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Compare, Value, Var};
use crate::lower::layout::STACK_BYTES;
use crate::lower::lowering::Lowering;
use ptx2spv_target::Fault;

/// The least alignment of memory from `alloca`, and the default.
const LEAST_ALIGN: u64 = 8;
/// The greatest alignment that `alloca` takes.
const MOST_ALIGN: u64 = 1 << 23;

/// The variable that counts the bytes in use, and where in local memory they begin.
fn stack(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<(Var, u32)> {
    l.frame.stack.zip(l.layout.stack).ok_or_else(|| Diagnostic::internal("a kernel without a stack", i.span))
}

pub fn alloca(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let align = match l.operand(i, 2) {
        Operand::Sink => LEAST_ALIGN,
        Operand::Imm(align) if align.is_power_of_two() && *align <= MOST_ALIGN => LEAST_ALIGN.max(*align),
        _ => {
            let message = format!("the alignment must be a constant power of two of at most {MOST_ALIGN}");
            return Err(Diagnostic::invalid(message, i.span));
        }
    };
    let (used, start) = stack(l, i)?;
    let size = l.int(i, 1, ty)?;
    let is_sane = l.b.ule(size, l.b.constant_like(size, STACK_BYTES.into()));
    let size = l.narrow(size);
    let place = l.b.and_const(l.b.add_const(l.b.get(used), u64::from(start) + align - 1), !(align - 1));
    let end = l.b.add(l.b.sub_const(place, start.into()), size);
    let is_inside = l.b.compare_const(Compare::LessEqualUnsigned, end, STACK_BYTES.into());
    let fits = l.b.and(is_sane, is_inside);
    // An allocation that does not fit gets the stack's start, and the launch fails.
    let place = l.b.select(fits, place, l.b.i32(start));
    l.b.if_else(fits, |b| b.set(used, end), |b| b.report(Fault::StackOverflow));
    set_address(l, i, place)
}

pub fn save(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (used, start) = stack(l, i)?;
    set_address(l, i, l.b.add_const(l.b.get(used), start.into()))
}

pub fn restore(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (used, start) = stack(l, i)?;
    let top = l.int(i, 0, i.ty(0)?)?;
    let top = l.narrow(top);
    l.b.set(used, l.b.sub_const(top, start.into()));
    Ok(())
}

fn set_address(l: &mut Lowering<'_, '_>, i: &Instruction, offset: Value) -> Result {
    let ty = i.ty(0)?;
    let address = if ty.bits() == 64 { l.b.zero_extend(offset) } else { offset };
    l.set(i, 0, ty, address)
}
