//! Matrices of 8 by 8 half-words in the registers of a warp (PTX section 9.7.14): loaded, stored and transposed.
//!
//! Four lanes hold a row, two elements each: lane `4 r + c` the elements `2 c` and `2 c + 1` of row `r`. In shared memory a row is 16 bytes long; lane
//! `8 m + r` has the address of row `r` of matrix `m`.

use super::special;
use crate::decode::program::{Instruction, Operand, Special};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Access, MemoryOrder, Type, Value};
use crate::isa::fragments::{Matrix, Product};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::lowering::Lowering;
use crate::lower::memory::{self, Location};

/// The place of a lane's elements: row and column of the first.
struct Place {
    row: Value,
    column: Value,
}

/// `ldmatrix`
pub fn load(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let Operand::Vector(destinations) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a load of matrices without destinations", i.span));
    };
    let rows = memory::place(l, i, 1)?;
    let own = own_place(l);
    for (matrix, destination) in (0..).zip(destinations) {
        let elements = if i.modifiers.has(Word::Trans) {
            let [low, high] =
                transposed(l, &own, matrix, rows.address).map(|address| l.b.load_one(elements_of(&rows, 2), address));
            joined(l, low, high)
        } else {
            let address = straight(l, &own, matrix, rows.address);
            l.b.load_one(elements_of(&rows, 4), address)
        };
        l.assign(destination, ScalarType::B32, elements)?;
    }
    Ok(())
}

/// `stmatrix`
pub fn store(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let Operand::Vector(sources) = l.operand(i, 1) else {
        return Err(Diagnostic::internal("a store of matrices without sources", i.span));
    };
    let rows = memory::place(l, i, 0)?;
    let own = own_place(l);
    for (matrix, source) in (0..).zip(sources) {
        let elements = l.source(source, ScalarType::B32)?;
        if i.modifiers.has(Word::Trans) {
            let high = l.b.shr(elements, 16);
            let places = transposed(l, &own, matrix, rows.address);
            for (address, element) in places.into_iter().zip([elements, high]) {
                l.b.store(elements_of(&rows, 2), address, vec![element]);
            }
        } else {
            let address = straight(l, &own, matrix, rows.address);
            l.b.store(elements_of(&rows, 4), address, vec![elements]);
        }
    }
    Ok(())
}

/// `movmatrix`
pub fn transpose(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let elements = l.int(i, 1, ScalarType::B32)?;
    let own = own_place(l);
    // The element in this lane's row of the transposed matrix stands in this column of the other.
    let pair = l.b.shr(own.row, 1);
    let shift = l.b.and_const(l.b.shl(own.row, 4), 16);
    let [low, high] = [0, 1].map(|next| {
        let lane = l.b.add(l.b.shl(l.b.add_const(own.column, next), 2), pair);
        l.b.and_const(l.b.shr_by(from_lane(l, elements, lane), shift), 0xffff)
    });
    l.set(i, 0, ScalarType::B32, joined(l, low, high))
}

/// The access to a lane's elements in a row, of so many bytes.
fn elements_of(rows: &Location, bytes: u8) -> Access {
    Access { space: rows.space, bytes, order: MemoryOrder::Weak, read_only: false }
}

/// The place of the executing lane's elements in a matrix.
fn own_place(l: &mut Lowering<'_, '_>) -> Place {
    let lane = own_lane(l);
    let row = l.b.shr(lane, 2);
    let column = l.b.shl(l.b.and_const(lane, 3), 1);
    Place { row, column }
}

/// The number of the executing lane, for operations in which all lanes take part.
pub(super) fn own_lane(l: &mut Lowering<'_, '_>) -> Value {
    l.note_exits();
    special::read(l, Special::LaneId).0
}

/// The address of the executing lane's elements, given each lane's address of a row.
fn straight(l: &Lowering<'_, '_>, own: &Place, matrix: u64, rows: Value) -> Value {
    element(l, rows, matrix, own.row, own.column)
}

/// The same for a matrix that memory holds transposed.
fn transposed(l: &Lowering<'_, '_>, own: &Place, matrix: u64, rows: Value) -> [Value; 2] {
    [0, 1].map(|next| element(l, rows, matrix, l.b.add_const(own.column, next), own.row))
}

/// The address of an element.
fn element(l: &Lowering<'_, '_>, rows: Value, matrix: u64, row: Value, column: Value) -> Value {
    let row = from_lane(l, rows, l.b.add_const(row, 8 * matrix));
    let offset = l.b.shl(column, 1);
    let offset = if l.b.type_of(row) == Type::I64 { l.b.zero_extend(offset) } else { offset };
    l.b.add(row, offset)
}

/// The value of another lane of the warp, all of whose lanes take part.
pub(super) fn from_lane(l: &Lowering<'_, '_>, value: Value, lane: Value) -> Value {
    if l.b.type_of(value) == Type::I64 {
        let (low, high) = l.b.halves(value);
        let [low, high] = [low, high].map(|half| from_lane(l, half, lane));
        return l.b.join(low, high);
    }
    l.b.from_lane(value, lane)
}

/// A word of two half-words, whose upper bits are zero.
pub(super) fn joined(l: &Lowering<'_, '_>, low: Value, high: Value) -> Value {
    l.b.or(low, l.b.shl(high, 16))
}

/// The registers of a fragment.
pub(super) fn words(l: &mut Lowering<'_, '_>, i: &Instruction, matrix: Matrix) -> Result<Vec<Value>> {
    let Operand::Vector(registers) = l.operand(i, matrix.number()) else {
        return Err(Diagnostic::internal("a fragment that is no vector", i.span));
    };
    registers.iter().map(|register| l.source(register, register_type(l, register)?)).collect()
}

/// A type that is as wide as a register of a fragment.
fn register_type(l: &Lowering<'_, '_>, register: &Operand) -> Result<ScalarType> {
    let Operand::Reg(register) = register else { return Ok(ScalarType::B32) };
    let is_double = l.register_type(*register)?.bits() == 64;
    Ok(if is_double { ScalarType::B64 } else { ScalarType::B32 })
}

/// Sets the elements of D.
pub(super) fn set(l: &mut Lowering<'_, '_>, i: &Instruction, product: &Product, results: &[Value]) -> Result {
    let Operand::Vector(destinations) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("a product of matrices without destinations", i.span));
    };
    if product.ty(Matrix::D) == ScalarType::F16 {
        for (destination, pair) in destinations.iter().zip(results.chunks(2)) {
            let [low, high] = *pair else { continue };
            l.assign(destination, ScalarType::B32, joined(l, low, high))?;
        }
        return Ok(());
    }
    for (destination, &result) in destinations.iter().zip(results) {
        let ty = if product.ty(Matrix::D) == ScalarType::F64 { ScalarType::B64 } else { ScalarType::B32 };
        l.assign(destination, ty, result)?;
    }
    Ok(())
}

/// The elements of C, or of D before a turn.
pub(super) fn addends(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    product: &Product,
    matrix: Matrix,
) -> Result<Vec<Value>> {
    let words = words(l, i, matrix)?;
    if product.ty(matrix) != ScalarType::F16 {
        return Ok(words);
    }
    let mut halves = Vec::new();
    for word in words {
        halves.extend([l.b.and_const(word, 0xffff), l.b.shr(word, 16)]);
    }
    Ok(halves)
}
