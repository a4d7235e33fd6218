//! The operations that the rows of the instruction table stand for, and their effects on the module as a whole.
//!
//! [`crate::lower::dispatch`] has the lowering function of each [`Operation`], in one exhaustive match.

use std::ops::BitOr;

use super::rule::Rule;
use ptx2spv_target::Fault;

macro_rules! effects {
    ($($(#[$doc:meta])* $effect:ident,)*) => {
        /// The effects of an instruction on the module around it, besides its results.
        ///
        /// The code that prepares a module for its kernels destructures this without `..`, so that a new effect doesn't
        /// compile until that code handles it.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Effects {
            $($(#[$doc])* pub $effect: bool,)*
        }

        impl Effects {
            const NONE: Self = Self { $($effect: false,)* };
        }

        impl BitOr for Effects {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self { $($effect: self.$effect || other.$effect,)* }
            }
        }
    };
}

effects! {
    /// May report a fault to the host.
    may_report,
    /// Waits for other threads at a barrier of the block or cluster.
    waits,
    /// Takes or gives back room on the kernel's stack.
    uses_stack,
    /// Counts an event that the host can read.
    counts_events,
    /// Reads and writes memory in one step.
    atomic,
    /// The same, on elements whose type memory has.
    atomic_of_any_type,
    /// Accesses memory, in an order with other accesses where its modifiers say so.
    ordered,
    /// Is a sequentially consistent fence.
    sequential,
    /// Reads texels, which may be sRGB.
    reads_texels,
    /// Samples a texture, in a level that gradients may choose.
    samples,
}

macro_rules! operations {
    ($($name:ident $([$($effect:ident),*])? $(: $rule:ident)?,)*) => {
        /// The operations of straight-line code.
        #[expect(missing_docs, reason = "the rows with an operation's name say which instructions it is")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operation {
            $($name,)*
        }

        impl Operation {
            /// Its effects.
            pub const fn effects(self) -> Effects {
                match self {
                    $(Self::$name => Effects { $($($effect: true,)*)? ..Effects::NONE },)*
                }
            }

            /// The rule for its instructions besides their rows' syntax.
            pub const fn rule(self) -> Rule {
                match self {
                    $(Self::$name => operations!(@ $($rule)?),)*
                }
            }
        }
    };
    (@) => { Rule::None };
    (@ $rule:ident) => { Rule::$rule };
}

operations! {
    IntegerAdd,
    IntegerSub,
    IntegerMul,
    IntegerMad,
    Mul24,
    Mad24,
    Sad,
    IntegerDiv,
    IntegerRem,
    IntegerAbs,
    IntegerNeg,
    IntegerMin,
    IntegerMax,
    PackedAdd,
    PackedSub,
    PackedNeg,
    PackedMin,
    PackedMax,
    PackedDp4a,
    PackedDp2a,
    Popc,
    Clz,
    Bfind,
    Brev,
    Bfe: BitField,
    Bfi: BitField,
    Bmsk,
    Szext,
    Fns,
    ExtendedAdd,
    ExtendedAddc,
    ExtendedSub,
    ExtendedSubc,
    ExtendedMad,
    ExtendedMadc,
    FloatAdd,
    FloatSub,
    FloatMul,
    FloatFma,
    FloatMad,
    FloatMixedAdd,
    FloatMixedSub,
    FloatMixedFma,
    ApproximateDiv,
    ApproximateDivFull,
    FloatDiv,
    ApproximateRcp,
    ApproximateRcpUpper,
    FloatRcp,
    ApproximateSqrt,
    FloatSqrt,
    ApproximateRsqrt,
    ApproximateRsqrtUpper,
    ApproximateRsqrtDouble,
    ApproximateSin,
    ApproximateCos,
    ApproximateLg2,
    ApproximateEx2,
    ApproximateTanh,
    FloatAbs,
    FloatNeg,
    FloatMin,
    FloatMax,
    FloatCopysign,
    FloatTestp,
    HalfAdd,
    HalfSub,
    HalfMul,
    HalfFma,
    Setp,
    Set,
    Selp,
    Slct,
    And,
    Or,
    Xor,
    Not,
    Cnot,
    Lop3,
    Lop3Predicate,
    Shf,
    Shl,
    Shr,
    Prmt,
    VideoAdd,
    VideoSub,
    VideoAbsDiff,
    VideoMin,
    VideoMax,
    VideoShl,
    VideoShr,
    VideoSet,
    VideoMad,
    SimdAdd,
    SimdSub,
    SimdAverage,
    SimdAbsDiff,
    SimdMin,
    SimdMax,
    SimdSet,
    Mov: VariableOfWidth,
    Mov128: VariableOfWidth,
    MovVector: VariableOfWidth,
    Cvta: VariableOfSpace,
    Isspacep,
    ConvertIntToInt,
    ConvertIntToFloat,
    ConvertFloatToInt,
    ConvertFloatToFloat,
    ConvertToTf32,
    ConvertPack,
    ConvertRepack,
    ConvertStochastic,
    ConvertToExponents,
    ConvertFromExponents,
    ConvertToFixed,
    IntegerPack,
    Load [ordered]: Access,
    LoadReadOnly [ordered]: Access,
    MultimemLoad [ordered],
    Store [ordered]: Access,
    MultimemStore [ordered],
    Alloca [may_report, uses_stack],
    StackSave [uses_stack],
    StackRestore [uses_stack],
    CacheLine,
    CachePolicy: Part,
    Vote [may_report],
    Ballot [may_report],
    Shuffle [may_report],
    MatchAny [may_report],
    MatchAll [may_report],
    Redux [may_report],
    ReduxFloat [may_report],
    Activemask,
    Elect [may_report],
    WarpSync [may_report],
    MatrixLoad [may_report],
    MatrixStore [may_report],
    MatrixTranspose [may_report],
    MatrixMultiply [may_report],
    WarpgroupMultiply [may_report]: WarpgroupColumns,
    FragmentLoad [may_report],
    FragmentStore [may_report],
    Atom [atomic],
    Red [atomic],
    MbarrierInit [may_report],
    MbarrierCountBytes [may_report]: Mbarrier,
    MbarrierArrive [may_report]: Mbarrier,
    MbarrierTest [may_report]: Mbarrier,
    MbarrierPendingCount,
    FenceSequential [sequential],
    Fence,
    StoreAsync [may_report]: ClusterAccess,
    ReduceAsync [may_report, atomic]: AnyAddress,
    TryCancel,
    IsCanceled,
    FirstCanceled,
    MapAddress [may_report]: SharedVariable,
    ClusterRank: SharedVariable,
    CopyAsync [may_report]: Copy,
    CopiesAwaited [may_report],
    MbarrierArriveForCopies [may_report]: Copy,
    BulkLoad [may_report]: Copy,
    BulkLoadWithin [may_report]: Copy,
    BulkMulticast [may_report]: Copy,
    BulkExchange [may_report]: Copy,
    BulkStore [may_report]: Copy,
    BulkReduce [may_report, atomic]: Copy,
    BulkZeros [may_report],
    TensorLoad [may_report]: Copy,
    TensorStore [may_report]: Copy,
    TensorReduce [may_report, atomic_of_any_type]: Copy,
    TensorMapReplace,
    TensorMapCopy [ordered],
    Pmevent [counts_events]: Events,
    TextureFetch [reads_texels],
    TextureSample [reads_texels, samples],
    TextureGather [reads_texels],
    TextureQuery,
    IsTypeOf,
    SurfaceLoad [may_report],
    SurfaceStore [may_report],
    SurfaceStoreFormatted [may_report],
    SurfaceReduce [may_report, atomic],
    SurfaceQuery,
}

/// Whether the threads of a warp come to a barrier together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Always.
    Aligned,
    /// If a modifier says so.
    AsSaid,
}

