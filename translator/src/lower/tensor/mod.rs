//! `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor` (PTX sections 5.5 and 9.7.9.25): boxes of tensors between device and shared
//! memory. They complete immediately, as all asynchronous operations do here, and the issuing thread does the copying.
//!
//! A box is copied row by row, and a row in pieces of 16 bytes, as hardware does: the first coordinate must be at a multiple of 16 bytes. A
//! piece that ends outside the tensor is read in part and written as a whole.
//!
//! Interleaved tensors have their channels in slices of 16 or 32 bytes, each of which is a row here. The first dimension is the width of
//! pictures, whose slices lie beside each other. The last dimension but one counts the slices of a pixel, of which a box has one.

pub mod map;
mod rows;

use map::{Map, words};
use rows::{Dimension, Place, Row, Shape, Side, for_each_row};

use super::lowering::Lowering;
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{
    Access, Atomic, AtomicOp, Builder, Compare, HalfFormat, HalfOp, MemoryOrder, Rounding, Scope, Space, Type, Value,
};
use crate::isa::modifiers::{CtaGroup, Operator, TensorMode};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::memory::cluster;
use crate::lower::memory::copies::{device_address, for_each, partial_word};
use crate::lower::memory::guard;
use crate::lower::memory::mbarrier::{self, shared_address};
use crate::soft::{self, Overflow, SINGLE, TENSOR};
use ptx2spv_target::{CheckedAccess, CheckedSpace};

/// Types of elements, by their numbers in a map.
mod ty {
    pub const U32: u64 = 2;
    pub const S32: u64 = 3;
    pub const U64: u64 = 4;
    pub const S64: u64 = 5;
    pub const F16: u64 = 6;
    pub const F32: u64 = 7;
    pub const F32_FTZ: u64 = 8;
    pub const F64: u64 = 9;
    pub const BF16: u64 = 10;
}

/// A map, and the rows of the box.
struct Tensor {
    map: Map,
    place: Place,
    shape: Shape,
    /// Bytes of a row.
    row: Value,
    /// Bytes from row to row in shared memory.
    pitch: Value,
    /// The range of a row's bytes that is inside the tensor.
    inside: [Value; 2],
}

