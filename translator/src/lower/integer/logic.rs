//! Logic, shifts and byte permutation (PTX sections 9.7.7 and 9.7.8.7).

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::Diagnostic;
use crate::ir::{Binary, Compare, Value};
use crate::isa::modifiers::{Boolean, Direction, Permutation};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::{shift_left, shift_right, shift_right_signed};
use crate::lower::lowering::{Lowering, Result, carrier};

/// `and`
pub fn and(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    bitwise(l, i, Binary::And)
}

/// `or`
pub fn or(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    bitwise(l, i, Binary::Or)
}

/// `xor`
pub fn xor(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    bitwise(l, i, Binary::Xor)
}

fn bitwise(l: &mut Lowering<'_, '_>, i: &Instruction, op: Binary) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    let result = l.b.binary(op, a, b);
    l.set(i, 0, ty, result)
}

/// `not`
pub fn not(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let result = l.b.not(a);
    l.set(i, 0, ty, result)
}

/// `cnot`: C's `!a`.
pub fn cnot(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let zero = l.b.is_zero(a);
    let result = l.b.bool_to(carrier(ty), zero);
    l.set(i, 0, ty, result)
}

/// `shl`
pub fn shl(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let amount = l.int(i, 2, ScalarType::U32)?;
    let result = shift_left(l, a, amount);
    l.set(i, 0, ty, result)
}

/// `shr`
pub fn shr(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.signed(i, 1, ty)?;
    let amount = l.int(i, 2, ScalarType::U32)?;
    let result = if ty.is_signed() { shift_right_signed(l, a, amount) } else { shift_right(l, a, amount) };
    l.set(i, 0, ty, result)
}

/// `shf`: shifts 64 bits made of two words, keeping the upper (`.l`) or lower (`.r`) one.
pub fn shf(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let low = l.int(i, 1, ScalarType::B32)?;
    let high = l.int(i, 2, ScalarType::B32)?;
    let amount = l.int(i, 3, ScalarType::U32)?;
    let amount = if i.modifiers.has(Word::Wrap) {
        l.b.and_const(amount, 31)
    } else {
        let most = l.b.i32(32);
        let less = l.b.ult(amount, most);
        l.b.select(less, amount, most)
    };
    // One word shifts by `amount`, the other by 32 minus `amount` in the other direction; either amount may be a whole
    // word.
    let width = l.b.i32(32);
    let rest = l.b.sub(width, amount);
    let (main, other) = match i.required(i.modifiers.direction())? {
        Direction::L => (shift_left(l, high, amount), shift_right(l, low, rest)),
        Direction::R => (shift_right(l, low, amount), shift_left(l, high, rest)),
    };
    let result = l.b.or(main, other);
    l.set(i, 0, ScalarType::B32, result)
}

/// `lop3`: any function of three bits, by its truth table.
pub fn lop3(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let result = three_inputs(l, i)?;
    l.set(i, 0, ScalarType::B32, result)
}

/// `lop3` with a second result: whether the first isn't zero, combined with a predicate.
pub fn lop3_predicate(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let result = three_inputs(l, i)?;
    let other = l.int(i, 5, ScalarType::Pred)?;
    let any = l.b.is_nonzero(result);
    let combined = match i.required(i.modifiers.boolean())? {
        Boolean::And => l.b.and(any, other),
        Boolean::Or => l.b.or(any, other),
        Boolean::Xor => return Err(i.unexpected(Word::Xor)),
    };
    let Operand::Pair(pair) = l.operand(i, 0) else {
        return Err(Diagnostic::internal("`lop3` without its destinations", i.span));
    };
    let [first, second] = pair.as_ref();
    l.assign(first, ScalarType::B32, result)?;
    l.assign(second, ScalarType::Pred, combined)
}

