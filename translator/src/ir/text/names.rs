//! The names of operations, types and all that modifies them.

use super::modifiers;
use crate::ir::{
    Accumulator, Arithmetic, AtomicOp, Binary, Builtin, Compare, Factors, HalfFormat, HalfOp, Halves, MatrixStep,
    MemoryOrder, Minifloat, Reduction, Rounding, Scope, Shuffle, Space, SubgroupOp, Type, Unary, Vote, WarpOp,
};
use ptx2spv_target::{Fault, MatrixTypes};

modifiers! {
    Type { Bool, I32, I64, F32, F64, Pair }
    Rounding { NearestEven, TowardZero, Down, Up, Odd }
    Arithmetic { Add(a, b), Sub(a, b), Mul(a, b), Div(a, b), Fma(a, b, c), Sqrt(a), Narrow(a) }
    Unary {
        Not, Neg, BitCount, BitReverse, FindHighBit, ZeroExtend, SignExtend, Truncate, LowWord, HighWord, Bitcast(ty),
        SignedToFloat(ty), UnsignedToFloat(ty), FloatToSigned(ty), FloatToUnsigned(ty), SaturateToSigned,
        SaturateToUnsigned, FNeg, Saturate, Clamp, Widen, Narrow, WidenHalf, NarrowHalf, Trunc, RoundEven, Floor, Ceil,
        Sqrt, SqrtApprox, InverseSqrtApprox, Root(root), Exp2Approx, Exp2Flushed, Log2Approx, SinApprox, CosApprox,
        TanhApprox,
    }
    Binary {
        Add, Sub, Mul, MulHighUnsigned, MulHighSigned, DotSigned, DotUnsigned, DotMixed, DivUnsigned, RemUnsigned,
        MinUnsigned, MinSigned, MaxUnsigned, MaxSigned, And, Or, Xor, Shl, Shr, Sar, FAdd, FSub, FMul, FDiv, FDivApprox,
        FMin, FMax, OrNan,
    }
    MatrixStep {
        Halves(format), Start(accumulator), Scale(factors), Sum(factors), Round(accumulator), Aligned,
        Total(accumulator),
    }
    MatrixTypes {
        F16, F16Alone, Bf16, Tf32, S8, S8U8, U8S8, U8, E4m3, E4m3E5m2, E5m2E4m3, E5m2, E4m3Alone, E4m3E5m2Alone,
        E5m2E4m3Alone, E5m2Alone,
    }
    Factors { F16, Bf16, Tf32, E4m3, E4m3E5m2, E5m2E4m3, E5m2 }
    Minifloat { E4m3, E5m2 }
    Accumulator { F32, F16, ShortF32, ShortF16 }
    Halves { Low, Both }
    Compare {
        Equal, NotEqual, LessUnsigned, LessEqualUnsigned, LessSigned, LessEqualSigned, FEqual, FNotEqual, FLess,
        FLessEqual,
    }
    Builtin {
        ThreadId(dimension), BlockSize(dimension), WorkgroupId(dimension), WorkgroupCount(dimension), Invocations,
        ThreadIndex, ClusterRank, InvocationIndex, SubgroupId, SubgroupLane, SharedBytes, DynamicSharedBytes,
        TextureBits, PushConstant(offset), Clock, Parameter(number),
    }
    Space { Global, Shared, Local, Generic }
    MemoryOrder { Weak, Relaxed(scope), Acquire(scope), Release(scope), AcquireRelease(scope) }
    Scope { Cta, Device, System }
    AtomicOp {
        Add, And, Or, Xor, Exchange, CompareExchange, MinUnsigned, MaxUnsigned, MinSigned, MaxSigned, Increment,
        Decrement, FAdd, Half(format, op),
    }
    HalfFormat { F16, Bf16 }
    HalfOp { Add, Min, Max }
    WarpOp {
        Vote(vote, a), Ballot(a), Shuffle { mode, value, lane, clamp }, MatchAny(a), MatchAll(a), Reduce(reduction, a),
        ActiveMask, Elect, Gathered, MatrixProduct(types, fragments), Sync,
    }
    Vote { All, Any, Uniform }
    Shuffle { Up, Down, Butterfly, Index }
    Reduction { Add, And, Or, Xor, MinUnsigned, MaxUnsigned, MinSigned, MaxSigned }
    SubgroupOp { Ballot(a), Shuffle(a, lane), ShuffleXor(a, bits), MatrixProduct(types, fragments), Barrier }
    Fault {
        LoopCutShort, Trap, Breakpoint, Assertion, StackOverflow, BadTarget, DivergedMembers, Deadlock, InvalidFree,
        SurfaceAccess, IllegalAccess, AccessPastEnd,
    }
}
