//! Instruction selection: the instructions of SPIR-V that a statement becomes.
//!
//! The intermediate representation can say more than emission takes. This is the one place that answers for statements
//! that the rules of [`Stage::Legal`](crate::ir::Stage::Legal) exclude: its types have no form for them.

use rspirv::spirv::{BuiltIn, GlslStd450Op, Op, Word};

use super::shape::Shape;
use crate::diagnostic::Span;
use crate::ir::{
    self, Arithmetic, AtomicOp, Binary, Builtin, Compare, Fragments, Function, HELPER_PARAMETERS, MemoryOrder, Ordered,
    Sample, Scope, Stmt, SubgroupOp, Type, Unary, Value, Var,
};
use ptx2spv_target::MatrixTypes;

pub(super) enum Selected<'f> {
    At(Option<Span>),
    Let(Value, Operation),
    Set(Var, Value),
    Load {
        results: &'f [Value],
        access: Access,
        address: Value,
    },
    Store {
        values: &'f [Value],
        access: Access,
        address: Value,
    },
    Atomic(Atomic),
    Ballot {
        results: &'f [Value],
        predicate: Value,
    },
    Shuffle {
        result: Value,
        value: Value,
        lane: Value,
    },
    ShuffleXor {
        result: Value,
        value: Value,
        bits: Value,
    },
    MatrixProduct {
        results: &'f [Value; 4],
        types: MatrixTypes,
        fragments: Fragments,
    },
    SubgroupBarrier,
    Barrier(Ordered),
    Arrive(Value),
    Fence(Scope),
    If {
        condition: Value,
        then: &'f [Stmt],
        otherwise: &'f [Stmt],
    },
    Loop(&'f [Stmt]),
    /// Leaves a loop for the block with this label.
    Break(Word),
    Return(Value),
}

/// The SPIR-V form of an operation.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// An instruction of its own.
    Core(Op),
    /// A float operation that must not be fused with another.
    Float(Op),
    /// A function of `GLSL.std.450`.
    Glsl(GlslStd450Op),
}

/// Up to three operands.
pub(super) type Operands = [Option<Value>; 3];

/// An operation that gives a value.
pub(super) enum Operation {
    /// A constant of a type that isn't `Bool`.
    Constant(u64),
    Truth(bool),
    Get(Var),
    Instruction(Form, Operands),
    Sum(Value, Value),
    SignExtend(Value),
    LowWord(Value),
    HighWord(Value),
    Clamp(Value),
    MultiplyHigh {
        signed: bool,
        a: Value,
        b: Value,
    },
    /// The sum of the products of four bytes each, by an instruction.
    Dot(Op, Value, Value),
    Fma([Value; 3]),
    DotFma([Value; 3]),
    /// One instruction on two f16 in a word.
    Halves(Form, Operands),
    /// An f16 in a word, as f32.
    WidenHalf(Value),
    /// An f32, as f16 in a word.
    NarrowHalf(Value),
    Pair(Value, Value),
    Input(Input),
    Sample(Sample),
    Call(u32, [Option<Value>; HELPER_PARAMETERS]),
}

/// An input from the launch or the thread's place in it.
pub(super) enum Input {
    /// A component of a built-in vector.
    Component(BuiltIn, u8),
    Word(BuiltIn),
    /// A built-in word that tells an invocation's place in its subgroup.
    Subgroup(BuiltIn),
    Invocations,
    BlockSize(u8),
    SharedBytes,
    DynamicSharedBytes,
    TextureBits,
    PushConstant(u32),
    Clock,
    Parameter(u8),
}

/// The kinds of memory: see [`ir::Space`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    Shared,
    Local,
}

/// The properties of an access to memory: see [`ir::Access`].
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) space: Space,
    /// All elements together.
    pub(super) shape: Shape,
    /// Bytes of one element.
    pub(super) bytes: u8,
    pub(super) order: MemoryOrder,
    pub(super) read_only: bool,
}

/// A read-modify-write: see [`ir::Atomic`].
#[derive(Clone, Copy)]
pub(super) struct Atomic {
    pub(super) result: Option<Value>,
    pub(super) op: Modify,
    pub(super) access: Access,
    pub(super) address: Value,
    pub(super) operand: Value,
}

/// The operation of an atomic: see [`AtomicOp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modify {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    /// With the value that it compares with.
    CompareExchange(Value),
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    Increment,
    Decrement,
    FAdd,
}

