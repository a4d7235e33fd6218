//! Keeps Mesa's compiler for AMD from losing the carry of an address's offsets.
//!
//! That compiler takes zero-extended words out of the sum that makes an address, adds them on 32 bits, and has the processor add the result
//! to the rest (`try_extract_additions` in `src/amd/common/ac_nir_lower_global_access.c`; later versions ask first whether a carry may be lost).
//! So where the words of a sum may come to 4 GiB, some become operands of an exclusive or, and are no words any more for that compiler.

use rustc_hash::FxHashSet;

use crate::index::IndexVec;
use crate::ir::{
    Binary, Builtin, Function, Op, Rewritten, Space, Stmt, Type, Unary, Value, Var, for_each_stmt, rewrite,
};
use crate::legalize::driver::veil::Veil;

/// A bit of the veil. Another pass hides signs by the same one, which are no words of addresses.
const VEIL: u64 = 4;
/// How deep the operations are looked at that bound a word.
const DEEPEST: u32 = 8;
/// How many operands of a sum are looked at.
const MOST_OPERANDS: usize = 64;
/// No workgroup has more invocations.
const MOST_INVOCATIONS: u64 = 1 << 16;
/// How often a word counts that a variable with several values brings in: a compiler that unrolls a loop adds one many times.
const ROUNDS: u64 = 1 << 10;

/// Hides words of addresses whose sum may need more than 32 bits.
pub fn hide_address_sums(function: &mut Function) {
    let mut sums = Sums::of(function);
    for_each_stmt(&function.body, |stmt| {
        if let Some((access, address)) = stmt.access()
            && access.space == Space::Global
            && function.type_of(address) == Type::I64
        {
            sums.add(address);
        }
    });
    let hidden = sums.hidden;
    if hidden.is_empty() {
        return;
    }
    let [veil] = Veil::draw(function, [VEIL]);
    rewrite(function, |b, stmt| match *stmt {
        Stmt::Let(result, op) if hidden.contains(&result) => Rewritten::By(veil.hide(b, b.op(Type::I64, op))),
        _ => Rewritten::Kept,
    });
}

struct Sums {
    /// What defines each value.
    operations: IndexVec<Value, Option<Op>>,
    /// The greatest number that each value can be that is loaded.
    loaded: IndexVec<Value, u64>,
    /// The values that each variable is set to.
    contents: IndexVec<Var, Vec<Value>>,
    /// The words to hide.
    hidden: FxHashSet<Value>,
}

impl Sums {
    fn of(function: &Function) -> Sums {
        let mut loaded = IndexVec::filled(u64::MAX, function.values.len());
        let mut contents: IndexVec<Var, Vec<Value>> = IndexVec::filled(Vec::new(), function.vars.len());
        for_each_stmt(&function.body, |stmt| match stmt {
            Stmt::Load { results, access, .. } if access.bytes < 4 => {
                results.iter().for_each(|result| loaded[*result] = (1 << (8 * access.bytes)) - 1);
            }
            Stmt::Set(var, value) => contents[*var].push(*value),
            _ => {}
        });
        Sums { operations: function.definitions(), loaded, contents, hidden: FxHashSet::default() }
    }

    /// What defines a value, or the only one that its variable is set to.
    fn operation(&self, mut value: Value) -> Option<Op> {
        // A variable may be set to itself.
        for _ in 0..DEEPEST {
            match self.operations.at(value).copied().flatten() {
                Some(Op::Get(var)) if self.contents[var].len() == 1 => value = self.contents[var][0],
                op => return op,
            }
        }
        None
    }

    /// Finds the words of a sum that together need more than 32 bits.
    fn add(&mut self, address: Value) {
        let (mut operands, mut seen, mut sum) = (vec![(address, 1)], 0, 0u64);
        let mut variables = FxHashSet::default();
        while let Some((operand, times)) = operands.pop() {
            seen += 1;
            match self.operation(operand) {
                _ if self.hidden.contains(&operand) => {}
                Some(Op::Const(_)) | None => {}
                Some(_) if seen > MOST_OPERANDS => {
                    self.hidden.insert(operand);
                }
                Some(Op::Binary(Binary::Add, x, y)) => operands.extend([(x, times), (y, times)]),
                Some(Op::Binary(Binary::Sub, x, _)) => operands.push((x, times)),
                // A compiler that unrolls loops and knows which branch is taken puts the values in the variable's place.
                Some(Op::Get(var)) => {
                    if variables.insert(var) {
                        operands.extend(self.contents[var].iter().map(|value| (*value, ROUNDS)));
                    }
                }
                Some(_) => {
                    let most = self.most(operand, DEEPEST);
                    if most <= u32::MAX.into() {
                        match sum.checked_add(most * times).filter(|sum| *sum <= u32::MAX.into()) {
                            Some(more) => sum = more,
                            None => _ = self.hidden.insert(operand),
                        }
                    }
                }
            }
        }
    }

    /// The greatest number that a value can be, or one above.
    fn most(&self, value: Value, depth: u32) -> u64 {
        let loaded = self.loaded.at(value).copied().unwrap_or(u64::MAX);
        let Some(op) = self.operation(value).filter(|_| depth > 0) else { return loaded };
        let most = |value: Value| self.most(value, depth - 1);
        let known = |value: Value| match self.operation(value) {
            Some(Op::Const(bits)) => Some(bits),
            _ => None,
        };
        match op {
            Op::Const(bits) => bits,
            Op::Unary(Unary::ZeroExtend, x) => most(x).min(u32::MAX.into()),
            // Where the sign is known, the upper half is zero.
            Op::Unary(Unary::SignExtend, x) => {
                Some(most(x)).filter(|most| *most <= i32::MAX as u64).unwrap_or(u64::MAX)
            }
            Op::Unary(Unary::BitCount, _) => 64,
            Op::Binary(Binary::And | Binary::MinUnsigned, x, y) => most(x).min(most(y)),
            Op::Binary(Binary::Shr, x, y) => most(x) >> known(y).map_or(0, |places| places.min(63)),
            Op::Binary(Binary::Shl, x, y) => {
                let factor = known(y).and_then(|places| 1u64.checked_shl(u32::try_from(places).ok()?));
                factor.map_or(u64::MAX, |factor| most(x).saturating_mul(factor))
            }
            Op::Binary(Binary::Add, x, y) => most(x).saturating_add(most(y)),
            Op::Binary(Binary::Mul, x, y) => most(x).saturating_mul(most(y)),
            Op::Binary(Binary::RemUnsigned, _, y) if known(y).is_some_and(|divisor| divisor > 0) => most(y),
            Op::Binary(Binary::DivUnsigned, x, y) if known(y).is_some_and(|divisor| divisor > 0) => most(x),
            Op::Select(_, x, y) => most(x).max(most(y)),
            Op::Builtin(
                Builtin::ThreadId(_)
                | Builtin::BlockSize(_)
                | Builtin::Invocations
                | Builtin::ThreadIndex
                | Builtin::ClusterRank
                | Builtin::InvocationIndex
                | Builtin::SubgroupId
                | Builtin::SubgroupLane,
            ) => MOST_INVOCATIONS,
            _ => u64::MAX,
        }
    }
}
