//! An instruction that stands for several products of matrices of one kind.

use std::sync::Arc;

use super::multiply;
use crate::decode::program::{Instruction, Operand};
use crate::diagnostic::{Result, Span};
use crate::ir::{Function, Var, WARP_SIZE};
use crate::isa::fragments::{Matrix, Product};
use crate::isa::types::ScalarType;
use crate::lower::layout::frame::Frame;
use crate::lower::lowering::{Lowering, carrier};
use crate::policy::Policy;

/// The number of the operand that has metadata of a sparse product.
const METADATA: usize = 4;
/// The most products that have plain steps for themselves: as many as a warp needs for 64 by 32 elements in two steps.
/// As SPIR-V each has some 4 KB of floats.
const MOST_PLAIN: usize = 32;

/// A product whose operands are variables.
#[derive(Clone, Debug)]
pub struct Common {
    /// A product of the kind.
    like: Instruction,
    /// The variables for each operand, with their types.
    variables: Vec<Vec<(ScalarType, Var)>>,
}

impl Common {
    /// For products like this one.
    pub fn of(function: &mut Function, like: &Instruction) -> Result<Self> {
        let product = like.required(Product::of(&like.modifiers))?;
        let mut registers: Vec<_> =
            [Matrix::D, Matrix::A, Matrix::B, Matrix::C].map(|matrix| product.registers(matrix)).to_vec();
        if product.is_sparse {
            registers.push((1, ScalarType::B32));
        }
        let mut variables = |(count, ty)| (0..count).map(|_| (ty, function.var(carrier(ty)))).collect();
        Ok(Self { like: like.clone(), variables: registers.into_iter().map(&mut variables).collect() })
    }

    /// Whether a product is of the kind: apart from registers, the instructions are the same.
    pub fn serves(&self, product: &Instruction) -> bool {
        let constants = |i: &Instruction| i.operands.get(METADATA + 1).cloned();
        std::ptr::eq(self.like.form, product.form)
            && self.like.modifiers == product.modifiers
            && constants(&self.like) == constants(product)
    }

    /// The most products of the kind in a kernel that have code for themselves alone. Such code is short where a matrix
    /// unit computes the products. Steps that share values from other lanes are fast only with code of their own.
    pub fn most_alone(&self, policy: &Policy) -> usize {
        let Some(types) = multiply::unit(&self.like, policy.generation) else { return 0 };
        let has = |types| policy.matrix_units.contains(&types);
        if has(types) || has(types.with_signed_bytes()) {
            return usize::MAX;
        }
        let are_lanes_invocations = policy.workgroups.subgroup.is_some_and(|size| size >= WARP_SIZE);
        let is_plain = policy.generation.is_none() || types.is_of_bytes();
        if are_lanes_invocations && is_plain { MOST_PLAIN } else { 0 }
    }

    /// The product of the variables, as an instruction of a function.
    pub fn instruction(&self, frame: &mut Frame, span: Span) -> Instruction {
        let mut operands = self.like.operands.clone();
        for (number, (operand, variables)) in operands.iter_mut().zip(&self.variables).enumerate() {
            let mut registers = variables.iter().map(|(ty, var)| Operand::Reg(frame.registers.push((*ty, Some(*var)))));
            *operand = if number == METADATA {
                registers.next().unwrap_or(Operand::Sink)
            } else {
                Operand::Vector(registers.collect())
            };
        }
        let modifiers = Arc::clone(&self.like.modifiers);
        Instruction { form: self.like.form, modifiers, guard: None, operands, contraction: None, span }
    }

    /// Gives the variables the operands of a product.
    pub fn pass(&self, l: &mut Lowering<'_, '_>, product: &Instruction) -> Result {
        l.b.at(product.span);
        for (operand, variables) in product.operands.iter().zip(&self.variables).skip(1) {
            for (source, (ty, var)) in registers(operand).iter().zip(variables) {
                let value = l.source(source, bits(*ty))?;
                l.b.set(*var, value);
            }
        }
        Ok(())
    }

    /// Gives a product's destinations the results.
    pub fn take(&self, l: &mut Lowering<'_, '_>, product: &Instruction) -> Result {
        l.b.at(product.span);
        for (operand, variables) in product.operands.iter().zip(&self.variables).take(1) {
            for (destination, (ty, var)) in registers(operand).iter().zip(variables) {
                let value = l.b.get(*var);
                l.assign(destination, bits(*ty), value)?;
            }
        }
        Ok(())
    }
}

fn registers(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(registers) => registers,
        one => std::slice::from_ref(one),
    }
}

/// The type of a register's bits.
fn bits(ty: ScalarType) -> ScalarType {
    if ty.bits() == 64 { ScalarType::B64 } else { ScalarType::B32 }
}
