//! The largest numbers that a function's integers may be.

use rustc_hash::FxHashMap;

use crate::index::IndexVec;
use crate::ir::{Binary, Builtin, Function, Op, Stmt, Unary, Value, Var, for_each_stmt, semantics};
use crate::warp::Blocks;

/// Definitions that a value is followed through, one inside the other: the recursion must fit a small stack.
const DEPTH: u32 = 48;
/// No workgroup has more invocations.
const MOST_INVOCATIONS: u64 = 1 << 16;

/// The definitions of a function's integers, and the largest numbers that were asked for.
pub(in crate::legalize) struct Largest {
    blocks: Blocks,
    pub definitions: IndexVec<Value, Option<Op>>,
    /// The values that variables are set to.
    pub sets: IndexVec<Var, Vec<Value>>,
    /// The largest numbers of values that narrow accesses load.
    values: FxHashMap<Value, u64>,
    /// The largest numbers of variables; the largest of the type while the number is looked for.
    vars: FxHashMap<Var, u64>,
}

impl Largest {
    /// Looks through a function for blocks of these sizes.
    pub fn new(function: &Function, blocks: Blocks) -> Self {
        let mut found = Self {
            blocks,
            definitions: function.definitions(),
            sets: function.sets(),
            values: FxHashMap::default(),
            vars: FxHashMap::default(),
        };
        for_each_stmt(&function.body, |stmt| {
            if let Stmt::Load { results, access, .. } = stmt
                && access.bytes < 4
            {
                found.values.extend(results.iter().map(|result| (*result, (1 << (8 * access.bytes)) - 1)));
            }
        });
        found
    }

    /// The largest number that a value may be.
    pub fn of(&mut self, function: &Function, value: Value) -> u64 {
        self.find(function, value, DEPTH)
    }

    fn find(&mut self, function: &Function, value: Value, depth: u32) -> u64 {
        if let Some(&known) = self.values.get(&value) {
            return known;
        }
        let all = semantics::mask(function.type_of(value));
        let (Some(depth), Some(op)) = (depth.checked_sub(1), self.definitions.of(value)) else { return all };
        let found = self.of_op(function, &op, depth).unwrap_or(all).min(all);
        self.values.insert(value, found);
        found
    }

    /// The largest result of an operation; `None` if it is not known, or if the operation may wrap around.
    fn of_op(&mut self, function: &Function, op: &Op, depth: u32) -> Option<u64> {
        let mut of = |value| self.find(function, value, depth);
        Some(match *op {
            Op::Const(bits) => bits,
            Op::Builtin(Builtin::ThreadId(dimension)) => u64::from(self.blocks.most(dimension)) - 1,
            Op::Builtin(Builtin::ThreadIndex) => u64::from(self.blocks.most_threads()) - 1,
            Op::Builtin(Builtin::BlockSize(dimension)) => self.blocks.most(dimension).into(),
            Op::Builtin(
                Builtin::Invocations
                | Builtin::ClusterRank
                | Builtin::InvocationIndex
                | Builtin::SubgroupId
                | Builtin::SubgroupLane,
            ) => MOST_INVOCATIONS,
            Op::Get(var) => {
                let all = semantics::mask(function.var_type(var));
                match self.vars.get(&var) {
                    Some(&known) => known,
                    None => {
                        self.vars.insert(var, all);
                        // Variables begin as zero.
                        let sets = self.sets.at(var).cloned().unwrap_or_default();
                        let most = sets.into_iter().map(|value| self.find(function, value, depth)).max().unwrap_or(0);
                        self.vars.insert(var, most);
                        most
                    }
                }
            }
            Op::Unary(Unary::ZeroExtend | Unary::LowWord, a) => of(a),
            // The sign is zero.
            Op::Unary(Unary::SignExtend, a) => Some(of(a)).filter(|most| *most <= i32::MAX as u64)?,
            Op::Unary(Unary::BitCount, a) => semantics::mask(function.type_of(a)).count_ones().into(),
            Op::Unary(Unary::Truncate, a) => Some(of(a)).filter(|most| *most <= u32::MAX.into())?,
            Op::Binary(Binary::And | Binary::MinUnsigned, a, b) => of(a).min(of(b)),
            Op::Binary(Binary::MaxUnsigned, a, b) | Op::Select(_, a, b) => of(a).max(of(b)),
            Op::Binary(Binary::Or | Binary::Xor, a, b) => u64::MAX >> (of(a) | of(b)).leading_zeros().min(63),
            Op::Binary(op @ (Binary::Add | Binary::Mul), a, b) => {
                let all = semantics::mask(function.type_of(a));
                let (a, b) = (of(a), of(b));
                let most = if op == Binary::Add { a.checked_add(b) } else { a.checked_mul(b) };
                most.filter(|most| *most <= all)?
            }
            Op::Binary(op @ (Binary::Shl | Binary::Shr | Binary::DivUnsigned), a, b) => {
                let Some(Op::Const(b)) = self.definitions.of(b) else { return None };
                let (ty, most) = (function.type_of(a), self.find(function, a, depth));
                let result = semantics::binary(op, ty, most, b)?;
                Some(result).filter(|result| op != Binary::Shl || result >> b == most)?
            }
            Op::Binary(Binary::RemUnsigned, a, b) => match self.definitions.of(b) {
                Some(Op::Const(b @ 1..)) => self.find(function, a, depth).min(b - 1),
                _ => return None,
            },
            _ => return None,
        })
    }
}
