//! Operations that give a value.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, FPFastMathMode, GlslStd450Op, Op, PackedVectorFormat, Word};

use super::Result;
use super::body::Body;
use super::module::Global;
use super::not_legal;
use crate::diagnostic::ErrorKind;
use crate::ir::{self, Arithmetic, Binary, Compare, Type, Unary, Value};
use crate::soft::SINGLE;
use crate::target::Feature;

/// How an operation is written.
enum Form {
    /// An instruction of its own.
    Core(Op),
    /// A float operation that must not be fused with another.
    Float(Op),
    /// A function of `GLSL.std.450`.
    Glsl(GlslStd450Op),
}

impl Body<'_, '_, '_> {
    /// The id of an operation's result of type `ty`.
    pub(super) fn operation(&mut self, op: ir::Op, ty: Type) -> Result<Word> {
        match op {
            ir::Op::Const(bits) => {
                let id = self.constant(ty, bits)?;
                if ty == Type::I32 {
                    self.offsets.note_constant(id, bits);
                }
                Ok(id)
            }
            ir::Op::Get(var) => {
                let variable = self.variable(var)?;
                let ty = self.ty(ty)?;
                Ok(self.compute(Op::Load, ty, &[variable]))
            }
            ir::Op::Unary(Unary::SignExtend, a) => {
                let a = self.value(a);
                self.sign_extend(a)
            }
            ir::Op::Unary(op @ (Unary::LowWord | Unary::HighWord), a) => {
                let wide = self.function.type_of(a);
                let mut id = self.value(a);
                if wide != Type::Pair {
                    let vector = self.ty(Type::Pair)?;
                    id = self.compute(Op::Bitcast, vector, &[id]);
                }
                let ty = self.ty(ty)?;
                Ok(self.component(ty, id, u32::from(op == Unary::HighWord)))
            }
            ir::Op::Unary(Unary::Clamp, a) => {
                let [zero, one] = [self.constant(ty, 0)?, self.constant(ty, SINGLE.one())?];
                let (a, ty) = (self.value(a), self.ty(ty)?);
                Ok(self.write(Form::Glsl(GlslStd450Op::NClamp), ty, &[a, zero, one]))
            }
            ir::Op::Unary(op, a) => self.apply(unary(op, ty == Type::Bool).ok_or_else(not_legal)?, ty, &[a]),
            ir::Op::Binary(op @ (Binary::MulHighUnsigned | Binary::MulHighSigned), a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                self.multiply_high(ty, op == Binary::MulHighSigned, a, b)
            }
            ir::Op::Binary(op @ (Binary::DotSigned | Binary::DotUnsigned | Binary::DotMixed), a, b) => {
                self.dot_bytes(op, a, b)
            }
            ir::Op::Binary(op, a, b) => {
                let id = self.apply(binary(op, ty == Type::Bool).ok_or_else(not_legal)?, ty, &[a, b])?;
                if op == Binary::Add && ty == Type::I32 {
                    let (a, b) = (self.value(a), self.value(b));
                    self.offsets.note_sum(id, a, b);
                }
                Ok(id)
            }
            ir::Op::Compare(op, a, b) => {
                let logical = self.function.type_of(a) == Type::Bool;
                self.apply(Form::Core(compare(op, logical)), Type::Bool, &[a, b])
            }
            ir::Op::Select(condition, a, b) => self.apply(Form::Core(Op::Select), ty, &[condition, a, b]),
            ir::Op::Pair(low, high) => {
                let (low, high) = (self.value(low), self.value(high));
                let vector = self.ty(Type::Pair)?;
                let pair = self.compute(Op::CompositeConstruct, vector, &[low, high]);
                if ty == Type::Pair {
                    return Ok(pair);
                }
                let ty = self.ty(ty)?;
                Ok(self.compute(Op::Bitcast, ty, &[pair]))
            }
            ir::Op::Fma(a, b, c) => self.apply(Form::Glsl(GlslStd450Op::Fma), ty, &[a, b, c]),
            ir::Op::DotFma(a, b, c) => self.dot_fma([a, b, c]),
            ir::Op::Half(_, arithmetic) => self.half(arithmetic),
            ir::Op::Rounded(..) | ir::Op::Flushed(..) => Err(not_legal()),
            ir::Op::Builtin(builtin) => self.builtin(builtin, ty),
            ir::Op::Call(helper, operands) => self.call(helper, operands, ty),
        }
    }

    /// A constant by its bits.
    pub(super) fn constant(&mut self, ty: Type, bits: u64) -> Result<Word> {
        let key = match ty {
            Type::Bool if bits == 0 => Global::False,
            Type::Bool => Global::True,
            Type::I32 | Type::F32 => Global::Constant(self.ty(ty)?, bits & u64::from(u32::MAX)),
            Type::I64 | Type::F64 => Global::Constant(self.ty(ty)?, bits),
            Type::Pair => return Err(not_legal()),
        };
        self.module.global(key)
    }

    fn apply(&mut self, form: Form, ty: Type, values: &[Value]) -> Result<Word> {
        let ty = self.ty(ty)?;
        let operands: Vec<_> = values.iter().map(|&value| self.value(value)).collect();
        Ok(self.write(form, ty, &operands))
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
        if let Form::Float(_) = form {
            self.module.forbid_contraction(id);
        }
        id
    }

    /// `a * b + c` as the dot product of (a, c) and (b, 1).
    fn dot_fma(&mut self, operands: [Value; 3]) -> Result<Word> {
        self.module.need(Feature::ShaderFloatControls2, "a fused dot product")?;
        let float = self.ty(Type::F32)?;
        let pair = self.module.global(Global::Vector(float, 2))?;
        let one = self.constant(Type::F32, SINGLE.one())?;
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

    /// Arithmetic on two f16 in a word. What it makes of zeros, which lie beside a single one, are zeros.
    fn half(&mut self, arithmetic: Arithmetic) -> Result<Word> {
        let half = self.module.global(Global::Float(16))?;
        let pair = self.module.global(Global::Vector(half, 2))?;
        let mut as_pair = |value| {
            let id = self.value(value);
            Ok::<_, ErrorKind>(self.compute(Op::Bitcast, pair, &[id]))
        };
        let (form, operands) = match arithmetic {
            Arithmetic::Add(a, b) => (Form::Float(Op::FAdd), vec![as_pair(a)?, as_pair(b)?]),
            Arithmetic::Sub(a, b) => (Form::Float(Op::FSub), vec![as_pair(a)?, as_pair(b)?]),
            Arithmetic::Mul(a, b) => (Form::Float(Op::FMul), vec![as_pair(a)?, as_pair(b)?]),
            Arithmetic::Fma(a, b, c) => (Form::Glsl(GlslStd450Op::Fma), vec![as_pair(a)?, as_pair(b)?, as_pair(c)?]),
            Arithmetic::Div(..) | Arithmetic::Sqrt(_) | Arithmetic::Narrow(_) => return Err(not_legal()),
        };
        let result = self.write(form, pair, &operands);
        let word = self.ty(Type::I32)?;
        Ok(self.compute(Op::Bitcast, word, &[result]))
    }

    /// The sum of the products of four bytes each.
    fn dot_bytes(&mut self, op: Binary, a: Value, b: Value) -> Result<Word> {
        self.module.need(Feature::ShaderIntegerDotProduct, "sums of products of bytes")?;
        let op = match op {
            Binary::DotUnsigned => Op::UDot,
            Binary::DotMixed => Op::SUDot,
            _ => Op::SDot,
        };
        let word = self.ty(Type::I32)?;
        let mut operands = vec![Operand::IdRef(self.value(a)), Operand::IdRef(self.value(b))];
        operands.push(Operand::PackedVectorFormat(PackedVectorFormat::PackedVectorFormat4x8Bit));
        Ok(self.result(op, word, operands))
    }
}

