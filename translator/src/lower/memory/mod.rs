//! Loads, stores and addresses (PTX sections 9.7.9.8 to 9.7.9.13).

pub mod addresses32;
pub mod async_stores;
pub mod atomics;
pub(in crate::lower) mod atomics128;
pub mod caches;
pub mod cluster;
pub mod copies;
pub(in crate::lower) mod guard;
pub mod mbarrier;
pub mod stack;

use crate::ast::StateSpace;
use crate::decode::program::{Base, Instruction, Operand, ParamId};
use crate::diagnostic::{Diagnostic, Result};
use crate::index::number;
use crate::ir::{
    Access, Atomic, AtomicOp, Compare, GENERIC_LOCAL, GENERIC_TAG_SHIFT, MemoryOrder, Scope, Space, Type, Value,
};
use crate::isa::modifiers::AddressSpace;
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::layout::frame::ParamSlot;
use crate::lower::lowering::Lowering;
use crate::lower::memory_order::{order, required_scope};
use crate::lower::texture;
use ptx2spv_interface::{ParamLocation, push_constant};
use ptx2spv_target::CheckedAccess;

/// Bits of the addresses in the window of a thread's local memory, and in that of a block's shared memory. Measured on an H100.
pub const LOCAL_WINDOW: u32 = 24;

/// The target of an access.
pub struct Location {
    pub space: Space,
    /// `I64` for global and generic memory, else a byte offset in `I32`.
    pub address: Value,
    /// Whether no thread writes to the memory while the kernel runs.
    pub read_only: bool,
}

/// A load, perhaps of memory that no thread writes.
pub(super) fn load_from(l: &mut Lowering<'_, '_>, i: &Instruction, read_only: bool) -> Result {
    let ty = i.ty(0)?;
    let Operand::Vector(destinations) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a load without destinations", i.span));
    };
    let element = element_type(ty);
    let values = if let Some((param, offset)) = param_operand(l, i, 1)? {
        let count = destinations.len() * halves(ty);
        let offsets = element_offsets(offset, element).take(count);
        offsets.map(|at| load_param(l, i, param, at, element)).collect::<Result<Vec<_>>>()?
    } else {
        let mut place = place(l, i, 1)?;
        place.read_only |= read_only;
        let access = access(i, &place, ty);
        if is_one_step(ty, access) {
            let at = (place.space, place.address);
            return destinations.iter().try_for_each(|destination| atomics128::load(l, i, at, destination));
        }
        let count = destinations.len() * halves(ty);
        let mut values = Vec::with_capacity(count);
        for (offset, count) in pieces(access, count) {
            values.extend(l.b.load(access, l.b.add_const(place.address, offset), count));
        }
        values
    };
    for (destination, parts) in destinations.iter().zip(values.chunks(halves(ty))) {
        match *parts {
            [low, high] => l.assign128(destination, low, high)?,
            [value, ..] => l.assign(destination, ty, value)?,
            [] => {}
        }
    }
    Ok(())
}

/// `st`
pub fn store(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let Operand::Vector(sources) = l.operand(i, 1) else {
        return Err(Diagnostic::internal("a store without sources", i.span));
    };
    let element = element_type(ty);
    let mut values = Vec::with_capacity(sources.len() * halves(ty));
    for source in sources {
        if ty == ScalarType::B128 {
            values.extend(l.source128(source)?);
        } else {
            values.push(l.source(source, ty)?);
        }
    }
    if let Some((param, offset)) = param_operand(l, i, 0)? {
        for (value, at) in values.into_iter().zip(element_offsets(offset, element)) {
            store_param(l, i, param, at, element, value)?;
        }
        return Ok(());
    }
    let place = place(l, i, 0)?;
    if place.read_only {
        return Err(Diagnostic::invalid("a store to memory that is only read", i.span));
    }
    let mut access = access(i, &place, ty);
    if is_one_step(ty, access) {
        let at = (place.space, place.address);
        return sources.iter().try_for_each(|source| atomics128::store(l, i, at, source));
    }
    if l.layout.reserved_shared > 0 && may_be_reserved(access) {
        access.order = MemoryOrder::Relaxed(Scope::Cta);
        if access.bytes == 8 {
            access.bytes = 4;
            values = values.into_iter().flat_map(|value| <[Value; 2]>::from(l.b.halves(value))).collect();
        }
    }
    let mut rest = values.into_iter();
    for (offset, count) in pieces(access, rest.len()) {
        let address = l.b.add_const(place.address, offset);
        let piece = rest.by_ref().take(count).collect();
        l.b.store(access, address, piece);
    }
    Ok(())
}

