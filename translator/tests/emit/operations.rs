//! Operations of the intermediate representation.

use ptx2spv_translator::internals::ir::{Binary, Builtin, Compare, Op, Ordered, Stmt, Type, Unary};
use ptx2spv_translator::{ErrorKind, Feature, Target};

use crate::support::*;

#[test]
fn every_operation_is_valid() {
    let mut b = Builder::default();
    integer_operations(&mut b);
    float_operations(&mut b);
    other_operations(&mut b);
    let function = b.finish();
    for target in targets() {
        let text = emit_valid(&target, &function);
        // The six arithmetic operations on each of the two types, unless fast-math modes say so of all.
        assert_eq!(text.matches("NoContraction").count(), if target.fuses_dot() { 0 } else { 12 });
    }
}

/// Of all operations only the dot product may be contracted.
#[test]
fn a_fused_dot_product() {
    let mut b = Builder::default();
    let (x, y) = (b.any(Type::F32), b.any(Type::F32));
    let product = b.op(Type::F32, Op::Binary(Binary::FMul, x, y));
    b.op(Type::F32, Op::DotFma(x, y, product));
    let wide = b.any(Type::F64);
    b.op(Type::F64, Op::Binary(Binary::FAdd, wide, wide));
    let function = b.finish();
    let text = emit_valid(&nvidia(), &function);
    assert_eq!(lines(&text, "OpDot").len(), 1, "{text}");
    assert_eq!(lines(&text, "FPFastMathMode").len(), 1, "{text}");
    assert_eq!(lines(&text, "AllowContract").len(), 1, "{text}");
    for declared in ["SPV_KHR_float_controls2", "DenormPreserve 32", "DenormPreserve 64", "RoundingModeRTE 32"] {
        assert!(text.contains(declared), "{declared}: {text}");
    }
    assert_eq!(text.matches("FPFastMathDefault").count(), 2, "{text}");
    assert!(!text.contains("SignedZeroInfNanPreserve") && !text.contains("NoContraction"), "{text}");
    let kinds = emit_error(&without(nvidia(), &[Feature::ShaderFloatControls2]), &function);
    assert!(matches!(kinds, (ErrorKind::MissingFeature { .. }, _)), "{kinds:?}");
}

/// A device that has fused multiply-adds gets them; for others and for those that do them wrong `Fma` is left.
#[test]
fn fused_multiply_adds() {
    let mut b = Builder::default();
    for ty in FLOATS {
        let x = b.any(ty);
        b.op(ty, Op::Fma(x, x, x));
    }
    let function = b.finish();
    let mut target = Target::preset("amd-rdna").unwrap();
    target.features.insert(Feature::ShaderFmaFloat32);
    target = target.with_promises();
    let text = emit_valid(&target, &function);
    assert_eq!(lines(&text, "OpFmaKHR").len(), 1, "{text}");
    assert_eq!(lines(&text, "Fma").len(), 1, "{text}");
    assert!(text.contains("SPV_KHR_fma"), "{text}");
    target.features.insert(Feature::ShaderFmaFloat64);
    assert_eq!(lines(&emit_valid(&target.clone().with_promises(), &function), "OpFmaKHR").len(), 2);
    target.facts.fma_khr_f32_right = false;
    assert!(!emit_valid(&target, &function).contains("OpFmaKHR"));
}

fn integer_operations(b: &mut Builder) {
    for ty in INTEGERS {
        let (x, y) = (b.any(ty), b.constant(ty, u64::MAX));
        use Binary::*;
        for op in [Add, Sub, Mul, MulHighUnsigned, MulHighSigned, DivUnsigned, RemUnsigned, And, Or, Xor] {
            b.op(ty, Op::Binary(op, x, y));
        }
        let amount = b.any(Type::I32);
        for op in [Shl, Shr, Sar] {
            b.op(ty, Op::Binary(op, x, amount));
        }
        use Compare::*;
        for op in [Equal, NotEqual, LessUnsigned, LessEqualUnsigned, LessSigned, LessEqualSigned] {
            b.op(Type::Bool, Op::Compare(op, x, y));
        }
        for op in [Unary::Not, Unary::Neg] {
            b.op(ty, Op::Unary(op, x));
        }
    }
    let word = b.any(Type::I32);
    for op in [Unary::BitCount, Unary::BitReverse, Unary::FindHighBit] {
        b.op(Type::I32, Op::Unary(op, word));
    }
    let long = b.op(Type::I64, Op::Unary(Unary::SignExtend, word));
    b.op(Type::I32, Op::Unary(Unary::Truncate, long));
}