/// How an operation that is one instruction is written; `None` for sequences, and what no device has.
fn unary(op: Unary, logical: bool) -> Option<Form> {
    Some(match op {
        Unary::Not if logical => Form::Core(Op::LogicalNot),
        Unary::Not => Form::Core(Op::Not),
        Unary::Neg => Form::Core(Op::SNegate),
        Unary::BitCount => Form::Core(Op::BitCount),
        Unary::BitReverse => Form::Core(Op::BitReverse),
        Unary::FindHighBit => Form::Glsl(GlslStd450Op::FindUMsb),
        Unary::ZeroExtend | Unary::Truncate => Form::Core(Op::UConvert),
        Unary::SignExtend | Unary::LowWord | Unary::HighWord | Unary::Clamp => return None,
        Unary::Root(_) | Unary::Exp2Flushed | Unary::Saturate => return None,
        Unary::Bitcast(_) => Form::Core(Op::Bitcast),
        Unary::SignedToFloat(_) => Form::Core(Op::ConvertSToF),
        Unary::UnsignedToFloat(_) => Form::Core(Op::ConvertUToF),
        Unary::FloatToSigned(_) => Form::Core(Op::ConvertFToS),
        Unary::FloatToUnsigned(_) => Form::Core(Op::ConvertFToU),
        Unary::SaturateToSigned => Form::Core(Op::ConvertFToS),
        Unary::SaturateToUnsigned => Form::Core(Op::ConvertFToU),
        Unary::FNeg => Form::Core(Op::FNegate),
        Unary::Widen | Unary::Narrow => Form::Core(Op::FConvert),
        Unary::Trunc => Form::Glsl(GlslStd450Op::Trunc),
        Unary::RoundEven => Form::Glsl(GlslStd450Op::RoundEven),
        Unary::Floor => Form::Glsl(GlslStd450Op::Floor),
        Unary::Ceil => Form::Glsl(GlslStd450Op::Ceil),
        Unary::Sqrt | Unary::SqrtApprox => Form::Glsl(GlslStd450Op::Sqrt),
        Unary::InverseSqrtApprox => Form::Glsl(GlslStd450Op::InverseSqrt),
        Unary::Exp2Approx => Form::Glsl(GlslStd450Op::Exp2),
        Unary::Log2Approx => Form::Glsl(GlslStd450Op::Log2),
        Unary::SinApprox => Form::Glsl(GlslStd450Op::Sin),
        Unary::CosApprox => Form::Glsl(GlslStd450Op::Cos),
        Unary::TanhApprox => Form::Glsl(GlslStd450Op::Tanh),
    })
}

