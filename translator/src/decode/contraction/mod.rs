//! Which products and sums become one fused multiply-add.
//!
//! PTX lets `mul` and `add` without a rounding modifier be fused, and NVIDIA's compiler does so. Results depend on it, so the same
//! ones are fused here. `docs/numerics.md` has the rule and says how it was found: products are fused with sums of their basic block,
//! by the uses that each product has; products of a constant with those of any block.

mod blocks;
mod choice;
mod liveness;
mod operands;
mod products;

use crate::isa::operation::{Action, Operation};
use crate::isa::types::ScalarType;

use super::program::{Instruction, Item, Operand};
use choice::Sum;
use liveness::Liveness;
use products::Products;

/// What an instruction is to a fused multiply-add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contraction {
    /// The product of this number, whose factors are needed later.
    Product(u32),
    /// A sum that is computed as a fused multiply-add.
    Sum {
        /// The number of the product.
        product: u32,
        /// Whether the product is the sum's second operand. Else it is the first.
        second: bool,
        /// Whether the operand is the product's negation.
        negated: bool,
    },
}

/// What must be the same of a product and a sum: the type, and whether subnormal numbers are flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    ty: ScalarType,
    flushes: bool,
}

/// The kind of an operation without a rounding modifier, of a type that is fused.
fn kind(instruction: &Instruction) -> Option<Kind> {
    use ScalarType::{Bf16, Bf16x2, F16, F16x2, F32, F64};
    let modifiers = &instruction.modifiers;
    let ty = modifiers.ty(0);
    let rounds = modifiers.one_of(&["rn", "rz", "rm", "rp"]).is_some();
    let fused = matches!(ty, F16 | F16x2 | Bf16 | Bf16x2 | F32 | F64) && !rounds;
    fused.then(|| Kind { ty, flushes: modifiers.has("ftz") })
}

/// The kind of a product that may be fused.
fn product(instruction: &Instruction) -> Option<Kind> {
    let Action::Compute(Operation::FloatMul | Operation::HalfMul) = instruction.form.row.action else { return None };
    let constant = instruction.operands.iter().skip(1).all(|operand| matches!(operand, Operand::Imm(_)));
    let apart = instruction.guard.is_some() || instruction.modifiers.has("sat") || constant;
    kind(instruction).filter(|_| !apart)
}

/// The kind of a sum or difference that may be fused.
fn sum(instruction: &Instruction) -> Option<Kind> {
    use Operation::{FloatAdd, FloatSub, HalfAdd, HalfSub};
    let Action::Compute(FloatAdd | FloatSub | HalfAdd | HalfSub) = instruction.form.row.action else { return None };
    kind(instruction)
}

/// Whether a sum is a difference.
fn is_difference(instruction: &Instruction) -> bool {
    matches!(instruction.form.row.action, Action::Compute(Operation::FloatSub | Operation::HalfSub))
}

/// Marks what is fused in a function's body.
pub(super) fn mark(items: &mut [Item]) {
    let any = |what: fn(&Instruction) -> Option<Kind>| {
        items.iter().any(|item| matches!(item, Item::Instruction(instruction) if what(instruction).is_some()))
    };
    if !any(sum) || !any(product) {
        return;
    }
    let liveness = Liveness::new(items, &blocks::find(items, &[]));
    // What is dead divides no block.
    let blocks = blocks::find(items, &liveness.dead);
    let mut found = Products::of_constants(items, &liveness);
    for block in &blocks {
        found.collect(items, &liveness, block);
    }
    choice::choose(&mut found);
    let Products { products, sums, .. } = found;
    let mut needed = vec![false; products.len()];
    for Sum { item, fused, .. } in sums {
        let Some((product, second, negated)) = fused else { continue };
        if let Some(needed) = needed.get_mut(product) {
            *needed = true;
        }
        let product = crate::index::number(product);
        mark_item(items, item, Contraction::Sum { product, second, negated });
    }
    let needed = needed.iter().zip(&products).enumerate().filter(|(_, (needed, _))| **needed);
    for (number, (_, product)) in needed {
        mark_item(items, product.item, Contraction::Product(crate::index::number(number)));
    }
}

fn mark_item(items: &mut [Item], item: usize, contraction: Contraction) {
    if let Some(Item::Instruction(instruction)) = items.get_mut(item) {
        instruction.contraction = Some(contraction);
    }
}
