//! Upper halves of products, and 64-bit integers as pairs of 32-bit words.
//!
//! `OpUMulExtended` on 64 bits fails or is slow in many drivers, so that product is put together from 32-bit parts.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use super::body::Body;
use super::module::Global;
use super::result::Result;
use crate::ir::Type;

impl Body<'_, '_, '_> {
    /// The upper half of `a * b`.
    pub(super) fn multiply_high(&mut self, ty: Type, signed: bool, a: Word, b: Word) -> Result<Word> {
        if ty == Type::I64 {
            let product = self.multiply_high_unsigned_64(a, b)?;
            return if signed { self.correct_sign(product, a, b) } else { Ok(product) };
        }
        let ty = self.ty(ty)?;
        let pair = self.module.global(Global::Pair(ty))?;
        let op = if signed { Op::SMulExtended } else { Op::UMulExtended };
        let product = self.compute(op, pair, &[a, b]);
        Ok(self.component(ty, product, 1))
    }

    /// Schoolbook multiplication with 32-bit digits; no sum of a product and two digits exceeds 64 bits.
    fn multiply_high_unsigned_64(&mut self, a: Word, b: Word) -> Result<Word> {
        let long = self.ty(Type::I64)?;
        let digit_bits = self.module.u32_constant(32)?;
        let mask = self.module.global(Global::Constant(long, u64::from(u32::MAX)))?;
        let low = |body: &mut Self, x| body.compute(Op::BitwiseAnd, long, &[x, mask]);
        let high = |body: &mut Self, x| body.compute(Op::ShiftRightLogical, long, &[x, digit_bits]);
        let (a_low, a_high) = (low(self, a), high(self, a));
        let (b_low, b_high) = (low(self, b), high(self, b));

        let low_product = self.compute(Op::IMul, long, &[a_low, b_low]);
        let carry = high(self, low_product);
        let cross = self.compute(Op::IMul, long, &[a_high, b_low]);
        let cross = self.compute(Op::IAdd, long, &[cross, carry]);
        let (cross_low, cross_high) = (low(self, cross), high(self, cross));
        let other_cross = self.compute(Op::IMul, long, &[a_low, b_high]);
        let other_cross = self.compute(Op::IAdd, long, &[other_cross, cross_low]);
        let carry = high(self, other_cross);
        let product = self.compute(Op::IMul, long, &[a_high, b_high]);
        let product = self.compute(Op::IAdd, long, &[product, cross_high]);
        Ok(self.compute(Op::IAdd, long, &[product, carry]))
    }

    /// Turns the upper half of an unsigned product into that of the signed one: a negative factor counts 2^64 too much.
    fn correct_sign(&mut self, product: Word, a: Word, b: Word) -> Result<Word> {
        let long = self.ty(Type::I64)?;
        let sign_bit = self.module.u32_constant(63)?;
        let mut product = product;
        for (factor, other) in [(a, b), (b, a)] {
            let sign = self.compute(Op::ShiftRightArithmetic, long, &[factor, sign_bit]);
            let excess = self.compute(Op::BitwiseAnd, long, &[sign, other]);
            product = self.compute(Op::ISub, long, &[product, excess]);
        }
        Ok(product)
    }

    /// The `u64` of a signed word. Not by `OpSConvert`: Mesa up to 22.3 gets the signed order of its result and a constant
    /// wrong. The word and its sign are the same instructions there, but see [`Quirks::joined_signs_lost`](ptx2spv_target::Quirks).
    pub(super) fn sign_extend(&mut self, word: Word) -> Result<Word> {
        if self.module.device.workarounds.joined_signs_lost {
            let long = self.ty(Type::I64)?;
            let half = self.module.u32_constant(32)?;
            let wide = self.compute(Op::UConvert, long, &[word]);
            let upper = self.compute(Op::ShiftLeftLogical, long, &[wide, half]);
            return Ok(self.compute(Op::ShiftRightArithmetic, long, &[upper, half]));
        }
        let ty = self.ty(Type::I32)?;
        let last = self.module.u32_constant(31)?;
        let sign = self.compute(Op::ShiftRightArithmetic, ty, &[word, last]);
        self.join(word, sign)
    }

    /// One component of a vector or member of a struct.
    pub(super) fn component(&mut self, ty: Word, composite: Word, index: u32) -> Word {
        self.result(Op::CompositeExtract, ty, vec![Operand::IdRef(composite), Operand::LiteralBit32(index)])
    }

    /// The `u64` of two words.
    pub(super) fn join(&mut self, low: Word, high: Word) -> Result<Word> {
        let vector = self.module.u32_vector(2)?;
        let pair = self.compute(Op::CompositeConstruct, vector, &[low, high]);
        let long = self.ty(Type::I64)?;
        Ok(self.compute(Op::Bitcast, long, &[pair]))
    }

    /// The two words of a `u64`, the lower first.
    pub(super) fn split(&mut self, long: Word) -> Result<[Word; 2]> {
        let vector = self.module.u32_vector(2)?;
        let pair = self.compute(Op::Bitcast, vector, &[long]);
        let word = self.module.u32()?;
        Ok([self.component(word, pair, 0), self.component(word, pair, 1)])
    }
}
