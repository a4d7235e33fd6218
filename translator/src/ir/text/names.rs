//! The names of operations, types and all that modifies them.

use super::modifiers;
use crate::ir::{
    Accumulator, Arithmetic, AtomicOp, Binary, Builtin, Compare, Factors, HalfFormat, HalfOp, Halves, MatrixStep,
    MemoryOrder, Minifloat, Reduction, Rounding, Scope, Shuffle, Space, SubgroupOp, Type, Unary, Vote, WarpOp,
};
use ptx2spv_target::{Fault, MatrixTypes};

modifiers! {
    Type {
        "bool" Bool,
        "i32" I32,
        "i64" I64,
        "f32" F32,
        "f64" F64,
        "pair" Pair,
    }
    Rounding {
        "nearest_even" NearestEven,
        "toward_zero" TowardZero,
        "down" Down,
        "up" Up,
        "odd" Odd,
    }
    Arithmetic {
        "add" Add(a, b),
        "sub" Sub(a, b),
        "mul" Mul(a, b),
        "div" Div(a, b),
        "fma" Fma(a, b, c),
        "sqrt" Sqrt(a),
        "narrow" Narrow(a),
    }
    Unary {
        "not" Not,
        "neg" Neg,
        "bit_count" BitCount,
        "bit_reverse" BitReverse,
        "find_high_bit" FindHighBit,
        "zero_extend" ZeroExtend,
        "sign_extend" SignExtend,
        "truncate" Truncate,
        "low_word" LowWord,
        "high_word" HighWord,
        "bitcast" Bitcast(ty),
        "signed_to_float" SignedToFloat(ty),
        "unsigned_to_float" UnsignedToFloat(ty),
        "float_to_signed" FloatToSigned(ty),
        "float_to_unsigned" FloatToUnsigned(ty),
        "saturate_to_signed" SaturateToSigned,
        "saturate_to_unsigned" SaturateToUnsigned,
        "fneg" FNeg,
        "saturate" Saturate,
        "clamp" Clamp,
        "widen" Widen,
        "narrow" Narrow,
        "widen_half" WidenHalf,
        "narrow_half" NarrowHalf,
        "trunc" Trunc,
        "round_even" RoundEven,
        "floor" Floor,
        "ceil" Ceil,
        "sqrt" Sqrt,
        "sqrt_approx" SqrtApprox,
        "inverse_sqrt_approx" InverseSqrtApprox,
        "root" Root(root),
        "exp2_approx" Exp2Approx,
        "exp2_flushed" Exp2Flushed,
        "log2_approx" Log2Approx,
        "sin_approx" SinApprox,
        "cos_approx" CosApprox,
        "tanh_approx" TanhApprox,
    }
    Binary {
        "add" Add,
        "sub" Sub,
        "mul" Mul,
        "mul_high_unsigned" MulHighUnsigned,
        "mul_high_signed" MulHighSigned,
        "dot_signed" DotSigned,
        "dot_unsigned" DotUnsigned,
        "dot_mixed" DotMixed,
        "div_unsigned" DivUnsigned,
        "rem_unsigned" RemUnsigned,
        "min_unsigned" MinUnsigned,
        "min_signed" MinSigned,
        "max_unsigned" MaxUnsigned,
        "max_signed" MaxSigned,
        "and" And,
        "or" Or,
        "xor" Xor,
        "shl" Shl,
        "shr" Shr,
        "sar" Sar,
        "fadd" FAdd,
        "fsub" FSub,
        "fmul" FMul,
        "fdiv" FDiv,
        "fdiv_approx" FDivApprox,
        "fmin" FMin,
        "fmax" FMax,
        "or_nan" OrNan,
    }
    MatrixStep {
        "halves" Halves(format),
        "start" Start(accumulator),
        "scale" Scale(factors),
        "sum" Sum(factors),
        "round" Round(accumulator),
        "aligned" Aligned,
        "total" Total(accumulator),
    }
    MatrixTypes {
        "f16" F16,
        "f16_alone" F16Alone,
        "bf16" Bf16,
        "tf32" Tf32,
        "s8" S8,
        "s8_u8" S8U8,
        "u8_s8" U8S8,
        "u8" U8,
        "e4m3" E4m3,
        "e4m3_e5m2" E4m3E5m2,
        "e5m2_e4m3" E5m2E4m3,
        "e5m2" E5m2,
        "e4m3_alone" E4m3Alone,
        "e4m3_e5m2_alone" E4m3E5m2Alone,
        "e5m2_e4m3_alone" E5m2E4m3Alone,
        "e5m2_alone" E5m2Alone,
    }
    Factors {
        "f16" F16,
        "bf16" Bf16,
        "tf32" Tf32,
        "e4m3" E4m3,
        "e4m3_e5m2" E4m3E5m2,
        "e5m2_e4m3" E5m2E4m3,
        "e5m2" E5m2,
    }
    Minifloat {
        "e4m3" E4m3,
        "e5m2" E5m2,
    }
    Accumulator {
        "f32" F32,
        "f16" F16,
        "short_f32" ShortF32,
        "short_f16" ShortF16,
    }
    Halves {
        "low" Low,
        "both" Both,
    }
    Compare {
        "equal" Equal,
        "not_equal" NotEqual,
        "less_unsigned" LessUnsigned,
        "less_equal_unsigned" LessEqualUnsigned,
        "less_signed" LessSigned,
        "less_equal_signed" LessEqualSigned,
        "fequal" FEqual,
        "fnot_equal" FNotEqual,
        "fless" FLess,
        "fless_equal" FLessEqual,
    }
    Builtin {
        "thread_id" ThreadId(dimension),
        "block_size" BlockSize(dimension),
        "workgroup_id" WorkgroupId(dimension),
        "workgroup_count" WorkgroupCount(dimension),
        "invocations" Invocations,
        "thread_index" ThreadIndex,
        "cluster_rank" ClusterRank,
        "invocation_index" InvocationIndex,
        "subgroup_id" SubgroupId,
        "subgroup_lane" SubgroupLane,
        "shared_bytes" SharedBytes,
        "dynamic_shared_bytes" DynamicSharedBytes,
        "texture_bits" TextureBits,
        "push_constant" PushConstant(offset),
        "clock" Clock,
        "parameter" Parameter(number),
    }
    Space {
        "global" Global,
        "shared" Shared,
        "local" Local,
        "generic" Generic,
    }
    MemoryOrder {
        "weak" Weak,
        "relaxed" Relaxed(scope),
        "acquire" Acquire(scope),
        "release" Release(scope),
        "acquire_release" AcquireRelease(scope),
    }
    Scope {
        "cta" Cta,
        "device" Device,
        "system" System,
    }
    AtomicOp {
        "add" Add,
        "and" And,
        "or" Or,
        "xor" Xor,
        "exchange" Exchange,
        "compare_exchange" CompareExchange,
        "min_unsigned" MinUnsigned,
        "max_unsigned" MaxUnsigned,
        "min_signed" MinSigned,
        "max_signed" MaxSigned,
        "increment" Increment,
        "decrement" Decrement,
        "fadd" FAdd,
        "half" Half(format, op),
    }
    HalfFormat {
        "f16" F16,
        "bf16" Bf16,
    }
    HalfOp {
        "add" Add,
        "min" Min,
        "max" Max,
    }
    WarpOp {
        "vote" Vote(vote, a),
        "ballot" Ballot(a),
        "shuffle" Shuffle { mode, value, lane, clamp },
        "match_any" MatchAny(a),
        "match_all" MatchAll(a),
        "reduce" Reduce(reduction, a),
        "active_mask" ActiveMask,
        "elect" Elect,
        "gathered" Gathered,
        "matrix_product" MatrixProduct(types, fragments),
        "sync" Sync,
    }
    Vote {
        "all" All,
        "any" Any,
        "uniform" Uniform,
    }
    Shuffle {
        "up" Up,
        "down" Down,
        "butterfly" Butterfly,
        "index" Index,
    }
    Reduction {
        "add" Add,
        "and" And,
        "or" Or,
        "xor" Xor,
        "min_unsigned" MinUnsigned,
        "max_unsigned" MaxUnsigned,
        "min_signed" MinSigned,
        "max_signed" MaxSigned,
    }
    SubgroupOp {
        "ballot" Ballot(a),
        "shuffle" Shuffle(a, lane),
        "shuffle_xor" ShuffleXor(a, bits),
        "matrix_product" MatrixProduct(types, fragments),
        "barrier" Barrier,
    }
    Fault {
        "loop_cut_short" LoopCutShort,
        "trap" Trap,
        "breakpoint" Breakpoint,
        "assertion" Assertion,
        "stack_overflow" StackOverflow,
        "bad_target" BadTarget,
        "diverged_members" DivergedMembers,
        "deadlock" Deadlock,
        "invalid_free" InvalidFree,
        "surface_access" SurfaceAccess,
        "illegal_access" IllegalAccess,
        "access_past_end" AccessPastEnd,
    }
}
