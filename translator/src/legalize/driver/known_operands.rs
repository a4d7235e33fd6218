//! Hides float operands from drivers whose compilers compute wrong with operands that they know (`known_specials_f32_right` and similar
//! [`Facts`]). Such an operand's bits get an addend that is zero at run time but unknown to any compiler.
//!
//! Where the compiler is only wrong to round the product of two factors of `Fma` that it knows
//! ([`Facts::known_factors_f32_right`]), as Mesa's for Intel does, one of the factors is hidden.
//!
//! Arithmetic on f16 may be right as long as the compiler knows no operand ([`Facts::known_operands_f16_right`]): Mesa's for Intel rounds
//! such a product on f16 too, and Mesa's computations on constants round to f32 first.
//!
//! A dot product that stands for `fma` ([`Facts::dot_f32_fused`]) is a product and a sum for the driver that computes it so. Where a factor is 1
//! or -1 there is no product, and NVIDIA's driver reorders that sum with another such sum that the addend is. It takes `x * -2 + x` for `-x`, also
//! where `x` is zero or infinite. So factors of 1 and -1 are hidden, and so is an addend that is multiplied by a constant too. It rounds the
//! product of two constants, so one of two known factors is hidden.
//!
//! The same is done for conversions to integers that rely on the device's saturation (`to_integer_f32_saturates`). SPIR-V leaves numbers out
//! of range undefined, so a compiler that knows the operand may compute any result: NVIDIA's computes 0.
//!
//! A compiler knows constants and values that it can compute from constants: counters of loops that it unrolls, thread indices in blocks of
//! one thread, parameters that it compiles a kernel for. An operand stays visible only if it is unknown to any compiler: it comes from an
//! atomic, from another thread, or from memory in which the kernel stores no known values, and the arithmetic in between keeps it unknown.
//! Every other operand is hidden.

use rustc_hash::FxHashMap;

use crate::index::IndexVec;
use crate::ir::{
    Arithmetic, Atomic, AtomicOp, Binary, Block, Builder, Function, Marks, Op, Rewritten, Space, Stmt, SubgroupOp,
    Type, Unary, Value, Var, any_stmt, bits_type, for_each_result, for_each_stmt, map_op_operands, mask, rewrite,
};
use crate::legalize::driver::veil::Veil;
use crate::soft::{Format, SINGLE};
use ptx2spv_target::Facts;

