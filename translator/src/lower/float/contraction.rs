//! Products and sums that NVIDIA's compiler fuses (see [`crate::decode::contraction`]).

use crate::decode::program::{Contraction, Instruction};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::Var;
use crate::isa::operation::Operation;
use crate::isa::types::ScalarType;
use crate::lower::dispatch;
use crate::lower::float;
use crate::lower::float::Signs;
use crate::lower::float::half;
use crate::lower::lowering::{Lowering, carrier};

/// Lowers an instruction that takes part in a fused multiply-add.
pub(crate) fn contracted(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: Operation,
    contraction: Contraction,
) -> Result {
    match contraction {
        Contraction::Product(number) => {
            keep_factors(l, i, number)?;
            // What else reads the product gets it rounded. Else it is removed.
            dispatch::function(operation)(l, i)
        }
        Contraction::Sum { product, second, negated } => sum(l, i, operation, product, second, negated),
    }
}

/// Keeps the factors of a product: their registers may have changed when the sum is computed.
fn keep_factors(l: &mut Lowering<'_, '_>, i: &Instruction, number: u32) -> Result {
    let ty = i.ty(0)?;
    let values = [l.int(i, 1, ty)?, l.int(i, 2, ty)?];
    for (factor, value) in factors(l, ty, number).into_iter().zip(values) {
        l.b.set(factor, value);
    }
    Ok(())
}

/// The variables that keep the factors of a product.
fn factors(l: &mut Lowering<'_, '_>, ty: ScalarType, number: u32) -> [Var; 2] {
    *l.frame.factors.entry(number).or_insert_with(|| [(); 2].map(|()| l.b.var(carrier(ty))))
}

/// A sum with a product, rounded once.
fn sum(
    l: &mut Lowering<'_, '_>,
    i: &Instruction,
    operation: Operation,
    product: u32,
    second: bool,
    negated: bool,
) -> Result {
    let ty = i.ty(0)?;
    let [a, b] = factors(l, ty, product).map(|factor| l.b.get(factor));
    let c = l.int(i, if second { 1 } else { 2 }, ty)?;
    // a·b - c, or c - a·b
    let difference = matches!(operation, Operation::FloatSub | Operation::HalfSub);
    let signs = Signs { product: negated != (difference && second), addend: difference && !second };
    match operation {
        Operation::HalfAdd | Operation::HalfSub => {
            let a = if signs.product { half::negative(l, ty, a)? } else { a };
            let c = if signs.addend { half::negative(l, ty, c)? } else { c };
            half::fused(l, i, [a, b, c])
        }
        Operation::FloatAdd | Operation::FloatSub => float::fused(l, i, [a, b, c], signs),
        other => Err(Diagnostic::internal(format!("{other:?} fused with a product"), i.span)),
    }
}
