//! Operations that give a value.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, FPFastMathMode, GlslStd450Op, Op, PackedVectorFormat, Word};

use super::body::Body;
use super::module::Global;
use super::result::Result;
use super::select::{Form, Operands, Operation};
use crate::ir::{Type, Value};
use crate::soft::SINGLE;
use ptx2spv_target::Feature;

impl Body<'_, '_, '_> {
    /// The id of an operation's result of type `ty`.
    pub(super) fn operation(&mut self, op: Operation, ty: Type) -> Result<Word> {
        match op {
            Operation::Truth(truth) => self.module.global(if truth { Global::True } else { Global::False }),
            Operation::Constant(bits) => {
                let key = Global::Constant(self.ty(ty)?, bits);
                let id = self.module.global(key)?;
                if ty == Type::I32 {
                    self.offsets.note_constant(id, bits);
                }
                Ok(id)
            }
            Operation::Get(var) => {
                let variable = self.variable(var)?;
                let ty = self.ty(ty)?;
                Ok(self.compute(Op::Load, ty, &[variable]))
            }
            Operation::Instruction(form, operands) => self.apply(form, ty, operands),
            Operation::Sum(a, b) => {
                let id = self.apply(Form::Core(Op::IAdd), ty, [Some(a), Some(b), None])?;
                if ty == Type::I32 {
                    let (a, b) = (self.value(a), self.value(b));
                    self.offsets.note_sum(id, a, b);
                }
                Ok(id)
            }
            Operation::SignExtend(a) => {
                let a = self.value(a);
                self.sign_extend(a)
            }
            Operation::LowWord(a) => self.word(a, 0),
            Operation::HighWord(a) => self.word(a, 1),
            Operation::Clamp(a) => {
                let ty = self.ty(ty)?;
                let zero = self.module.global(Global::Constant(ty, 0))?;
                let one = self.module.global(Global::Constant(ty, SINGLE.one()))?;
                let a = self.value(a);
                Ok(self.write(Form::Glsl(GlslStd450Op::NClamp), ty, &[a, zero, one]))
            }
            Operation::MultiplyHigh { signed, a, b } => {
                let (a, b) = (self.value(a), self.value(b));
                self.multiply_high(ty, signed, a, b)
            }
            Operation::Dot(op, a, b) => self.dot_bytes(op, a, b),
            Operation::Fma(operands) => self.fma(operands, ty),
            Operation::DotFma(operands) => self.dot_fma(operands),
            Operation::Halves(form, operands) => self.halves(form, operands),
            Operation::WidenHalf(word) => self.widen_half(word),
            Operation::NarrowHalf(single) => self.narrow_half(single),
            Operation::Pair(low, high) => {
                let (low, high) = (self.value(low), self.value(high));
                let vector = self.ty(Type::Pair)?;
                let pair = self.compute(Op::CompositeConstruct, vector, &[low, high]);
                if ty == Type::Pair {
                    return Ok(pair);
                }
                let ty = self.ty(ty)?;
                Ok(self.compute(Op::Bitcast, ty, &[pair]))
            }
            Operation::Input(input) => self.launch_input(input, ty),
            Operation::Sample(sample) => self.sample(sample),
            Operation::Call(helper, operands) => self.call(helper, operands, ty),
        }
    }

    /// The lower half of a pair or a double, number 0, or the upper one, number 1.
    fn word(&mut self, wide: Value, number: u32) -> Result<Word> {
        let is_pair = self.function.type_of(wide) == Type::Pair;
        let mut id = self.value(wide);
        if !is_pair {
            let vector = self.ty(Type::Pair)?;
            id = self.compute(Op::Bitcast, vector, &[id]);
        }
        let ty = self.ty(Type::I32)?;
        Ok(self.component(ty, id, number))
    }

    fn apply(&mut self, form: Form, ty: Type, operands: Operands) -> Result<Word> {
        let ty = self.ty(ty)?;
        let (mut ids, mut count) = ([0; 3], 0);
        for (id, value) in ids.iter_mut().zip(operands.into_iter().flatten()) {
            *id = self.value(value);
            count += 1;
        }
        Ok(self.write(form, ty, &ids[..count]))
    }

    /// Writes an operation on ids; the type is given by its id too.
    fn write(&mut self, form: Form, ty: Word, ids: &[Word]) -> Word {
        let mut operands = Vec::with_capacity(ids.len() + 2);
        let op = match form {
            Form::Core(op) | Form::Float(op) => op,
            Form::Glsl(function) => {
                operands.push(Operand::IdRef(self.module.glsl()));
                operands.push(Operand::LiteralExtInstInteger(function as u32));
                Op::ExtInst
            }
        };
        operands.extend(ids.iter().copied().map(Operand::IdRef));
        let id = self.result(op, ty, operands);
        if let Form::Float(_) | Form::Glsl(GlslStd450Op::Fma) = form {
            self.module.forbid_contraction(id);
        }
        id
    }

    /// `a * b + c`, rounded once where the device can.
    fn fma(&mut self, operands: [Value; 3], ty: Type) -> Result<Word> {
        let feature = if ty == Type::F64 { Feature::ShaderFmaFloat64 } else { Feature::ShaderFmaFloat32 };
        let form = if self.module.device.fused.contains(&feature) {
            self.module.need(feature, "a fused multiply-add")?;
            Form::Float(Op::FmaKHR)
        } else {
            Form::Glsl(GlslStd450Op::Fma)
        };
        self.apply(form, ty, operands.map(Some))
    }

    /// `a * b + c` as the dot product of (a, c) and (b, 1).
    fn dot_fma(&mut self, operands: [Value; 3]) -> Result<Word> {
        self.module.need(Feature::ShaderFloatControls2, "a fused dot product")?;
        let float = self.ty(Type::F32)?;
        let pair = self.module.global(Global::Vector(float, 2))?;
        let one = self.module.global(Global::Constant(float, SINGLE.one()))?;
        let [a, b, c] = [self.value(operands[0]), self.value(operands[1]), self.value(operands[2])];
        let left = self.compute(Op::CompositeConstruct, pair, &[a, c]);
        let right = self.compute(Op::CompositeConstruct, pair, &[b, one]);
        let id = self.compute(Op::Dot, float, &[left, right]);
        self.module.decorate(
            id,
            Decoration::FPFastMathMode,
            &[Operand::FPFastMathMode(FPFastMathMode::ALLOW_CONTRACT)],
        );
        Ok(id)
    }

    /// An instruction on two f16 in a word. The upper half of a single f16 is zero and stays zero.
    fn halves(&mut self, form: Form, operands: Operands) -> Result<Word> {
        let mut pairs = Vec::with_capacity(3);
        for word in operands.into_iter().flatten() {
            pairs.push(self.half_pair(word)?);
        }
        let pair = self.half_pair_type()?;
        let result = self.write(form, pair, &pairs);
        self.word_of_halves(result)
    }

    /// The f16 in the lower half of a word, as f32.
    fn widen_half(&mut self, word: Value) -> Result<Word> {
        let half = self.module.global(Global::Float(16))?;
        let single = self.ty(Type::F32)?;
        let pair = self.half_pair(word)?;
        let low = self.component(half, pair, 0);
        Ok(self.write(Form::Float(Op::FConvert), single, &[low]))
    }

    /// An f32, as the f16 in the lower half of a word with zeros above.
    fn narrow_half(&mut self, single: Value) -> Result<Word> {
        let half = self.module.global(Global::Float(16))?;
        let zero = self.module.global(Global::Constant(half, 0))?;
        let pair = self.half_pair_type()?;
        let single = self.value(single);
        let low = self.write(Form::Float(Op::FConvert), half, &[single]);
        let result = self.compute(Op::CompositeConstruct, pair, &[low, zero]);
        self.word_of_halves(result)
    }

    fn half_pair_type(&mut self) -> Result<Word> {
        let half = self.module.global(Global::Float(16))?;
        self.module.global(Global::Vector(half, 2))
    }

    /// The two f16 of a word.
    fn half_pair(&mut self, word: Value) -> Result<Word> {
        let word = self.value(word);
        if let Some(pair) = self.half_pairs.get(&word) {
            return Ok(*pair);
        }
        let pair = self.half_pair_type()?;
        Ok(self.compute(Op::Bitcast, pair, &[word]))
    }

    /// The word of two f16.
    fn word_of_halves(&mut self, pair: Word) -> Result<Word> {
        let ty = self.ty(Type::I32)?;
        let word = self.compute(Op::Bitcast, ty, &[pair]);
        self.half_pairs.insert(word, pair);
        Ok(word)
    }

    /// The sum of the products of four bytes each.
    fn dot_bytes(&mut self, op: Op, a: Value, b: Value) -> Result<Word> {
        self.module.need(Feature::ShaderIntegerDotProduct, "sums of products of bytes")?;
        let word = self.ty(Type::I32)?;
        let mut operands = vec![Operand::IdRef(self.value(a)), Operand::IdRef(self.value(b))];
        operands.push(Operand::PackedVectorFormat(PackedVectorFormat::PackedVectorFormat4x8Bit));
        Ok(self.result(op, word, operands))
    }
}
