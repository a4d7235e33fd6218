//! Shifts of two words.

use super::halves::Words;
use crate::ir::{Binary, Builder, Compare, Value};

/// A shift by less than 64.
pub(crate) fn shift(b: &Builder<'_>, op: Binary, words: Words, amount: Value) -> Words {
    match b.known(amount) {
        Some(amount) => by_constant(b, op, words, amount as u32 & 63),
        None => by_value(b, op, words, amount),
    }
}

/// A shift by a number below 64.
pub(crate) fn by_constant(b: &Builder<'_>, op: Binary, words: Words, amount: u32) -> Words {
    let Words { low, high, signed } = words;
    if amount == 0 {
        return words;
    }
    // Bits shifted in from the other word, which moves by less than 32.
    let back = 32_u32.wrapping_sub(amount) & 31;
    match op {
        Binary::Shl if amount >= 32 => Words::new(b.i32(0), b.shl(low, amount - 32)),
        Binary::Shl if signed => Words::new(b.shl(low, amount), b.sar(low, back)),
        Binary::Shl => {
            let (moved, carried) = (b.shl(high, amount), b.shr(low, back));
            Words::new(b.shl(low, amount), b.or(moved, carried))
        }
        Binary::Shr if amount >= 32 => Words::zero_extended(b, b.shr(high, amount - 32)),
        Binary::Sar if amount >= 32 => Words { low: b.sar(high, amount - 32), high: b.sar(high, 31), signed: true },
        _ => {
            let (moved, carried) = (b.shr(low, amount), b.shl(high, back));
            let low = b.or(moved, carried);
            Words { low, high: b.binary_const(op, high, amount.into()), signed: signed && op == Binary::Sar }
        }
    }
}

fn by_value(b: &Builder<'_>, op: Binary, words: Words, amount: Value) -> Words {
    let Words { low, high, .. } = words;
    let is_short = { b.compare(Compare::LessUnsigned, amount, b.i32(32)) };
    let amount = b.and_const(amount, 31);
    // 32 minus the amount can be 32, so shift by one first and then by the rest.
    let back = b.xor_const(amount, 31);
    if op == Binary::Shl {
        let moved = b.shl_by(low, amount);
        let carried = b.shr_by(b.shr(low, 1), back);
        let above = b.or(b.shl_by(high, amount), carried);
        let zero = b.i32(0);
        return Words::select(b, is_short, Words::new(moved, above), Words::new(zero, moved));
    }
    let moved = b.binary(op, high, amount);
    let carried = b.shl_by(b.shl(high, 1), back);
    let below = b.or(b.shr_by(low, amount), carried);
    let fill = if op == Binary::Sar { b.sar(high, 31) } else { b.i32(0) };
    Words::select(b, is_short, Words::new(below, moved), Words::new(moved, fill))
}
