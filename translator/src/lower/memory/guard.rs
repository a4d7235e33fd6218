//! Guards of shared memory, for operations that are long anyway and for accesses to other blocks' memory: mbarriers,
//! copies, and accesses whose address may come from `mapa`. As on hardware, an access that reaches past the end of the
//! block's memory, or of its cluster's, ends the launch as an illegal access. It must not damage other data there.

use crate::ir::{Builder, Builtin, Compare, GENERIC_SHARED, GENERIC_TAG_SHIFT, Space, Type, Value, Var};
use crate::lower::layout::Layout;
use crate::lower::lowering::Lowering;
use crate::lower::memory::cluster;
use ptx2spv_target::{CheckedAccess, CheckedSpace};

/// The end of the shared memory that a kernel can address.
pub fn end(l: &mut Lowering<'_, '_>) -> Value {
    end_in(&l.b, l.layout)
}

fn end_in(b: &Builder<'_>, layout: &Layout) -> Value {
    if let Some(end) = cluster::end(b) {
        return end;
    }
    let declared = layout.dynamic_shared_offset();
    if !layout.dynamic_shared {
        return b.i32(declared);
    }
    b.add_const(b.builtin(Builtin::DynamicSharedBytes), declared.into())
}

/// Reports the address that copies have noted in a variable, if they have: 1 more than it.
pub fn report_noted(b: &Builder<'_>, layout: &Layout, noted: Var) {
    let end = end_in(b, layout);
    let noted = b.get(noted);
    b.if_(b.is_nonzero(noted), |b| {
        report(b, CheckedAccess::Write, b.sub_const(noted, 1), 4, end);
    });
}

/// Whether `bytes` bytes from an address on lie below `end`. All are `I32`.
pub fn is_inside(b: &Builder<'_>, address: Value, bytes: Value, end: Value) -> Value {
    if let (Some(bytes), Some(end)) = (b.known(bytes), b.known(end))
        && let Some(last) = end.checked_sub(bytes)
    {
        return b.compare_const(Compare::LessEqualUnsigned, address, last);
    }
    let begins = b.ule(address, end);
    let rest = b.sub(end, address);
    b.and(begins, b.ule(bytes, rest))
}

/// Reports bytes of shared memory at an address.
pub fn report(b: &Builder<'_>, what: CheckedAccess, address: Value, bytes: u32, end: Value) {
    b.report_access(what, CheckedSpace::Shared, bytes, address, end);
}

/// Runs a copy of pieces of `piece` bytes if all `bytes` at an address are inside, and reports it otherwise.
pub fn if_inside(
    l: &mut Lowering<'_, '_>,
    what: CheckedAccess,
    (address, bytes, piece): (Value, Value, u32),
    copy: impl FnOnce(&Builder<'_>),
) {
    let end = end(l);
    l.b.if_else(is_inside(&l.b, address, bytes, end), copy, |b| report(b, what, address, piece, end));
}

/// The address of a word of 8 bytes, and whether that is inside. A word that isn't is reported, and replaced by the first one.
pub fn word(l: &mut Lowering<'_, '_>, what: CheckedAccess, address: Value) -> (Value, Value) {
    let end = end(l);
    let inside = is_inside(&l.b, address, l.b.i32(8), end);
    if l.b.known(inside) == Some(1) {
        return (address, inside);
    }
    l.b.if_else(inside, |_| {}, |b| report(b, what, address, 8, end));
    (l.b.select(inside, address, l.b.constant(Type::I32, 0)), inside)
}

/// An address that an access of `bytes` bytes may have from `mapa`: if that is outside of the cluster, the access is reported and gets the
/// start of the cluster's memory.
pub fn mapped(l: &mut Lowering<'_, '_>, what: CheckedAccess, (space, address): (Space, Value), bytes: u32) -> Value {
    let end = end(l);
    let b = &l.b;
    let count = b.i32(bytes);
    if space == Space::Shared {
        let inside = is_inside(b, address, count, end);
        b.if_else(inside, |_| {}, |b| report(b, what, address, bytes, end));
        return b.select(inside, address, b.i32(0));
    }
    let elsewhere = b.compare_const(Compare::NotEqual, b.shr(address, GENERIC_TAG_SHIFT), GENERIC_SHARED);
    let offset = b.shared_offset(b.truncate(address));
    let legal = b.or(elsewhere, is_inside(b, offset, count, end));
    b.if_else(legal, |_| {}, |b| report(b, what, offset, bytes, end));
    // Made of the address, so that the space is still known.
    let window = b.and_const(address, u64::MAX << 32);
    let first = b.or_const(window, b.function(|function| function.shared_start).into());
    b.select(legal, address, first)
}
