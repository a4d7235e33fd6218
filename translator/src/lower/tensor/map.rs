//! Tensor maps: the layout of their 128 bytes, and the instructions that change and copy them (PTX sections 9.7.9.27
//! and 9.7.9.28).
//!
//! A map has the same bits as the map that CUDA's driver makes for sm_90, so that programs may store it wherever they like. From bit 0:
//!
//! | bits | content |
//! |---|---|
//! | 0 to 63 | address |
//! | 64 | whether pixels are loaded by columns (`im2col`) |
//! | 68 to 70 | rank, less 1 |
//! | 71 to 74 | type of the elements: u8, u16, u32, s32, u64, s64, f16, f32, f32.ftz, f64, bf16 |
//! | 75 and 76 | interleaving: none, or slices of 16 or 32 bytes |
//! | 77 and 78 | swizzling: none, or of 32, 64 or 128 bytes |
//! | 79 | whether NaN is read outside the tensor rather than zero |
//! | 80 | whether f32 is read as tf32 |
//! | 81 and 82 | what is fetched to the second cache |
//! | 83 and 84 | what swizzling of 128 bytes keeps together, from sm_100 on: 16, 32 or 64 bytes as 0, 1 or 3 |
//! | 86 | a third bit of the swizzling, on later devices |
//! | 96 + 32k, and 4 from 224 + 4k on | lower 32 bits, and the others, of a stride in 16 bytes |
//! | 256 + 32k | size of a dimension, less 1 |
//! | 3 from 416 + 3k on | step between elements in a dimension, less 1 |
//! | 440 + 8k | size of the box, less 1; for `im2col` the first is the channels, and then come 16 bits of lower corners, 16 of upper ones, and 10 of the pixels, less 1 |
//!
//! The driver's own fields follow: the bytes of a box, and the alignment of shared memory that a box needs.

use super::super::lowering::Lowering;
use super::super::memory;
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Builder, MemoryOrder, Scope, Space, Value};
use crate::isa::modifiers::MapField;
use crate::isa::types::ScalarType;
use crate::lower::memory::copies::global_address;
use crate::lower::memory::mbarrier::shared_address;

pub(super) const fn words(space: Space, order: MemoryOrder) -> Access {
    Access { space, bytes: 4, order, read_only: false }
}

/// A tensor map, read by an instruction with a given number of dimensions.
pub struct Map {
    /// Address of the first element.
    pub address: Value,
    /// Greatest coordinate in each dimension.
    pub lasts: Vec<Value>,
    /// Bytes between elements in all dimensions but the first, in `I64`.
    pub strides: Vec<Value>,
    /// Steps between the elements to copy.
    pub steps: Vec<Value>,
    /// The sizes of the box; for columns of pixels, the first size is the number of channels.
    pub sizes: Vec<Value>,
    /// The word with rank, types and modes.
    modes: Value,
    /// The words of corners and pixels.
    columns: [Value; 2],
}

impl Map {
    /// Reads the map at an address in device memory.
    pub fn read(b: &Builder<'_>, at: Value, dimensions: usize) -> Map {
        let mut content = Vec::new();
        for quarter in 0..4 {
            let place = b.add_const(at, 16 * quarter);
            content.extend(b.load(words(Space::Global, MemoryOrder::Weak), place, 4));
        }
        let word = |index: usize| content.get(index).copied().unwrap_or(at);
        let address = b.join(word(0), word(1));
        let numbers = || (0u32..).take(dimensions);
        let lasts = (0..dimensions).map(|number| word(8 + number)).collect();
        let steps = numbers().map(|number| bits(b, word(13), 3 * number, 3)).collect::<Vec<_>>();
        let steps = steps.into_iter().map(|step| b.add_const(step, 1)).collect();
        let first = bits(b, word(13), 24, 8);
        let others = numbers().skip(1).map(|number| bits(b, word(14), 8 * (number - 1), 8)).collect::<Vec<_>>();
        let sizes = std::iter::once(first).chain(others).map(|size| b.add_const(size, 1)).collect();
        let mut strides = Vec::new();
        for (number, index) in numbers().skip(1).zip(3..) {
            let above = bits(b, word(7), 4 * (number - 1), 4);
            let stride = b.join(word(index), above);
            strides.push(b.shl(stride, 4));
        }
        Map { address, lasts, strides, steps, sizes, modes: word(2), columns: [word(14), word(15)] }
    }