/// Hides the operands of float arithmetic that the target's driver must not know.
pub fn hide_known_operands(function: &mut Function, facts: &Facts) {
    let dots = Dots::of(function);
    let hides_some = hides_any(facts, Type::F32) || hides_any(facts, Type::F64);
    let hides_halves = !facts.known_operands_f16_right && has(function, is_half);
    let hides_factors = !facts.known_factors_f32_right && has(function, |op| matches!(op, Op::Fma(..)));
    if dots.is_none() && !hides_some && !hides_halves && !hides_factors && !facts.to_integer_f32_saturates {
        return;
    }
    let unknown = Unknown::of(function, facts);
    let origins = Origins::of(function);
    let mut originals = FxHashMap::default();
    let [first, second] = Veil::draw(function, [1, 2]);
    rewrite(function, |b, stmt| {
        let is_hidden = |b: &Builder<'_>, value: Value| match b.known(value) {
            Some(bits) => hides(facts, b.type_of(value), bits),
            None => hides_any(facts, b.type_of(value)) && !unknown.value(value),
        };
        // The factor of an `Fma` that is hidden because of the other one: a constant, if there is one, which needs no instruction in a loop.
        let hidden_factor = |b: &Builder<'_>, op: &Op| match *op {
            Op::Fma(x, y, _) if unknown.are_factors_known(b.type_of(x), x, y) => {
                Some(if b.known(y).is_some() { y } else { x })
            }
            _ => None,
        };
        match *stmt {
            Stmt::Let(result, Op::Binary(Binary::FSub, x, y)) => {
                // A compiler may find out that the two operands are the same, unless a different zero hides each, or one is
                // computed from the other.
                let may_repeat = |b: &Builder<'_>| {
                    let [x, y] = [x, y].map(|value| originals.get(&value).copied().unwrap_or(value));
                    b.known(y).is_none() && !origins.derives(&unknown, x, y) && !origins.derives(&unknown, y, x)
                };
                let hides_y = is_hidden(b, y) || hides_specials(facts, b.type_of(y)) && may_repeat(b);
                let hides_x = is_hidden(b, x);
                if !hides_x && !hides_y {
                    return Rewritten::Kept;
                }
                let x = if hides_x { first.hide(b, x) } else { x };
                let y = if hides_y { second.hide(b, y) } else { y };
                let ty = b.type_of(result);
                let difference = b.op(ty, Op::Binary(Binary::FSub, x, y));
                originals.insert(difference, result);
                Rewritten::By(difference)
            }
            Stmt::Let(result, op) if is_arithmetic(&op) => {
                let original = |value| originals.get(&value).copied().unwrap_or(value);
                let mut hides_by_dot = dots.as_ref().map_or([false; 3], |dots| dots.hides(op, original)).into_iter();
                let mut changed = false;
                let factor = hidden_factor(b, &op);
                // An approximation may be another one for a constant.
                let is_approximate = matches!(op, Op::Binary(Binary::FDivApprox, ..));
                let op = map_op_operands(op, |value| {
                    let is_ordinary = |bits| !is_special(b.type_of(value), bits);
                    let by_value = is_hidden(b, value) && !(is_approximate && b.known(value).is_some_and(is_ordinary));
                    let hides = hides_by_dot.next() == Some(true) || by_value || factor == Some(value);
                    changed |= hides;
                    if hides { first.hide(b, value) } else { value }
                });
                if !changed {
                    return Rewritten::Kept;
                }
                let ty = b.type_of(result);
                let hidden = b.op(ty, op);
                originals.insert(hidden, result);
                Rewritten::By(hidden)
            }
            Stmt::Let(result, Op::Half(halves, arithmetic)) if hides_halves => {
                let mut changed = false;
                let arithmetic = arithmetic.map(|value| {
                    let hides = !unknown.value(value);
                    changed |= hides;
                    if hides { first.hide_pair(b, value) } else { value }
                });
                // A compiler may find out that the two operands are the same.
                let arithmetic = match arithmetic {
                    Arithmetic::Sub(x, y) => Arithmetic::Sub(x, second.hide_pair(b, y)),
                    _ if !changed => return Rewritten::Kept,
                    _ => arithmetic,
                };
                let ty = b.type_of(result);
                Rewritten::By(b.op(ty, Op::Half(halves, arithmetic)))
            }
            Stmt::Let(result, Op::Unary(op @ (Unary::SaturateToSigned | Unary::SaturateToUnsigned), x))
                if !unknown.value(x) =>
            {
                let x = first.hide(b, x);
                let ty = b.type_of(result);
                Rewritten::By(b.op(ty, Op::Unary(op, x)))
            }
            Stmt::Atomic(atomic @ Atomic { op: AtomicOp::FAdd, operand, .. }) if is_hidden(b, operand) => {
                let operand = first.hide(b, operand);
                b.atomic(Atomic { operand, ..atomic });
                Rewritten::Replaced
            }
            _ => Rewritten::Kept,
        }
    });
}

/// Facts about the operands of dot products that a driver may find out.
struct Dots {
    constants: IndexVec<Value, Option<u64>>,
    /// Values that depend on anything but constants. The others a driver may compute, where it unrolls loops.
    dependents: Marks,
    /// Values that are 1 or -1 on some path.
    units: Marks,
    /// The value of which each is a copy, but for the sign.
    sources: IndexVec<Value, Value>,
}

