//! Operations on scalars and vectors, split into operations on registers.

use rspirv::spirv::{Decoration, Op};

use super::Result;
use super::compiler::Compiler;
use super::layout::Scalar;
use super::operations::{binary, family, shift, unary, wide};
use super::value::Cells;
use crate::code::{Binary, Convert, Inst, Slot, Ternary, Unary, Wide};
use crate::module::{Instruction, rule};

impl Compiler<'_> {
    /// Compiles an instruction without side effects. Returns whether it is one.
    pub(super) fn pure(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        let op = inst.op;
        if let Some(op) = unary(op) {
            self.unary(inst, op)?;
        } else if let Some(op) = binary(op) {
            self.binary(inst, op)?;
        } else if let Some(op) = shift(op) {
            let (scalar, _) = self.layouts.vector(inst.ty)?;
            self.expect(inst, 0, |base| base == scalar && scalar.is_int())?;
            self.expect(inst, 1, Scalar::is_int)?;
            let bits = scalar.bits();
            self.each(inst, 2, |d, [a, b, _]| Inst::Binary { op, bits, d, a, b })?;
        } else if let Some(op) = wide(op) {
            self.wide(inst, op)?;
        } else {
            match op {
                Op::UConvert => self.convert(inst, Convert::UToU)?,
                Op::SConvert => self.convert(inst, Convert::SToS)?,
                Op::ConvertFToU => self.convert(inst, Convert::FToU)?,
                Op::ConvertFToS => self.convert(inst, Convert::FToS)?,
                Op::ConvertUToF => self.convert(inst, Convert::UToF)?,
                Op::ConvertSToF => self.convert(inst, Convert::SToF)?,
                Op::FConvert => {
                    if self.module.decoration(inst.id, Decoration::FPRoundingMode).is_some() {
                        return Err(inst.refuse(rule::UNSUPPORTED, "has a rounding mode of its own"));
                    }
                    self.convert(inst, Convert::FToF)?;
                }
                Op::Bitcast | Op::ConvertPtrToU | Op::ConvertUToPtr => self.bitcast(inst)?,
                Op::Select => self.select(inst)?,
                Op::BitFieldInsert => self.insert_bits(inst)?,
                Op::BitFieldUExtract => self.extract_bits(inst)?,
                _ => {
                    return Ok(self.composite_operation(inst)?
                        || self.vector_product(inst)?
                        || self.integer_dot(inst)?);
                }
            }
        }
        Ok(true)
    }

    /// The registers of an operand with as many components as the result.
    fn operand_cells(&mut self, inst: &Instruction<'_>, index: usize, count: u32) -> Result<Cells> {
        let cells = self.cells(inst.operand(index)?)?;
        if cells.len() != count as usize {
            return Err(inst.refuse(rule::UNIVERSAL, "has operands of different shapes"));
        }
        Ok(cells)
    }

    /// Returns the component type of an operand. Refuses an unexpected one.
    pub(super) fn expect(
        &self,
        inst: &Instruction<'_>,
        index: usize,
        right: impl Fn(Scalar) -> bool,
    ) -> Result<Scalar> {
        let (scalar, _) = self.vector_of(inst.operand(index)?)?;
        if right(scalar) {
            return Ok(scalar);
        }
        Err(inst.refuse(rule::UNIVERSAL, format!("operand {index} is of type {scalar:?}")))
    }

    /// Refuses a result with an unexpected component type.
    pub(super) fn expect_result(&self, inst: &Instruction<'_>, scalar: Scalar) -> Result<()> {
        if self.layouts.vector(inst.ty)?.0 == scalar {
            return Ok(());
        }
        Err(inst.refuse(rule::UNIVERSAL, format!("has a result of another type than {scalar:?}")))
    }

    /// An operation with one operand, applied to each component of a vector.
    pub(super) fn unary(&mut self, inst: &Instruction<'_>, op: Unary) -> Result<()> {
        let scalar = self.expect(inst, 0, family(Inst::Unary { op, bits: 0, d: 0, a: 0 }))?;
        if op == Unary::BitCount && self.layouts.vector(inst.ty)?.0 != scalar {
            return Err(inst.refuse("VUID-StandaloneSpirv-Base-04781", "counts bits of another width than its own"));
        }
        self.expect_result(inst, scalar)?;
        let bits = scalar.bits();
        self.each(inst, 1, |d, [a, ..]| Inst::Unary { op, bits, d, a })
    }

    /// An operation with two operands of the same type.
    pub(super) fn binary(&mut self, inst: &Instruction<'_>, op: Binary) -> Result<()> {
        let scalar = self.expect(inst, 0, family(Inst::Binary { op, bits: 0, d: 0, a: 0, b: 0 }))?;
        self.expect(inst, 1, |other| other == scalar)?;
        self.expect_result(inst, if op.compares() { Scalar::Bool } else { scalar })?;
        let bits = scalar.bits();
        self.each(inst, 2, |d, [a, b, _]| Inst::Binary { op, bits, d, a, b })
    }

    /// An operation with three operands of the same type.
    pub(super) fn ternary(&mut self, inst: &Instruction<'_>, op: Ternary) -> Result<()> {
        let scalar = self.expect(inst, 0, family(Inst::Ternary { op, bits: 0, d: 0, a: 0, b: 0, c: 0 }))?;
        self.expect(inst, 1, |other| other == scalar)?;
        self.expect(inst, 2, |other| other == scalar)?;
        self.expect_result(inst, scalar)?;
        let bits = scalar.bits();
        self.each(inst, 3, |d, [a, b, c]| Inst::Ternary { op, bits, d, a, b, c })
    }

    /// Emits a scalar operation for each component.
    pub(super) fn each(
        &mut self,
        inst: &Instruction<'_>,
        operands: usize,
        f: impl Fn(Slot, [Slot; 3]) -> Inst,
    ) -> Result<()> {
        let (_, count) = self.layouts.vector(inst.ty)?;
        let cells: Vec<Cells> =
            (0..operands).map(|index| self.operand_cells(inst, index, count)).collect::<Result<_>>()?;
        let mut results = Vec::with_capacity(count as usize);
        for component in 0..count as usize {
            let mut slots = [0; 3];
            for (slot, cells) in slots.iter_mut().zip(&cells) {
                *slot = cells[component];
            }
            results.push(self.emit.compute(|d| f(d, slots))?);
        }
        self.result(inst, results)
    }

    fn convert(&mut self, inst: &Instruction<'_>, op: Convert) -> Result<()> {
        let (to, _) = self.layouts.vector(inst.ty)?;
        let from_float = matches!(op, Convert::FToU | Convert::FToS | Convert::FToF);
        let to_float = matches!(op, Convert::UToF | Convert::SToF | Convert::FToF);
        let from = self.expect(inst, 0, |from| if from_float { from.is_float() } else { from.is_int() })?;
        if !(if to_float { to.is_float() } else { to.is_int() }) {
            return Err(inst.refuse(rule::UNIVERSAL, format!("converts to {to:?}")));
        }
        let (from, to) = (from.bits(), to.bits());
        self.each(inst, 1, |d, [a, ..]| Inst::Convert { op, from, to, d, a })
    }

    fn wide(&mut self, inst: &Instruction<'_>, op: Wide) -> Result<()> {
        let (scalar, count) = self.vector_of(inst.operand(0)?)?;
        self.expect(inst, 0, Scalar::is_int)?;
        self.expect(inst, 1, |other| other == scalar)?;
        let leaves = self.layouts.leaves(inst.ty)?;
        if leaves.iter().any(|leaf| leaf.1 != scalar) {
            return Err(inst.refuse(rule::UNIVERSAL, "has a result of another type"));
        }
        let a = self.operand_cells(inst, 0, count)?;
        let b = self.operand_cells(inst, 1, count)?;
        // The low halves of all components, then the high ones.
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for (&a, &b) in a.iter().zip(b.iter()) {
            let d = self.emit.fresh(2)?;
            self.emit.emit(Inst::Wide { op, bits: scalar.bits(), d, a, b })?;
            low.push(d);
            high.push(d + 1);
        }
        low.append(&mut high);
        self.result(inst, low)
    }

    /// Reinterprets registers of one width as registers of another. The first register has the low bits.
    pub(super) fn reinterpret(&mut self, cells: &[Slot], from: u8, to: u8) -> Result<Vec<Slot>> {
        if from == to {
            return Ok(cells.to_vec());
        }
        let mut result = Vec::new();
        if from > to {
            for &a in cells {
                for position in (0..from).step_by(usize::from(to.max(1))) {
                    let part = self.shifted(Binary::ShiftRightLogical, from, a, position)?;
                    result.push(self.emit.compute(|d| Inst::Convert { op: Convert::UToU, from, to, d, a: part })?);
                }
            }
            return Ok(result);
        }
        for group in cells.chunks(usize::from(to / from)) {
            let mut whole = None;
            for (&a, position) in group.iter().zip((0..to).step_by(usize::from(from))) {
                let part = self.emit.compute(|d| Inst::Convert { op: Convert::UToU, from, to, d, a })?;
                let part = self.shifted(Binary::ShiftLeftLogical, to, part, position)?;
                whole = Some(match whole {
                    None => part,
                    Some(a) => {
                        self.emit.compute(|d| Inst::Binary { op: Binary::BitwiseOr, bits: to, d, a, b: part })?
                    }
                });
            }
            result.extend(whole);
        }
        Ok(result)
    }

    /// A register shifted by a constant.
    pub(super) fn shifted(&mut self, op: Binary, bits: u8, a: Slot, amount: u8) -> Result<Slot> {
        if amount == 0 {
            return Ok(a);
        }
        let b = self.emit.constant(u64::from(amount));
        self.emit.compute(|d| Inst::Binary { op, bits, d, a, b })
    }

    fn bitcast(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (to, to_count) = self.layouts.vector(inst.ty)?;
        let id = inst.operand(0)?;
        let (from, from_count) = self.vector_of(id)?;
        let total = |scalar: Scalar, count: u32| u32::from(scalar.bits()) * count;
        if total(to, to_count) != total(from, from_count) || [to, from].contains(&Scalar::Bool) {
            return Err(inst.refuse(rule::UNIVERSAL, "reinterprets values of another size"));
        }
        let cells = self.cells(id)?;
        if to.bits() == from.bits() {
            // If the width is unchanged, so are the registers.
            return self.result(inst, cells);
        }
        let cells = self.reinterpret(&cells, from.bits(), to.bits())?;
        self.result(inst, cells)
    }

    fn select(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (_, conditions) = self.vector_of(inst.operand(0)?)?;
        self.expect(inst, 0, |scalar| scalar == Scalar::Bool)?;
        let condition = self.operand_cells(inst, 0, conditions)?;
        let leaves = self.layouts.leaves(inst.ty)?;
        if conditions != 1 && conditions as usize != leaves.len() {
            return Err(inst.refuse(rule::UNIVERSAL, "has operands of different shapes"));
        }
        let (yes, no) = (inst.operand(1)?, inst.operand(2)?);
        if self.type_of(yes)? != inst.ty || self.type_of(no)? != inst.ty {
            return Err(inst.refuse(rule::UNIVERSAL, "selects values of another type"));
        }
        let (yes, no) = (self.cells(yes)?, self.cells(no)?);
        let mut results = Vec::with_capacity(leaves.len());
        for (index, (_, scalar)) in leaves.iter().enumerate() {
            let a = condition[if conditions == 1 { 0 } else { index }];
            let (bits, b, c) = (scalar.bits(), yes[index], no[index]);
            results.push(self.emit.compute(|d| Inst::Ternary { op: Ternary::Select, bits, d, a, b, c })?);
        }
        self.result(inst, results)
    }

    /// Combines registers by an operation, from the first to the last.
    pub(super) fn joined(&mut self, op: Binary, bits: u8, cells: &[Slot]) -> Result<Slot> {
        let mut rest = cells.iter();
        let mut all = rest.next().copied().unwrap_or(0);
        for &b in rest {
            all = self.emit.compute(|d| Inst::Binary { op, bits, d, a: all, b })?;
        }
        Ok(all)
    }

    fn insert_bits(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (scalar, count) = self.layouts.vector(inst.ty)?;
        for index in 0..4 {
            self.expect(inst, index, |other| if index < 2 { other == scalar } else { other.is_int() })?;
        }
        let base = self.operand_cells(inst, 0, count)?;
        let insert = self.operand_cells(inst, 1, count)?;
        let (offset, bits) = (self.scalar(inst.operand(2)?)?, self.scalar(inst.operand(3)?)?);
        let first = self.copies(&base)?;
        for (d, &insert) in (first..).zip(insert.iter()) {
            self.emit.emit(Inst::InsertBits { bits: scalar.bits(), d, insert, offset, count: bits })?;
        }
        self.result_at(inst, first)
    }

    fn extract_bits(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (scalar, count) = self.layouts.vector(inst.ty)?;
        for index in 0..3 {
            self.expect(inst, index, |other| if index < 1 { other == scalar } else { other.is_int() })?;
        }
        let (op, bits) = (Ternary::BitFieldUExtract, scalar.bits());
        let base = self.operand_cells(inst, 0, count)?;
        let (b, c) = (self.scalar(inst.operand(1)?)?, self.scalar(inst.operand(2)?)?);
        let mut results = Vec::new();
        for &a in base.iter() {
            results.push(self.emit.compute(|d| Inst::Ternary { op, bits, d, a, b, c })?);
        }
        self.result(inst, results)
    }
}
