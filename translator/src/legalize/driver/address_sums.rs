//! Keeps Mesa's compiler for AMD from losing the carry of an address's offsets
//! ([`Quirks::address_carries_lost`](ptx2spv_target::Quirks)).
//!
//! That compiler takes zero-extended words out of the sum that makes an address, adds them on 32 bits, and has the processor add the result
//! to the rest (`try_extract_additions` in `src/amd/common/ac_nir_lower_global_access.c`; later versions ask first whether a carry may be lost).
//! So where the words of a sum may come to 4 GiB, some become operands of an exclusive or, and are no words any more for that compiler.

use rustc_hash::FxHashSet;

use crate::ir::{Binary, Function, Op, Rewritten, Space, Stmt, Type, Value, for_each_stmt, rewrite};
use crate::legalize::driver::veil::Veil;
use crate::legalize::largest::Largest;
use crate::warp::Blocks;

/// A bit of the veil. Another pass hides signs by the same one, which are no words of addresses.
const VEIL: u64 = 4;
/// The most variables set once that a value is followed through.
const DEEPEST: u32 = 8;
/// The most operands of a sum that are looked at.
const MOST_OPERANDS: usize = 64;
/// The number of times that a word counts which a variable with several values brings in: a compiler that unrolls a
/// loop adds one many times.
const ROUNDS: u64 = 1 << 10;

/// Hides words of addresses whose sum may need more than 32 bits, in a kernel for these blocks.
pub fn hide_address_sums(function: &mut Function, blocks: Blocks) {
    let mut sums = Sums { function, largest: Largest::new(function, blocks), hidden: FxHashSet::default() };
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

struct Sums<'f> {
    function: &'f Function,
    largest: Largest,
    /// The words to hide.
    hidden: FxHashSet<Value>,
}

impl Sums<'_> {
    /// The definition of a value, or of the only value that its variable is set to.
    fn operation(&self, mut value: Value) -> Option<Op> {
        // A variable may be set to itself.
        for _ in 0..DEEPEST {
            match self.largest.definitions.of(value) {
                Some(Op::Get(var)) => match self.largest.sets[var][..] {
                    [only] => value = only,
                    _ => return Some(Op::Get(var)),
                },
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
                        operands.extend(self.largest.sets[var].iter().map(|value| (*value, ROUNDS)));
                    }
                }
                Some(_) => {
                    let most = self.largest.of(self.function, operand);
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
}
