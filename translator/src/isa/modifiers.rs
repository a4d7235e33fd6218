//! The modifiers of instructions.
//!
//! A choice is an enum of modifiers of which an instruction has at most one. Code that reads a choice matches it
//! without `_`, so that a new modifier doesn't compile until that code handles it.

use super::types::ScalarType;
use super::word::Word;
use crate::ast::StateSpace;

/// An instruction's modifiers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Types, in order.
    pub types: Vec<ScalarType>,
    /// The others, in the order of the row.
    pub words: Vec<Word>,
}

impl Modifiers {
    /// Whether the instruction has a modifier.
    pub fn has(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    /// The type modifier number `index`.
    pub fn ty(&self, index: usize) -> Option<ScalarType> {
        self.types.get(index).copied()
    }

    /// The state spaces that are named, in order.
    pub fn spaces(&self) -> impl Iterator<Item = AddressSpace> {
        self.words.iter().copied().filter_map(AddressSpace::of)
    }

    /// The number of a vector's elements, or of the matrices that an instruction moves; 1 without a modifier that says
    /// so.
    pub fn elements(&self) -> usize {
        match self.vector() {
            None if self.has(Word::X2) => 2,
            None if self.has(Word::X4) => 4,
            None => 1,
            Some(Vector::V2) => 2,
            Some(Vector::V4) => 4,
            Some(Vector::V8) => 8,
        }
    }
}

macro_rules! choices {
    ($($(#[$doc:meta])* $get:ident: $Choice:ident { $($word:ident)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[expect(missing_docs, reason = "each is the modifier of its name")]
            pub enum $Choice {
                $($word,)*
            }

            impl $Choice {
                /// The choice that a modifier is, if it is one of these.
                pub fn of(word: Word) -> Option<Self> {
                    match word {
                        $(Word::$word => Some(Self::$word),)*
                        _ => None,
                    }
                }

                /// Its modifier.
                pub fn word(self) -> Word {
                    match self {
                        $(Self::$word => Word::$word,)*
                    }
                }
            }
        )*

        impl Modifiers {
            $(
                $(#[$doc])*
                pub fn $get(&self) -> Option<$Choice> {
                    self.words.iter().copied().find_map($Choice::of)
                }
            )*
        }
    };
}

choices! {
    /// The rounding of a float.
    rounding: Rounding { Rn Rz Rm Rp }
    /// The rounding of a float to an integer.
    integral_rounding: IntegralRounding { Rni Rzi Rmi Rpi }
    /// The limit of a float's range.
    limit: Limit { Sat Relu }
    /// The class of floats that `testp` asks for.
    float_class: FloatClass { Finite Infinite Number Notanumber Normal Subnormal }
    /// The comparison of two numbers.
    comparison: Comparison { Eq Ne Lt Le Gt Ge Lo Ls Hi Hs Equ Neu Ltu Leu Gtu Geu Num Nan }
    /// The operation that combines a predicate with another.
    boolean: Boolean { And Or Xor }
    /// The operation of an atomic, of a reduction, or after a video operation.
    operator: Operator { Add Inc Dec Min Max And Or Xor Exch Cas }
    /// The reduction of all threads' predicates at a barrier.
    barrier_reduction: BarrierReduction { Popc And Or }
    /// The shape of a product of matrices.
    shape: Shape {
        M8n8k4 M8n8k16 M8n8k32 M8n8k128 M16n8k4 M16n8k8 M16n8k16 M16n8k32 M16n8k64 M16n8k128 M16n8k256
        M16n16k8 M16n16k16 M32n8k16 M8n32k16
        M64n8k8 M64n16k8 M64n24k8 M64n32k8 M64n40k8 M64n48k8 M64n56k8 M64n64k8 M64n72k8 M64n80k8 M64n88k8 M64n96k8
        M64n104k8 M64n112k8 M64n120k8 M64n128k8 M64n136k8 M64n144k8 M64n152k8 M64n160k8 M64n168k8 M64n176k8 M64n184k8
        M64n192k8 M64n200k8 M64n208k8 M64n216k8 M64n224k8 M64n232k8 M64n240k8 M64n248k8 M64n256k8 M64n8k16 M64n16k16
        M64n24k16 M64n32k16 M64n40k16 M64n48k16 M64n56k16 M64n64k16 M64n72k16 M64n80k16 M64n88k16 M64n96k16
        M64n104k16 M64n112k16 M64n120k16 M64n128k16 M64n136k16 M64n144k16 M64n152k16 M64n160k16 M64n168k16 M64n176k16
        M64n184k16 M64n192k16 M64n200k16 M64n208k16 M64n216k16 M64n224k16 M64n232k16 M64n240k16 M64n248k16 M64n256k16
        M64n8k32 M64n16k32 M64n24k32 M64n32k32 M64n40k32 M64n48k32 M64n56k32 M64n64k32 M64n72k32 M64n80k32 M64n88k32
        M64n96k32 M64n104k32 M64n112k32 M64n120k32 M64n128k32 M64n136k32 M64n144k32 M64n152k32 M64n160k32 M64n168k32
        M64n176k32 M64n184k32 M64n192k32 M64n200k32 M64n208k32 M64n216k32 M64n224k32 M64n232k32 M64n240k32 M64n248k32
        M64n256k32 M64n8k64 M64n16k64 M64n24k64 M64n32k64 M64n40k64 M64n48k64 M64n56k64 M64n64k64 M64n72k64 M64n80k64
        M64n88k64 M64n96k64 M64n104k64 M64n112k64 M64n120k64 M64n128k64 M64n136k64 M64n144k64 M64n152k64 M64n160k64
        M64n168k64 M64n176k64 M64n184k64 M64n192k64 M64n200k64 M64n208k64 M64n216k64 M64n224k64 M64n232k64 M64n240k64
        M64n248k64 M64n256k64 M64n8k256 M64n16k256 M64n24k256 M64n32k256 M64n48k256 M64n64k256 M64n80k256 M64n96k256
        M64n112k256 M64n128k256 M64n144k256 M64n160k256 M64n176k256 M64n192k256 M64n208k256 M64n224k256 M64n240k256
        M64n256k256
    }
    /// The matrix of which a fragment is loaded or stored.
    fragment: Fragment { A B C D }
    /// The sparsity of A, of which a product leaves out two elements of each four, by indices that may have to ascend.
    sparsity: Sparsity { Sp SpOrderedMetadata }
    /// The part of a product.
    part: Part { Lo Hi Wide }
    /// The direction of a funnel shift.
    direction: Direction { L R }
    /// The choice of bytes by `prmt`.
    permutation: Permutation { F4e B4e Rc8 Ecl Ecr Rc16 }
    /// The number of bits by which `vmad` shifts its result.
    scale: Scale { Shr7 Shr15 }
    /// The integers that `cvt.pack` packs, besides those that are types.
    packed_integer: PackedInteger { U2 S2 U4 S4 U8 S8 }
    /// The state space of an address.
    space: AddressSpace { Global Shared SharedCta SharedCluster Local Const Param ParamEntry ParamFunc }
    /// The order of an access relative to others.
    order: Order { Weak Volatile Mmio Relaxed Acquire Release AcqRel }
    /// The threads for which an order holds.
    scope: Scope { Cta Cluster Gl Gpu Sys }
    /// The effect of an access on caches.
    cache_operator: CacheOperator { Ca Cg Cs Lu Cv Wb Wt }
    /// Advice to the first cache.
    first_cache_hint: FirstCacheHint { L1EvictNormal L1EvictUnchanged L1EvictFirst L1EvictLast L1NoAllocate }
    /// Advice to the second cache.
    second_cache_hint: SecondCacheHint { L2EvictNormal L2EvictFirst L2EvictLast L2CacheHint L2Fetch64 L2Fetch128 L2Fetch256 }
    /// Advice to the second cache what to evict.
    second_cache_eviction: SecondCacheEviction { L2EvictNormal L2EvictFirst L2EvictLast }
    /// The number of elements of a vector.
    vector: Vector { V2 V4 V8 }
    /// The question of a vote.
    vote: Vote { All Any Uni }
    /// From which lane a shuffle reads.
    shuffle: Shuffle { Up Down Bfly Idx }
    /// The dimensions of a texture or surface.
    geometry: Geometry { D1 D2 D3 A1d A2d D2ms A2dms Cube Acube }
    /// The number of dimensions of a tensor.
    tensor_rank: TensorRank { D1 D2 D3 D4 D5 }
    /// The choice of a texture's level.
    level: Level { Base Level Grad }
    /// The channel that `tld4` gathers.
    channel: Channel { R G B A }
    /// The effect of an access outside a surface.
    bounds: Bounds { Trap Clamp Zero }
    /// The property of a texture, sampler or surface that a query asks for.
    query: Query {
        Width Height Depth ChannelDataType ChannelOrder NormalizedCoords ArraySize NumMipmapLevels NumSamples
        FilterMode AddrMode0 AddrMode1 AddrMode2 ForceUnnormalizedCoords MemoryLayout
    }
    /// The field of a tensor map that is replaced.
    map_field: MapField {
        GlobalAddress Rank BoxDim GlobalDim GlobalStride ElementStride Elemtype InterleaveLayout SwizzleMode SwizzleAtomicity FillMode
    }
    /// The choice of the elements of a tensor that are copied.
    tensor_mode: TensorMode { Tile TileGather4 TileScatter4 Im2col Im2colNoOffs }
    /// The number of blocks in a group, one of which counts the copied bytes.
    cta_group: CtaGroup { CtaGroup1 CtaGroup2 }
}

impl AddressSpace {
    /// The state space, which several modifiers may name.
    pub fn state_space(self) -> StateSpace {
        match self {
            Self::Global => StateSpace::Global,
            Self::Shared | Self::SharedCta | Self::SharedCluster => StateSpace::Shared,
            Self::Local => StateSpace::Local,
            Self::Const => StateSpace::Const,
            Self::Param | Self::ParamEntry | Self::ParamFunc => StateSpace::Param,
        }
    }
}

impl Geometry {
    /// The number of coordinates within a layer.
    pub fn dimensions(self) -> usize {
        match self {
            Self::D1 | Self::A1d => 1,
            Self::D2 | Self::A2d | Self::D2ms | Self::A2dms => 2,
            Self::D3 | Self::Cube | Self::Acube => 3,
        }
    }

    /// Whether a layer precedes the coordinates.
    pub fn is_layered(self) -> bool {
        match self {
            Self::A1d | Self::A2d | Self::A2dms | Self::Acube => true,
            Self::D1 | Self::D2 | Self::D3 | Self::D2ms | Self::Cube => false,
        }
    }

    /// Whether a sample precedes the layer and the coordinates.
    pub fn is_multisampled(self) -> bool {
        match self {
            Self::D2ms | Self::A2dms => true,
            Self::D1 | Self::D2 | Self::D3 | Self::A1d | Self::A2d | Self::Cube | Self::Acube => false,
        }
    }

    /// Whether the coordinates are a direction, which meets a cube's face.
    pub fn is_cube(self) -> bool {
        match self {
            Self::Cube | Self::Acube => true,
            Self::D1 | Self::D2 | Self::D3 | Self::A1d | Self::A2d | Self::D2ms | Self::A2dms => false,
        }
    }
}

impl TensorRank {
    /// The number.
    pub fn dimensions(self) -> usize {
        match self {
            Self::D1 => 1,
            Self::D2 => 2,
            Self::D3 => 3,
            Self::D4 => 4,
            Self::D5 => 5,
        }
    }
}