/// Whether a store may go to the shared memory that is reserved for CUDA's libraries. There all threads of a warp store
/// the same value to the same address, which Vulkan calls a race unless the store is atomic.
fn may_be_reserved(access: Access) -> bool {
    access.space == Space::Generic && access.order == MemoryOrder::Weak && access.bytes >= 4
}

/// The element type of memory accesses: 128 bits are two halves.
fn element_type(ty: ScalarType) -> ScalarType {
    if ty == ScalarType::B128 { ScalarType::B64 } else { ty }
}

/// The number of such elements in a value of a type.
fn halves(ty: ScalarType) -> usize {
    if ty == ScalarType::B128 { 2 } else { 1 }
}

/// Whether 128 bits must be accessed atomically. Local memory has no other threads, and read-only memory doesn't
/// change.
fn is_one_step(ty: ScalarType, access: Access) -> bool {
    let is_ordered = access.order != MemoryOrder::Weak && access.space != Space::Local && !access.read_only;
    ty == ScalarType::B128 && is_ordered
}

/// Offsets and lengths of the accesses that `count` elements take, of at most 16 bytes and 4 elements each.
///
/// The memory model treats a vector access as accesses to its elements in no order (PTX section 8.2.2). SPIR-V has atomic accesses of 4 and
/// 8 bytes, so strong accesses have these widths; narrower elements share one access.
fn pieces(access: Access, count: usize) -> impl Iterator<Item = (u64, usize)> {
    let bytes = usize::from(access.bytes).max(1);
    let most = if access.order == MemoryOrder::Weak { (16 / bytes).min(4) } else { (4 / bytes).max(1) };
    (0..count).step_by(most).map(move |first| (first as u64 * u64::from(access.bytes), most.min(count - first)))
}

/// Offsets of a vector's elements. Offsets that overflow saturate at a value beyond every parameter.
fn element_offsets(first: i64, ty: ScalarType) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(first), move |offset| Some(offset.saturating_add(i64::from(ty.bytes()))))
}

/// The width and the order of an access.
pub(crate) fn access(i: &Instruction, place: &Location, ty: ScalarType) -> Access {
    let order = order(i, MemoryOrder::Weak);
    let bytes = u8::try_from(element_type(ty).bytes()).unwrap_or(8);
    Access { space: place.space, bytes, order, read_only: place.read_only }
}

/// The place that memory operand number `index` means.
pub fn place(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize) -> Result<Location> {
    let Operand::Address(base, offset) = *l.operand(i, index) else {
        return Err(Diagnostic::internal("an access without an address", i.span));
    };
    // Without a space, the address is a generic one.
    let named = i.modifiers.space().map(AddressSpace::state_space);
    let space = match base {
        Base::Variable(id) | Base::Element { variable: id, .. } => {
            let declared = l.program.variables.at(id).map(|variable| variable.space);
            if let (Some(named), Some(declared)) = (named, declared)
                && named != declared
            {
                return Err(other_space(i));
            }
            declared
        }
        // Loads and stores of parameters are lowered elsewhere.
        Base::Param(_) => return Err(other_space(i)),
        Base::Reg(_) | Base::Absolute => named,
    };
    let (space, read_only) = match space {
        None => (Space::Generic, false),
        Some(StateSpace::Shared) => (Space::Shared, false),
        Some(StateSpace::Local) => (Space::Local, false),
        // The address may be of the function's own parameter, which lies in local memory, or of a kernel parameter.
        Some(StateSpace::Param) if l.frame.is_device && !i.modifiers.has(Word::ParamEntry) => match base {
            Base::Reg(register) if l.register_type(register)?.bits() <= 32 => (Space::Local, false),
            Base::Reg(_) | Base::Absolute | Base::Variable(_) | Base::Element { .. } | Base::Param(_) => {
                (Space::Generic, false)
            }
        },
        Some(StateSpace::Const | StateSpace::Param) => (Space::Global, true),
        Some(_) => (Space::Global, false),
    };
    let narrow = matches!(space, Space::Shared | Space::Local);
    let address = match base {
        Base::Reg(register) => {
            let bits = l.register_type(register)?.bits();
            if !narrow && bits < 32 {
                // Where constants and parameters lie, their addresses have more bits than on NVIDIA's devices.
                let message = format!("an address of {bits} bits outside shared and local memory");
                return Err(Diagnostic::unsupported(message, i.span));
            }
            let register = l.register(register)?;
            let register = if narrow {
                l.narrow(register)
            } else {
                addresses32::widen(l, named.filter(|_| space != Space::Generic), register, i.span)?
            };
            let register = match (space, named) {
                (Space::Generic, Some(_)) => param_pointer(l, register),
                _ => register,
            };
            l.b.add_const(register, offset.cast_unsigned())
        }
        Base::Absolute if space == Space::Shared => cluster::own_address(&l.b, offset as u32),
        Base::Absolute => l.b.constant(if narrow { Type::I32 } else { Type::I64 }, offset.cast_unsigned()),
        Base::Variable(_) | Base::Element { .. } | Base::Param(_) => {
            let address = variable_address(l, base, offset)?;
            if narrow { l.narrow(address) } else { address }
        }
    };
    let mut address = if space == Space::Shared { l.b.shared_offset(address) } else { address };
    let may_be_mapped = space == Space::Generic || i.modifiers.space() == Some(AddressSpace::SharedCluster);
    if l.layout.maps_shared && may_be_mapped && matches!(base, Base::Reg(_)) {
        let (what, bytes) = extent(i, index)?;
        address = guard::mapped(l, what, (space, address), bytes);
    }
    Ok(Location { space, address, read_only })
}