fn three_inputs(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result<Value> {
    let inputs = [l.int(i, 1, ScalarType::B32)?, l.int(i, 2, ScalarType::B32)?, l.int(i, 3, ScalarType::B32)?];
    let Operand::Imm(table) = *l.operand(i, 4) else {
        return Err(Diagnostic::invalid("the truth table of `lop3` must be a constant", i.span));
    };
    Ok(truth_table(l, inputs, table & 0xff))
}

/// Builds the function of an 8-entry truth table with index `a*4 + b*2 + c`. Common tables take one or two operations.
fn truth_table(l: &mut Lowering<'_, '_>, [a, b, c]: [Value; 3], table: u64) -> Value {
    const A: u64 = 0xf0;
    const B: u64 = 0xcc;
    const C: u64 = 0xaa;
    // Two levels of and, or, xor over the inputs cover what compilers emit; anything else is built by cases of `a`.
    type Function = fn(u64, u64) -> u64;
    let ops: [(Binary, Function); 3] =
        [(Binary::And, |x, y| x & y), (Binary::Or, |x, y| x | y), (Binary::Xor, |x, y| x ^ y)];
    let pairs = [((a, A), (b, B), (c, C)), ((a, A), (c, C), (b, B)), ((b, B), (c, C), (a, A))];
    for (x, y, z) in pairs {
        for (inner, first_of) in ops {
            let first = first_of(x.1, y.1);
            if first == table {
                return l.b.binary(inner, x.0, y.0);
            }
            for (outer, second_of) in ops {
                if second_of(first, z.1) == table {
                    let first = l.b.binary(inner, x.0, y.0);
                    return l.b.binary(outer, first, z.0);
                }
            }
        }
    }
    let when_set = two_inputs(l, b, c, table >> 4);
    let when_clear = two_inputs(l, b, c, table & 0xf);
    // a ? when_set : when_clear, bit by bit.
    let difference = l.b.xor(when_set, when_clear);
    let chosen = l.b.and(difference, a);
    l.b.xor(when_clear, chosen)
}

/// The function of a 4-entry truth table with index `b*2 + c`.
fn two_inputs(l: &mut Lowering<'_, '_>, b: Value, c: Value, table: u64) -> Value {
    let mut row = |table: u64| match table & 3 {
        0 => l.b.i32(0),
        1 => l.b.not(c),
        2 => c,
        _ => l.b.i32(u32::MAX),
    };
    let when_set = row(table >> 2);
    let when_clear = row(table);
    let difference = l.b.xor(when_set, when_clear);
    let chosen = l.b.and(difference, b);
    l.b.xor(when_clear, chosen)
}

/// `prmt` in its default mode and the six others (PTX section 9.7.8.7).
pub fn prmt(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let a = l.int(i, 1, ScalarType::B32)?;
    let b = l.int(i, 2, ScalarType::B32)?;
    let control = l.int(i, 3, ScalarType::B32)?;
    let bytes = l.b.join(a, b);
    let mut result = l.b.i32(0);
    for place in 0..4u32 {
        let byte = match i.modifiers.permutation() {
            None => {
                let selector = l.b.shr(control, place * 4);
                let number = l.b.and_const(selector, 7);
                let byte = select_byte(l, bytes, number);
                let replicate = l.b.and_const(selector, 8);
                let replicate = l.b.is_nonzero(replicate);
                let sign = l.sign_extend_narrow(byte, 8);
                let sign = l.b.sar(sign, 31);
                let sign = l.b.and_const(sign, 0xff);
                l.b.select(replicate, sign, byte)
            }
            Some(mode) => {
                let low = l.b.and_const(control, 3);
                let number = match mode {
                    Permutation::F4e => l.b.add_const(low, u64::from(place)),
                    Permutation::B4e => {
                        let down = l.b.sub_const(low, u64::from(place));
                        l.b.and_const(down, 7)
                    }
                    Permutation::Rc8 => low,
                    Permutation::Ecl => {
                        let place = l.b.i32(place);
                        let larger = l.b.compare(Compare::LessUnsigned, low, place);
                        l.b.select(larger, place, low)
                    }
                    Permutation::Ecr => {
                        let place = l.b.i32(place);
                        let smaller = l.b.compare(Compare::LessUnsigned, place, low);
                        l.b.select(smaller, place, low)
                    }
                    Permutation::Rc16 => {
                        let half = l.b.and_const(control, 1);
                        let half = l.b.shl(half, 1);
                        l.b.add_const(half, u64::from(place & 1))
                    }
                };
                select_byte(l, bytes, number)
            }
        };
        let byte = l.b.shl(byte, place * 8);
        result = l.b.or(result, byte);
    }
    l.set(i, 0, ScalarType::B32, result)
}

/// Byte number 0 to 7 of eight.
fn select_byte(l: &mut Lowering<'_, '_>, bytes: Value, number: Value) -> Value {
    let amount = l.b.shl(number, 3);
    let shifted = l.b.shr_by(bytes, amount);
    let low = l.b.truncate(shifted);
    l.b.and_const(low, 0xff)
}
