//! The choice of the sums that are fused, and of the operand that each is fused with.

use super::products::{Product, Products, Sum};

/// Fuses sums: first with products that have no other use, then with those whose uses all can be fused.
pub(super) fn choose(found: &mut Products) {
    let Products { products, sums, .. } = found;
    for sum in &mut *sums {
        let single = |side: &Option<(usize, bool)>| {
            side.and_then(|(product, _)| products.get(product))
                .is_some_and(|product| !product.rounded && product.sums.len() == 1)
        };
        if let Some(side) = sum.sides.iter().position(single) {
            sum.fuse(side);
        }
    }
    for number in 0..sums.len() {
        let Some(sum) = sums.get(number).filter(|sum| sum.fused.is_none()) else { continue };
        let uses = sum.sides.map(|side| {
            let (number, _) = side?;
            let product = products.get(number)?;
            is_fusable(product, number, sums).then_some(product.sums.len())
        });
        let side = match uses {
            [Some(first), Some(second)] => Some(usize::from(second < first)),
            [Some(_), None] => Some(0),
            [None, Some(_)] => Some(1),
            [None, None] => None,
        };
        if let (Some(side), Some(sum)) = (side, sums.get_mut(number)) {
            sum.fuse(side);
        }
    }
}

/// Whether all uses of a product are sums that are fused with the product or can still be.
fn is_fusable(product: &Product, number: usize, sums: &[Sum]) -> bool {
    !product.rounded
        && product.sums.iter().filter_map(|sum| sums.get(*sum)).all(|sum| {
            let free = sum.fused.is_none_or(|(fused, ..)| fused == number);
            free && !sum.is_double()
        })
}