impl Dots {
    /// `None` if the function has no dot products.
    fn of(function: &Function) -> Option<Dots> {
        if !has(function, |op| matches!(op, Op::DotFma(..))) {
            return None;
        }
        let mut sources: IndexVec<Value, Value> = function.values.indices().collect();
        let constants = function.constants();
        let is_sign = |value: Value| constants.of(value) == Some(SINGLE.sign());
        for_each_stmt(&function.body, |stmt| match *stmt {
            Stmt::Let(value, Op::Unary(Unary::FNeg | Unary::Bitcast(_), source)) => sources[value] = sources[source],
            Stmt::Let(value, Op::Binary(Binary::Xor, source, sign)) if is_sign(sign) => {
                sources[value] = sources[source]
            }
            _ => {}
        });
        let dependents = Marks::forward(function, |dependents, _, stmt| {
            let Stmt::Let(_, op) = stmt else { return true };
            let has_operands = op.any_operand(|_| true);
            let depends = op.any_operand(|value| dependents.value(value));
            !matches!(op, Op::Const(_)) && (depends || !has_operands || matches!(op, Op::Call(..)))
        });
        let units = Marks::forward(function, |units, _, stmt| match *stmt {
            Stmt::Let(_, Op::Const(bits)) => is_unit(bits),
            Stmt::Let(_, Op::Unary(Unary::FNeg | Unary::Bitcast(_), x)) => units.value(x),
            Stmt::Let(_, Op::Binary(Binary::And | Binary::Or | Binary::Xor, x, y) | Op::Select(_, x, y)) => {
                units.value(x) || units.value(y)
            }
            _ => false,
        });
        Some(Dots { constants, dependents, units, sources })
    }

    /// For each operand of a dot product, whether it must be hidden, judged by the operands that the function had
    /// before.
    fn hides(&self, op: Op, original: impl Fn(Value) -> Value) -> [bool; 3] {
        let Op::DotFma(x, y, z) = op else { return [false; 3] };
        let [x, y, z] = [x, y, z].map(original);
        let repeats = |one, other| self.are_equal(one, z) && self.may_be_known(other);
        let is_product_known = self.may_be_known(x) && self.may_be_known(y);
        [is_product_known || self.may_be_unit(x), self.may_be_unit(y), repeats(x, y) || repeats(y, x)]
    }

    /// Whether a driver may find out that a factor is 1 or -1.
    fn may_be_unit(&self, value: Value) -> bool {
        match self.constants.of(value) {
            Some(bits) => is_unit(bits),
            None => self.units.value(value) || self.may_be_known(value),
        }
    }

    /// Whether a driver may know a value at compile time.
    fn may_be_known(&self, value: Value) -> bool {
        !self.dependents.value(value)
    }

    /// Whether two values are the same but for the sign.
    fn are_equal(&self, one: Value, other: Value) -> bool {
        self.sources.at(one).zip(self.sources.at(other)).is_some_and(|(one, other)| one == other)
    }
}

/// Whether the bits of a float on `F32` are those of 1 or -1.
fn is_unit(bits: u64) -> bool {
    bits & (SINGLE.sign() - 1) == SINGLE.one()
}

/// Whether the bits of a float, or of an integer that stands for one, are those of a zero or a NaN.
fn is_special(ty: Type, bits: u64) -> bool {
    let format = Format::of(if bits_type(ty) == Type::I32 { Type::F32 } else { Type::F64 });
    let magnitude = bits & mask(ty) >> 1;
    magnitude == 0 || magnitude > format.infinity()
}

/// Whether a constant must be hidden.
fn hides(facts: &Facts, ty: Type, bits: u64) -> bool {
    if is_special(ty, bits) { hides_specials(facts, ty) } else { hides_constants(facts, ty) }
}

/// Whether zeros, NaNs and repeated operands must be hidden in operations on floats of a type.
fn hides_specials(facts: &Facts, ty: Type) -> bool {
    !if bits_type(ty) == Type::I32 { facts.known_specials_f32_right } else { facts.known_specials_f64_right }
}

