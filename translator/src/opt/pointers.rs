//! Which of the launch's 64-bit constants are pointers: those from which addresses in global memory are computed.

use std::collections::BTreeSet;

use crate::index::IndexVec;
use crate::ir::{Binary, Builtin, Function, Op, Space, Stmt, Type, Value, Var, for_each_stmt};

/// Offsets of the push constants that are pointers. Where an address is a sum of two of them, either may be the base, and none is
/// named.
pub fn pointer_constants(function: &Function) -> BTreeSet<u32> {
    let mut origins = Origins {
        values: IndexVec::filled(Origin::Number, function.values.len()),
        vars: IndexVec::filled(Origin::Number, function.vars.len()),
    };
    // Ends because origins only rise, at most twice each.
    while origins.visit(function) {}
    let mut pointers = BTreeSet::new();
    for_each_stmt(&function.body, |stmt| {
        if let Some((access, address)) = stmt.access()
            && matches!(access.space, Space::Global | Space::Generic)
            && let Origin::Constant(offset) = origins.values[address]
        {
            pointers.insert(offset);
        }
    });
    pointers
}

/// What a 64-bit value was computed from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// No push constant.
    Number,
    /// The push constant at this offset, and numbers.
    Constant(u32),
    /// Several.
    Several,
}

impl Origin {
    fn join(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Number, origin) | (origin, Origin::Number) => origin,
            (a, b) if a == b => a,
            _ => Origin::Several,
        }
    }
}

struct Origins {
    values: IndexVec<Value, Origin>,
    vars: IndexVec<Var, Origin>,
}

impl Origins {
    /// One round over all statements; whether anything rose.
    fn visit(&mut self, function: &Function) -> bool {
        let mut rose = false;
        for_each_stmt(&function.body, |stmt| {
            if let Stmt::Let(value, op) = stmt
                && function.type_of(*value) == Type::I64
            {
                let origin = self.origin(*op);
                rose |= raise(&mut self.values[*value], origin);
            }
            if let Stmt::Set(var, value) = stmt {
                let origin = self.values[*value];
                rose |= raise(&mut self.vars[*var], origin);
            }
        });
        rose
    }

    fn origin(&self, op: Op) -> Origin {
        let of = |value: Value| self.values[value];
        match op {
            Op::Builtin(Builtin::PushConstant(offset)) => Origin::Constant(offset),
            Op::Get(var) => self.vars[var],
            Op::Binary(Binary::Add, a, b) | Op::Select(_, a, b) => of(a).join(of(b)),
            // What is subtracted is a number, and what is masked stays near.
            Op::Binary(Binary::Sub | Binary::And, a, _) => of(a),
            Op::Const(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Fma(..)
            | Op::DotFma(..)
            | Op::Matrix(..)
            | Op::Rounded(..)
            | Op::Flushed(..)
            | Op::Half(..)
            | Op::Pair(..)
            | Op::Builtin(_)
            | Op::Sample(_)
            | Op::Call(..) => Origin::Number,
        }
    }
}

fn raise(place: &mut Origin, origin: Origin) -> bool {
    let joined = place.join(origin);
    let rose = joined != *place;
    *place = joined;
    rose
}