/// Selects for a statement of a function, where a `Break` leads to `exit`; `None` if the function isn't legal.
pub(super) fn select<'f>(function: &Function, stmt: &'f Stmt, exit: Option<Word>) -> Option<Selected<'f>> {
    Some(match *stmt {
        Stmt::At(span) => Selected::At(span),
        Stmt::Let(value, op) => Selected::Let(value, operation(function, op, function.type_of(value))?),
        Stmt::Set(var, value) => Selected::Set(var, value),
        Stmt::Load { ref results, access, address } => {
            Selected::Load { results, access: select_access(access, results.len())?, address }
        }
        Stmt::Store { ref values, access, address } => {
            Selected::Store { values, access: select_access(access, values.len())?, address }
        }
        Stmt::Atomic(ir::Atomic { result, op, access, address, operand, compare }) => {
            let (op, access) = (modify(op, compare)?, select_access(access, 1)?);
            Selected::Atomic(Atomic { result, op, access, address, operand })
        }
        Stmt::Subgroup(ref results, op) => match (op, results.as_slice()) {
            (SubgroupOp::Ballot(predicate), results) => Selected::Ballot { results, predicate },
            (SubgroupOp::Shuffle(value, lane), &[result]) => Selected::Shuffle { result, value, lane },
            (SubgroupOp::ShuffleXor(value, bits), &[result]) => Selected::ShuffleXor { result, value, bits },
            (SubgroupOp::Shuffle(..) | SubgroupOp::ShuffleXor(..), _) => return None,
            (SubgroupOp::MatrixProduct(types, fragments), results) => {
                Selected::MatrixProduct { results: results.first_chunk()?, types, fragments }
            }
            (SubgroupOp::Barrier, _) => Selected::SubgroupBarrier,
        },
        Stmt::Barrier(ordered) => Selected::Barrier(ordered),
        Stmt::Arrive(thread) => Selected::Arrive(thread),
        Stmt::Fence(scope) => Selected::Fence(scope),
        Stmt::If { condition, ref then, ref otherwise } => Selected::If { condition, then, otherwise },
        Stmt::Loop(ref body) => Selected::Loop(body),
        Stmt::Break => Selected::Break(exit?),
        Stmt::Return(value) => Selected::Return(value),
        Stmt::Report(..) | Stmt::Warp(_) => return None,
    })
}

fn select_access(access: ir::Access, elements: usize) -> Option<Access> {
    let ir::Access { space, bytes, order, read_only } = access;
    let space = match space {
        ir::Space::Global => Space::Global,
        ir::Space::Shared => Space::Shared,
        ir::Space::Local => Space::Local,
        ir::Space::Generic => return None,
    };
    Some(Access { space, shape: Shape::of(bytes, elements)?, bytes, order, read_only })
}

fn modify(op: AtomicOp, compare: Option<Value>) -> Option<Modify> {
    Some(match op {
        AtomicOp::Add => Modify::Add,
        AtomicOp::And => Modify::And,
        AtomicOp::Or => Modify::Or,
        AtomicOp::Xor => Modify::Xor,
        AtomicOp::Exchange => Modify::Exchange,
        AtomicOp::CompareExchange => Modify::CompareExchange(compare?),
        AtomicOp::MinUnsigned => Modify::MinUnsigned,
        AtomicOp::MaxUnsigned => Modify::MaxUnsigned,
        AtomicOp::MinSigned => Modify::MinSigned,
        AtomicOp::MaxSigned => Modify::MaxSigned,
        AtomicOp::Increment => Modify::Increment,
        AtomicOp::Decrement => Modify::Decrement,
        AtomicOp::FAdd => Modify::FAdd,
        AtomicOp::Half(..) => return None,
    })
}

/// Selects for an operation with a result of type `ty`.
fn operation(function: &Function, op: ir::Op, ty: Type) -> Option<Operation> {
    Some(match op {
        ir::Op::Const(bits) => match ty {
            Type::Bool => Operation::Truth(bits != 0),
            Type::I32 | Type::F32 => Operation::Constant(bits & u64::from(u32::MAX)),
            Type::I64 | Type::F64 => Operation::Constant(bits),
            Type::Pair => return None,
        },
        ir::Op::Get(var) => Operation::Get(var),
        ir::Op::Unary(op, a) => unary(op, a, ty == Type::Bool)?,
        ir::Op::Binary(op, a, b) => binary(op, a, b, ty == Type::Bool)?,
        ir::Op::Compare(op, a, b) => two(Form::Core(compare(op, function.type_of(a) == Type::Bool)), a, b),
        ir::Op::Select(condition, a, b) => three(Form::Core(Op::Select), condition, a, b),
        ir::Op::Fma(a, b, c) => Operation::Fma([a, b, c]),
        ir::Op::DotFma(a, b, c) => Operation::DotFma([a, b, c]),
        ir::Op::Rounded(..) | ir::Op::Flushed(..) | ir::Op::Matrix(..) => return None,
        ir::Op::Half(_, arithmetic) => match arithmetic {
            Arithmetic::Add(a, b) => Operation::Halves(Form::Float(Op::FAdd), [Some(a), Some(b), None]),
            Arithmetic::Sub(a, b) => Operation::Halves(Form::Float(Op::FSub), [Some(a), Some(b), None]),
            Arithmetic::Mul(a, b) => Operation::Halves(Form::Float(Op::FMul), [Some(a), Some(b), None]),
            Arithmetic::Fma(a, b, c) => Operation::Halves(Form::Glsl(GlslStd450Op::Fma), [Some(a), Some(b), Some(c)]),
            Arithmetic::Div(..) | Arithmetic::Sqrt(_) | Arithmetic::Narrow(_) => return None,
        },
        ir::Op::Pair(low, high) => Operation::Pair(low, high),
        ir::Op::Builtin(builtin) => Operation::Input(input(builtin)?),
        ir::Op::Sample(sample) => Operation::Sample(sample),
        ir::Op::Call(helper, operands) => Operation::Call(helper, operands),
    })
}

