//! Finds the pointers among the launch's 64-bit constants: those from which addresses in global memory are computed.

use std::collections::BTreeSet;

use crate::ir::{Binary, Builtin, Fact, Flow, Function, Op, Space, Stmt, Type, Value, for_each_stmt};

/// Offsets of the push constants that are pointers. Where an address is a sum of two of them, either may be the base, and none is
/// named.
pub fn pointer_constants(function: &Function) -> BTreeSet<u32> {
    let origins = Flow::forward(function, |origins, result, stmt| match stmt {
        Stmt::Let(_, op) if function.type_of(result) == Type::I64 => origin(origins, *op),
        _ => Origin::Number,
    });
    let mut pointers = BTreeSet::new();
    for_each_stmt(&function.body, |stmt| {
        if let Some((access, address)) = stmt.access()
            && matches!(access.space, Space::Global | Space::Generic)
            && let Some(Origin::Constant(offset)) = origins.at(address)
        {
            pointers.insert(offset);
        }
    });
    pointers
}

/// The origin of a 64-bit value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// No push constant.
    Number,
    /// The push constant at this offset, and numbers.
    Constant(u32),
    Several,
}

/// Each rises at most twice.
impl Fact for Origin {
    const LEAST: Origin = Origin::Number;

    fn join(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Number, origin) | (origin, Origin::Number) => origin,
            (a, b) if a == b => a,
            _ => Origin::Several,
        }
    }
}

fn origin(origins: &Flow<Origin>, op: Op) -> Origin {
    let of = |value: Value| origins.at(value).unwrap_or(Origin::Several);
    match op {
        Op::Builtin(Builtin::PushConstant(offset)) => Origin::Constant(offset),
        Op::Binary(Binary::Add, a, b) | Op::Select(_, a, b) => of(a).join(of(b)),
        // What is subtracted is a number, and what is masked stays near.
        Op::Binary(Binary::Sub | Binary::And, a, _) => of(a),
        _ => Origin::Number,
    }
}