fn float_operations(b: &mut Builder) {
    for ty in FLOATS {
        let (x, y) = (b.any(ty), b.constant(ty, 1 << 22));
        use Binary::*;
        for op in [FAdd, FSub, FMul, FDiv, FDivApprox] {
            b.op(ty, Op::Binary(op, x, y));
        }
        for op in [Compare::FEqual, Compare::FNotEqual, Compare::FLess, Compare::FLessEqual] {
            b.op(Type::Bool, Op::Compare(op, x, y));
        }
        use Unary::*;
        for op in [Trunc, RoundEven, Floor, Ceil, Sqrt, SqrtApprox] {
            b.op(ty, Op::Unary(op, x));
        }
        b.op(ty, Op::Fma(x, y, x));
        if ty == Type::F32 {
            for op in [FMin, FMax] {
                b.op(ty, Op::Binary(op, x, y));
            }
            for op in [FNeg, Clamp] {
                b.op(ty, Op::Unary(op, x));
            }
            for op in [SaturateToSigned, SaturateToUnsigned] {
                b.op(Type::I32, Op::Unary(op, x));
            }
        }
        let bits = if ty == Type::F64 { Type::I64 } else { Type::I32 };
        b.op(bits, Op::Unary(Bitcast(bits), x));
        for integer in INTEGERS {
            let i = b.any(integer);
            b.op(ty, Op::Unary(SignedToFloat(ty), i));
            b.op(ty, Op::Unary(UnsignedToFloat(ty), i));
            b.op(integer, Op::Unary(FloatToSigned(integer), x));
            b.op(integer, Op::Unary(FloatToUnsigned(integer), x));
        }
    }
    let single = b.any(Type::F32);
    let double = b.op(Type::F64, Op::Unary(Unary::Widen, single));
    b.op(Type::F32, Op::Unary(Unary::Narrow, double));
    for op in [Unary::Exp2Approx, Unary::Log2Approx, Unary::SinApprox, Unary::CosApprox, Unary::InverseSqrtApprox] {
        b.op(Type::F32, Op::Unary(op, single));
    }
}

fn other_operations(b: &mut Builder) {
    for ty in [Type::Bool, Type::I32, Type::I64, Type::F32, Type::F64] {
        let (x, y) = (b.any(ty), b.constant(ty, 1));
        let condition = b.any(Type::Bool);
        b.op(ty, Op::Select(condition, x, y));
    }
    let truth = b.any(Type::Bool);
    for op in [Binary::And, Binary::Or, Binary::Xor] {
        b.op(Type::Bool, Op::Binary(op, truth, truth));
    }
    b.op(Type::Bool, Op::Unary(Unary::Not, truth));
    for op in [Compare::Equal, Compare::NotEqual] {
        b.op(Type::Bool, Op::Compare(op, truth, truth));
    }
    for dimension in 0..3 {
        for builtin in [Builtin::ThreadId(dimension), Builtin::BlockSize(dimension), Builtin::WorkgroupId(dimension)] {
            b.op(Type::I32, Op::Builtin(builtin));
        }
    }
    for builtin in [Builtin::ThreadIndex, Builtin::SharedBytes, Builtin::PushConstant(20)] {
        b.op(Type::I32, Op::Builtin(builtin));
    }
    b.op(Type::I64, Op::Builtin(Builtin::PushConstant(32)));
    b.op(Type::I64, Op::Builtin(Builtin::Clock));
    for ty in [Type::Bool, Type::I32, Type::I64] {
        let var = b.function.var(ty);
        let value = b.any(ty);
        b.body.push(Stmt::Set(var, value));
        b.op(ty, Op::Get(var));
    }
    b.body.push(Stmt::Barrier(Ordered::All));
    b.body.extend(SCOPES.map(Stmt::Fence));
}
