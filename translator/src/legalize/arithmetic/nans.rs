//! Produces the NaNs of NVIDIA's hardware where the program can observe them.
//!
//! Lowering marks each result of a PTX float instruction with the NaN that it must be if it is NaN (`OrNan`). The mark is dropped where the
//! device's own NaNs are NVIDIA's and the result comes from a single operation of the device. It is also dropped where only float
//! operations use the result: their results don't depend on which NaN an operand is, or their own `OrNan` says how. Elsewhere it becomes a
//! test and a selection: at the operation, or where a variable is read that a loop computes ([`late_nans`]).

use rustc_hash::FxHashSet;

use super::late_nans::late_nans;
use crate::index::IndexVec;
use crate::ir::{
    Binary, Block, Builder, Constants, Function, Op, Rewritten, Stmt, SubgroupOp, Type, Unary, Value, Var,
    for_each_op_operand, for_each_operand, mask, rewrite,
};
use crate::soft::SINGLE;
use crate::target::Facts;

/// Replaces every `OrNan`.
pub fn expand_nans(function: &mut Function, facts: &Facts) {
    let mut exposed = Exposed::of(function);
    let mut late = IndexVec::filled(false, function.vars.len());
    if !facts.nan_f32_nvidia {
        late = late_nans(function, &exposed);
        exposed = Exposed::but_of(function, &late);
    }
    let mut own = FxHashSet::default();
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, Op::Get(var)) if late[var] && exposed.value(result) => {
            let bits = b.get(var);
            let number = or_nan(b, b.bitcast(bits, Type::F32), b.constant(Type::F32, SINGLE.nan));
            Rewritten::By(b.bitcast(number, b.type_of(bits)))
        }
        Stmt::Let(result, Op::Binary(Binary::OrNan, value, nan)) => {
            let is_own = own.contains(&value);
            Rewritten::By(if is_own || !exposed.value(result) { value } else { or_nan(b, value, nan) })
        }
        Stmt::Let(result, op) => {
            if gives_nvidia_nan(&op, b.type_of(result), facts) && !may_return_operand(b, op) {
                own.insert(result);
            }
            Rewritten::Kept
        }
        _ => Rewritten::Kept,
    });
}