/// The translation of a row's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Straight-line code.
    Compute(Operation),
    /// Has no effect that a device without NVIDIA's caches could show.
    Nothing(Rule),
    /// Goes to its label.
    Branch,
    /// Goes to one of several labels.
    IndexedBranch,
    /// Leaves the function.
    Return,
    /// Ends the thread.
    Exit,
    /// Reports the fault and ends the thread.
    Fail(Fault),
    /// Arrives at a barrier of the block or cluster.
    Barrier(Alignment),
    /// Calls a function.
    Call,
}

impl Action {
    /// Its effects.
    pub const fn effects(self) -> Effects {
        match self {
            Self::Compute(operation) => operation.effects(),
            Self::IndexedBranch | Self::Fail(_) | Self::Call => Effects { may_report: true, ..Effects::NONE },
            Self::Barrier(_) => Effects { waits: true, ..Effects::NONE },
            Self::Nothing(_) | Self::Branch | Self::Return | Self::Exit => Effects::NONE,
        }
    }

    /// The rule for its instructions besides their rows' syntax.
    pub const fn rule(self) -> Rule {
        match self {
            Self::Compute(operation) => operation.rule(),
            Self::Nothing(rule) => rule,
            Self::Branch
            | Self::IndexedBranch
            | Self::Return
            | Self::Exit
            | Self::Fail(_)
            | Self::Barrier(_)
            | Self::Call => Rule::None,
        }
    }

    /// Whether control goes on with the next instruction, whatever the operands.
    pub fn is_straight_line(self) -> bool {
        matches!(self, Self::Compute(_) | Self::Nothing(_))
    }
}
