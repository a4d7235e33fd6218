//! Produces the NaNs of NVIDIA's hardware where the program can observe them.
//!
//! Lowering marks each result of a PTX float instruction with the NaN that it must be if it is NaN (`OrNan`). The mark is dropped where the
//! device's own NaNs are NVIDIA's and the result comes from a single operation of the device. It is also dropped where only float
//! operations use the result: their results don't depend on which NaN an operand is, or their own `OrNan` says how; and where the result is
//! finite ([`Bounded`]). Elsewhere it becomes a test and a selection: at the operation, or where a variable is read that a loop computes
//! ([`late_nans`]).

use rustc_hash::FxHashSet;

use super::bounded::Bounded;
use super::exposed::Exposed;
use super::late_nans::late_nans;
use crate::index::IndexVec;
use crate::ir::{Binary, Builder, Function, Op, Type, Unary, Value, rewrite_ops};
use crate::soft::SINGLE;
use ptx2spv_target::Facts;

/// Replaces every `OrNan`.
pub fn expand_nans(function: &mut Function, facts: &Facts) {
    // The walks for what is seen of NaNs take long.
    if !function.has_floats() {
        return;
    }
    let mut exposed = Exposed::of(function);
    let mut late = IndexVec::filled(false, function.vars.len());
    if !facts.nan_f32_nvidia {
        late = late_nans(function, &exposed);
        exposed = Exposed::but_of(function, &late);
    }
    let mut own = FxHashSet::default();
    let mut bounded = Bounded::default();
    rewrite_ops(function, |b, result, op| match op {
        Op::Get(var) if late[var] && exposed.value(result) => {
            let bits = b.get(var);
            let number = or_nan(b, b.bitcast(bits, Type::F32), b.constant(Type::F32, SINGLE.nan));
            Some(b.bitcast(number, b.type_of(bits)))
        }
        Op::Binary(Binary::OrNan, value, nan) => {
            let is_right = own.contains(&value) || bounded.contains(b, value) || !exposed.value(result);
            Some(if is_right { value } else { or_nan(b, value, nan) })
        }
        op => {
            if gives_nvidia_nan(&op, b.type_of(result), facts) && !may_return_operand(b, op) {
                own.insert(result);
            }
            bounded.note(b, result, op);
            None
        }
    });
}

/// Whether an operation is, or becomes, a single operation of the device whose NaNs are NVIDIA's by the facts.
fn gives_nvidia_nan(op: &Op, ty: Type, facts: &Facts) -> bool {
    match op {
        Op::Unary(Unary::WidenHalf, _) => facts.nan_conversions_f16_nvidia,
        Op::Fma(..)
        | Op::Unary(Unary::Sqrt | Unary::Root(_) | Unary::FNeg, _)
        | Op::Binary(Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv, ..) => {
            if ty == Type::F32 {
                facts.nan_f32_nvidia
            } else {
                facts.nan_f64_nvidia
            }
        }
        Op::Binary(Binary::FMin | Binary::FMax, ..) => facts.min_max_f32_exact && facts.nan_f32_nvidia,
        _ => false,
    }
}

/// Whether a driver may know that the result is an operand, and so return an operand's NaN unchanged: a quotient, a minimum or a maximum with
/// a constant NaN, and a minimum or a maximum of a value and itself. The facts are about operands that drivers don't know at compile time.
fn may_return_operand(b: &Builder<'_>, op: Op) -> bool {
    let is_nan = |operand: Value| {
        b.known(operand).is_some_and(|bits| match b.type_of(operand) {
            Type::F32 => f32::from_bits(bits as u32).is_nan(),
            _ => f64::from_bits(bits).is_nan(),
        })
    };
    match op {
        Op::Binary(Binary::FDiv, x, y) => is_nan(x) || is_nan(y),
        Op::Binary(Binary::FMin | Binary::FMax, x, y) => x == y || is_nan(x) || is_nan(y),
        _ => false,
    }
}

fn or_nan(b: &Builder<'_>, value: Value, nan: Value) -> Value {
    let is_number = b.feq(value, value);
    b.select(is_number, value, nan)
}
