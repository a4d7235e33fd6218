//! The values whose NaN bits a program can observe: they reach memory, or an integer operation that may make a number of them.

use crate::index::IndexVec;
use crate::ir::{
    Binary, Block, Constants, Function, Op, Stmt, SubgroupOp, Type, Unary, Value, Var, for_each_op_operand,
    for_each_operand, mask,
};
use crate::soft::SINGLE;

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
    pub fn but_of(function: &Function, late: &IndexVec<Var, bool>) -> Exposed {
        let mut exposed = Exposed {
            values: IndexVec::filled(false, function.values.len()),
            used: IndexVec::filled(false, function.values.len()),
            vars: IndexVec::filled(false, function.vars.len()),
            late: late.clone(),
            constants: function.constants(),
            types: function.values.clone(),
        };
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

    /// Whether the payload of a value matters. The payloads of values added since the analysis are assumed to matter.
    pub fn value(&self, value: Value) -> bool {
        self.values.at(value).copied().unwrap_or(true)
    }

    /// The bits of a value that is a constant.
    pub fn constant(&self, value: Value) -> Option<u64> {
        self.constants.of(value)
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
