//! The powers of two by which the integers of a function can be divided.

use crate::ir::{Binary, Constants, Fact, Flow, Function, Op, Stmt, Unary, Value};

/// The number of an integer's lowest bits that are zeros.
#[derive(Clone, Copy, PartialEq)]
struct Zeros(u32);

impl Fact for Zeros {
    /// Variables start as zero.
    const LEAST: Self = Self(u64::BITS);

    /// Each walk takes its time.
    const MOST_WALKS: Option<(usize, Self)> = Some((8, Self(0)));

    fn join(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

/// For each value, how many of its lowest bits are zeros.
pub struct Alignment(Flow<Zeros>);

impl Alignment {
    /// The alignment of a function's values.
    pub fn of(function: &Function) -> Alignment {
        let constants = function.constants();
        Alignment(Flow::forward(function, |found: &Flow<Zeros>, _, stmt| match stmt {
            Stmt::Let(_, op) => Zeros(zeros(op, &constants, |value| found.at(value).map_or(0, |zeros| zeros.0))),
            _ => Zeros(0),
        }))
    }

    /// The lowest bits of a value that are zeros.
    pub fn zeros(&self, value: Value) -> u32 {
        self.0.at(value).map_or(0, |zeros| zeros.0)
    }
}

/// The lowest bits of a result that are zeros, by those of the operands.
fn zeros(op: &Op, constants: &Constants, of: impl Fn(Value) -> u32) -> u32 {
    let constant = |value: Value| constants[value].and_then(|bits| u32::try_from(bits).ok());
    match *op {
        Op::Const(bits) => bits.trailing_zeros(),
        Op::Unary(Unary::ZeroExtend | Unary::SignExtend | Unary::Truncate, a) => of(a),
        Op::Binary(Binary::Add | Binary::Sub | Binary::Or | Binary::Xor, a, b) => of(a).min(of(b)),
        Op::Binary(Binary::Mul, a, b) => of(a).saturating_add(of(b)).min(u64::BITS),
        Op::Binary(Binary::And, a, b) => of(a).max(of(b)),
        Op::Binary(Binary::Shl, a, b) => (of(a) + constant(b).unwrap_or(0)).min(u64::BITS),
        Op::Binary(Binary::Shr | Binary::Sar, a, b) => constant(b).map_or(0, |amount| of(a).saturating_sub(amount)),
        Op::Select(_, a, b) => of(a).min(of(b)),
        _ => 0,
    }
}
