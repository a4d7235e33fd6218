//! What the rows of the instruction table stand for, and the effects that a module as a whole must know of.
//!
//! [`crate::lower::dispatch`] has the lowering function of each [`Operation`], in one exhaustive match.

use std::ops::BitOr;

use crate::target::Fault;

macro_rules! effects {
    ($($(#[$doc:meta])* $effect:ident,)*) => {
        /// What an instruction does to the module around it, besides computing its results.
        ///
        /// Whoever prepares a module for its kernels takes this apart without `..`, so that a new effect does not compile
        /// until that has been thought of.
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
    /// Takes or gives back room on the kernel's stack.
    uses_stack,
    /// Counts an event that the host can read.
    counts_events,
    /// Reads and writes memory in one step.
    atomic,
    /// Accesses memory, in an order with other accesses where its modifiers say so.
    ordered,
}

macro_rules! operations {
    ($($name:ident $([$($effect:ident),*])?,)*) => {
        /// What an instruction of straight-line code computes.
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
        }
    };
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
    PackedMin,
    PackedMax,
    PackedDp4a,
    PackedDp2a,
    Popc,
    Clz,
    Bfind,
    Brev,
    Bfe,
    Bfi,
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
    Mov,
    Mov128,
    MovVector,
    Cvta,
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
    IntegerPack,
    Load [ordered],
    Store [ordered],
    Alloca [may_report, uses_stack],
    StackSave [uses_stack],
    StackRestore [uses_stack],
    CacheLine,
    CachePolicy,
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
    Atom [atomic],
    Red [atomic],
    MbarrierInit,
    MbarrierCountBytes,
    MbarrierArrive,
    MbarrierTest,
    MbarrierPendingCount,
    FenceSequential,
    Fence,
    StoreAsync,
    ReduceAsync [atomic],
    MapAddress,
    ClusterRank,
    CopyAsync,
    MbarrierArriveForCopies,
    BulkLoad,
    BulkMulticast,
    BulkExchange,
    BulkStore,
    BulkReduce [atomic],
    BulkZeros,
    TensorLoad,
    TensorStore,
    TensorReduce [atomic],
    TensorMapReplace,
    TensorMapCopy [ordered],
    Pmevent [counts_events],
    TextureFetch,
    TextureSample,
    TextureGather,
    TextureQuery,
    IsTypeOf,
    SurfaceLoad [may_report],
    SurfaceStore [may_report],
    SurfaceStoreFormatted [may_report],
    SurfaceReduce [may_report, atomic],
    SurfaceQuery,
}

/// What becomes of a row's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Straight-line code.
    Compute(Operation),
    /// Has no effect that a device without NVIDIA's caches could show.
    Nothing,
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
    /// Arrives at a barrier of the block.
    Barrier,
    /// Calls a function.
    Call,
}

impl Action {
    /// Its effects. Those of a barrier depend on its operands too.
    pub fn effects(self) -> Effects {
        match self {
            Self::Compute(operation) => operation.effects(),
            Self::IndexedBranch | Self::Fail(_) | Self::Call => Effects { may_report: true, ..Effects::NONE },
            Self::Nothing | Self::Branch | Self::Return | Self::Exit | Self::Barrier => Effects::NONE,
        }
    }

    /// Whether control goes on with the next instruction, whatever the operands.
    pub fn is_straight_line(self) -> bool {
        matches!(self, Self::Compute(_) | Self::Nothing)
    }
}
