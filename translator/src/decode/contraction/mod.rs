//! The products and sums that become one fused multiply-add.
//!
//! PTX lets `mul` and `add` without a rounding modifier be fused, and NVIDIA's compiler does so. Results depend on it, so the same
//! ones are fused here. `docs/numerics.md` has the rule and says how it was found: products are fused with sums of their basic block,
//! by the uses that each product has; products of a constant with those of any block.

mod blocks;
mod candidates;
mod choice;
mod copies;
mod liveness;
mod products;

use super::program::{Contraction, Instruction, Item};
use candidates::{Kind, product, sum};
use liveness::Liveness;
use products::{Products, Sum};

/// Marks the products and sums that are fused in a function's body.
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
    let starts = found.at_starts(items, &liveness, &blocks);
    for (number, block) in blocks.iter().enumerate() {
        found.collect(items, &liveness, block, &starts, number);
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