    /// The number of the elements' type.
    pub fn ty(&self, b: &Builder<'_>) -> Value {
        bits(b, self.modes, 7, 4)
    }

    /// The binary logarithm of an element's bytes.
    pub fn shift(&self, b: &Builder<'_>) -> Value {
        // Two bits for each type.
        let logarithms = [0, 1, 2, 2, 3, 3, 1, 2, 2, 3, 1].iter().rev().fold(0, |all, bits| all << 2 | bits);
        let place = b.shl(self.ty(b), 1);
        let logarithm = b.shr_by(b.i32(logarithms), place);
        b.and_const(logarithm, 3)
    }

    /// The bytes of a slice of channels; 0 if the tensor isn't interleaved.
    pub fn slice(&self, b: &Builder<'_>) -> Value {
        let code = bits(b, self.modes, 11, 2);
        b.shl(code, 4)
    }

    /// 0 if shared memory isn't swizzled, else the binary logarithm of the number of rows whose 16-byte pieces are
    /// permuted.
    pub fn swizzling(&self, b: &Builder<'_>) -> Value {
        bits(b, self.modes, 13, 2)
    }

    /// The binary logarithm of the number of 16-byte pieces that swizzling keeps together.
    pub fn atom(&self, b: &Builder<'_>) -> Value {
        let code = bits(b, self.modes, 19, 2);
        b.sub(code, b.shr(code, 1))
    }

    /// Four bytes of the value read outside the tensor.
    pub fn outside(&self, b: &Builder<'_>) -> Value {
        let is_nan = bits(b, self.modes, 15, 1);
        b.mul_const(is_nan, 0x7ff7_7ff7)
    }

    /// Whether f32 is read as tf32.
    pub fn is_tf32(&self, b: &Builder<'_>) -> Value {
        b.is_nonzero(b.and_const(self.modes, 1 << 16))
    }

    /// The least and the greatest coordinate at which columns of pixels begin, in side `number` of the `of` sides that pictures have.
    /// `last` is the tensor's greatest coordinate there.
    pub fn corners(&self, b: &Builder<'_>, last: Value, number: usize, of: usize) -> [Value; 2] {
        let width = match of {
            1 => 16,
            2 => 8,
            _ => 5,
        };
        let lowest = width * number as u32;
        let [lower, upper] = [0, 16].map(|half| b.sar(b.shl(self.columns[0], 32 - width - lowest - half), 32 - width));
        [lower, b.add(last, upper)]
    }

    /// The number of pixels in a column.
    pub fn pixels(&self, b: &Builder<'_>) -> Value {
        let less = bits(b, self.columns[1], 0, 10);
        b.add_const(less, 1)
    }
}

/// Some bits of a word.
fn bits(b: &Builder<'_>, word: Value, first: u32, count: u32) -> Value {
    b.and_const(b.shr(word, first), (1 << count) - 1)
}

/// The location of a field: word, first bit, and number of bits.
type Field = (u64, u32, u32);

/// The description of a constant that must be below a tensor's number of dimensions.
const DIMENSION: &str = "number of a dimension";

