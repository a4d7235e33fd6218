//! `st.async` and `red.async` (PTX sections 9.7.9.13 and 9.7.12.7): stores that an mbarrier counts. They complete immediately, as all
//! asynchronous operations do here.

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::index::number;
use crate::ir::{Access, Atomic, MemoryOrder, Scope, Space, Type};
use crate::isa::types::ScalarType;
use crate::lower::lowering::{Lowering, carrier};
use crate::lower::memory::atomics;
use crate::lower::memory::guard;
use crate::lower::memory::mbarrier::{self, shared_address};
use ptx2spv_target::CheckedAccess;

/// `st.async`
pub fn store(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let Operand::Vector(sources) = l.operand(i, 1) else {
        return Err(Diagnostic::internal("a store without sources", i.span));
    };
    let address = shared_address(l, i, 0)?;
    let barrier = shared_address(l, i, 2)?;
    let (ty, values) = match (sources.as_slice(), ty) {
        ([source], ScalarType::B128) => (ScalarType::B64, l.source128(source)?.to_vec()),
        (sources, ty) => (ty, sources.iter().map(|source| l.source(source, ty)).collect::<Result<Vec<_>>>()?),
    };
    let access = access(ty, MemoryOrder::Weak);
    let bytes = ty.bytes() * number(values.len());
    let size = l.b.i32(bytes);
    guard::if_inside(l, CheckedAccess::Write, (address, size, bytes), |b| {
        // No access is wider than 16 bytes.
        let most = (16 / ty.bytes() as usize).max(1);
        for (values, offset) in values.chunks(most).zip((0..).step_by(most * ty.bytes() as usize)) {
            b.store(access, b.add_const(address, offset), values.to_vec());
        }
    });
    mbarrier::complete(l, barrier, size);
    Ok(())
}

pub fn reduce(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let op = atomics::operation(i, ty)?;
    let address = shared_address(l, i, 0)?;
    let operand = l.int(i, 1, ty)?;
    let barrier = shared_address(l, i, 2)?;
    let access = access(ty, MemoryOrder::Relaxed(Scope::Device));
    let size = l.b.i32(ty.bytes());
    guard::if_inside(l, CheckedAccess::Atomic, (address, size, ty.bytes()), |b| {
        b.atomic(Atomic { result: None, op, access, address, operand, compare: None });
    });
    mbarrier::complete(l, barrier, size);
    Ok(())
}

fn access(ty: ScalarType, order: MemoryOrder) -> Access {
    let bytes = if carrier(ty) == Type::I64 { 8 } else { 4 };
    Access { space: Space::Shared, bytes, order, read_only: false }
}
