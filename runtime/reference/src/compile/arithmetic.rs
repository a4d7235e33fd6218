//! Operations on scalars and vectors, split into operations on registers.

use ptx2spv_target::{Feature, marks};
use rspirv::spirv::{Decoration, GlslStd450Op as Glsl, Op, PackedVectorFormat};

use super::Result;
use super::compiler::{Cells, Compiler};
use super::layout::Scalar;
use crate::code::{Binary, Conversion, Family, Inst, Slot, Source, Ternary, Unary, Wide};
use crate::module::{Instruction, rule};
use crate::requirements;

impl Family {
    pub(super) fn accepts(self, scalar: Scalar) -> bool {
        match self {
            Self::Bool => scalar == Scalar::Bool,
            Self::Int => scalar.is_int(),
            Self::Float => scalar.is_float(),
            Self::BoolOrInt => !scalar.is_float() && scalar != Scalar::Bfloat16,
        }
    }
}

impl Compiler<'_> {
    /// Compiles an instruction without side effects. Returns whether it is one.
    pub(super) fn pure(&mut self, inst: &Instruction<'_>) -> Result<bool> {
        match inst.op {
            Op::Bitcast | Op::ConvertPtrToU | Op::ConvertUToPtr => self.bitcast(inst)?,
            Op::Select => self.select(inst)?,
            Op::BitFieldInsert => self.insert_bits(inst)?,
            Op::BitFieldUExtract => self.extract_bits(inst)?,
            Op::Dot => {
                let (bits, [a, b]) = self.floats(inst)?;
                let product = self.dot(bits, &a, &b)?;
                self.result(inst, [product])?;
            }
            Op::VectorTimesScalar => self.vector_times_scalar(inst)?,
            Op::SDot => self.dot_bytes(inst, [Conversion::SConvert, Conversion::SConvert])?,
            Op::UDot => self.dot_bytes(inst, [Conversion::UConvert, Conversion::UConvert])?,
            Op::SUDot => self.dot_bytes(inst, [Conversion::SConvert, Conversion::UConvert])?,
            _ => return Ok(self.operation(inst, Source::Core(inst.op))? || self.composite_operation(inst)?),
        }
        Ok(true)
    }

    pub(super) fn extended(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let set = inst.operand(0)?;
        if self.module.is_debug_set(set) {
            return self.mark(inst, set);
        }
        if self.module.set_name(set) != Some("GLSL.std.450") {
            return Err(inst.refuse(rule::UNSUPPORTED, "an instruction set other than GLSL.std.450"));
        }
        let number = inst.operand(1)?;
        let inner = Instruction { operands: inst.rest(2), ..*inst };
        match Glsl::from_u32(number) {
            Some(function) if self.operation(&inner, Source::Glsl(function))? => Ok(()),
            Some(Glsl::Normalize) => self.normalize(&inner),
            Some(Glsl::Reflect) => self.reflect(&inner),
            _ => Err(inst.refuse(rule::UNSUPPORTED, format!("instruction {number} of GLSL.std.450"))),
        }
    }

    /// Compiles an instruction without effect of its own, if it is one of [`marks`].
    fn mark(&mut self, inst: &Instruction<'_>, set: u32) -> Result<()> {
        if self.module.set_name(set) == Some(marks::SET) && inst.operand(1)? == marks::ARRIVE {
            let thread = self.scalar(inst.operand(2)?)?;
            let place = self.constant_operand(inst, inst.operand(3)?)? as u32;
            self.emit.emit(Inst::Arrive { thread, place })?;
        }
        Ok(())
    }

    /// Compiles an operation on scalars, applied to each component of vectors. Returns whether there is one.
    fn operation(&mut self, inst: &Instruction<'_>, source: Source) -> Result<bool> {
        if let Some(op) = Unary::of(source) {
            let bits = self.expect_all(inst, 1, op.family(), None)?;
            self.each(inst, |d, [a]| Inst::Unary { op, bits, d, a })?;
        } else if let Some(op) = Binary::of(source) {
            let of_one_type = if op.shifts() { 1 } else { 2 };
            let bits = self.expect_all(inst, of_one_type, op.family(), op.compares().then_some(Scalar::Bool))?;
            self.expect(inst, 1, |scalar| op.family().accepts(scalar))?;
            self.each(inst, |d, [a, b]| Inst::Binary { op, bits, d, a, b })?;
        } else if let Some(op) = Ternary::of(source) {
            let bits = self.expect_all(inst, 3, op.family(), None)?;
            if op == Ternary::FmaKHR {
                let feature = if bits == 64 { Feature::ShaderFmaFloat64 } else { Feature::ShaderFmaFloat32 };
                requirements::need(self.target, feature, &format!("OpFmaKHR at word {}", inst.word))?;
            }
            self.each(inst, |d, [a, b, c]| Inst::Ternary { op, bits, d, a, b, c })?;
        } else if let Some(op) = Wide::of(source) {
            self.wide(inst, op)?;
        } else if let Some(op) = Conversion::of(source) {
            self.convert(inst, op)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// The registers of an operand with as many components as the result.
    fn operand_cells(&mut self, inst: &Instruction<'_>, index: usize, count: u32) -> Result<Cells> {
        let cells = self.cells(inst.operand(index)?)?;
        inst.refuse_if(cells.len() != count as usize, "has operands of different shapes")?;
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

    /// Refuses operands that are not all of one type of a family, and a result of another type than that, or than
    /// `result`. Returns the operands' width.
    fn expect_all(&self, inst: &Instruction<'_>, count: usize, family: Family, result: Option<Scalar>) -> Result<u8> {
        let scalar = self.expect(inst, 0, |scalar| family.accepts(scalar))?;
        for index in 1..count {
            self.expect(inst, index, |other| other == scalar)?;
        }
        self.expect_result(inst, result.unwrap_or(scalar))?;
        Ok(scalar.bits())
    }

    /// Emits a scalar operation for each component.
    fn each<const N: usize>(&mut self, inst: &Instruction<'_>, f: impl Fn(Slot, [Slot; N]) -> Inst) -> Result<()> {
        let (_, count) = self.layouts.vector(inst.ty)?;
        let cells: Vec<Cells> = (0..N).map(|index| self.operand_cells(inst, index, count)).collect::<Result<_>>()?;
        let components = 0..count as usize;
        let slots = |component: usize| std::array::from_fn(|operand| cells[operand][component]);
        let results: Vec<Slot> =
            components.map(|component| self.emit.compute(|d| f(d, slots(component)))).collect::<Result<_>>()?;
        self.result(inst, results)
    }

    fn convert(&mut self, inst: &Instruction<'_>, op: Conversion) -> Result<()> {
        if self.module.decoration(inst.id, Decoration::FPRoundingMode).is_some() {
            return Err(inst.refuse(rule::UNSUPPORTED, "has a rounding mode of its own"));
        }
        let (to, _) = self.layouts.vector(inst.ty)?;
        let from = self.expect(inst, 0, |from| op.family().accepts(from))?;
        let to_float = matches!(op, Conversion::ConvertUToF | Conversion::ConvertSToF | Conversion::FConvert);
        if !(if to_float { to.is_float() } else { to.is_int() }) {
            return Err(inst.refuse(rule::UNIVERSAL, format!("converts to {to:?}")));
        }
        let (from, to) = (from.bits(), to.bits());
        self.each(inst, |d, [a]| Inst::Convert { op, from, to, d, a })
    }

    fn wide(&mut self, inst: &Instruction<'_>, op: Wide) -> Result<()> {
        let (scalar, count) = self.vector_of(inst.operand(0)?)?;
        self.expect(inst, 0, |scalar| op.family().accepts(scalar))?;
        self.expect(inst, 1, |other| other == scalar)?;
        let leaves = self.layouts.leaves(inst.ty)?;
        inst.refuse_if(leaves.iter().any(|leaf| leaf.1 != scalar), "has a result of another type")?;
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
                    result.push(self.emit.compute(|d| Inst::Convert {
                        op: Conversion::UConvert,
                        from,
                        to,
                        d,
                        a: part,
                    })?);
                }
            }
            return Ok(result);
        }
        for group in cells.chunks(usize::from(to / from)) {
            let mut whole = None;
            for (&a, position) in group.iter().zip((0..to).step_by(usize::from(from))) {
                let part = self.emit.compute(|d| Inst::Convert { op: Conversion::UConvert, from, to, d, a })?;
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
        let wrong = total(to, to_count) != total(from, from_count) || [to, from].contains(&Scalar::Bool);
        inst.refuse_if(wrong, "reinterprets values of another size")?;
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
        inst.refuse_if(conditions != 1 && conditions as usize != leaves.len(), "has operands of different shapes")?;
        let (yes, no) = (inst.operand(1)?, inst.operand(2)?);
        let wrong = self.type_of(yes)? != inst.ty || self.type_of(no)? != inst.ty;
        inst.refuse_if(wrong, "selects values of another type")?;
        let (yes, no) = (self.cells(yes)?, self.cells(no)?);
        let mut results = Vec::with_capacity(leaves.len());
        for (index, (_, scalar)) in leaves.iter().enumerate() {
            let a = condition[if conditions == 1 { 0 } else { index }];
            let (bits, b, c) = (scalar.bits(), yes[index], no[index]);
            results.push(self.emit.compute(|d| Inst::Ternary { op: Ternary::Select, bits, d, a, b, c })?);
        }
        self.result(inst, results)
    }

    /// The registers of operands that are vectors of floats of one width, and the width.
    fn floats<const N: usize>(&mut self, inst: &Instruction<'_>) -> Result<(u8, [Cells; N])> {
        let (scalar, count) = self.vector_of(inst.operand(0)?)?;
        self.expect_result(inst, scalar)?;
        let mut all = std::array::from_fn(|_| Cells::default());
        for (index, cells) in all.iter_mut().enumerate() {
            let id = inst.operand(index)?;
            let wrong = !scalar.is_float() || self.vector_of(id)? != (scalar, count);
            inst.refuse_if(wrong, "has operands of different types")?;
            *cells = self.cells(id)?;
        }
        Ok((scalar.bits(), all))
    }

    fn apply(&mut self, op: Binary, bits: u8, a: Slot, b: Slot) -> Result<Slot> {
        self.emit.compute(|d| Inst::Binary { op, bits, d, a, b })
    }

    /// An operation on each component and a scalar.
    fn scale(&mut self, op: Binary, bits: u8, a: &[Slot], b: Slot) -> Result<Vec<Slot>> {
        a.iter().map(|&a| self.apply(op, bits, a, b)).collect()
    }

    /// The sum of the products of components, which are floats.
    fn dot(&mut self, bits: u8, a: &[Slot], b: &[Slot]) -> Result<Slot> {
        self.sum_of_products([Binary::FMul, Binary::FAdd], bits, a, b)
    }

    fn vector_times_scalar(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (vector, factor) = (inst.operand(0)?, inst.operand(1)?);
        let (scalar, _) = self.vector_of(vector)?;
        self.expect_result(inst, scalar)?;
        let wrong = !scalar.is_float() || self.vector_of(factor)? != (scalar, 1);
        inst.refuse_if(wrong, "has operands of different types")?;
        let (a, b) = (self.cells(vector)?, self.scalar(factor)?);
        let product = self.scale(Binary::FMul, scalar.bits(), &a, b)?;
        self.result(inst, product)
    }

    fn normalize(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (bits, [a]) = self.floats(inst)?;
        let square = self.dot(bits, &a, &a)?;
        let length = self.emit.compute(|d| Inst::Unary { op: Unary::Sqrt, bits, d, a: square })?;
        let normal = self.scale(Binary::FDiv, bits, &a, length)?;
        self.result(inst, normal)
    }

    /// `Reflect I N`: I - 2 * dot(N, I) * N.
    fn reflect(&mut self, inst: &Instruction<'_>) -> Result<()> {
        let (bits, [incident, normal]) = self.floats(inst)?;
        let angle = self.dot(bits, &normal, &incident)?;
        let twice = self.apply(Binary::FAdd, bits, angle, angle)?;
        let along = self.scale(Binary::FMul, bits, &normal, twice)?;
        let pairs = incident.iter().zip(along);
        let result: Vec<Slot> = pairs.map(|(&a, b)| self.apply(Binary::FSub, bits, a, b)).collect::<Result<_>>()?;
        self.result(inst, result)
    }

    /// The sum of the products of four bytes in two words each, extended in these ways.
    fn dot_bytes(&mut self, inst: &Instruction<'_>, extensions: [Conversion; 2]) -> Result<()> {
        let format = PackedVectorFormat::PackedVectorFormat4x8Bit as u32;
        if self.expect_all(inst, 2, Family::Int, None)? != 32 || inst.operands.get(2) != Some(&format) {
            return Err(inst.refuse(rule::UNSUPPORTED, "is not of words of four bytes"));
        }
        let mut factors = [Vec::new(), Vec::new()];
        for (index, (bytes, op)) in factors.iter_mut().zip(extensions).enumerate() {
            let word = self.scalar(inst.operand(index)?)?;
            for a in self.reinterpret(&[word], 32, 8)? {
                bytes.push(self.emit.compute(|d| Inst::Convert { op, from: 8, to: 32, d, a })?);
            }
        }
        let sum = self.sum_of_products([Binary::IMul, Binary::IAdd], 32, &factors[0], &factors[1])?;
        self.result(inst, [sum])
    }

    fn sum_of_products(&mut self, [multiply, add]: [Binary; 2], bits: u8, a: &[Slot], b: &[Slot]) -> Result<Slot> {
        let mut sum = None;
        for (&a, &b) in a.iter().zip(b) {
            let term = self.apply(multiply, bits, a, b)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => self.apply(add, bits, sum, term)?,
            });
        }
        Ok(sum.unwrap_or(0))
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