pub fn replace(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let place = memory::place(l, i, 0)?;
    let at = |l: &mut Lowering<'_, '_>, (word, first, count): Field, value: Value| {
        let access = words(place.space, MemoryOrder::Weak);
        let address = l.b.add_const(place.address, 4 * word);
        let mask = (u64::MAX >> (64 - count)) << first;
        let new = l.b.and_const(l.b.shl(value, first), mask);
        let word = if count == 32 {
            new
        } else {
            l.b.or(l.b.and_const(l.b.load_one(access, address), !mask & u64::from(u32::MAX)), new)
        };
        l.b.store(access, address, vec![word]);
    };
    let given = if i.operands.len() == 2 { 1 } else { 2 };
    let constant = || match l.operand(i, 1) {
        Operand::Imm(bits) => Ok(*bits),
        _ => Err(Diagnostic::internal("a field of a tensor map without its number", i.span)),
    };
    match i.required(i.modifiers.map_field())? {
        MapField::GlobalAddress => {
            let value = l.int(i, given, ScalarType::U64)?;
            let (low, high) = l.b.halves(value);
            at(l, (0, 0, 32), low);
            at(l, (1, 0, 32), high);
        }
        MapField::Rank => {
            let value = l.int(i, given, ScalarType::U32)?;
            at(l, (2, 4, 3), value);
        }
        MapField::GlobalStride => {
            let number = check(i, constant()?, 4, "number of a stride")?;
            let value = l.int(i, given, ScalarType::U64)?;
            let (low, high) = l.b.halves(l.b.shr(value, 4));
            at(l, (3 + u64::from(number), 0, 32), low);
            at(l, (7, 4 * number, 4), high);
        }
        MapField::BoxDim => {
            let number = check(i, constant()?, 5, DIMENSION)?;
            let less = less_one(l, i, given)?;
            at(l, if number == 0 { (13, 24, 8) } else { (14, 8 * (number - 1), 8) }, less);
        }
        MapField::GlobalDim => {
            let number = check(i, constant()?, 5, DIMENSION)?;
            let less = less_one(l, i, given)?;
            at(l, (8 + u64::from(number), 0, 32), less);
        }
        MapField::ElementStride => {
            let number = check(i, constant()?, 5, DIMENSION)?;
            let less = less_one(l, i, given)?;
            at(l, (13, 3 * number, 3), less);
        }
        MapField::Elemtype => {
            let number = check(i, constant()?, 13, "element type")?;
            // The last two are f32 and f32.ftz, read as tf32. NVIDIA's assembler sets that bit, but no type clears it.
            let is_tf32 = number > 10;
            let ty = l.b.i32(if is_tf32 { number - 4 } else { number });
            at(l, (2, 7, 4), ty);
            if is_tf32 {
                let one = l.b.i32(1);
                at(l, (2, 16, 1), one);
            }
        }
        MapField::InterleaveLayout => {
            let number = check(i, constant()?, 3, "interleaving")?;
            let value = l.b.i32(number);
            at(l, (2, 11, 2), value);
        }
        MapField::SwizzleMode => {
            let number = check(i, constant()?, 4, "swizzling")?;
            let [value, none] = [number, 0].map(|bits| l.b.i32(bits));
            at(l, (2, 13, 2), value);
            at(l, (2, 22, 1), none);
        }
        MapField::SwizzleAtomicity => {
            let number = check(i, constant()?, 4, "atomicity")?;
            if number == 2 {
                // The manual doesn't say in which of the alternate lines the halves of 16 bytes change places.
                return Err(Diagnostic::unsupported("swizzling that flips 8 bytes", i.span));
            }
            let value = l.b.i32(number);
            at(l, (2, 19, 2), value);
        }
        MapField::FillMode => {
            let number = check(i, constant()?, 2, "filling")?;
            let value = l.b.i32(number);
            at(l, (2, 15, 1), value);
        }
    }
    Ok(())
}

/// An operand less one, as maps hold sizes and steps.
fn less_one(l: &mut Lowering<'_, '_>, i: &Instruction, index: usize) -> Result<Value> {
    let value = l.int(i, index, ScalarType::U32)?;
    Ok(l.b.sub_const(value, 1))
}

fn check(i: &Instruction, constant: u64, limit: u32, what: &str) -> Result<u32> {
    let number = u32::try_from(constant).ok().filter(|number| *number < limit);
    number.ok_or_else(|| Diagnostic::invalid(format!("the {what} {constant} is not below {limit}"), i.span))
}

/// `tensormap.cp_fenceproxy`: all threads of a warp write the same, which isn't a race if each word is written
/// atomically.
pub fn copy(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    if *l.operand(i, 2) != Operand::Imm(128) {
        return Err(Diagnostic::invalid("a tensor map has 128 bytes", i.span));
    }
    let to = global_address(l, i, 0)?;
    let from = shared_address(l, i, 1)?;
    for offset in (0..128).step_by(4) {
        let word = l.b.load_one(words(Space::Shared, MemoryOrder::Weak), l.b.add_const(from, offset));
        let target = l.b.add_const(to, offset);
        l.b.store(words(Space::Global, MemoryOrder::Relaxed(Scope::Device)), target, vec![word]);
    }
    memory::fence(l, i)
}