/// The kind of an access at memory operand number `index`, and its number of bytes.
fn extent(i: &Instruction, index: usize) -> Result<(CheckedAccess, u32)> {
    let what = match index {
        _ if i.form.row.action.effects().atomic => CheckedAccess::Atomic,
        0 => CheckedAccess::Write,
        _ => CheckedAccess::Read,
    };
    let elements = i.operands.iter().map(|operand| match operand {
        Operand::Vector(elements) => elements.len(),
        _ => 1,
    });
    Ok((what, i.ty(0)?.bytes() * number(elements.max().unwrap_or(1))))
}

fn other_space(i: &Instruction) -> Diagnostic {
    Diagnostic::invalid("the variable lives in another state space than the access names", i.span)
}

/// The address of a variable in its own space as an `I64`.
pub fn variable_address(l: &mut Lowering<'_, '_>, base: Base, offset: i64) -> Result<Value> {
    let offset = offset.cast_unsigned();
    match base {
        Base::Variable(id) => {
            let Some(variable) = l.program.variables.at(id) else {
                return Err(Diagnostic::internal("a variable without a declaration", None));
            };
            if variable.external {
                let message = format!("`{}`, which is defined in another module", variable.name);
                return Err(Diagnostic::undefined(message, variable.span));
            }
            if let Some(locals) = &l.frame.locals
                && let Some(place) = locals.places.get(&id)
            {
                let (frame, start) = (locals.frame, u64::from(locals.base).wrapping_add(*place).wrapping_add(offset));
                let address = l.b.add_const(l.b.get(frame), start & u64::from(u32::MAX));
                return Ok(l.b.zero_extend(address));
            }
            let place = l.layout.variable(id).ok_or_else(|| {
                Diagnostic::internal(format!("`{}` has no place in memory", variable.name), variable.span)
            })?;
            let narrow = place.wrapping_add(offset) as u32;
            if variable.space == StateSpace::Shared {
                let address = cluster::own_address(&l.b, narrow.wrapping_add(l.layout.shared_start));
                return Ok(l.b.zero_extend(address));
            }
            if variable.space == StateSpace::Local {
                return Ok(l.b.i64(narrow.into()));
            }
            let base = l.b.push_constant(Type::I64, l.layout.variables_address());
            let address = l.b.add_const(base, place.wrapping_add(offset));
            // The address of a texture, sampler or surface is its handle.
            Ok(match texture::record::handle_tag(variable.ty) {
                Some(tag) => l.b.or_const(address, tag),
                None => address,
            })
        }
        Base::Element { variable, index, bytes } => {
            let start = variable_address(l, Base::Variable(variable), 0)?;
            let number = l.register(index)?;
            // As CUDA has it: 16 bits have no sign, whatever the register's type.
            let number = l.zero_extend_narrow(number, l.register_type(index)?.bits());
            let place = l.b.mul(number, l.b.constant(l.b.type_of(number), bytes.into()));
            let place = l.b.add_const(place, offset);
            // With 16 or 32 bits, the place in the array has 32 bits, and no sign either.
            let place = if l.b.type_of(place) == Type::I32 { l.b.zero_extend(place) } else { place };
            Ok(l.b.add(start, place))
        }
        Base::Param(param) => {
            if let Some(variable) = l.frame.memory(param.0 as usize) {
                return variable_address(l, Base::Variable(variable), offset.cast_signed());
            }
            match l.frame.params.at(param) {
                Some(ParamSlot::Kernel(at)) if l.layout.params_location == ParamLocation::Buffer => {
                    let base = l.b.push_constant(Type::I64, push_constant::PARAMS_ADDRESS);
                    Ok(l.b.add_const(base, u64::from(*at).wrapping_add(offset)))
                }
                Some(ParamSlot::Kernel(_)) => {
                    Err(Diagnostic::internal("the address of a parameter that is in push constants", None))
                }
                _ => Err(Diagnostic::internal("the address of a parameter that has none", None)),
            }
        }
        Base::Reg(_) | Base::Absolute => Err(Diagnostic::internal("the address of something that has none", None)),
    }
}