/// Whether an operation is, or becomes, a single operation of the device whose NaNs are NVIDIA's by the facts.
fn gives_nvidia_nan(op: &Op, ty: Type, facts: &Facts) -> bool {
    match op {
        Op::Unary(Unary::WidenHalf, _) => facts.nan_conversions_f16_nvidia,
        Op::Fma(..)
        | Op::Unary(Unary::Sqrt | Unary::Root(_) | Unary::FNeg, _)
        | Op::Binary(Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv | Binary::FMin | Binary::FMax, ..) => {
            if ty == Type::F32 {
                facts.nan_f32_nvidia
            } else {
                facts.nan_f64_nvidia
            }
        }
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

/// Values and variables whose NaN payload matters, because their bits reach memory or an integer operation that may make a number of them.
pub struct Exposed {
    values: IndexVec<Value, bool>,
    /// Values that something is made of. What only the NaN of a result is made of whose payload doesn't matter, is not among them.
    used: IndexVec<Value, bool>,
    vars: IndexVec<Var, bool>,
    /// Variables that expose nothing that they are assigned.
    late: IndexVec<Var, bool>,
    /// Bits of those values that are constants.
    constants: Constants,
    types: IndexVec<Value, Type>,
}

impl Exposed {
    /// A backward walk over the statements finds all uses of a value before its definition. Variables carry values around loops, so the
    /// walk is repeated until it finds no further variable.
    pub fn of(function: &Function) -> Exposed {
        Exposed::but_of(function, &IndexVec::filled(false, function.vars.len()))
    }

    /// The same where `late` variables expose nothing that they are assigned.
    fn but_of(function: &Function, late: &IndexVec<Var, bool>) -> Exposed {
        let mut exposed = Exposed {
            values: IndexVec::filled(false, function.values.len()),
            used: IndexVec::filled(false, function.values.len()),
            vars: IndexVec::filled(false, function.vars.len()),
            late: late.clone(),
            constants: IndexVec::filled(None, function.values.len()),
            types: function.values.clone(),
        };
        exposed.find_constants(&function.body);
        // This ends: what is exposed stays so.
        loop {
            let before = exposed.count();
            exposed.list(&function.body);
            if exposed.count() == before {
                return exposed;
            }
        }
    }

    fn count(&self) -> usize {
        self.vars.iter().filter(|exposed| **exposed).count()
    }

    /// Whether the payload of a value matters. Values that were added since are taken to.
    pub fn value(&self, value: Value) -> bool {
        self.values.at(value).copied().unwrap_or(true)
    }

    /// The bits of a value that is a constant.
    pub fn constant(&self, value: Value) -> Option<u64> {
        self.constants.at(value).copied().flatten()
    }

    fn expose(&mut self, value: Value) {
        if let Some(exposed) = self.values.at_mut(value) {
            *exposed = true;
        }
    }

    fn use_value(&mut self, value: Value) {
        if let Some(used) = self.used.at_mut(value) {
            *used = true;
        }
    }

    fn var(&mut self, var: Var) -> Option<&mut bool> {
        self.vars.at_mut(var)
    }

    fn find_constants(&mut self, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, Op::Const(bits)) => {
                    if let Some(known) = self.constants.at_mut(*value) {
                        *known = Some(*bits);
                    }
                }
                Stmt::If { then, otherwise, .. } => {
                    self.find_constants(then);
                    self.find_constants(otherwise);
                }
                Stmt::Loop(body) => self.find_constants(body),
                _ => {}
            }
        }
    }

    fn list(&mut self, block: &Block) {
        for stmt in block.iter().rev() {
            if !matches!(stmt, Stmt::Let(..)) {
                for_each_operand(stmt, |value| self.use_value(value));
            }
            match stmt {
                Stmt::Let(result, op) if self.used.at(*result) != Some(&false) => self.op(*result, op),
                Stmt::Let(..) => {}
                Stmt::Set(var, value) => {
                    if !self.late[*var] && self.var(*var).is_none_or(|exposed| *exposed) {
                        self.expose(*value);
                    }
                }
                Stmt::Load { address, .. } => self.expose(*address),
                Stmt::Store { values, address, .. } => {
                    self.expose(*address);
                    values.iter().for_each(|value| self.expose(*value));
                }
                Stmt::Atomic(atomic) => {
                    let operands = [Some(atomic.address), Some(atomic.operand), atomic.compare];
                    operands.into_iter().flatten().for_each(|value| self.expose(value));
                }
                Stmt::Arrive(thread) => self.expose(*thread),
                Stmt::Report(_, values) => values.iter().for_each(|value| self.expose(*value)),
                Stmt::If { then, otherwise, .. } => {
                    self.list(otherwise);
                    self.list(then);
                }
                Stmt::Loop(body) => self.list(body),
                // What moves a value shows as much of it as is seen of the result.
                Stmt::Subgroup(results, SubgroupOp::Shuffle(value, lane) | SubgroupOp::ShuffleXor(value, lane)) => {
                    self.expose(*lane);
                    if results.iter().any(|result| self.value(*result)) {
                        self.expose(*value);
                    }
                }
                Stmt::Subgroup(_, op) => {
                    op.map(|value| {
                        self.expose(value);
                        value
                    });
                }
                // No warp operations are left here.
                Stmt::At(_) | Stmt::Warp(_) | Stmt::Barrier(_) | Stmt::Fence(_) | Stmt::Break | Stmt::Return(_) => {}
            }
        }
    }

    /// Marks the operands whose bits an operation exposes.
    fn op(&mut self, result: Value, op: &Op) {
        let is_exposed = self.value(result);
        match *op {
            Op::Binary(Binary::OrNan, number, _) if !is_exposed => self.use_value(number),
            op => for_each_op_operand(op, |operand| self.use_value(operand)),
        }
        match *op {
            Op::Get(var) => {
                if let (true, Some(exposed)) = (is_exposed, self.var(var)) {
                    *exposed = true;
                }
            }
            // A comparison of two integers, which may be the bits of a NaN.
            Op::Compare(_, a, b) if !self.is_float(a) => [a, b].into_iter().for_each(|value| self.expose(value)),
            // All NaNs have the same exponent. What would move another bit there has exposed it.
            Op::Binary(Binary::And, a, b) if self.is_exponent(a) || self.is_exponent(b) => {}
            // The replacement of a NaN.
            Op::Binary(Binary::OrNan, _, nan) if is_exposed => self.expose(nan),
            // What moves a NaN, or makes another of it, shows as much of it as is seen of the result.
            Op::Unary(Unary::Bitcast(_), a) if is_exposed => self.expose(a),
            Op::Unary(Unary::Bitcast(_), _) => {}
            Op::Select(_, a, b) if is_exposed => [a, b].into_iter().for_each(|value| self.expose(value)),
            Op::Binary(op, a, b) if !is_exposed && self.keeps_nan(op, a, b) => {}
            // Others may make numbers of its bits, which any use shows, by float operations too.
            Op::Unary(_, a) if !self.is_float(a) => self.expose(a),
            Op::Binary(_, a, b) if !self.is_float(a) => [a, b].into_iter().for_each(|value| self.expose(value)),
            op @ (Op::Pair(..) | Op::Half(..) | Op::Matrix(..) | Op::Call(..)) => for_each_op_operand(op, |operand| {
                if !self.is_float(operand) {
                    self.expose(operand);
                }
            }),
            // Float operations don't depend on which NaN an operand is; no other operations take operands that could be
            // NaNs.
            _ => {}
        }
    }

    /// Whether an operation on integers gives the bits of a NaN wherever an operand has such bits.
    fn keeps_nan(&self, op: Binary, a: Value, b: Value) -> bool {
        let Some(all) = self.types.at(a).map(|ty| mask(*ty)) else { return false };
        let sign = all ^ all >> 1;
        let is_with = |holds: fn(u64, u64) -> bool| {
            [a, b].into_iter().any(|operand| self.constant(operand).is_some_and(|bits| holds(bits, sign)))
        };
        match op {
            Binary::Or => true,
            Binary::And => is_with(|bits, sign| bits | sign == sign | (sign - 1)),
            Binary::Xor => is_with(|bits, sign| bits & !sign == 0),
            _ => false,
        }
    }

    fn is_float(&self, value: Value) -> bool {
        matches!(self.types.at(value), Some(Type::F32 | Type::F64))
    }

    /// Whether a value is a mask of exponents of `F32`.
    fn is_exponent(&self, value: Value) -> bool {
        self.types.at(value) == Some(&Type::I32)
            && self.constant(value).is_some_and(|bits| bits & !SINGLE.infinity() == 0)
    }
}
