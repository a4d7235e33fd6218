//! Replaces atomics that no device has by loops around compare-and-swap on the 32-bit word that holds their operand: atomics on 16-bit
//! floats, and compare-and-swap of 16 bits. Also replaces additions on `F32` where the device's own arithmetic doesn't keep denormals.
//!
//! A loop ends, since an iteration fails only if another thread's change of the word succeeded. The half of a word that an operation leaves
//! alone is written back as it was found, in the same step.

use crate::ir::{
    Access, Arithmetic, Atomic, AtomicOp, Builder, Function, HalfFormat, HalfOp, Op, Rewritten, Rounding, Space, Stmt,
    Type, Value, rewrite,
};
use crate::legalize::memory::narrow_memory::{Part, swap_loop};
use crate::policy::Floats;
use crate::soft::{self, BFLOAT, HALF, Overflow};

/// Replaces atomics that no device has, and additions. No generic accesses are left before this pass.
pub fn expand_atomics(function: &mut Function, floats: &Floats) {
    rewrite(function, |b, stmt| {
        let Stmt::Atomic(atomic) = stmt else { return Rewritten::Kept };
        match (atomic.op, atomic.access.bytes) {
            (AtomicOp::Half(..), _) | (_, 2) => {}
            (AtomicOp::FAdd, 4) if !adds_right(floats, atomic.access.space) => {
                let found = swap_loop(b, atomic.access, atomic.address, |b, old| {
                    let sum = sum(b, atomic, old);
                    if floats.trusted.nan_f32_nvidia { b.bits(sum) } else { bits_with_one_nan(b, sum) }
                });
                if let Some(result) = atomic.result {
                    b.push(Stmt::Let(result, Op::Get(found)));
                }
                return Rewritten::Replaced;
            }
            _ => return Rewritten::Kept,
        }
        let word = Access { bytes: 4, ..atomic.access };
        let (found, part) = if atomic.access.bytes == 2 {
            let part = Part::of(b, atomic.address, 16);
            let found = swap_loop(b, word, part.word, |b, whole| {
                part.insert(b, whole, changed(b, atomic, part.extract(b, whole)))
            });
            (found, Some(part))
        } else {
            let found = swap_loop(b, word, atomic.address, |b, whole| {
                let low = b.and_const(whole, 0xffff);
                let high = b.shr(whole, 16);
                let operands = [b.and_const(atomic.operand, 0xffff), b.shr(atomic.operand, 16)];
                b.or(half(b, atomic.op, low, operands[0]), b.shl(half(b, atomic.op, high, operands[1]), 16))
            });
            (found, None)
        };
        let Some(result) = atomic.result else { return Rewritten::Replaced };
        let Some(part) = part else {
            b.push(Stmt::Let(result, Op::Get(found)));
            return Rewritten::Replaced;
        };
        let old = part.extract(b, b.get(found));
        let var = b.var(Type::I32);
        b.set(var, old);
        b.push(Stmt::Let(result, Op::Get(var)));
        Rewritten::Replaced
    });
}

/// Whether emission can add on `F32` as PTX does.
fn adds_right(floats: &Floats, space: Space) -> bool {
    let is_native = space == Space::Global && floats.global_atomic_add;
    floats.trusted.denormals_f32_kept || is_native
}

/// A sum on `F32`. In global memory it flushes (PTX section 9.7.12.5).
fn sum(b: &Builder<'_>, atomic: &Atomic, old: Value) -> Value {
    let [x, y] = [old, atomic.operand].map(|bits| b.bitcast(bits, Type::F32));
    match atomic.access.space {
        Space::Global => b.flushed(Rounding::NearestEven, Arithmetic::Add(x, y)),
        _ => b.fadd(x, y),
    }
}

/// The bits of a number; any NaN becomes hardware's one NaN.
fn bits_with_one_nan(b: &Builder<'_>, number: Value) -> Value {
    let is_number = b.feq(number, number);
    let nan = b.i32(0x7fff_ffff);
    b.select(is_number, b.bits(number), nan)
}

/// The new value of 16 bits.
fn changed(b: &Builder<'_>, atomic: &Atomic, old: Value) -> Value {
    let operand = b.and_const(atomic.operand, 0xffff);
    match atomic.compare {
        Some(compare) => {
            let equal = b.eq(old, b.and_const(compare, 0xffff));
            b.select(equal, operand, old)
        }
        None => half(b, atomic.op, old, operand),
    }
}

/// The result of an operation on one 16-bit float.
fn half(b: &Builder<'_>, op: AtomicOp, old: Value, operand: Value) -> Value {
    let AtomicOp::Half(format, op) = op else { return operand };
    let format = match format {
        HalfFormat::F16 => HALF,
        HalfFormat::Bf16 => BFLOAT,
    };
    match op {
        // Double rounding is innocuous: single precision has more than twice the bits.
        HalfOp::Add => {
            let [x, y] = [old, operand].map(|bits| soft::widen(b, format, bits));
            soft::narrow(b, format, Rounding::NearestEven, Overflow::Rounded, b.fadd(x, y))
        }
        HalfOp::Min => soft::extremum(b, format, false, false, old, operand),
        HalfOp::Max => soft::extremum(b, format, true, false, old, operand),
    }
}
