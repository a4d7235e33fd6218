//! Hides from a driver that integers change, clear or set the sign of a float ([`Quirks::nan_signs_wrong`](ptx2spv_target::Quirks)): such a driver
//! writes the float's negation or absolute value instead, which gives another NaN. The masks of these operations become unknown to it.
//!
//! Only results of float operations are concerned, where the bits of a NaN reach memory or integers. Elsewhere the
//! driver's form is as good, and often free.

use rustc_hash::FxHashSet;

use crate::ir::{
    Binary, Builder, Function, Marks, Op, Rewritten, Stmt, Type, Unary, for_each_operand, for_each_stmt, mask, rewrite,
};
use crate::legalize::arithmetic::exposed::Exposed;
use crate::legalize::driver::veil::Veil;

/// A bit of the veil that other passes don't use.
const VEIL: u64 = 4;

/// Hides the masks of signs.
pub fn hide_signs(function: &mut Function) {
    let computed = Marks::forward(function, |computed, _, stmt| is_computed(function, computed, stmt));
    let exposed = Exposed::of(function);
    let mut masked = FxHashSet::default();
    let constants = function.constants();
    for_each_stmt(&function.body, |stmt| {
        if let Stmt::Let(result, Op::Binary(op, x, y)) = *stmt
            && constants.of(y).is_some_and(|bits| is_mask(op, function.type_of(result), bits))
            && computed.value(x)
            && exposed.value(result)
        {
            masked.insert(result);
        }
    });
    if masked.is_empty() {
        return;
    }
    let [veil] = Veil::draw(function, [VEIL]);
    rewrite(function, |b: &Builder<'_>, stmt| match *stmt {
        Stmt::Let(result, Op::Binary(op, x, y)) if masked.contains(&result) => {
            let hidden = veil.hide(b, y);
            Rewritten::By(b.binary(op, x, hidden))
        }
        _ => Rewritten::Kept,
    });
}

/// Whether an operation with this constant changes, clears or sets the highest bit, and no other.
fn is_mask(op: Binary, ty: Type, bits: u64) -> bool {
    let sign = mask(ty) ^ mask(ty) >> 1;
    match op {
        Binary::And => bits == mask(ty) ^ sign,
        Binary::Or | Binary::Xor | Binary::Add | Binary::Sub => bits == sign,
        _ => false,
    }
}

/// Whether the result of a statement comes from float operations, or is made of such results, given the operands that
/// are.
fn is_computed(function: &Function, computed: &Marks, stmt: &Stmt) -> bool {
    match *stmt {
        Stmt::Let(_, Op::Const(_) | Op::Builtin(_) | Op::Compare(..)) => false,
        Stmt::Let(_, Op::Call(..)) => true,
        Stmt::Let(result, op) => {
            // A selection among floats is one, too: the driver moves what it makes of the mask into it.
            let is_float = matches!(function.type_of(result), Type::F32 | Type::F64);
            let mut any = is_float && !matches!(op, Op::Unary(Unary::Bitcast(_), _));
            for_each_operand(stmt, |operand| any |= computed.value(operand));
            any
        }
        _ => false,
    }
}
