//! 64-bit integers as two words of 32 bits, for targets without 64-bit integers.
//!
//! Every `I64`, value or variable, becomes two `I32`. Addresses of global memory become a [`Type::Pair`] where they are used, and so does
//! the clock's value. Runs after all passes that make operations on `I64`, and leaves none.
//!
//! * `arithmetic`: sums, bits, comparisons; `shifts`; `products`; `division`.
//! * `conversion`: between `I64` and floats, by operations on `I64` and `I32`, which the other modules then split.
//! * `memory`: loads, stores and addresses.

mod arithmetic;
mod conversion;
mod division;
mod halves;
mod memory;
mod products;
mod shifts;

use crate::ir::{Atomic, Binary, Builder, Builtin, Function, Op, Rewritten, Space, Stmt, Type, Unary, Value, rewrite};
use crate::opt::{propagate_copies, remove_dead};
use crate::policy::Policy;
use halves::{Halves, Words};

/// Splits 64-bit integers.
pub fn split_words(function: &mut Function) {
    if memory::is_long(&function.body) {
        return;
    }
    for helper in &mut function.helpers {
        split_words(&mut helper.function);
        for ty in helper.parameters.iter_mut().chain([&mut helper.result]).filter(|ty| **ty == Type::I64) {
            *ty = Type::Pair;
        }
    }
    if !function.values.contains(&Type::I64) {
        return;
    }
    conversion::expand_conversions(function);
    let mut halves = Halves::new(function.values.len(), function.vars.len());
    rewrite(function, |b, stmt| halves.replace(b, stmt));
    // The builder has folded additions of zeros and the like, but not common subexpressions.
    propagate_copies(function);
    remove_dead(function);
}

/// Divides 64-bit integers by halves where a driver's own division is wrong.
pub fn split_division(b: &Builder<'_>, _: &Policy, ty: Type, op: Op) -> Option<Value> {
    let Op::Binary(op @ (Binary::DivUnsigned | Binary::RemUnsigned), x, y) = op else { return None };
    if ty != Type::I64 {
        return None;
    }
    let [x, y] = [x, y].map(|value| {
        let (low, high) = b.halves(value);
        Words::new(low, high)
    });
    let division = division::divide(b, x, y);
    let words = if op == Binary::DivUnsigned { division.quotient } else { division.remainder };
    Some(b.join(words.low, words.high))
}

impl Halves {
    fn replace(&mut self, b: &Builder<'_>, stmt: &Stmt) -> Rewritten {
        match stmt {
            Stmt::Let(result, op) if b.type_of(*result) == Type::I64 => match self.long(b, *op) {
                Some(words) => {
                    self.learn(*result, words);
                    Rewritten::Replaced
                }
                None => Rewritten::Kept,
            },
            Stmt::Let(result, op @ Op::Call(..)) => {
                let op = self.call(b, *op);
                Rewritten::By(b.op(b.type_of(*result), op))
            }
            Stmt::Return(value) if b.type_of(*value) == Type::I64 => {
                b.push(Stmt::Return(self.pair(b, *value)));
                Rewritten::Replaced
            }
            Stmt::Let(_, op) => match self.narrowed(b, *op) {
                Some(value) => Rewritten::By(value),
                None => Rewritten::Kept,
            },
            Stmt::Set(var, value) if b.type_of(*value) == Type::I64 => {
                let (words, [low, high]) = (self.of(*value), self.var(b, *var));
                b.set(low, words.low);
                b.set(high, words.high);
                Rewritten::Replaced
            }
            Stmt::Load { results, access, address } => self.load(b, results, *access, *address),
            Stmt::Store { values, access, address } => self.store(b, values, *access, *address),
            Stmt::Atomic(atomic) if atomic.access.space == Space::Global => {
                let address = self.address(b, atomic.access, atomic.address);
                b.atomic(Atomic { address, ..*atomic });
                Rewritten::Replaced
            }
            _ => Rewritten::Kept,
        }
    }

    /// The halves of an operation's result, if that is an `I64`.
    fn long(&mut self, b: &Builder<'_>, op: Op) -> Option<Words> {
        Some(match op {
            Op::Const(bits) => Words::constant(b, bits),
            Op::Get(var) => {
                let [low, high] = self.var(b, var);
                Words::new(b.get(low), b.get(high))
            }
            Op::Unary(Unary::ZeroExtend, a) => Words::zero_extended(b, a),
            Op::Unary(Unary::SignExtend, a) => Words { low: a, high: b.sar(a, 31), signed: true },
            Op::Unary(Unary::Bitcast(_), float) => Words::new(b.low_word(float), b.high_word(float)),
            Op::Unary(Unary::Not, a) => {
                let a = self.of(a);
                Words { low: b.not(a.low), high: b.not(a.high), signed: a.signed }
            }
            Op::Unary(Unary::Neg, a) => arithmetic::sub(b, Words::constant(b, 0), self.of(a)),
            Op::Binary(op @ (Binary::Shl | Binary::Shr | Binary::Sar), a, amount) => {
                shifts::shift(b, op, self.of(a), amount)
            }
            Op::Binary(op, x, y) => {
                let (x, y) = (self.of(x), self.of(y));
                match op {
                    Binary::Add => arithmetic::add(b, x, y),
                    Binary::Sub => arithmetic::sub(b, x, y),
                    Binary::And | Binary::Or | Binary::Xor => arithmetic::bitwise(b, op, x, y),
                    Binary::Mul => products::low(b, x, y),
                    Binary::MulHighUnsigned => products::high_unsigned(b, x, y),
                    Binary::MulHighSigned => products::high_signed(b, x, y),
                    Binary::DivUnsigned => division::divide(b, x, y).quotient,
                    Binary::RemUnsigned => division::divide(b, x, y).remainder,
                    _ => return None,
                }
            }
            Op::Select(condition, x, y) => Words::select(b, condition, self.of(x), self.of(y)),
            Op::Builtin(Builtin::PushConstant(offset)) => {
                let low = b.push_constant(Type::I32, offset);
                Words::new(low, b.push_constant(Type::I32, offset.saturating_add(4)))
            }
            Op::Builtin(Builtin::Clock | Builtin::Parameter(_)) | Op::Call(..) => {
                let pair = b.op(Type::Pair, self.call(b, op));
                Words::new(b.low_word(pair), b.high_word(pair))
            }
            _ => return None,
        })
    }

    /// The replacement of an operation that takes an `I64` and gives another type.
    fn narrowed(&mut self, b: &Builder<'_>, op: Op) -> Option<Value> {
        match op {
            Op::Unary(Unary::Truncate, a) => Some(self.of(a).low),
            Op::Unary(Unary::Bitcast(Type::F64), a) => {
                let words = self.of(a);
                Some(b.pair(Type::F64, words.low, words.high))
            }
            Op::Compare(op, x, y) if b.type_of(x) == Type::I64 => {
                Some(arithmetic::compare(b, op, self.of(x), self.of(y)))
            }
            _ => None,
        }
    }
}