/// Whether constants other than zeros and NaNs must be hidden in operations on floats of a type.
fn hides_constants(facts: &Facts, ty: Type) -> bool {
    !if bits_type(ty) == Type::I32 { facts.known_constants_f32_right } else { facts.known_constants_f64_right }
}

fn hides_any(facts: &Facts, ty: Type) -> bool {
    hides_specials(facts, ty) || hides_constants(facts, ty)
}

/// Arithmetic on floats whose operands can be hidden.
fn is_arithmetic(op: &Op) -> bool {
    use Binary::{FAdd, FDiv, FDivApprox, FMul, FSub};
    matches!(op, Op::Fma(..) | Op::DotFma(..) | Op::Binary(FAdd | FSub | FMul | FDiv | FDivApprox, ..))
}

fn has(function: &Function, is_wanted: fn(&Op) -> bool) -> bool {
    any_stmt(&function.body, &|stmt| matches!(stmt, Stmt::Let(_, op) if is_wanted(op)))
}

fn is_half(op: &Op) -> bool {
    matches!(op, Op::Half(..))
}

/// The float arithmetic that each value of a function is the result of.
struct Origins(IndexVec<Value, Option<Op>>);

/// Operations between two operands that are looked at to find that one is computed from the other.
const STEPS: u32 = 3;

impl Origins {
    fn of(function: &Function) -> Origins {
        let definitions = function.definitions().into_iter();
        Origins(definitions.map(|op| op.filter(is_arithmetic)).collect())
    }

    /// Whether a value is computed from another, in a few operations none of which could leave the other value as it
    /// is. Then no compiler that keeps to the rounding of each operation takes the two for the same: the errors of a
    /// sum are computed so.
    fn derives(&self, unknown: &Unknown<'_>, value: Value, from: Value) -> bool {
        self.derives_within(unknown, value, from, STEPS)
    }

    fn derives_within(&self, unknown: &Unknown<'_>, value: Value, from: Value, steps: u32) -> bool {
        let Some(&Some(op)) = self.0.at(value) else { return false };
        let is_identity = op.any_operand(|operand| unknown.visible.at(operand) == Some(&true));
        let is_from = |operand| operand == from || steps > 1 && self.derives_within(unknown, operand, from, steps - 1);
        !is_identity && op.any_operand(is_from)
    }
}

/// The values that no compiler can know in a function, once all operands that need hiding are hidden.
struct Unknown<'f> {
    facts: &'f Facts,
    values: IndexVec<Value, bool>,
    /// Constants that are not hidden. A compiler knows the results of arithmetic on these alone.
    visible: IndexVec<Value, bool>,
    /// Constants of which only the lowest bit may be set.
    lowest: IndexVec<Value, bool>,
    vars: IndexVec<Var, bool>,
    /// Values loaded from global, shared and local memory.
    memories: [bool; 3],
}

