//! Fragments of `wmma`, loaded and stored (PTX sections 9.7.14.4.3 and 9.7.14.4.4).

use super::special;
use crate::decode::program::{Instruction, Operand, Special};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, Binary, MemoryOrder, Type, Value};
use crate::isa::fragments::{self, Matrix, Product};
use crate::isa::types::ScalarType;
use crate::lower::lowering::Lowering;
use crate::lower::memory::{self, Location};

/// `wmma.load`
pub fn load(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let Operand::Vector(destinations) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a load of a fragment without destinations", i.span));
    };
    let places = Places::of(l, i, 1)?;
    let mut values = Vec::new();
    for register in places.registers.clone() {
        let mut value = None;
        for part in places.parts(l, register) {
            let loaded = l.b.load_one(places.access, part.address);
            let placed = if part.position == 0 { loaded } else { l.b.shl(loaded, part.position) };
            value = Some(value.map_or(placed, |value| l.b.or(value, placed)));
        }
        values.extend(value);
    }
    // Registers beyond those of the fragment repeat the others.
    for (destination, &value) in destinations.iter().zip(values.iter().cycle()) {
        l.assign(destination, places.register, value)?;
    }
    Ok(())
}

/// `wmma.store`
pub fn store(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let Operand::Vector(sources) = l.operand(i, 1) else {
        return Err(Diagnostic::internal("a store of a fragment without sources", i.span));
    };
    let places = Places::of(l, i, 0)?;
    for (source, register) in sources.iter().zip(places.registers.clone()) {
        let value = l.source(source, places.register)?;
        for part in places.parts(l, register) {
            let element = if part.position == 0 { value } else { l.b.shr(value, part.position) };
            l.b.store(places.access, part.address, vec![element]);
        }
    }
    Ok(())
}

/// Elements that a register holds: they are neighbours in a line.
#[derive(Clone, Copy)]
struct Neighbours {
    /// The first of eight lines.
    line: u32,
    /// The place of the first in the line, for lanes `4 g`.
    start: u32,
}

/// One access: its address, and the position of its bits in a register.
struct Part {
    address: Value,
    position: u32,
}

/// The places in memory of a lane's part of a matrix.
struct Places {
    registers: Vec<Neighbours>,
    /// A type that is as wide as a register.
    register: ScalarType,
    access: Access,
    /// Whether neighbours in a line follow each other in memory.
    is_along: bool,
    /// Bits of an element, and the number of elements in a register.
    bits: u32,
    count: u32,
    /// The address of lane `4 g + t`'s part of a block at line and place 0.
    first: Value,
    /// Bytes from a row to the next, or from a column where memory has those.
    stride: Value,
}

impl Places {
    fn of(l: &mut Lowering<'_, '_>, i: &Instruction, operand: usize) -> Result<Self> {
        let product = i.required(Product::of(&i.modifiers))?;
        let matrix = Matrix::from(i.required(i.modifiers.fragment())?);
        let bits = product.ty(matrix).bits();
        let count = product.elements_of_register(matrix);
        let by_rows = fragments::is_by_rows(&i.modifiers);
        let (registers, has_rows, step) = match matrix {
            Matrix::A | Matrix::B => {
                let blocks = product.blocks(matrix).into_iter();
                let registers = blocks.map(|block| Neighbours { line: block.line, start: block.start });
                (registers.collect::<Vec<_>>(), matrix == Matrix::A, count)
            }
            Matrix::C | Matrix::D => {
                let elements = product.elements().into_iter().step_by(count as usize);
                let registers =
                    elements.map(|element| Neighbours { line: element.line, start: element.across + element.next });
                (registers.collect(), !product.is_transposed(), 2)
            }
        };
        let is_along = has_rows == by_rows;
        let Location { space, address, .. } = memory::place(l, i, operand)?;
        let stride = match l.operand(i, 2) {
            Operand::Sink => l.b.i32(product.neighbours(matrix, by_rows)),
            _ => l.int(i, 2, ScalarType::U32)?,
        };
        let is_wide = l.b.type_of(address) == Type::I64;
        let stride = if is_wide { l.b.zero_extend(stride) } else { stride };
        let stride = scaled(l, stride, bits);
        let (lane, _) = special::read(l, Special::LaneId);
        let line = l.b.shr(lane, 2);
        let place = l.b.mul_const(l.b.and_const(lane, 3), step.into());
        let (far, near) = if is_along { (line, place) } else { (place, line) };
        let [far, near] = [far, near].map(|number| if is_wide { l.b.zero_extend(number) } else { number });
        let far = l.b.mul(far, stride);
        let near = scaled(l, near, bits);
        let first = l.b.add(l.b.add(address, far), near);
        let register = if bits == 64 { ScalarType::B64 } else { ScalarType::B32 };
        let bytes = if is_along { register.bits() / 8 } else { bits / 8 };
        let access = Access { space, bytes: bytes as u8, order: MemoryOrder::Weak, read_only: false };
        Ok(Self { registers, register, access, is_along, bits, count, first, stride })
    }

    /// The accesses to a register's elements.
    fn parts(&self, l: &mut Lowering<'_, '_>, register: Neighbours) -> Vec<Part> {
        let Neighbours { line, start } = register;
        let part = |far: u32, near: u32, position| {
            let address = l.b.add(self.first, l.b.binary_const(Binary::Mul, self.stride, far.into()));
            Part { address: l.b.add_const(address, (near * self.bits / 8).into()), position }
        };
        if self.is_along {
            return vec![part(line, start, 0)];
        }
        (0..self.count).map(|next| part(start + next, line, next * self.bits)).collect()
    }
}

/// As many elements in bytes.
fn scaled(l: &Lowering<'_, '_>, elements: Value, bits: u32) -> Value {
    let bits = bits.trailing_zeros();
    if bits < 3 { l.b.shr(elements, 3 - bits) } else { l.b.shl(elements, bits - 3) }
}
