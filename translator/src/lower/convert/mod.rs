//! `cvt` between integers (PTX section 9.7.9.21), and `cvta`, `isspacep`.

pub mod convert_float;
pub mod convert_packed;

use crate::decode::program::Instruction;
use crate::diagnostic::Result;
use crate::ir::{Compare, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, Type, Unary, Value};
use crate::isa::modifiers::AddressSpace;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::clamp_signed;
use crate::lower::lowering::Lowering;
use crate::lower::memory::addresses32;
use crate::lower::memory::cluster;
use crate::lower::memory::{self, LOCAL_WINDOW};
use ptx2spv_interface::{ParamLocation, push_constant};

/// `cvt` between integers.
pub fn int_to_int(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let (to, from) = (i.ty(0)?, i.ty(1)?);
    let a = l.signed(i, 1, from)?;
    let mut value = if to.bits() == 64 && from.bits() < 64 {
        l.b.unary(if from.is_signed() { Unary::SignExtend } else { Unary::ZeroExtend }, a)
    } else {
        a
    };
    if i.modifiers.has(Word::Sat) {
        value = saturate_int(l, value, from, to);
    }
    if to.bits() < 64 {
        value = l.narrow(value);
    }
    l.set(i, 0, to, value)
}

/// Clamps a value of type `from` to the range of `to`.
fn saturate_int(l: &mut Lowering<'_, '_>, value: Value, from: ScalarType, to: ScalarType) -> Value {
    let (low, high) = range(to);
    if from.is_signed() {
        // Every signed value fits i64, where all bounds but u64's do too.
        let high = i64::try_from(high).unwrap_or(i64::MAX);
        let width = if l.b.type_of(value) == Type::I64 { 64 } else { 32 };
        let bound = |value: i64| value.clamp(-1 << (width - 1), i64::MAX >> (64 - width));
        return clamp_signed(l, value, bound(low), bound(high));
    }
    let most = if l.b.type_of(value) == Type::I64 { high } else { high.min(u64::from(u32::MAX)) };
    let most = l.b.constant_like(value, most);
    l.b.select(l.b.ult(value, most), value, most)
}

/// Smallest and largest value of an integer type.
pub(crate) fn range(ty: ScalarType) -> (i64, u64) {
    let bits = ty.bits();
    if ty.is_signed() { (-1 << (bits - 1), u64::MAX >> (65 - bits)) } else { (0, u64::MAX >> (64 - bits)) }
}

/// The tag of generic addresses of a state space, if they have one.
fn tag(space: AddressSpace) -> Option<u64> {
    use AddressSpace::{Const, Global, Local, Param, ParamEntry, ParamFunc, Shared, SharedCluster, SharedCta};
    match space {
        Shared | SharedCta | SharedCluster => Some(GENERIC_SHARED),
        Local => Some(GENERIC_LOCAL),
        Global | Const | Param | ParamEntry | ParamFunc => None,
    }
}

/// `cvta`: to a generic address, or with `.to` back from one.
pub fn cvta(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    use AddressSpace::{Const, Global, Local, Param, ParamEntry, ParamFunc, Shared, SharedCluster, SharedCta};
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let space = i.required(i.modifiers.space())?;
    let result = match (tag(space), i.modifiers.has(Word::To)) {
        (tag, to_space) if ty.bits() == 32 && l.program.address_bits == 32 => addresses32::convert(l, tag, to_space, a),
        _ if ty.bits() == 32 => return Err(addresses32::refused("generic memory", i.span)),
        // Global, const and parameter addresses are device addresses in either form.
        (None, true) => a,
        (None, false) => match space {
            Param | ParamEntry | ParamFunc if l.frame.is_device => memory::param_pointer(l, a),
            Const | Param | ParamEntry | ParamFunc => addresses32::widen(l, Some(space.state_space()), a, i.span)?,
            Global | Shared | SharedCta | SharedCluster | Local => a,
        },
        // Shared memory has no variable at null. Its window has the addresses of 32 bits, of which hardware of sm_90 converts these bits.
        (Some(GENERIC_SHARED), to_space) => {
            let low = l.b.zero_extend(l.b.truncate(a));
            if to_space { low } else { l.b.or_const(low, GENERIC_SHARED << GENERIC_TAG_SHIFT) }
        }
        // As hardware adds and subtracts a window's base: null doesn't become the address of a variable, and comes back as null.
        (Some(tag), false) => l.b.add_const(a, tag << GENERIC_TAG_SHIFT),
        (Some(tag), true) => l.b.sub_const(a, tag << GENERIC_TAG_SHIFT),
    };
    l.set(i, 0, ty, result)
}

pub fn isspacep(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let mut a = l.int(i, 1, ScalarType::B64)?;
    if l.program.address_bits == 32 {
        a = addresses32::widen_generic(l, a);
    }
    use AddressSpace::{Const, Global, Local, Param, ParamEntry, ParamFunc, Shared, SharedCluster, SharedCta};
    let result = match i.required(i.modifiers.space())? {
        Shared | SharedCta => {
            let shared = is_in_window(l, a, GENERIC_SHARED, CLUSTER_WINDOW);
            let low = l.b.truncate(a);
            let own = if l.b.function(|function| function.cluster).is_some() {
                cluster::is_own(&l.b, low)
            } else {
                l.b.compare_const(Compare::LessUnsigned, low, 1 << LOCAL_WINDOW)
            };
            l.b.and(shared, own)
        }
        SharedCluster => is_in_window(l, a, GENERIC_SHARED, CLUSTER_WINDOW),
        Local => is_in_window(l, a, GENERIC_LOCAL, LOCAL_WINDOW),
        Global => {
            let shared = is_in_window(l, a, GENERIC_SHARED, CLUSTER_WINDOW);
            let local = is_in_window(l, a, GENERIC_LOCAL, LOCAL_WINDOW);
            // Constants have their own window of addresses.
            let constant = is_within(l, a, push_constant::VARIABLES_ADDRESS, l.layout.const_bytes);
            let windows = l.b.or(l.b.or(shared, local), constant);
            l.b.not(windows)
        }
        Const => is_within(l, a, push_constant::VARIABLES_ADDRESS, l.layout.const_bytes),
        // Parameters whose address isn't taken have none.
        Param | ParamEntry | ParamFunc if l.layout.params_location == ParamLocation::PushConstant => l.b.bool(false),
        Param | ParamEntry | ParamFunc => is_within(l, a, push_constant::PARAMS_ADDRESS, l.layout.params_size.into()),
    };
    l.set(i, 0, ScalarType::Pred, result)
}

/// Bits of the addresses in the window of a cluster's shared memory. Measured on an H100.
const CLUSTER_WINDOW: u32 = 32;

/// Whether a generic address lies in the window of `1 << bits` addresses that a tag begins.
fn is_in_window(l: &Lowering<'_, '_>, address: Value, tag: u64, bits: u32) -> Value {
    l.b.compare_const(Compare::Equal, l.b.shr(address, bits), tag << (GENERIC_TAG_SHIFT - bits))
}

/// Whether an address lies within `bytes` from the address in a push constant.
fn is_within(l: &Lowering<'_, '_>, address: Value, start: u32, bytes: u64) -> Value {
    if bytes == 0 {
        return l.b.bool(false);
    }
    l.b.compare_const(Compare::LessUnsigned, l.b.sub(address, l.b.push_constant(Type::I64, start)), bytes)
}
