//! `suld.b`, `sust.b` and `sured`: byte accesses to a surface, with a rule for accesses outside.
//!
//! `.clamp` moves the access to the nearest place where it lies wholly inside its row. `.zero` loads zeros and drops stores. `.trap` does
//! the same and makes the launch fail, and so does a misaligned access.

use super::record::{Level, Record};
use super::{Geometry, Point, clamp, least, list};
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Atomic, AtomicOp, Compare, MemoryOrder, Scope, Space, Value};
use crate::isa::modifiers::{Bounds, Operator};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::{Lowering, carrier};
use ptx2spv_interface::texture::field;
use ptx2spv_target::Fault;

/// The signed integer formats among the numbers of `CUarray_format`, as a bit set.
const SIGNED_FORMATS: u64 = 1 << 8 | 1 << 9 | 1 << 10;

/// The target of an access to a surface.
pub(super) struct SurfaceAccess {
    pub(super) record: Record,
    pub(super) geometry: Geometry,
    /// The surface's only level.
    pub(super) level: Level,
    /// Offset in the row, in bytes.
    pub(super) bytes: Value,
    pub(super) point: Point,
    /// Whether the place exists.
    pub(super) is_there: Value,
}

impl SurfaceAccess {
    /// The place of an access to `size` bytes, a power of two; `bytes_of` gives the byte offset of the first
    /// coordinate.
    pub(super) fn of(
        l: &mut Lowering<'_, '_>,
        i: &Instruction,
        operand: usize,
        size: Value,
        bytes_of: impl FnOnce(&mut Lowering<'_, '_>, Value) -> Value,
    ) -> Result<SurfaceAccess> {
        let geometry = Geometry::of(i)?;
        let bounds = i.required(i.modifiers.bounds())?;
        let operands = list(i, operand)?;
        let Some((handle, rest)) = operands.split_first() else {
            return Err(Diagnostic::internal("a surface that isn't there", i.span));
        };
        let record = Record::of(l, handle)?;
        let mut point = Point::of(l, geometry, rest)?;
        let image = record.image(l);
        let first = point.coordinates.first().copied();
        let first = first.ok_or_else(|| Diagnostic::internal("a surface without coordinates", i.span))?;
        let mut bytes = bytes_of(l, first);
        let format = super::texel::Format::of(l, image.texel, image.channels);
        let row = format.bytes(l, image.level.width);
        let mut is_there = l.b.ule(size, row);
        // The last offset at which an access of this size fits into the row.
        let last = l.b.sub(row, size);
        let below = l.b.sub_const(size, 1);
        let misplaced = l.b.and(bytes, below);
        let is_aligned = l.b.is_zero(misplaced);
        let extents = image.level.extents(geometry, image.layers);
        let others = extents.into_iter().skip(1);
        let mut fails = l.b.not(is_aligned);
        if bounds == Bounds::Clamp {
            bytes = clamp(l, bytes, l.b.and(last, l.b.not(below)));
            let mut others = others;
            for (coordinate, extent) in point.coordinates.iter_mut().skip(1).zip(&mut others) {
                *coordinate = clamp(l, *coordinate, l.b.sub_const(extent, 1));
            }
            if let (Some(layer), Some(extent)) = (&mut point.layer, others.next()) {
                *layer = least(l, *layer, l.b.sub_const(extent, 1));
            }
        } else {
            let is_inside = l.b.ule(bytes, last);
            is_there = l.b.and(is_there, is_inside);
            for (coordinate, extent) in point.coordinates.iter().skip(1).chain(&point.layer).zip(others) {
                let is_inside = l.b.ult(*coordinate, extent);
                is_there = l.b.and(is_there, is_inside);
            }
            if bounds == Bounds::Trap {
                fails = l.b.or(fails, l.b.not(is_there));
            }
        }
        l.b.if_(fails, |b| b.report(Fault::SurfaceAccess));
        let is_there = l.b.and(is_there, is_aligned);
        Ok(SurfaceAccess { record, geometry, level: image.level, bytes, point, is_there })
    }

    /// Appends code that runs if the place exists, and gets its address.
    pub(super) fn then(
        &self,
        l: &mut Lowering<'_, '_>,
        access: impl FnOnce(&mut Lowering<'_, '_>, Value) -> Result,
    ) -> Result {
        l.if_(self.is_there, |l| {
            let address = self.level.address(l, self.geometry, self.bytes, &self.point);
            access(l, address)
        })
    }
}