fn one(form: Form, a: Value) -> Operation {
    Operation::Instruction(form, [Some(a), None, None])
}

fn two(form: Form, a: Value, b: Value) -> Operation {
    Operation::Instruction(form, [Some(a), Some(b), None])
}

fn three(form: Form, a: Value, b: Value, c: Value) -> Operation {
    Operation::Instruction(form, [Some(a), Some(b), Some(c)])
}

fn input(builtin: Builtin) -> Option<Input> {
    Some(match builtin {
        Builtin::ThreadId(dimension) => Input::Component(BuiltIn::LocalInvocationId, dimension),
        Builtin::WorkgroupId(dimension) => Input::Component(BuiltIn::WorkgroupId, dimension),
        Builtin::WorkgroupCount(dimension) => Input::Component(BuiltIn::NumWorkgroups, dimension),
        Builtin::Invocations => Input::Invocations,
        Builtin::BlockSize(dimension) => Input::BlockSize(dimension),
        Builtin::ThreadIndex | Builtin::InvocationIndex => Input::Word(BuiltIn::LocalInvocationIndex),
        Builtin::ClusterRank => return None,
        Builtin::SharedBytes => Input::SharedBytes,
        Builtin::DynamicSharedBytes => Input::DynamicSharedBytes,
        Builtin::TextureBits => Input::TextureBits,
        Builtin::SubgroupId => Input::Subgroup(BuiltIn::SubgroupId),
        Builtin::SubgroupLane => Input::Subgroup(BuiltIn::SubgroupLocalInvocationId),
        Builtin::PushConstant(offset) => Input::PushConstant(offset),
        Builtin::Clock => Input::Clock,
        Builtin::Parameter(number) => Input::Parameter(number),
    })
}

fn unary(op: Unary, a: Value, logical: bool) -> Option<Operation> {
    let form = match op {
        Unary::SignExtend => return Some(Operation::SignExtend(a)),
        Unary::LowWord => return Some(Operation::LowWord(a)),
        Unary::HighWord => return Some(Operation::HighWord(a)),
        Unary::Clamp => return Some(Operation::Clamp(a)),
        Unary::WidenHalf => return Some(Operation::WidenHalf(a)),
        Unary::NarrowHalf => return Some(Operation::NarrowHalf(a)),
        Unary::Root(_) | Unary::Exp2Flushed | Unary::Saturate => return None,
        Unary::Not if logical => Form::Core(Op::LogicalNot),
        Unary::Not => Form::Core(Op::Not),
        Unary::Neg => Form::Core(Op::SNegate),
        Unary::BitCount => Form::Core(Op::BitCount),
        Unary::BitReverse => Form::Core(Op::BitReverse),
        Unary::FindHighBit => Form::Glsl(GlslStd450Op::FindUMsb),
        Unary::ZeroExtend | Unary::Truncate => Form::Core(Op::UConvert),
        Unary::Bitcast(_) => Form::Core(Op::Bitcast),
        Unary::SignedToFloat(_) => Form::Core(Op::ConvertSToF),
        Unary::UnsignedToFloat(_) => Form::Core(Op::ConvertUToF),
        Unary::FloatToSigned(_) | Unary::SaturateToSigned => Form::Core(Op::ConvertFToS),
        Unary::FloatToUnsigned(_) | Unary::SaturateToUnsigned => Form::Core(Op::ConvertFToU),
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
    };
    Some(one(form, a))
}

fn binary(op: Binary, a: Value, b: Value, logical: bool) -> Option<Operation> {
    let form = match op {
        Binary::Add => return Some(Operation::Sum(a, b)),
        Binary::MulHighUnsigned => return Some(Operation::MultiplyHigh { signed: false, a, b }),
        Binary::MulHighSigned => return Some(Operation::MultiplyHigh { signed: true, a, b }),
        Binary::DotSigned => return Some(Operation::Dot(Op::SDot, a, b)),
        Binary::DotUnsigned => return Some(Operation::Dot(Op::UDot, a, b)),
        Binary::DotMixed => return Some(Operation::Dot(Op::SUDot, a, b)),
        Binary::OrNan => return None,
        Binary::And if logical => Form::Core(Op::LogicalAnd),
        Binary::Or if logical => Form::Core(Op::LogicalOr),
        Binary::Xor if logical => Form::Core(Op::LogicalNotEqual),
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
    };
    Some(two(form, a, b))
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