impl Unknown<'_> {
    /// Everything is unknown at first. A walk finds the known values; since variables and memory carry values around loops, the walk is
    /// repeated until it finds no more.
    fn of<'f>(function: &Function, facts: &'f Facts) -> Unknown<'f> {
        let mut unknown = Unknown {
            facts,
            visible: IndexVec::filled(false, function.values.len()),
            lowest: IndexVec::filled(false, function.values.len()),
            values: IndexVec::filled(false, function.values.len()),
            vars: IndexVec::filled(true, function.vars.len()),
            memories: [true; 3],
        };
        // This ends: what a variable or a memory holds is taken as unknown at first, and not again once it is known.
        loop {
            let before = unknown.carriers();
            unknown.block(function, &function.body);
            if unknown.carriers() == before {
                return unknown;
            }
        }
    }

    fn carriers(&self) -> usize {
        self.vars.iter().chain(&self.memories).filter(|unknown| **unknown).count()
    }

    /// Values added since the analysis are results of arithmetic.
    fn value(&self, value: Value) -> bool {
        self.values.at(value).copied().unwrap_or(true)
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, op) => {
                    if let &Op::Const(bits) = op {
                        let is_visible = !hides(self.facts, function.type_of(*value), bits);
                        self.visible.at_mut(*value).into_iter().for_each(|visible| *visible = is_visible);
                        self.lowest.at_mut(*value).into_iter().for_each(|lowest| *lowest = bits <= 1);
                    }
                    let is_unknown = self.op(function.type_of(*value), op);
                    self.define(stmt, is_unknown);
                }
                Stmt::Set(var, value) => {
                    let is_unknown = self.value(*value);
                    if let Some(var) = self.vars.at_mut(*var) {
                        *var &= is_unknown;
                    }
                }
                Stmt::Load { access, .. } => self.define(stmt, access.read_only || self.memory(access.space)),
                Stmt::Store { values, access, .. } => {
                    let are_unknown = values.iter().all(|value| self.value(*value));
                    if let Some(memory) = self.memories.get_mut(memory(access.space)) {
                        *memory &= are_unknown;
                    }
                }
                Stmt::Atomic(_) | Stmt::Warp(_) => self.define(stmt, true),
                Stmt::Subgroup(_, SubgroupOp::Shuffle(value, _) | SubgroupOp::ShuffleXor(value, _)) => {
                    self.define(stmt, self.value(*value))
                }
                // What other operations of a subgroup give counts as known.
                _ => stmt.lists().for_each(|list| self.block(function, list)),
            }
        }
    }

    fn define(&mut self, stmt: &Stmt, is_unknown: bool) {
        for_each_result(stmt, |value| {
            if let Some(value) = self.values.at_mut(value) {
                *value = is_unknown;
            }
        });
    }

    fn memory(&self, space: Space) -> bool {
        self.memories.get(memory(space)).copied().unwrap_or(false)
    }

    /// Whether an operation on possibly known operands gives an unknown result. Parameters count as known: Mesa compiles kernels for the
    /// values of some.
    fn op(&self, ty: Type, op: &Op) -> bool {
        match *op {
            // One of them is hidden.
            Op::Fma(x, y, _) if self.are_factors_known(ty, x, y) => true,
            op if is_arithmetic(&op) => {
                let hides = hides_any(self.facts, ty);
                // A value that must be hidden is unknown afterwards.
                let is_visible = |value| self.visible.at(value) == Some(&true);
                op.any_operand(|value| if hides { !is_visible(value) } else { self.value(value) })
            }
            Op::Half(..) => op.any_operand(|value| self.value(value)),
            Op::Get(var) => self.vars.at(var).copied().unwrap_or(false),
            // The upper half of a widened integer is known.
            Op::Unary(Unary::HighWord, _) => false,
            Op::Unary(_, a) => self.value(a),
            // One known operand can't make the result known.
            Op::Binary(Binary::Add | Binary::Sub | Binary::Xor, a, b) => self.value(a) != self.value(b),
            // Rounding to odd sets the lowest bit.
            Op::Binary(Binary::Or, a, b) => self.value(a) && self.is_lowest(b) || self.value(b) && self.is_lowest(a),
            Op::Select(_, a, b) => self.value(a) && self.value(b),
            _ => false,
        }
    }

    /// Whether a driver may know both factors of an `Fma` on a type, though it must not.
    fn are_factors_known(&self, ty: Type, x: Value, y: Value) -> bool {
        ty == Type::F32 && !self.facts.known_factors_f32_right && !self.value(x) && !self.value(y)
    }

    fn is_lowest(&self, value: Value) -> bool {
        self.lowest.at(value).copied().unwrap_or(false)
    }
}

/// A space's place among [`Unknown::memories`]; beyond them for generic memory.
fn memory(space: Space) -> usize {
    match space {
        Space::Global => 0,
        Space::Shared => 1,
        Space::Local => 2,
        Space::Generic => 3,
    }
}
