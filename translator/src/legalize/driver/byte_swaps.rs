//! Hides swaps of two bytes from drivers that compile them wrong ([`Quirks::byte_swaps_wrong`](ptx2spv_target::Quirks)):
//! `x | y << 8`, where `x` is one byte, becomes `x + y * 256`. No bit of the two is in the same place, so the sum is the same.
//!
//! A byte is recognised by its definition alone: a mask, a shift, or a narrow load.

use rustc_hash::FxHashMap;

use crate::ir::{Binary, Builder, Function, Op, Rewritten, Stmt, Type, Value, rewrite};

/// Bits of a byte.
const BYTE: u32 = 8;

/// Rewrites operations that join a byte with the bits above it.
pub fn hide_byte_swaps(function: &mut Function) {
    let mut seen = Seen::default();
    rewrite(function, |b, stmt| {
        if let Stmt::Let(result, Op::Binary(Binary::Or, x, y)) = stmt
            && b.type_of(*result) == Type::I32
        {
            let joined = seen.joined(b, *x, *y).or_else(|| seen.joined(b, *y, *x));
            if let Some(joined) = joined {
                return Rewritten::By(joined);
            }
        }
        seen.note(b, stmt);
        Rewritten::Kept
    });
}

/// Facts about the values so far.
#[derive(Default)]
struct Seen {
    /// The number of low bits that may be set.
    widths: FxHashMap<Value, u32>,
    /// For values shifted left by one byte: the value before the shift.
    raised: FxHashMap<Value, Value>,
}

impl Seen {
    fn width(&self, b: &Builder<'_>, value: Value) -> u32 {
        match b.known(value) {
            Some(bits) => u64::BITS - bits.leading_zeros(),
            None => self.widths.get(&value).copied().unwrap_or(u64::BITS),
        }
    }

    fn note(&mut self, b: &Builder<'_>, stmt: &Stmt) {
        match *stmt {
            Stmt::Load { ref results, access, .. } => {
                self.widths.extend(results.iter().map(|result| (*result, u32::from(access.bytes) * BYTE)));
            }
            Stmt::Let(result, Op::Binary(op, x, y)) if b.type_of(result) == Type::I32 => {
                let width = self.width(b, x).min(u32::BITS);
                match (op, b.known(y)) {
                    (Binary::And, _) => {
                        self.widths.insert(result, width.min(self.width(b, y)));
                    }
                    (Binary::Shr, Some(amount)) => {
                        let left = u32::try_from(amount).map_or(0, |amount| width.saturating_sub(amount));
                        self.widths.insert(result, left);
                    }
                    (Binary::Shl, Some(amount)) if amount == u64::from(BYTE) => {
                        self.raised.insert(result, x);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// The replacement of `low | high`, if that joins a byte with a value shifted by one byte.
    fn joined(&self, b: &Builder<'_>, low: Value, high: Value) -> Option<Value> {
        let above = *self.raised.get(&high)?;
        if self.width(b, low) > BYTE {
            return None;
        }
        let raised = b.binary_const(Binary::Mul, above, 1 << BYTE);
        Some(b.add(low, raised))
    }
}
