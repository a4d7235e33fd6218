//! Writes rotations by a constant as Mesa's compilers recognise them: `x << n | x >> 32 - n`, where the difference is one in the module too
//! (`urol` in `nir_opt_algebraic.py`). By two constants they are two shifts, of which sums are moved out, and no rotation is left to find.

use rustc_hash::FxHashMap;

use crate::ir::{Binary, Function, Op, Stmt, Type, Value, for_each_stmt, rewrite_ops};

/// Bits of the rotated number.
const WIDTH: u64 = 32;

/// Makes the amount by which a rotation shifts right a difference.
pub fn show_rotations(function: &mut Function) {
    let (definitions, constants) = (function.definitions(), function.constants());
    let mut halves = FxHashMap::default();
    for_each_stmt(&function.body, |stmt| {
        let Stmt::Let(result, Op::Binary(Binary::Or, x, y)) = *stmt else { return };
        let halves_of = |left: Value, right: Value| {
            let Some(Op::Binary(Binary::Shl, x, places)) = definitions[left] else { return None };
            let Some(Op::Binary(Binary::Shr, y, rest)) = definitions[right] else { return None };
            let places = constants.of(places)?;
            (x == y && places + constants.of(rest)? == WIDTH).then_some((right, places))
        };
        if function.type_of(result) == Type::I32 {
            halves.extend(halves_of(x, y).or_else(|| halves_of(y, x)));
        }
    });
    if halves.is_empty() {
        return;
    }
    rewrite_ops(function, |b, result, op| match (op, halves.get(&result)) {
        (Op::Binary(Binary::Shr, x, _), Some(&places)) => {
            // The left shift's own constant may be defined later.
            let rest = b.define(Type::I32, Op::Binary(Binary::Sub, b.i32(WIDTH as u32), b.i32(places as u32)));
            Some(b.define(Type::I32, Op::Binary(Binary::Shr, x, rest)))
        }
        _ => None,
    });
}
