//! The halves of 64-bit integers.

use crate::index::IndexVec;
use crate::ir::{Builder, Op, Type, Value, Var, map_op_operands};

/// The halves of an `I64`, both `I32`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) low: Value,
    pub(crate) high: Value,
    /// Whether the upper half is known to repeat the lower one's sign.
    pub(crate) signed: bool,
}

impl Words {
    pub(crate) fn new(low: Value, high: Value) -> Words {
        Words { low, high, signed: false }
    }

    pub(crate) fn constant(b: &Builder<'_>, bits: u64) -> Words {
        let (low, high) = (b.i32(bits as u32), b.i32((bits >> 32) as u32));
        let signed = bits as i64 == i64::from(bits as i32);
        Words { low, high, signed }
    }

    /// An `I32` and zeros above.
    pub(crate) fn zero_extended(b: &Builder<'_>, low: Value) -> Words {
        Words::new(low, b.i32(0))
    }

    /// The bits, if both halves are constants.
    pub(crate) fn known(self, b: &Builder<'_>) -> Option<u64> {
        Some(b.known(self.high)? << 32 | b.known(self.low)?)
    }

    /// Either of two numbers.
    pub(crate) fn select(b: &Builder<'_>, condition: Value, then: Words, otherwise: Words) -> Words {
        Words::new(b.select(condition, then.low, otherwise.low), b.select(condition, then.high, otherwise.high))
    }
}

/// The halves that replace 64-bit values and variables.
pub(crate) struct Halves {
    values: IndexVec<Value, Option<Words>>,
    vars: IndexVec<Var, Option<[Var; 2]>>,
}

impl Halves {
    /// Nothing replaced yet.
    pub(crate) fn new(values: usize, vars: usize) -> Self {
        Self { values: IndexVec::filled(None, values), vars: IndexVec::filled(None, vars) }
    }

    /// The halves of a value. A value without halves stands for itself, an error that the verifier then finds.
    pub(crate) fn of(&self, value: Value) -> Words {
        self.values.of(value).unwrap_or(Words::new(value, value))
    }

    pub(crate) fn learn(&mut self, value: Value, words: Words) {
        if let Some(entry) = self.values.at_mut(value) {
            *entry = Some(words);
        }
    }

    /// The variables of a variable's halves.
    pub(crate) fn var(&mut self, b: &Builder<'_>, var: Var) -> [Var; 2] {
        match self.vars.at_mut(var) {
            Some(entry) => *entry.get_or_insert_with(|| [b.var(Type::I32), b.var(Type::I32)]),
            None => [var, var],
        }
    }

    /// A call with pairs in place of `I64`; other operations as they are.
    pub(crate) fn call(&self, b: &Builder<'_>, op: Op) -> Op {
        map_op_operands(op, |operand| if b.type_of(operand) == Type::I64 { self.pair(b, operand) } else { operand })
    }

    pub(crate) fn pair(&self, b: &Builder<'_>, value: Value) -> Value {
        let words = self.of(value);
        b.pair(Type::Pair, words.low, words.high)
    }
}
