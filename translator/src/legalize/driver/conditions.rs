//! Hides from a driver that a float's bits are a condition ([`Quirks::condition_bits_wrong`](ptx2spv_target::Quirks)): such a driver makes 1.0
//! of a condition's 1, which as a float is the least subnormal number.

use crate::ir::{Binary, Function, Marks, Op, Rewritten, Stmt, Type, Unary, any_stmt, rewrite};
use crate::legalize::driver::veil::Veil;

/// A bit of the veil that other passes don't use.
const VEIL: u64 = 8;

/// Hides the bits of floats that are made from conditions.
pub fn hide_conditions(function: &mut Function) {
    let constants = function.constants();
    let conditions = Marks::forward(function, |conditions, _, stmt| match *stmt {
        Stmt::Let(_, Op::Select(_, x, y)) => {
            let is_bit = |value| constants.of(value).is_some_and(|bits| matches!(bits as u32 as i32, -1..=1));
            [x, y].into_iter().all(|value| conditions.value(value) || is_bit(value))
        }
        // A quotient by more than half of what a word holds is 0 or 1.
        Stmt::Let(_, Op::Binary(Binary::DivUnsigned, x, y)) => {
            conditions.value(x) || constants.of(y).is_some_and(|bits| bits >= 1 << 31)
        }
        Stmt::Let(
            _,
            Op::Unary(Unary::Neg | Unary::ZeroExtend | Unary::SignExtend | Unary::Truncate, x)
            | Op::Binary(Binary::And | Binary::Sub | Binary::Or | Binary::Xor, _, x),
        ) if conditions.value(x) => true,
        Stmt::Let(_, Op::Binary(Binary::And | Binary::Or | Binary::Xor, x, _)) => conditions.value(x),
        _ => false,
    });
    let is_read = |stmt: &Stmt| match *stmt {
        Stmt::Let(_, Op::Unary(Unary::Bitcast(Type::F32 | Type::F64), bits)) => conditions.value(bits),
        _ => false,
    };
    if !any_stmt(&function.body, &is_read) {
        return;
    }
    let [veil] = Veil::draw(function, [VEIL]);
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(_, Op::Unary(Unary::Bitcast(ty), bits)) if is_read(stmt) => {
            let hidden = veil.hide(b, bits);
            Rewritten::By(b.bitcast(hidden, ty))
        }
        _ => Rewritten::Kept,
    });
}
