//! The modifiers of the instruction table but for types, each written once.

use std::fmt;

use crate::spelling::spelled;

/// The spelling of a modifier: that of its name, unless a text says otherwise.
macro_rules! text {
    ($word:ident) => {
        spelled!($word)
    };
    ($word:ident $text:literal) => {
        $text
    };
}

macro_rules! words {
    ($($word:ident $(= $text:literal)?,)*) => {
        /// A modifier that isn't a type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "a modifier means what the PTX manual says")]
        pub enum Word {
            $($word,)*
        }

        impl Word {
            /// All modifiers.
            pub const ALL: &[Self] = &[$(Self::$word,)*];

            /// The modifier that is written so, without the dot.
            pub fn from_text(text: &str) -> Option<Self> {
                $(if text == text!($word $($text)?) {
                    return Some(Self::$word);
                })*
                None
            }

            /// The modifier's text, without the dot.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$word => text!($word $($text)?),)*
                }
            }
        }
    };
}

words! {
    // Rounding, ranges and special values
    Rn, Rz, Rm, Rp, Rna, Rs, Rni, Rzi, Rmi, Rpi, Ftz, Noftz, Sat, Satfinite, Relu, Oob, NaN = "NaN", Abs, Xorsign,
    ScaledN2Ue8m0 = "scaled::n2::ue8m0", TwoPi = "2pi", Approx, Full, Finite, Infinite, Number, Notanumber, Normal,
    Subnormal,
    // Comparison
    Eq, Ne, Lt, Le, Gt, Ge, Ls, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan,
    // Operations
    Add, Inc, Dec, Min, Max, And, Or, Xor, Exch, Cas, Popc,
    // Integers and bits
    Hi, Lo, Wide, Cc, Shiftamt, Clamp, Wrap, L, R, F4e, B4e, Rc8, Ecl, Ecr, Rc16, Shr7, Shr15, Po, Pack, U2, S2, U4, S4,
    U8, S8,
    // State spaces
    To, Global, Shared, SharedCta = "shared::cta", SharedCluster = "shared::cluster", Local, Const, Param,
    ParamEntry = "param::entry", ParamFunc = "param::func",
    // Memory order
    Weak, Volatile, Mmio, Relaxed, Acquire, Release, AcqRel, Sc, Cta, Cluster, Gl, Gpu, Sys,
    // Caches
    Nc, Ca, Cg, Cs, Lu, Cv, Wb, Wt, L1 = "L1", L2 = "L2", L1EvictNormal = "L1::evict_normal",
    L1EvictUnchanged = "L1::evict_unchanged", L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last",
    L1NoAllocate = "L1::no_allocate", L2EvictNormal = "L2::evict_normal", L2EvictUnchanged = "L2::evict_unchanged",
    L2EvictFirst = "L2::evict_first", L2EvictLast = "L2::evict_last", L2CacheHint = "L2::cache_hint",
    L2Fetch64 = "L2::64B", L2Fetch128 = "L2::128B", L2Fetch256 = "L2::256B", Range, Fractional, Cvt,
    // Vectors
    V2, V4, V8,
    // Matrices
    X1, X2, X4, M8n8, Trans, Row, Col, C, D, Mma, Sp, SpOrderedMetadata = "sp::ordered_metadata", Load, Store, MmaAsync,
    Fence, M8n8k4, M8n8k16, M8n8k32, M8n8k128, M16n8k4, M16n8k8, M16n8k16, M16n8k32, M16n8k64, M16n8k128, M16n8k256,
    M16n16k8, M16n16k16, M32n8k16, M8n32k16, M64n8k8, M64n16k8, M64n24k8, M64n32k8, M64n40k8, M64n48k8, M64n56k8,
    M64n64k8, M64n72k8, M64n80k8, M64n88k8, M64n96k8, M64n104k8, M64n112k8, M64n120k8, M64n128k8, M64n136k8, M64n144k8,
    M64n152k8, M64n160k8, M64n168k8, M64n176k8, M64n184k8, M64n192k8, M64n200k8, M64n208k8, M64n216k8, M64n224k8,
    M64n232k8, M64n240k8, M64n248k8, M64n256k8, M64n8k16, M64n16k16, M64n24k16, M64n32k16, M64n40k16, M64n48k16,
    M64n56k16, M64n64k16, M64n72k16, M64n80k16, M64n88k16, M64n96k16, M64n104k16, M64n112k16, M64n120k16, M64n128k16,
    M64n136k16, M64n144k16, M64n152k16, M64n160k16, M64n168k16, M64n176k16, M64n184k16, M64n192k16, M64n200k16,
    M64n208k16, M64n216k16, M64n224k16, M64n232k16, M64n240k16, M64n248k16, M64n256k16, M64n8k32, M64n16k32, M64n24k32,
    M64n32k32, M64n40k32, M64n48k32, M64n56k32, M64n64k32, M64n72k32, M64n80k32, M64n88k32, M64n96k32, M64n104k32,
    M64n112k32, M64n120k32, M64n128k32, M64n136k32, M64n144k32, M64n152k32, M64n160k32, M64n168k32, M64n176k32,
    M64n184k32, M64n192k32, M64n200k32, M64n208k32, M64n216k32, M64n224k32, M64n232k32, M64n240k32, M64n248k32,
    M64n256k32, M64n8k64, M64n16k64, M64n24k64, M64n32k64, M64n40k64, M64n48k64, M64n56k64, M64n64k64, M64n72k64,
    M64n80k64, M64n88k64, M64n96k64, M64n104k64, M64n112k64, M64n120k64, M64n128k64, M64n136k64, M64n144k64, M64n152k64,
    M64n160k64, M64n168k64, M64n176k64, M64n184k64, M64n192k64, M64n200k64, M64n208k64, M64n216k64, M64n224k64,
    M64n232k64, M64n240k64, M64n248k64, M64n256k64, M64n8k256, M64n16k256, M64n24k256, M64n32k256, M64n48k256,
    M64n64k256, M64n80k256, M64n96k256, M64n112k256, M64n128k256, M64n144k256, M64n160k256, M64n176k256, M64n192k256,
    M64n208k256, M64n224k256, M64n240k256, M64n256k256,
    // Warps
    All, Any, Uni, Ballot, Up, Down, Bfly, Idx,
    // Synchronisation
    Sync, Aligned, Arrive, Wait, Red, Warp, Init, Inval, ExpectTx, CompleteTx, ArriveDrop, NoComplete = "noComplete",
    TestWait, TryWait, Parity, PendingCount, Proxy, Alias, Async, AsyncGeneric = "async::generic",
    TensormapGeneric = "tensormap::generic", SyncRestrictSharedCluster = "sync_restrict::shared::cluster",
    SyncRestrictSharedCta = "sync_restrict::shared::cta", MbarrierInit,
    MbarrierCompleteTxBytes = "mbarrier::complete_tx::bytes", LaunchDependents, TryCancel, QueryCancel, IsCanceled,
    GetFirstCtaid, GetFirstCtaidX = "get_first_ctaid::x", GetFirstCtaidY = "get_first_ctaid::y",
    GetFirstCtaidZ = "get_first_ctaid::z",
    // Copies and multicast
    Bulk, BulkGroup, CommitGroup, WaitAll, WaitGroup, Mbarrier, Noinc, MulticastCluster = "multicast::cluster", CpMask,
    IgnoreOob, Prefetch, Read, Reduce, LdReduce, St, AccF32 = "acc::f32", AccF16 = "acc::f16",
    // Tensors
    Tensor, Tensormap, D1 = "1d", D2 = "2d", D3 = "3d", D4 = "4d", D5 = "5d", Tile, Im2col,
    TileGather4 = "tile::gather4", TileScatter4 = "tile::scatter4", CtaGroup1 = "cta_group::1",
    CtaGroup2 = "cta_group::2", Im2colNoOffs, Replace, CpFenceproxy, B1024, GlobalAddress, Rank, BoxDim, GlobalDim,
    GlobalStride, ElementStride, Elemtype, InterleaveLayout, SwizzleMode, SwizzleAtomicity, FillMode,
    // Textures and surfaces
    A1d, A2d, D2ms = "2dms", A2dms, Cube, Acube, Base, Level, Grad, G, B, A, P, Trap, Zero, Width, Height, Depth,
    ChannelDataType, ChannelOrder, NormalizedCoords, ArraySize, NumMipmapLevels, NumSamples, FilterMode,
    AddrMode0 = "addr_mode_0", AddrMode1 = "addr_mode_1", AddrMode2 = "addr_mode_2", ForceUnnormalizedCoords,
    MemoryLayout,
    // Events
    Mask,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.text())
    }
}
