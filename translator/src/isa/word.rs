//! The modifiers of the instruction table but for types, each written once.

use std::fmt;

macro_rules! words {
    ($($word:ident = $text:literal,)*) => {
        /// A modifier that isn't a type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "a modifier means what the PTX manual says")]
        pub enum Word {
            $($word,)*
        }

        impl Word {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$word,)*];

            /// The modifier that is written so, without the dot.
            pub fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$word),)*
                    _ => None,
                }
            }

            /// How it is written, without the dot.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$word => $text,)*
                }
            }
        }
    };
}

words! {
    // Rounding, ranges and special values
    Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna", Rs = "rs", Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi", Ftz = "ftz",
    Noftz = "noftz", Sat = "sat", Satfinite = "satfinite", Relu = "relu", Oob = "oob", NaN = "NaN", Abs = "abs", Xorsign = "xorsign",
    ScaledN2Ue8m0 = "scaled::n2::ue8m0", TwoPi = "2pi", Approx = "approx", Full = "full", Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber",
    Normal = "normal", Subnormal = "subnormal",
    // Comparison
    Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Ls = "ls", Hs = "hs", Equ = "equ", Neu = "neu", Ltu = "ltu",
    Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num", Nan = "nan",
    // Operations
    Add = "add", Inc = "inc", Dec = "dec", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor", Exch = "exch", Cas = "cas",
    Popc = "popc",
    // Integers and bits
    Hi = "hi", Lo = "lo", Wide = "wide", Cc = "cc", Shiftamt = "shiftamt", Clamp = "clamp", Wrap = "wrap", L = "l", R = "r", F4e = "f4e",
    B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16", Shr7 = "shr7", Shr15 = "shr15", Po = "po", Pack = "pack",
    U2 = "u2", S2 = "s2", U4 = "u4", S4 = "s4", U8 = "u8", S8 = "s8",
    // State spaces
    To = "to", Global = "global", Shared = "shared", SharedCta = "shared::cta", SharedCluster = "shared::cluster", Local = "local",
    Const = "const", Param = "param", ParamEntry = "param::entry", ParamFunc = "param::func",
    // Memory order
    Weak = "weak", Volatile = "volatile", Mmio = "mmio", Relaxed = "relaxed", Acquire = "acquire", Release = "release",
    AcqRel = "acq_rel", Sc = "sc", Cta = "cta", Cluster = "cluster", Gl = "gl", Gpu = "gpu", Sys = "sys",
    // Caches
    Nc = "nc", Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt", L1 = "L1", L2 = "L2",
    L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged", L1EvictFirst = "L1::evict_first",
    L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate", L2EvictNormal = "L2::evict_normal",
    L2EvictUnchanged = "L2::evict_unchanged", L2EvictFirst = "L2::evict_first", L2EvictLast = "L2::evict_last",
    L2CacheHint = "L2::cache_hint", L2Fetch64 = "L2::64B", L2Fetch128 = "L2::128B", L2Fetch256 = "L2::256B", Range = "range",
    Fractional = "fractional", Cvt = "cvt",
    // Vectors
    V2 = "v2", V4 = "v4", V8 = "v8",
    // Matrices
    X1 = "x1", X2 = "x2", X4 = "x4", M8n8 = "m8n8", Trans = "trans", Row = "row", Col = "col", C = "c", D = "d", Mma = "mma", Sp = "sp",
    SpOrderedMetadata = "sp::ordered_metadata", Load = "load", Store = "store", MmaAsync = "mma_async", Fence = "fence",
    M8n8k4 = "m8n8k4", M8n8k16 = "m8n8k16", M8n8k32 = "m8n8k32", M8n8k128 = "m8n8k128", M16n8k4 = "m16n8k4",
    M16n8k8 = "m16n8k8", M16n8k16 = "m16n8k16", M16n8k32 = "m16n8k32", M16n8k64 = "m16n8k64", M16n8k128 = "m16n8k128",
    M16n8k256 = "m16n8k256", M16n16k8 = "m16n16k8", M16n16k16 = "m16n16k16", M32n8k16 = "m32n8k16", M8n32k16 = "m8n32k16",
    M64n8k8 = "m64n8k8", M64n16k8 = "m64n16k8", M64n24k8 = "m64n24k8", M64n32k8 = "m64n32k8", M64n40k8 = "m64n40k8",
    M64n48k8 = "m64n48k8", M64n56k8 = "m64n56k8", M64n64k8 = "m64n64k8", M64n72k8 = "m64n72k8",
    M64n80k8 = "m64n80k8", M64n88k8 = "m64n88k8", M64n96k8 = "m64n96k8", M64n104k8 = "m64n104k8",
    M64n112k8 = "m64n112k8", M64n120k8 = "m64n120k8", M64n128k8 = "m64n128k8", M64n136k8 = "m64n136k8",
    M64n144k8 = "m64n144k8", M64n152k8 = "m64n152k8", M64n160k8 = "m64n160k8", M64n168k8 = "m64n168k8",
    M64n176k8 = "m64n176k8", M64n184k8 = "m64n184k8", M64n192k8 = "m64n192k8", M64n200k8 = "m64n200k8",
    M64n208k8 = "m64n208k8", M64n216k8 = "m64n216k8", M64n224k8 = "m64n224k8", M64n232k8 = "m64n232k8",
    M64n240k8 = "m64n240k8", M64n248k8 = "m64n248k8", M64n256k8 = "m64n256k8", M64n8k16 = "m64n8k16",
    M64n16k16 = "m64n16k16", M64n24k16 = "m64n24k16", M64n32k16 = "m64n32k16", M64n40k16 = "m64n40k16",
    M64n48k16 = "m64n48k16", M64n56k16 = "m64n56k16", M64n64k16 = "m64n64k16", M64n72k16 = "m64n72k16",
    M64n80k16 = "m64n80k16", M64n88k16 = "m64n88k16", M64n96k16 = "m64n96k16", M64n104k16 = "m64n104k16",
    M64n112k16 = "m64n112k16", M64n120k16 = "m64n120k16", M64n128k16 = "m64n128k16", M64n136k16 = "m64n136k16",
    M64n144k16 = "m64n144k16", M64n152k16 = "m64n152k16", M64n160k16 = "m64n160k16", M64n168k16 = "m64n168k16",
    M64n176k16 = "m64n176k16", M64n184k16 = "m64n184k16", M64n192k16 = "m64n192k16", M64n200k16 = "m64n200k16",
    M64n208k16 = "m64n208k16", M64n216k16 = "m64n216k16", M64n224k16 = "m64n224k16", M64n232k16 = "m64n232k16",
    M64n240k16 = "m64n240k16", M64n248k16 = "m64n248k16", M64n256k16 = "m64n256k16", M64n8k32 = "m64n8k32",
    M64n16k32 = "m64n16k32", M64n24k32 = "m64n24k32", M64n32k32 = "m64n32k32", M64n40k32 = "m64n40k32",
    M64n48k32 = "m64n48k32", M64n56k32 = "m64n56k32", M64n64k32 = "m64n64k32", M64n72k32 = "m64n72k32",
    M64n80k32 = "m64n80k32", M64n88k32 = "m64n88k32", M64n96k32 = "m64n96k32", M64n104k32 = "m64n104k32",
    M64n112k32 = "m64n112k32", M64n120k32 = "m64n120k32", M64n128k32 = "m64n128k32", M64n136k32 = "m64n136k32",
    M64n144k32 = "m64n144k32", M64n152k32 = "m64n152k32", M64n160k32 = "m64n160k32", M64n168k32 = "m64n168k32",
    M64n176k32 = "m64n176k32", M64n184k32 = "m64n184k32", M64n192k32 = "m64n192k32", M64n200k32 = "m64n200k32",
    M64n208k32 = "m64n208k32", M64n216k32 = "m64n216k32", M64n224k32 = "m64n224k32", M64n232k32 = "m64n232k32",
    M64n240k32 = "m64n240k32", M64n248k32 = "m64n248k32", M64n256k32 = "m64n256k32", M64n8k64 = "m64n8k64",
    M64n16k64 = "m64n16k64", M64n24k64 = "m64n24k64", M64n32k64 = "m64n32k64", M64n40k64 = "m64n40k64",
    M64n48k64 = "m64n48k64", M64n56k64 = "m64n56k64", M64n64k64 = "m64n64k64", M64n72k64 = "m64n72k64",
    M64n80k64 = "m64n80k64", M64n88k64 = "m64n88k64", M64n96k64 = "m64n96k64", M64n104k64 = "m64n104k64",
    M64n112k64 = "m64n112k64", M64n120k64 = "m64n120k64", M64n128k64 = "m64n128k64", M64n136k64 = "m64n136k64",
    M64n144k64 = "m64n144k64", M64n152k64 = "m64n152k64", M64n160k64 = "m64n160k64", M64n168k64 = "m64n168k64",
    M64n176k64 = "m64n176k64", M64n184k64 = "m64n184k64", M64n192k64 = "m64n192k64", M64n200k64 = "m64n200k64",
    M64n208k64 = "m64n208k64", M64n216k64 = "m64n216k64", M64n224k64 = "m64n224k64", M64n232k64 = "m64n232k64",
    M64n240k64 = "m64n240k64", M64n248k64 = "m64n248k64", M64n256k64 = "m64n256k64", M64n8k256 = "m64n8k256",
    M64n16k256 = "m64n16k256", M64n24k256 = "m64n24k256", M64n32k256 = "m64n32k256", M64n48k256 = "m64n48k256",
    M64n64k256 = "m64n64k256", M64n80k256 = "m64n80k256", M64n96k256 = "m64n96k256", M64n112k256 = "m64n112k256",
    M64n128k256 = "m64n128k256", M64n144k256 = "m64n144k256", M64n160k256 = "m64n160k256",
    M64n176k256 = "m64n176k256", M64n192k256 = "m64n192k256", M64n208k256 = "m64n208k256",
    M64n224k256 = "m64n224k256", M64n240k256 = "m64n240k256", M64n256k256 = "m64n256k256",
    // Warps
    All = "all", Any = "any", Uni = "uni", Ballot = "ballot", Up = "up", Down = "down", Bfly = "bfly", Idx = "idx",
    // Synchronisation
    Sync = "sync", Aligned = "aligned", Arrive = "arrive", Wait = "wait", Red = "red", Warp = "warp", Init = "init", Inval = "inval",
    ExpectTx = "expect_tx", CompleteTx = "complete_tx", ArriveDrop = "arrive_drop", NoComplete = "noComplete", TestWait = "test_wait",
    TryWait = "try_wait", Parity = "parity", PendingCount = "pending_count", Proxy = "proxy", Alias = "alias", Async = "async",
    AsyncGeneric = "async::generic", TensormapGeneric = "tensormap::generic",
    SyncRestrictSharedCluster = "sync_restrict::shared::cluster", SyncRestrictSharedCta = "sync_restrict::shared::cta",
    MbarrierInit = "mbarrier_init", MbarrierCompleteTxBytes = "mbarrier::complete_tx::bytes", LaunchDependents = "launch_dependents",
    TryCancel = "try_cancel", QueryCancel = "query_cancel", IsCanceled = "is_canceled", GetFirstCtaid = "get_first_ctaid",
    GetFirstCtaidX = "get_first_ctaid::x", GetFirstCtaidY = "get_first_ctaid::y", GetFirstCtaidZ = "get_first_ctaid::z",
    // Copies and multicast
    Bulk = "bulk", BulkGroup = "bulk_group", CommitGroup = "commit_group", WaitAll = "wait_all", WaitGroup = "wait_group",
    Mbarrier = "mbarrier", Noinc = "noinc", MulticastCluster = "multicast::cluster", CpMask = "cp_mask", IgnoreOob = "ignore_oob", Prefetch = "prefetch",
    Read = "read", Reduce = "reduce", LdReduce = "ld_reduce", St = "st", AccF32 = "acc::f32", AccF16 = "acc::f16",
    // Tensors
    Tensor = "tensor", Tensormap = "tensormap", D1 = "1d", D2 = "2d", D3 = "3d", D4 = "4d", D5 = "5d", Tile = "tile", Im2col = "im2col",
    TileGather4 = "tile::gather4", TileScatter4 = "tile::scatter4", CtaGroup1 = "cta_group::1", CtaGroup2 = "cta_group::2",
    Im2colNoOffs = "im2col_no_offs", Replace = "replace", CpFenceproxy = "cp_fenceproxy", B1024 = "b1024",
    GlobalAddress = "global_address", Rank = "rank", BoxDim = "box_dim", GlobalDim = "global_dim", GlobalStride = "global_stride",
    ElementStride = "element_stride", Elemtype = "elemtype", InterleaveLayout = "interleave_layout", SwizzleMode = "swizzle_mode",
    SwizzleAtomicity = "swizzle_atomicity", FillMode = "fill_mode",
    // Textures and surfaces
    A1d = "a1d", A2d = "a2d", D2ms = "2dms", A2dms = "a2dms", Cube = "cube", Acube = "acube", Base = "base", Level = "level",
    Grad = "grad", G = "g", B = "b", A = "a", P = "p", Trap = "trap", Zero = "zero", Width = "width", Height = "height", Depth = "depth",
    ChannelDataType = "channel_data_type", ChannelOrder = "channel_order", NormalizedCoords = "normalized_coords",
    ArraySize = "array_size", NumMipmapLevels = "num_mipmap_levels", NumSamples = "num_samples", FilterMode = "filter_mode",
    AddrMode0 = "addr_mode_0", AddrMode1 = "addr_mode_1", AddrMode2 = "addr_mode_2",
    ForceUnnormalizedCoords = "force_unnormalized_coords", MemoryLayout = "memory_layout",
    // Events
    Mask = "mask",
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.text())
    }
}
