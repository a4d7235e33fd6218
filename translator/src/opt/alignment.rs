//! By which power of two the integers of a function can be divided.

use crate::index::IndexVec;
use crate::ir::{Binary, Block, Constants, Function, Op, Stmt, Unary, Value, Var};

/// Rounds until variables that still change count as odd: each of them takes a walk over the function.
const ROUNDS: usize = 8;

/// For each value, how many of its lowest bits are zeros.
pub struct Alignment {
    values: IndexVec<Value, u32>,
    vars: IndexVec<Var, u32>,
    constants: Constants,
    /// Whether a variable was found to be less aligned than it was taken for.
    changed: bool,
}

impl Alignment {
    /// Variables carry values around loops, so the walk is repeated until it finds nothing new.
    pub fn of(function: &Function) -> Alignment {
        let mut found = Alignment {
            values: IndexVec::filled(0, function.values.len()),
            // They start as zero.
            vars: IndexVec::filled(u64::BITS, function.vars.len()),
            constants: IndexVec::filled(None, function.values.len()),
            changed: true,
        };
        for round in 0.. {
            if !found.changed {
                break;
            }
            found.changed = false;
            if round == ROUNDS {
                found.vars.fill(0);
            }
            found.list(&function.body);
        }
        found
    }

    /// The lowest bits of a value that are zeros.
    pub fn zeros(&self, value: Value) -> u32 {
        self.values.at(value).copied().unwrap_or(0)
    }

    fn list(&mut self, list: &Block) {
        for stmt in list {
            match stmt {
                Stmt::Let(value, op) => {
                    if let Op::Const(bits) = op {
                        self.constants[*value] = Some(*bits);
                    }
                    self.values[*value] = self.op(op);
                }
                Stmt::Set(var, value) => {
                    let zeros = self.zeros(*value);
                    let var = &mut self.vars[*var];
                    self.changed |= zeros < *var;
                    *var = zeros.min(*var);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.list(then);
                    self.list(otherwise);
                }
                Stmt::Loop(body) => self.list(body),
                _ => {}
            }
        }
    }

    fn op(&self, op: &Op) -> u32 {
        let constant = |value: Value| self.constants[value].and_then(|bits| u32::try_from(bits).ok());
        match *op {
            Op::Const(bits) => bits.trailing_zeros(),
            Op::Get(var) => self.vars[var],
            Op::Unary(Unary::ZeroExtend | Unary::SignExtend | Unary::Truncate, a) => self.zeros(a),
            Op::Binary(Binary::Add | Binary::Sub | Binary::Or | Binary::Xor, a, b) => self.zeros(a).min(self.zeros(b)),
            Op::Binary(Binary::Mul, a, b) => self.zeros(a).saturating_add(self.zeros(b)).min(u64::BITS),
            Op::Binary(Binary::And, a, b) => self.zeros(a).max(self.zeros(b)),
            Op::Binary(Binary::Shl, a, b) => (self.zeros(a) + constant(b).unwrap_or(0)).min(u64::BITS),
            Op::Binary(Binary::Shr | Binary::Sar, a, b) => {
                constant(b).map_or(0, |amount| self.zeros(a).saturating_sub(amount))
            }
            Op::Select(_, a, b) => self.zeros(a).min(self.zeros(b)),
            _ => 0,
        }
    }
}
