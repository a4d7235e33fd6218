//! Logic, shifts and byte permutation (PTX sections 9.7.7 and 9.7.8.7).

use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Binary, Compare, Value};
use crate::isa::modifiers::{Boolean, Direction, Permutation};
use crate::isa::types::ScalarType;
use crate::isa::word::Word;
use crate::lower::integer::{shift_left, shift_right, shift_right_signed};
use crate::lower::lowering::{Lowering, carrier};

/// A bitwise operation, of predicates too.
pub(crate) fn bitwise(l: &mut Lowering<'_, '_>, i: &Instruction, op: Binary) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let b = l.int(i, 2, ty)?;
    l.set(i, 0, ty, l.b.binary(op, a, b))
}

pub fn not(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    l.set(i, 0, ty, l.b.not(a))
}

/// `cnot`: C's `!a`.
pub fn cnot(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    l.set(i, 0, ty, l.b.bool_to(carrier(ty), l.b.is_zero(a)))
}

pub fn shl(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let ty = i.ty(0)?;
    let a = l.int(i, 1, ty)?;
    let amount = l.int(i, 2, ScalarType::U32)?;
    l.set(i, 0, ty, shift_left(l, a, amount))
}

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
    let rest = l.b.sub(l.b.i32(32), amount);
    let (main, other) = match i.required(i.modifiers.direction())? {
        Direction::L => (shift_left(l, high, amount), shift_right(l, low, rest)),
        Direction::R => (shift_right(l, low, amount), shift_left(l, high, rest)),
    };
    l.set(i, 0, ScalarType::B32, l.b.or(main, other))
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
    l.b.xor(when_clear, l.b.and(l.b.xor(when_set, when_clear), a))
}

/// The function of a 4-entry truth table with index `b*2 + c`.
fn two_inputs(l: &mut Lowering<'_, '_>, b: Value, c: Value, table: u64) -> Value {
    let row = |table: u64| match table & 3 {
        0 => l.b.i32(0),
        1 => l.b.not(c),
        2 => c,
        _ => l.b.i32(u32::MAX),
    };
    let when_set = row(table >> 2);
    let when_clear = row(table);
    l.b.xor(when_clear, l.b.and(l.b.xor(when_set, when_clear), b))
}

/// `prmt` in its default mode and the six others (PTX section 9.7.8.7).
pub fn prmt(l: &mut Lowering<'_, '_>, i: &Instruction) -> Result {
    let a = l.int(i, 1, ScalarType::B32)?;
    let b = l.int(i, 2, ScalarType::B32)?;
    let control = l.int(i, 3, ScalarType::B32)?;
    let bytes = l.b.join(a, b);
    let Some(mode) = i.modifiers.permutation() else {
        // Three bits of each nibble are the byte's number, and eight times that the number of its lowest bit.
        let amounts = [l.b.shl(control, 3), l.b.shr(control, 1), l.b.shr(control, 5), l.b.shr(control, 9)];
        let amounts = amounts.map(|amount| l.b.and_const(amount, 7 << 3));
        let chosen = chosen_bytes(l, bytes, amounts);
        let result = signs_instead(l, chosen, control);
        return l.set(i, 0, ScalarType::B32, result);
    };
    let low = l.b.and_const(control, 3);
    let numbers = [0, 1, 2, 3].map(|place: u32| match mode {
        Permutation::F4e => l.b.add_const(low, u64::from(place)),
        Permutation::B4e => l.b.and_const(l.b.sub_const(low, u64::from(place)), 7),
        Permutation::Rc8 => low,
        Permutation::Ecl => {
            let place = l.b.i32(place);
            l.b.select(l.b.compare(Compare::LessUnsigned, low, place), place, low)
        }
        Permutation::Ecr => {
            let place = l.b.i32(place);
            l.b.select(l.b.compare(Compare::LessUnsigned, place, low), place, low)
        }
        Permutation::Rc16 => l.b.add_const(l.b.shl(l.b.and_const(control, 1), 1), u64::from(place & 1)),
    });
    let amounts = numbers.map(|number| l.b.shl(number, 3));
    let result = chosen_bytes(l, bytes, amounts);
    l.set(i, 0, ScalarType::B32, result)
}

/// Four bytes of eight, each by the number of its lowest bit. They are put together by sums, which many devices join with a shift.
fn chosen_bytes(l: &mut Lowering<'_, '_>, bytes: Value, amounts: [Value; 4]) -> Value {
    let [first, second, third, fourth] = amounts.map(|amount| l.b.truncate(l.b.shr_by(bytes, amount)));
    let mut result = l.b.and_const(first, 0xff);
    for (byte, place) in [(second, 8), (third, 16)] {
        result = l.b.add(result, l.b.shl(l.b.and_const(byte, 0xff), place));
    }
    l.b.add(result, l.b.shl(fourth, 24))
}

/// Bytes whose nibble of `control` has its highest bit become eight times their own highest bit. All four at once: nothing is left of
/// this where these bits of `control` are known to be clear.
fn signs_instead(l: &mut Lowering<'_, '_>, bytes: Value, control: Value) -> Value {
    const ONES: u64 = 0x0101_0101;
    let mut modes = l.b.and_const(l.b.shr(control, 3), 0x1111);
    // Neighbours move apart.
    for (distance, kept) in [(8, 0x0011_0011), (4, ONES)] {
        modes = l.b.and_const(l.b.or(modes, l.b.shl(modes, distance)), kept);
    }
    let replaced = l.b.mul_const(modes, 0xff);
    let signs = l.b.mul_const(l.b.and_const(l.b.shr(bytes, 7), ONES), 0xff);
    let differ = l.b.xor(bytes, signs);
    l.b.xor(bytes, l.b.and(differ, replaced))
}
