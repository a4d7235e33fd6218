//! Hides from a driver that integers change, clear or set the sign of a float ([`Quirks::nan_signs_wrong`](crate::target::Quirks)): such a driver
//! writes the float's negation or absolute value instead, which gives another NaN. The masks of these operations become unknown to it.
//!
//! Only what float operations give is concerned, where the bits of a NaN reach memory or integers. Elsewhere the driver's form is as good,
//! and often free.

use rustc_hash::FxHashSet;

use crate::index::IndexVec;
use crate::ir::{
    Binary, Block, Builder, Function, Op, Rewritten, Stmt, Type, Unary, Value, Var, for_each_stmt, map_op_operands,
    mask, rewrite,
};
use crate::legalize::arithmetic::nans::Exposed;
use crate::legalize::driver::veil::Veil;

/// A bit of the veil that other passes don't use.
const VEIL: u64 = 4;

/// Hides the masks of signs.
pub fn hide_signs(function: &mut Function) {
    let computed = Computed::of(function);
    let exposed = Exposed::of(function);
    let mut masked = FxHashSet::default();
    let constants = function.constants();
    let known = |value: Value| constants.at(value).copied().flatten();
    for_each_stmt(&function.body, |stmt| {
        if let Stmt::Let(result, Op::Binary(op, x, y)) = *stmt
            && known(y).is_some_and(|bits| is_mask(op, function.type_of(result), bits))
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
    rewrite(function, |b: &mut Builder<'_>, stmt| match *stmt {
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

/// The values that results of float operations are part of.
struct Computed {
    values: IndexVec<Value, bool>,
    vars: IndexVec<Var, bool>,
}

impl Computed {
    /// Variables carry values around loops, so the walk is repeated until it finds no further variable.
    fn of(function: &Function) -> Computed {
        let mut computed = Computed {
            values: IndexVec::filled(false, function.values.len()),
            vars: IndexVec::filled(false, function.vars.len()),
        };
        loop {
            let before = computed.count();
            computed.block(function, &function.body);
            if computed.count() == before {
                return computed;
            }
        }
    }

    fn count(&self) -> usize {
        self.vars.iter().filter(|computed| **computed).count()
    }

    fn value(&self, value: Value) -> bool {
        self.values.at(value).copied().unwrap_or(true)
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, op) => {
                    let is_computed = self.op(function.type_of(*value), op);
                    self.values.at_mut(*value).into_iter().for_each(|known| *known = is_computed);
                }
                Stmt::Set(var, value) if self.value(*value) => {
                    self.vars.at_mut(*var).into_iter().for_each(|known| *known = true);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.block(function, then);
                    self.block(function, otherwise);
                }
                Stmt::Loop(body) => self.block(function, body),
                _ => {}
            }
        }
    }

    fn op(&self, ty: Type, op: &Op) -> bool {
        match *op {
            Op::Const(_) | Op::Builtin(_) | Op::Compare(..) => false,
            Op::Get(var) => self.vars.at(var).copied().unwrap_or(true),
            Op::Call(..) => true,
            op => {
                // A selection among floats is one, too: the driver moves what it makes of the mask into it.
                let is_float = matches!(ty, Type::F32 | Type::F64);
                let mut any = is_float && !matches!(op, Op::Unary(Unary::Bitcast(_), _));
                map_op_operands(op, |operand| {
                    any |= self.value(operand);
                    operand
                });
                any
            }
        }
    }
}
