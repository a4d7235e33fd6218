//! Products of matrices of a warpgroup (PTX section 9.7.15).
//!
//! Each of its four warps has 16 rows, and computes them by products of eight columns each. The lanes of a warp load
//! the elements that the warp needs of matrices in shared memory. All is done where the instruction stands: its
//! operands may not change before a wait, at which the warps of a warpgroup wait for each other.

use super::descriptor::Descriptor;
use super::matrix::words;
use super::warp::sync_all;
use crate::decode::program::{Instruction, Operand, Reg};
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::{Builtin, Type, Value, Var};
use crate::isa::fragments::{Matrix, Product, WARP_ROWS};
use crate::isa::modifiers::{Modifiers, Shape};
use crate::isa::types::ScalarType;
use crate::lower::lowering::{Lowering, carrier};
use std::sync::Arc;

/// Columns of a product of a warp.
const COLUMNS: u32 = 8;

/// The products of a warp that are its part of a warpgroup's.
pub struct Tiles<'i> {
    whole: &'i Instruction,
    product: Product,
    /// The modifiers of each of these products.
    like: Arc<Modifiers>,
    tile: Product,
    a: Operand,
    /// Columns of B, in shared memory, and registers for those of a tile.
    columns: Descriptor,
    b: Vec<Reg>,
    /// Whether D's elements are summands, and registers for those of a tile.
    adds: Var,
    c: Vec<Reg>,
    /// Metadata and selector of a sparse A.
    sparsity: Vec<Operand>,
}

impl<'i> Tiles<'i> {
    /// Loads A, and prepares the loads of B.
    pub fn of(l: &mut Lowering<'_, '_>, whole: &'i Instruction) -> Result<Self> {
        l.b.at(whole.span);
        // What other lanes have stored is there.
        sync_all(l);
        let product = whole.required(Product::of(&whole.modifiers))?;
        let shape = whole.required(product.tile(COLUMNS))?;
        let mut like = Modifiers::clone(&whole.modifiers);
        for word in like.words.iter_mut().filter(|word| Shape::of(**word).is_some()) {
            *word = shape;
        }
        let tile = whole.required(Product::of(&like))?;
        // D; A, B; metadata and selector; the scale of D; signs of A and B; turns of A, unless it is in registers, and of B; D again.
        let (before, rest) = whole.operands.split_at_checked(3).ok_or_else(|| malformed(whole))?;
        let (sparsity, rest) =
            rest.split_at_checked(if product.is_sparse { 2 } else { 0 }).ok_or_else(|| malformed(whole))?;
        let [_, a, b] = before else { return Err(malformed(whole)) };
        let (scale, signs_and_turns) = match rest {
            [scale, rest @ .., _] => (scale, rest),
            _ => return Err(malformed(whole)),
        };
        let is = |index: usize, constant: u64| matches!(signs_and_turns.get(index), Some(Operand::Imm(value)) if *value == constant);
        let is_negative = is(0, MINUS_ONE) != is(1, MINUS_ONE);
        let held = matches!(a, Operand::Vector(_));
        let rows = if held {
            words(l, whole, Matrix::A)?
        } else {
            let descriptor = l.source(a, ScalarType::B64)?;
            let rows = Descriptor::of(l, descriptor, &product, Matrix::A, !is(2, 1));
            let warp = l.b.and_const(l.b.shr(l.b.builtin(Builtin::ThreadIndex), 5), 3);
            let eights = l.b.mul_const(warp, (WARP_ROWS / 8).into());
            product.blocks(Matrix::A).into_iter().map(|block| rows.load(&l.b, block, eights)).collect()
        };
        let signs = signs(product.ty(Matrix::A));
        let rows: Vec<Value> =
            rows.into_iter().map(|word| if is_negative { l.b.xor_const(word, signs) } else { word }).collect();
        let registers = fresh(l, &product, Matrix::A);
        for (register, value) in registers.iter().zip(rows) {
            l.assign(&Operand::Reg(*register), ScalarType::B32, value)?;
        }
        let mut sparsity = sparsity.to_vec();
        if let Some(metadata) = sparsity.first_mut() {
            // D may have the register.
            let value = l.source(metadata, ScalarType::B32)?;
            *metadata = Operand::Reg(register(l, ScalarType::B32));
            l.assign(metadata, ScalarType::B32, value)?;
        }
        let descriptor = l.source(b, ScalarType::B64)?;
        let columns = Descriptor::of(l, descriptor, &tile, Matrix::B, !is(if held { 2 } else { 3 }, 1));
        let adds = l.b.var(Type::Bool);
        let value = l.source(scale, ScalarType::Pred)?;
        l.b.set(adds, value);
        Ok(Self {
            whole,
            product,
            like: Arc::new(like),
            tile,
            a: vector(&registers),
            columns,
            b: fresh(l, &tile, Matrix::B),
            adds,
            c: fresh(l, &tile, Matrix::C),
            sparsity,
        })
    }

    /// The number of products.
    pub fn count(&self) -> u32 {
        self.product.columns / COLUMNS
    }

    /// Loads the columns of a tile. Gives its product as an instruction.
    pub fn product(&self, l: &mut Lowering<'_, '_>, number: u32) -> Result<Instruction> {
        l.b.at(self.whole.span);
        let Some(Operand::Vector(elements)) = self.whole.operands.first() else { return Err(malformed(self.whole)) };
        let (count, _) = self.tile.registers(Matrix::D);
        let elements: Vec<Operand> = elements.iter().skip(count * number as usize).take(count).cloned().collect();
        let before = l.b.i32(number);
        for (register, block) in self.b.iter().zip(self.tile.blocks(Matrix::B)) {
            let word = self.columns.load(&l.b, block, before);
            l.assign(&Operand::Reg(*register), ScalarType::B32, word)?;
        }
        let adds = l.b.get(self.adds);
        let zero = l.b.i32(0);
        for (register, element) in self.c.iter().zip(&elements) {
            let element = l.source(element, ScalarType::B32)?;
            let summand = l.b.select(adds, element, zero);
            l.assign(&Operand::Reg(*register), ScalarType::B32, summand)?;
        }
        let mut operands = vec![Operand::Vector(elements), self.a.clone(), vector(&self.b), vector(&self.c)];
        operands.extend_from_slice(&self.sparsity);
        Ok(Instruction { modifiers: Arc::clone(&self.like), guard: None, operands, ..self.whole.clone() })
    }
}

/// A constant operand.
const MINUS_ONE: u64 = u64::MAX;

/// The signs of the elements of a word.
fn signs(ty: ScalarType) -> u64 {
    match ty.bits() {
        8 => 0x8080_8080,
        16 => 0x8000_8000,
        _ => 0x8000_0000,
    }
}

/// Registers for a matrix that a program doesn't have.
fn fresh(l: &mut Lowering<'_, '_>, product: &Product, matrix: Matrix) -> Vec<Reg> {
    let (count, ty) = product.registers(matrix);
    (0..count).map(|_| register(l, ty)).collect()
}

/// A register that a program doesn't have.
fn register(l: &mut Lowering<'_, '_>, ty: ScalarType) -> Reg {
    let var = l.b.var(carrier(ty));
    l.frame.registers.push((ty, Some(var)))
}

fn vector(registers: &[Reg]) -> Operand {
    Operand::Vector(registers.iter().map(|register| Operand::Reg(*register)).collect())
}

fn malformed(i: &Instruction) -> Diagnostic {
    Diagnostic::internal("a product of a warpgroup without its operands", i.span)
}