/// The generic address of a parameter from one in a device function, which is that of the function's own parameter in local memory, or of
/// a kernel's parameter in device memory.
pub fn param_pointer(l: &Lowering<'_, '_>, address: Value) -> Value {
    let own = l.b.add_const(address, GENERIC_LOCAL << GENERIC_TAG_SHIFT);
    let is_own = l.b.compare_const(Compare::LessUnsigned, address, 1 << LOCAL_WINDOW);
    l.b.select(is_own, own, address)
}

/// The handle that a kernel's parameter holds.
pub fn handle(l: &mut Lowering<'_, '_>, param: ParamId) -> Result<Value> {
    match l.frame.params.at(param) {
        Some(ParamSlot::Kernel(at)) if l.layout.params_location == ParamLocation::Buffer => {
            let base = l.b.push_constant(Type::I64, push_constant::PARAMS_ADDRESS);
            let address = l.b.add_const(base, u64::from(*at));
            let access = Access { space: Space::Global, bytes: 8, order: MemoryOrder::Weak, read_only: true };
            Ok(l.b.load_one(access, address))
        }
        Some(ParamSlot::Kernel(at)) => Ok(l.b.push_constant(Type::I64, push_constant::PARAMS.wrapping_add(*at))),
        _ => Err(Diagnostic::internal("a handle in no kernel's parameter", None)),
    }
}

/// Parameter number and offset of a memory operand that names a `.param` variable.
fn param_operand(l: &Lowering<'_, '_>, i: &Instruction, index: usize) -> Result<Option<(usize, i64)>> {
    match l.operand(i, index) {
        Operand::Address(Base::Param(_), _)
            if i.modifiers.space().is_some_and(|named| named.state_space() != StateSpace::Param) =>
        {
            Err(other_space(i))
        }
        Operand::Address(Base::Param(param), offset) => Ok(Some((param.0 as usize, *offset))),
        _ => Ok(None),
    }
}

fn load_param(l: &mut Lowering<'_, '_>, i: &Instruction, param: usize, offset: i64, ty: ScalarType) -> Result<Value> {
    let at = inside(l, i, param, offset, ty)?;
    let bytes = ty.bytes();
    if let Some((access, address)) = param_place(l, param, at, ty)? {
        return Ok(l.b.load_one(access, address));
    }
    match l.frame.params.get(param) {
        Some(ParamSlot::Kernel(_)) => {
            if l.layout.params_location == ParamLocation::Buffer {
                let base = l.b.push_constant(Type::I64, push_constant::PARAMS_ADDRESS);
                let address = l.b.add_const(base, u64::from(at));
                let bytes = u8::try_from(bytes).unwrap_or(8);
                let access = Access { space: Space::Global, bytes, order: MemoryOrder::Weak, read_only: true };
                return Ok(l.b.load_one(access, address));
            }
            let place = push_constant::PARAMS + at;
            if bytes == 8 {
                return Ok(l.b.push_constant(Type::I64, place));
            }
            let word = l.b.shr(l.b.push_constant(Type::I32, place & !3), 8 * (place & 3));
            Ok(l.zero_extend_narrow(word, ty.bits()))
        }
        Some(ParamSlot::Words(words)) => {
            let word = (at / 4) as usize;
            // `inside` has checked that the words exist.
            let Some(low) = words.get(word).copied() else {
                return Err(Diagnostic::internal("a parameter word that isn't there", i.span));
            };
            let low = l.b.get(low);
            if bytes < 8 {
                let value = l.b.shr(low, 8 * (at % 4));
                return Ok(l.zero_extend_narrow(value, ty.bits()));
            }
            match words.get(word + 1).copied() {
                Some(high) => Ok(l.b.join(low, l.b.get(high))),
                None => Err(Diagnostic::internal("a parameter word that isn't there", i.span)),
            }
        }
        None => Err(Diagnostic::internal("a parameter that isn't there", i.span)),
    }
}

