//! Values that go from one list of statements to another where they are not in scope: through variables, or recreated if they are
//! constants.

use rustc_hash::FxHashSet;

use crate::ir::{
    Block, Builder, Constants, Op, Stmt, Type, Unary, Value, Var, bits_type, for_each_operand, for_each_result,
    for_each_stmt_mut, map_operands,
};

/// The carrier of a value.
#[derive(Clone, Debug)]
pub(super) enum Carrier {
    Constant(u64),
    /// In variables: one for its bits, or for the halves of a pair.
    Variables(Vec<Var>),
}

impl Carrier {
    /// Picks up a value where it is in scope.
    pub(super) fn take(b: &Builder<'_>, value: Value, constants: &Constants) -> Carrier {
        if let Some(bits) = constants.of(value) {
            return Carrier::Constant(bits);
        }
        let parts = match b.type_of(value) {
            Type::Pair => {
                [Unary::LowWord, Unary::HighWord].map(|half| b.op(Type::I32, Op::Unary(half, value))).to_vec()
            }
            ty => vec![b.bitcast(value, bits_type(ty))],
        };
        let variable = |part| {
            let var = b.var(b.type_of(part));
            b.set(var, part);
            var
        };
        Carrier::Variables(parts.into_iter().map(variable).collect())
    }

    /// The value in the other list.
    pub(super) fn give(&self, b: &Builder<'_>, old: Value) -> Value {
        let ty = b.type_of(old);
        match self {
            Carrier::Constant(bits) => b.constant(ty, *bits),
            Carrier::Variables(vars) => {
                let parts: Vec<Value> = vars.iter().map(|var| b.get(*var)).collect();
                match *parts.as_slice() {
                    [low, high] => b.op(ty, Op::Pair(low, high)),
                    [bits] => b.bitcast(bits, ty),
                    _ => old,
                }
            }
        }
    }
}

/// The values that a list uses and doesn't define.
pub(super) fn outer_values(block: &Block) -> Vec<Value> {
    // In the order of statements, so that definitions come first.
    fn walk(block: &Block, visit: &mut impl FnMut(Value, bool)) {
        for stmt in block {
            for_each_operand(stmt, |value| visit(value, false));
            for_each_result(stmt, |value| visit(value, true));
            stmt.lists().for_each(|list| walk(list, visit));
        }
    }
    let mut seen = FxHashSet::default();
    let mut outer = Vec::new();
    walk(block, &mut |value, is_defined| {
        if seen.insert(value) && !is_defined {
            outer.push(value);
        }
    });
    outer
}

/// Gives other names to the values that a list uses.
pub(super) fn rename(stmts: &mut [Stmt], name: &impl Fn(Value) -> Value) {
    for_each_stmt_mut(stmts, &mut |stmt| map_operands(stmt, name));
}