/// Reads the map and the coordinates that an operand names.
fn tensor(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize, offsets: Option<usize>) -> Result<Tensor> {
    let Operand::List(parts) = l.operand(i, index) else {
        return Err(Diagnostic::internal("a tensor without coordinates", i.span));
    };
    let [at, coordinates @ ..] = parts.as_slice() else {
        return Err(Diagnostic::internal("a tensor without a map", i.span));
    };
    let at = device_address(l, i, at)?;
    let mode = i.modifiers.tensor_mode().unwrap_or(TensorMode::Tile);
    let rank = match mode {
        TensorMode::TileGather4 | TensorMode::TileScatter4 => 2,
        TensorMode::Tile | TensorMode::Im2col | TensorMode::Im2colNoOffs => coordinates.len(),
    };
    let map = Map::read(&l.b, at, rank);
    let at = coordinates.iter().map(|one| l.source(one, ScalarType::S32)).collect::<Result<Vec<_>>>()?;
    let offsets = match offsets.map(|index| l.operand(i, index)) {
        Some(Operand::Vector(offsets)) => {
            offsets.iter().map(|one| l.source(one, ScalarType::U16)).collect::<Result<Vec<_>>>()?
        }
        Some(_) => return Err(Diagnostic::internal("a tensor whose offsets are no vector", i.span)),
        None => Vec::new(),
    };
    let b = &l.b;
    let none = b.i32(0);
    // Tensors of fewer dimensions are not interleaved.
    let slice = if rank < 3 { none } else { map.slice(b) };
    let dimensions = dimensions(b, &map, &at, slice);
    let Some(&first) = dimensions.first() else {
        return Err(Diagnostic::internal("a tensor without dimensions", i.span));
    };
    let is_interleaved = b.is_nonzero(slice);
    let mut place = Place { inside: b.bool(true), address: map.address };
    let shape = match mode {
        TensorMode::Im2col | TensorMode::Im2colNoOffs => {
            let Some((shape, channels)) = columns(b, &map, &dimensions, &offsets, is_interleaved) else {
                return Err(Diagnostic::internal("pictures without sides", i.span));
            };
            place = place.at(b, &channels, channels.at);
            shape
        }
        TensorMode::TileGather4 | TensorMode::TileScatter4 => {
            let (Some(&dimension), Some(numbers)) = (dimensions.get(1), at.get(1..)) else {
                return Err(Diagnostic::internal("rows of no matrix", i.span));
            };
            Shape::Rows(dimension, numbers.to_vec())
        }
        TensorMode::Tile if rank < 3 => Shape::Tile(dimensions.get(1..).unwrap_or_default().to_vec()),
        TensorMode::Tile => {
            let mut rows = dimensions;
            let one = b.i32(1);
            if let Some(channels) = rows.get_mut(rank - 2) {
                channels.size = b.select(is_interleaved, one, channels.size);
            }
            if let Some(beside) = rows.first_mut() {
                *beside = Dimension::select(b, is_interleaved, first, once(b, first));
            }
            Shape::Tile(rows)
        }
    };
    let shift = map.shift(b);
    let row = b.select(is_interleaved, slice, b.shl_by(first.size, shift));
    let before = b.shl_by(b.sign_extend(first.at), shift);
    // The distances from the row's start to the tensor's start and end.
    let to_first = b.neg(before);
    let count = b.add_const(b.zero_extend(first.last), 1);
    let to_end = b.sub(b.shl_by(count, shift), before);
    let [low, high] = [to_first, to_end].map(|distance| within(b, distance, row));
    let inside = [b.select(is_interleaved, none, low), b.select(is_interleaved, slice, high)];
    place.address = b.add(place.address, b.select(is_interleaved, b.i64(0), before));
    let swizzling = map.swizzling(b);
    let span = b.shl_by(b.i32(16), swizzling);
    let is_packed = b.or(b.is_zero(swizzling), is_interleaved);
    let pitch = b.select(is_packed, row, span);
    Ok(Tensor { map, place, shape, row, pitch, inside })
}

/// The dimensions of a box. Those of interleaved tensors begin with one whose coordinates are `slice` bytes apart.
fn dimensions(b: &Builder<'_>, map: &Map, at: &[Value], slice: Value) -> Vec<Dimension> {
    let strides = std::iter::once(b.zero_extend(slice)).chain(map.strides.iter().copied());
    let fields = at.iter().zip(&map.lasts).zip(strides).zip(&map.steps).zip(&map.sizes);
    fields.map(|((((&at, &last), stride), &step), &size)| Dimension { at, last, stride, step, size }).collect()
}

/// A dimension with one coordinate, which is inside the tensor and changes no address.
fn once(b: &Builder<'_>, of: Dimension) -> Dimension {
    let [size, last] = [1, u64::from(u32::MAX)].map(|number| b.constant(Type::I32, number));
    Dimension { last, stride: b.i64(0), size, ..of }
}

/// A column of pixels, and the dimension in which all of these have the same coordinate. The sides of pictures follow the channels if the
/// tensor isn't interleaved, else they come before the slices of channels.
fn columns(
    b: &Builder<'_>,
    map: &Map,
    dimensions: &[Dimension],
    offsets: &[Value],
    is_interleaved: Value,
) -> Option<(Shape, Dimension)> {
    let [earlier @ .., slices, pictures] = dimensions else { return None };
    let mut sides = Vec::new();
    for (number, (&early, &late)) in earlier.iter().zip(dimensions.iter().skip(1)).enumerate() {
        let dimension = Dimension::select(b, is_interleaved, early, late);
        let bounds = map.corners(b, dimension.last, number, earlier.len());
        sides.push(Side { dimension, bounds, offset: offsets.get(number).copied() });
    }
    let channels = Dimension::select(b, is_interleaved, *slices, once(b, *slices));
    Some((Shape::Columns { sides, pictures: *pictures, pixels: map.pixels(b) }, channels))
}