fn store_param(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    param: usize,
    offset: i64,
    ty: ScalarType,
    value: Value,
) -> Result {
    let at = inside(l, i, param, offset, ty)?;
    if let Some((access, address)) = param_place(l, param, at, ty)? {
        l.b.store(access, address, vec![value]);
        return Ok(());
    }
    let Some(ParamSlot::Words(words)) = l.frame.params.get(param) else {
        return Err(Diagnostic::invalid("a kernel's parameters can't be written", i.span));
    };
    let word = (at / 4) as usize;
    let (low, high) = (words.get(word).copied(), words.get(word + 1).copied());
    match (ty.bytes(), low, high) {
        (8, Some(low), Some(high)) => {
            let (low_value, high_value) = l.b.halves(value);
            l.b.set(low, low_value);
            l.b.set(high, high_value);
        }
        (4, Some(low), _) => l.b.set(low, value),
        (1 | 2, Some(low), _) => {
            let shift = 8 * (at % 4);
            let mask = ((1u64 << ty.bits()) - 1) << shift;
            let kept = l.b.and_const(l.b.get(low), !mask);
            let value = l.zero_extend_narrow(value, ty.bits());
            l.b.set(low, l.b.or(kept, l.b.shl(value, shift)));
        }
        _ => return Err(Diagnostic::internal("a parameter word that isn't there", i.span)),
    }
    Ok(())
}

/// The place of an element of a parameter, if the parameter lives in local memory.
fn param_place(l: &mut Lowering<'_, '_>, param: usize, at: u32, ty: ScalarType) -> Result<Option<(Access, Value)>> {
    let Some(variable) = l.frame.memory(param) else { return Ok(None) };
    let address = variable_address(l, Base::Variable(variable), at.into())?;
    let bytes = u8::try_from(ty.bytes()).unwrap_or(8);
    let access = Access { space: Space::Local, bytes, order: MemoryOrder::Weak, read_only: false };
    Ok(Some((access, l.narrow(address))))
}

/// Checks that an access lies inside a parameter and on a multiple of its size; gives its offset. A kernel's parameters are one
/// block, in which an access by the name of one may reach others: the offset is that in the block.
fn inside(l: &Lowering<'_, '_>, i: &Instruction, param: usize, offset: i64, ty: ScalarType) -> Result<u32> {
    let (whole, start, size) = match l.frame.params.get(param) {
        Some(ParamSlot::Kernel(start)) => ("kernel's parameters", *start, l.layout.params_size),
        _ => ("parameter", 0, l.frame.param_rooms.get(param).copied().unwrap_or(0)),
    };
    let bytes = ty.bytes();
    let at = u32::try_from(offset.saturating_add(start.into())).ok();
    at.filter(|at| at % bytes == 0 && at.checked_add(bytes).is_some_and(|end| end <= size)).ok_or_else(|| {
        let message =
            format!("{bytes} bytes at offset {offset} do not lie in the {size} bytes of the {whole}, aligned");
        Diagnostic::invalid(message, i.span)
    })
}

/// `fence`, except `fence.sc`
///
/// Acquire-only and release-only fences do both here. Proxy fences order all memory too, since there are no separate proxies here.
pub fn fence(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    l.b.fence(required_scope(i)?);
    Ok(())
}

/// `membar` and `fence.sc`
///
/// Vulkan has no sequentially consistent fences. A counter that all of them increase puts them in an order: each one
/// acquires what those before it have released. Take two fences, each between a store and a load of what the other
/// thread stores: one of them comes first, so at least one load sees the other thread's store.
pub fn fence_sequential(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let scope = required_scope(i)?;
    let (space, address) = if scope == Scope::Cta {
        let word = l.b.function(|function| {
            let word = function.fence_word.unwrap_or_else(|| function.take_shared(1));
            function.fence_word = Some(word);
            word
        });
        (Space::Shared, l.b.own_shared(word, 0))
    } else {
        let Some(word) = l.layout.fence_word() else {
            return Err(Diagnostic::internal("a fence without its word", i.span));
        };
        (Space::Global, l.b.add_const(l.b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS), word))
    };
    let operand = l.b.i32(1);
    let access = Access { space, bytes: 4, order: MemoryOrder::AcquireRelease(scope), read_only: false };
    l.b.atomic(Atomic { result: None, op: AtomicOp::Add, access, address, operand, compare: None });
    Ok(())
}
