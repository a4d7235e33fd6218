//! Approximate roots of any `F32` by the device's roots, which are used for positive, normal numbers, and for other
//! operands as far as facts allow.
//!
//! Vulkan leaves `Sqrt` of negative numbers undefined, and `InverseSqrt` also of zeros, and lets both treat subnormals as zeros. This pass
//! doesn't deal with the accuracy of roots.

use crate::ir::{Builder, Op, Root, Type, Unary, Value};
use crate::legalize::arithmetic::flushed::flush;
use crate::legalize::arithmetic::singles::{RAISE, raise};
use crate::policy::Policy;
use crate::soft::SINGLE;
use ptx2spv_target::Facts;

/// `Root` by operations that include `SqrtApprox` or `InverseSqrtApprox`.
pub fn expand_root_ends(b: &Builder<'_>, policy: &Policy, _: Type, op: Op) -> Option<Value> {
    let Op::Unary(Unary::Root(root), x) = op else { return None };
    let facts = &policy.floats.trusted;
    // The replacement of an inaccurate root handles only normal numbers.
    let is_own = facts.roots_f32_close;
    let are_ends_right = is_own && facts.roots_f32_ends;
    let x = if root.flush && !(are_ends_right && facts.roots_f32_flush) { flush(b, x) } else { x };
    let is_scaled = !(root.flush || is_own && facts.roots_f32_denormals);
    let result = if is_scaled { scaled(b, facts, root, x) } else { own(b, root, x) };
    Some(if are_ends_right { result } else { with_ends(b, root, x, result) })
}

/// The device's own root.
fn own(b: &Builder<'_>, root: Root, x: Value) -> Value {
    b.unary(if root.inverse { Unary::InverseSqrtApprox } else { Unary::SqrtApprox }, x)
}

/// The device's own root. Subnormal operands are scaled up, and their roots are scaled back; the operands of other kinds are not changed.
fn scaled(b: &Builder<'_>, facts: &Facts, root: Root, x: Value) -> Value {
    let (up, is_small) = if facts.denormals_f32_kept {
        // Negative numbers of any size may be scaled as well.
        let [least_normal, factor] = [f32::MIN_POSITIVE, 2f32.powi(RAISE as i32)].map(|number| b.f32(number));
        (b.fmul(x, factor), b.flt(x, least_normal))
    } else {
        raise(b, x)
    };
    let result = own(b, root, b.select(is_small, up, x));
    let half = RAISE as i32 / 2;
    let factor = b.f32(2f32.powi(if root.inverse { half } else { -half }));
    b.select(is_small, b.fmul(result, factor), result)
}

/// `result` for positive numbers, and the right root for zeros, infinities, negative numbers and NaNs.
fn with_ends(b: &Builder<'_>, root: Root, x: Value, result: Value) -> Value {
    let bits = b.bits(x);
    let infinity = b.i32(SINGLE.infinity() as u32);
    let (of_zero, of_infinity) = if root.inverse {
        let signed = b.or(infinity, b.and_const(bits, SINGLE.sign()));
        (b.bitcast(signed, Type::F32), b.f32(0.0))
    } else {
        (x, x)
    };
    let is_infinity = b.eq(bits, infinity);
    let result = b.select(is_infinity, of_infinity, result);
    // The bits of negative numbers and NaNs are above those of infinity.
    let is_above = b.ult(infinity, bits);
    let result = b.select(is_above, b.constant(Type::F32, SINGLE.nan), result);
    b.select(b.is_zero(b.magnitude(x)), of_zero, result)
}