/// A signed distance in `I64`, clamped to 0 to `most`, as `I32`.
fn within(b: &Builder<'_>, distance: Value, most: Value) -> Value {
    let zero = b.i64(0);
    let wide = b.zero_extend(most);
    b.truncate(b.minimum(Compare::LessSigned, wide, b.maximum(Compare::LessSigned, distance, zero)))
}

impl Tensor {
    /// Runs `each` for each [`Piece`] of the box, whose copy in shared memory begins at `to`. Gives the bytes of the box. Pieces outside of
    /// shared memory, and rows that don't begin at a multiple of 16 bytes, are reported as illegal accesses of kind `what`.
    fn for_each_piece(
        &self,
        l: &mut Lowering<'_, '_>,
        what: CheckedAccess,
        to: Value,
        mut each: impl FnMut(&Builder<'_>, Piece),
    ) -> Value {
        let end = guard::end(l);
        let b = &l.b;
        let swizzling = self.map.swizzling(b);
        let rows = b.shl_by(b.i32(1), swizzling);
        let turned = b.sub_const(rows, 1);
        let atom = self.map.atom(b);
        let turned = b.shr_by(turned, atom);
        let atom = b.add_const(atom, 4);
        // Swizzling permutes by the address in the block's own shared memory.
        let own = cluster::map(b, to, b.i32(0));
        let block = b.sub(to, own);
        let [low, high] = self.inside;
        let row_bytes = self.row;
        let count = for_each_row(b, self.place, &self.shape, &mut |b, Row { place, number }| {
            let before = b.mul(number, self.pitch);
            let row = b.add(own, before);
            b.if_(b.is_nonzero(b.and_const(place.address, 15)), |b| {
                b.report_access(what, CheckedSpace::Global, 16, place.address, b.i32(0));
            });
            for_each(b, row_bytes, 16, |b, offset| {
                let plain = b.add(row, offset);
                let turn = b.shl_by(b.and(b.shr(plain, 7), turned), atom);
                let shared = b.add(block, b.xor(plain, turn));
                let from_low = b.ule(low, offset);
                let to_high = b.ult(offset, high);
                let there = b.and(b.and(from_low, to_high), place.inside);
                let global = b.add(place.address, b.zero_extend(offset));
                let rest = b.sub(high, offset);
                let inside = guard::is_inside(b, shared, b.i32(16), end);
                b.if_else(
                    inside,
                    |b| each(b, Piece { there, rest, global, shared }),
                    |b| guard::report(b, what, shared, 16, end),
                );
            });
        });
        b.mul(count, row_bytes)
    }
}

/// 16 bytes of a box.
struct Piece {
    /// Whether the piece begins inside the tensor.
    there: Value,
    /// If so, the bytes from there to the tensor's end in the row.
    rest: Value,
    /// Address in device memory.
    global: Value,
    /// Address in shared memory.
    shared: Value,
}

/// `cp.async.bulk.tensor` from device to shared memory, which an mbarrier counts; with a mask, to each block of the cluster whose bit is
/// set. `cta_group::2` says that the mbarrier may be that of the other block in a pair: by its address, or with a mask by whether the
/// number of its block is odd.
pub fn load(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let to = shared_address(l, i, 0)?;
    let barrier = shared_address(l, i, 2)?;
    let offsets = i.modifiers.has(Word::Im2col).then_some(3);
    let tensor = tensor(l, i, 1, offsets)?;
    if !i.modifiers.has(Word::MulticastCluster) {
        load_to(l, &tensor, to, barrier);
        return Ok(());
    }
    let mask = l.int(i, if offsets.is_some() { 4 } else { 3 }, ScalarType::B16)?;
    let of = match i.modifiers.cta_group() {
        None | Some(CtaGroup::CtaGroup1) => cluster::Barrier::Own,
        Some(CtaGroup::CtaGroup2) => cluster::Barrier::OfPair,
    };
    cluster::multicast(l, mask, to, (barrier, of), |l, [to, barrier]| load_to(l, &tensor, to, barrier));
    Ok(())
}

fn load_to(l: &mut Lowering<'_, '_>, tensor: &Tensor, to: Value, barrier: Value) {
    let outside = tensor.map.outside(&l.b);
    let is_tf32 = tensor.map.is_tf32(&l.b);
    let bytes = tensor.for_each_piece(l, CheckedAccess::Write, to, |b, piece| {
        let given = b.select(piece.there, piece.rest, b.i32(0));
        let whole = b.compare_const(Compare::LessUnsigned, given, 16);
        let shared = words(Space::Shared, MemoryOrder::Weak);
        let read = |b: &Builder<'_>, word: Value| b.choose(is_tf32, |b| as_tf32(b, word), |_| word);
        b.if_else(
            whole,
            |b| {
                for offset in (0..16).step_by(4) {
                    let word = partial_word(b, b.add_const(piece.global, offset), given, offset);
                    let word = filled(b, read(b, word), given, offset, outside);
                    b.store(shared, b.add_const(piece.shared, offset), vec![word]);
                }
            },
            |b| {
                let loaded = b.load(words(Space::Global, MemoryOrder::Weak), piece.global, 4);
                let loaded = loaded.into_iter().map(|word| read(b, word)).collect();
                b.store(shared, piece.shared, loaded);
            },
        );
    });
    mbarrier::complete(l, barrier, bytes);
}

/// The word at `offset` of data of which the first `given` bytes are known; `outside` fills the other bytes.
fn filled(b: &Builder<'_>, word: Value, given: Value, offset: u64, outside: Value) -> Value {
    let start = b.constant(Type::I32, offset);
    let is_after = b.ult(start, given);
    let zero = b.i32(0);
    let known = b.select(is_after, b.sub(given, start), zero);
    let is_part = b.compare_const(Compare::LessUnsigned, known, 4);
    let known = b.select(is_part, known, zero);
    let others = b.select(is_part, b.shl_by(outside, b.shl(known, 3)), zero);
    b.or(word, others)
}

/// An f32 rounded to tf32.
fn as_tf32(b: &Builder<'_>, word: Value) -> Value {
    let float = b.bitcast(word, Type::F32);
    let rounded = soft::narrow(b, TENSOR, Rounding::NearestEven, Overflow::Rounded, float);
    b.shl(rounded, SINGLE.precision - TENSOR.precision)
}

/// `cp.async.bulk.tensor` from shared to device memory.
pub fn store(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let tensor = tensor(l, i, 0, None)?;
    let from = shared_address(l, i, 1)?;
    tensor.for_each_piece(l, CheckedAccess::Read, from, |b, piece| {
        b.if_(piece.there, |b| {
            let values = b.load(words(Space::Shared, MemoryOrder::Weak), piece.shared, 4);
            b.store(words(Space::Global, MemoryOrder::Weak), piece.global, values);
        });
    });
    Ok(())
}

/// The reduction of `cp.reduce.async.bulk.tensor` for elements of one type.
enum Reduction {
    /// An atomic on elements, or pairs of elements, of this number of bytes.
    Atomic(AtomicOp, u8),
    /// A sum of f32 that keeps subnormal numbers, which atomics on device memory would flush.
    Sum,
}

/// The element types that an operation supports. On other types hardware faults.
fn reductions(i: &Instruction) -> Result<Vec<(u64, Reduction)>> {
    use Reduction::{Atomic, Sum};
    let half = |op| {
        [(ty::F16, HalfFormat::F16), (ty::BF16, HalfFormat::Bf16)]
            .map(|(ty, of)| (ty, Atomic(AtomicOp::Half(of, op), 4)))
    };
    let bits = |op| vec![(ty::U32, Atomic(op, 4)), (ty::S32, Atomic(op, 4)), (ty::U64, Atomic(op, 8))];
    let extremum = |unsigned, signed, op| {
        let mut all = vec![(ty::U32, Atomic(unsigned, 4)), (ty::S32, Atomic(signed, 4))];
        all.extend([(ty::U64, Atomic(unsigned, 8)), (ty::S64, Atomic(signed, 8))]);
        all.extend(half(op));
        all
    };
    Ok(match i.required(i.modifiers.operator())? {
        Operator::Add => {
            let mut all = bits(AtomicOp::Add);
            all.extend([
                (ty::F32, Sum),
                (ty::F32_FTZ, Atomic(AtomicOp::FAdd, 4)),
                (ty::F64, Atomic(AtomicOp::FAdd, 8)),
            ]);
            all.extend(half(HalfOp::Add));
            all
        }
        Operator::Min => extremum(AtomicOp::MinUnsigned, AtomicOp::MinSigned, HalfOp::Min),
        Operator::Max => extremum(AtomicOp::MaxUnsigned, AtomicOp::MaxSigned, HalfOp::Max),
        Operator::Inc => vec![(ty::U32, Atomic(AtomicOp::Increment, 4))],
        Operator::Dec => vec![(ty::U32, Atomic(AtomicOp::Decrement, 4))],
        Operator::And => bits(AtomicOp::And),
        Operator::Or => bits(AtomicOp::Or),
        Operator::Xor => bits(AtomicOp::Xor),
        other @ (Operator::Exch | Operator::Cas) => return Err(i.unexpected(other.word())),
    })
}

/// `cp.reduce.async.bulk.tensor`: the map has the element type.
pub fn reduce(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let tensor = tensor(l, i, 0, None)?;
    let from = shared_address(l, i, 1)?;
    let reductions = reductions(i)?;
    let found = tensor.map.ty(&l.b);
    tensor.for_each_piece(l, CheckedAccess::Read, from, |b, piece| {
        b.if_(piece.there, |b| {
            for (ty, reduction) in &reductions {
                let is_it = b.compare_const(Compare::Equal, found, *ty);
                b.if_(is_it, |b| reduce_piece(b, &piece, reduction));
            }
        });
    });
    Ok(())
}

fn reduce_piece(b: &Builder<'_>, piece: &Piece, reduction: &Reduction) {
    let bytes = if let Reduction::Atomic(_, bytes) = reduction { *bytes } else { 4 };
    for_each(b, b.i32(16), bytes.into(), |b, offset| {
        let source = b.add(piece.shared, offset);
        let operand = b.load_one(Access { bytes, ..words(Space::Shared, MemoryOrder::Weak) }, source);
        let address = b.add(piece.global, b.zero_extend(offset));
        let access = Access { bytes, ..words(Space::Global, MemoryOrder::Relaxed(Scope::Device)) };
        match reduction {
            Reduction::Atomic(op, _) => {
                b.atomic(Atomic { result: None, op: *op, access, address, operand, compare: None });
            }
            Reduction::Sum => add_float(b, access, address, operand),
        }
    });
}

/// Atomically adds to an f32 in device memory.
fn add_float(b: &Builder<'_>, access: Access, address: Value, operand: Value) {
    let addend = b.bitcast(operand, Type::F32);
    b.loop_(|b| {
        let old = b.load_one(access, address);
        let sum = b.or_nan(b.fadd(b.bitcast(old, Type::F32), addend), b.constant(Type::F32, SINGLE.nan));
        let operand = b.bits(sum);
        let found = b.value(Type::I32);
        let op = AtomicOp::CompareExchange;
        b.atomic(Atomic { result: Some(found), op, access, address, operand, compare: Some(old) });
        let is_done = b.eq(found, old);
        b.if_(is_done, Builder::break_);
    });
}