/// The same with two operands.
fn binary(op: Binary, logical: bool) -> Option<Form> {
    Some(match op {
        Binary::And if logical => Form::Core(Op::LogicalAnd),
        Binary::Or if logical => Form::Core(Op::LogicalOr),
        Binary::Xor if logical => Form::Core(Op::LogicalNotEqual),
        Binary::Add => Form::Core(Op::IAdd),
        Binary::Sub => Form::Core(Op::ISub),
        Binary::Mul => Form::Core(Op::IMul),
        Binary::DivUnsigned => Form::Core(Op::UDiv),
        Binary::RemUnsigned => Form::Core(Op::UMod),
        Binary::MinUnsigned => Form::Glsl(GlslStd450Op::UMin),
        Binary::MinSigned => Form::Glsl(GlslStd450Op::SMin),
        Binary::MaxUnsigned => Form::Glsl(GlslStd450Op::UMax),
        Binary::MaxSigned => Form::Glsl(GlslStd450Op::SMax),
        Binary::And => Form::Core(Op::BitwiseAnd),
        Binary::Or => Form::Core(Op::BitwiseOr),
        Binary::Xor => Form::Core(Op::BitwiseXor),
        Binary::Shl => Form::Core(Op::ShiftLeftLogical),
        Binary::Shr => Form::Core(Op::ShiftRightLogical),
        Binary::Sar => Form::Core(Op::ShiftRightArithmetic),
        Binary::FAdd => Form::Float(Op::FAdd),
        Binary::FSub => Form::Float(Op::FSub),
        Binary::FMul => Form::Float(Op::FMul),
        Binary::FDiv | Binary::FDivApprox => Form::Float(Op::FDiv),
        Binary::FMin => Form::Glsl(GlslStd450Op::NMin),
        Binary::FMax => Form::Glsl(GlslStd450Op::NMax),
        Binary::DotSigned | Binary::DotUnsigned | Binary::DotMixed => return None,
        Binary::OrNan | Binary::MulHighUnsigned | Binary::MulHighSigned => return None,
    })
}

fn compare(op: Compare, logical: bool) -> Op {
    match op {
        Compare::Equal if logical => Op::LogicalEqual,
        Compare::NotEqual if logical => Op::LogicalNotEqual,
        Compare::Equal => Op::IEqual,
        Compare::NotEqual => Op::INotEqual,
        Compare::LessUnsigned => Op::ULessThan,
        Compare::LessEqualUnsigned => Op::ULessThanEqual,
        Compare::LessSigned => Op::SLessThan,
        Compare::LessEqualSigned => Op::SLessThanEqual,
        Compare::FEqual => Op::FOrdEqual,
        Compare::FNotEqual => Op::FUnordNotEqual,
        Compare::FLess => Op::FOrdLessThan,
        Compare::FLessEqual => Op::FOrdLessThanEqual,
    }
}