/// An element's number, clamped so that its offset doesn't overflow. The limit is beyond every row.
pub(super) fn within_rows(l: &Lowering<'_, '_>, number: Value) -> Value {
    let [least, most] = [l.b.i32(0xf800_0000), l.b.i32(0x07ff_ffff)];
    let is_low = l.b.slt(number, least);
    let is_high = l.b.slt(most, number);
    l.b.select(is_high, most, l.b.select(is_low, least, number))
}

/// An access to elements of a type, which together have at most 16 bytes.
fn access(i: &Instruction, ty: ScalarType, elements: usize) -> Result<(Access, u32)> {
    let bytes = ty.bytes();
    let size = u32::try_from(elements).ok().and_then(|elements| bytes.checked_mul(elements)).filter(|size| *size <= 16);
    let size =
        size.ok_or_else(|| Diagnostic::invalid(format!("a vector of {elements} elements of type {ty}"), i.span))?;
    let bytes = u8::try_from(bytes).unwrap_or(8);
    Ok((Access { space: Space::Global, bytes, order: MemoryOrder::Weak, read_only: false }, size))
}

/// `suld.b`
pub fn load(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let Operand::Vector(destinations) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a load without destinations", i.span));
    };
    let (access, size) = access(i, ty, destinations.len())?;
    let place = SurfaceAccess::of(l, i, 1, l.b.i32(size), |_, bytes| bytes)?;
    let vars: Vec<_> = destinations.iter().map(|_| l.b.var(carrier(ty))).collect();
    let zero = l.b.constant(carrier(ty), 0);
    vars.iter().for_each(|var| l.b.set(*var, zero));
    place.then(l, |l, address| {
        let values = l.b.load(access, address, vars.len());
        vars.iter().zip(values).for_each(|(var, value)| l.b.set(*var, value));
        Ok(())
    })?;
    destinations.iter().zip(vars).try_for_each(|(destination, var)| l.assign(destination, ty, l.b.get(var)))
}

/// `sust.b`
pub fn store(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let Operand::Vector(sources) = l.operand(i, 1) else {
        return Err(Diagnostic::internal("a store without sources", i.span));
    };
    let (access, size) = access(i, ty, sources.len())?;
    let values = sources.iter().map(|source| l.source(source, ty)).collect::<Result<Vec<_>>>()?;
    let place = SurfaceAccess::of(l, i, 0, l.b.i32(size), |_, bytes| bytes)?;
    place.then(l, |l, address| {
        l.b.store(access, address, values);
        Ok(())
    })
}

/// `sured`: by bytes, or with `.p` by elements of the operation's type, whatever a texel's size is.
pub fn reduce(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let by_elements = i.modifiers.has(Word::P);
    let bytes = ty.bytes();
    let operand = l.int(i, 1, ty)?;
    let place = SurfaceAccess::of(l, i, 0, l.b.i32(bytes), |l, first| {
        if !by_elements {
            return first;
        }
        l.b.shl(within_rows(l, first), bytes.trailing_zeros())
    })?;
    let access = Access {
        space: Space::Global,
        bytes: u8::try_from(bytes).unwrap_or(8),
        order: MemoryOrder::Relaxed(Scope::Device),
        read_only: false,
    };
    let reduce = |l: &mut Lowering<'_, '_>, op: AtomicOp| {
        place.then(l, |l, address| {
            l.b.atomic(Atomic { result: None, op, access, address, operand, compare: None });
            Ok(())
        })
    };
    let [unsigned, signed] = match i.required(i.modifiers.operator())? {
        Operator::Add => [AtomicOp::Add; 2],
        Operator::Min => [AtomicOp::MinUnsigned, AtomicOp::MinSigned],
        Operator::Max => [AtomicOp::MaxUnsigned, AtomicOp::MaxSigned],
        Operator::And => [AtomicOp::And; 2],
        Operator::Or => [AtomicOp::Or; 2],
        other @ (Operator::Inc | Operator::Dec | Operator::Xor | Operator::Exch | Operator::Cas) => {
            return Err(i.unexpected(other.word()));
        }
    };
    if !by_elements || unsigned == signed {
        return reduce(l, if ty.is_signed() { signed } else { unsigned });
    }
    // The surface's format says whether its integers are signed.
    let format = place.record.word(l, field::FORMAT);
    let is_signed = super::is_among(l, format, SIGNED_FORMATS);
    let limit = l.b.compare_const(Compare::LessUnsigned, format, 32);
    let is_signed = l.b.and(is_signed, limit);
    l.if_else(is_signed, |l| reduce(l, signed), |l| reduce(l, unsigned))
}
