//! Special registers (PTX chapter 10).

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::isa::types::{Class, ScalarType};

/// The lanes of a `%lanemask_…`, compared with the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LaneMask {
    Equal,
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
}

/// The special registers for the shared memory that CUDA keeps from programs for its own libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservedShared {
    /// Offset of the reserved memory.
    Begin,
    /// End of the reserved memory.
    End,
    /// Size of the reserved memory.
    Capacity,
    /// Offset of a library's part of the reserved memory: 0 or 1.
    Part(u8),
}

/// Special registers that translate (PTX chapter 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    LaneMask(LaneMask),
    DynamicSharedSize,
    TotalSharedSize,
    AggregateSharedSize,
    /// A place in the shared memory that CUDA reserves, or its size, in bytes from its start.
    ReservedShared(ReservedShared),
    Clock,
    ClockHigh,
    Clock64,
    GlobalTimer,
    GridId,
    ExplicitCluster,
    ClusterId(u8),
    ClusterCount(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterRank,
    ClusterSize,
    /// The lower or upper half of the address of a cooperative launch's workspace.
    Workspace {
        /// Whether this is the upper half.
        high: bool,
    },
    /// The fourth element of those that have three dimensions.
    Fourth,
    /// One that says the same everywhere, and its width in bits.
    Fixed(u32, u32),
}

impl Special {
    /// The special register of that name (with `%`) and component.
    pub fn from_name(name: &str, component: Option<&str>) -> Option<Self> {
        let dimension = match component {
            Some("x") => Some(0),
            Some("y") => Some(1),
            Some("z") => Some(2),
            _ => None,
        };
        match (name, dimension, component) {
            ("%tid", Some(d), _) => Some(Self::Tid(d)),
            ("%ntid", Some(d), _) => Some(Self::Ntid(d)),
            ("%ctaid", Some(d), _) => Some(Self::Ctaid(d)),
            ("%nctaid", Some(d), _) => Some(Self::Nctaid(d)),
            ("%clusterid", Some(d), _) => Some(Self::ClusterId(d)),
            ("%nclusterid", Some(d), _) => Some(Self::ClusterCount(d)),
            ("%cluster_ctaid", Some(d), _) => Some(Self::ClusterCtaid(d)),
            ("%cluster_nctaid", Some(d), _) => Some(Self::ClusterNctaid(d)),
            (name, _, Some("w")) if Self::has_dimensions(name) => Some(Self::Fourth),
            ("%cluster_ctarank", _, None) => Some(Self::ClusterRank),
            ("%cluster_nctarank", _, None) => Some(Self::ClusterSize),
            ("%laneid", _, None) => Some(Self::LaneId),
            ("%warpid", _, None) => Some(Self::WarpId),
            ("%nwarpid", _, None) => Some(Self::Fixed(64, 32)),
            ("%lanemask_eq", _, None) => Some(Self::LaneMask(LaneMask::Equal)),
            ("%lanemask_le", _, None) => Some(Self::LaneMask(LaneMask::LessEqual)),
            ("%lanemask_lt", _, None) => Some(Self::LaneMask(LaneMask::Less)),
            ("%lanemask_ge", _, None) => Some(Self::LaneMask(LaneMask::GreaterEqual)),
            ("%lanemask_gt", _, None) => Some(Self::LaneMask(LaneMask::Greater)),
            ("%dynamic_smem_size", _, None) => Some(Self::DynamicSharedSize),
            ("%total_smem_size", _, None) => Some(Self::TotalSharedSize),
            ("%clock", _, None) => Some(Self::Clock),
            ("%clock_hi", _, None) => Some(Self::ClockHigh),
            ("%clock64", _, None) => Some(Self::Clock64),
            ("%globaltimer", _, None) => Some(Self::GlobalTimer),
            ("%globaltimer_lo", _, None) => Some(Self::Clock),
            ("%globaltimer_hi", _, None) => Some(Self::ClockHigh),
            ("%aggr_smem_size", _, None) => Some(Self::AggregateSharedSize),
            ("%reserved_smem_offset_begin", _, None) => Some(Self::ReservedShared(ReservedShared::Begin)),
            ("%reserved_smem_offset_end", _, None) => Some(Self::ReservedShared(ReservedShared::End)),
            ("%reserved_smem_offset_cap", _, None) => Some(Self::ReservedShared(ReservedShared::Capacity)),
            ("%reserved_smem_offset_0", _, None) => Some(Self::ReservedShared(ReservedShared::Part(0))),
            ("%reserved_smem_offset_1", _, None) => Some(Self::ReservedShared(ReservedShared::Part(1))),
            ("%nsmid", _, None) => Some(Self::Fixed(1, 32)),
            ("%smid", _, None) => Some(Self::Fixed(0, 32)),
            ("%gridid", _, None) => Some(Self::GridId),
            ("%current_graph_exec", _, None) => Some(Self::Fixed(0, 64)),
            ("%is_explicit_cluster", _, None) => Some(Self::ExplicitCluster),
            ("%envreg1", _, None) => Some(Self::Workspace { high: true }),
            ("%envreg2", _, None) => Some(Self::Workspace { high: false }),
            (name, _, None) if Self::is_counter(name) => {
                Some(Self::Fixed(0, if name.ends_with("_64") { 64 } else { 32 }))
            }
            _ => None,
        }
    }

    /// The elements of a special register that is a vector of four.
    pub fn elements(name: &str) -> Option<[Self; 4]> {
        let [x, y, z, w] = ["x", "y", "z", "w"].map(|component| Self::from_name(name, Some(component)));
        Some([x?, y?, z?, w?])
    }

    fn has_dimensions(name: &str) -> bool {
        matches!(
            name,
            "%tid"
                | "%ntid"
                | "%ctaid"
                | "%nctaid"
                | "%clusterid"
                | "%nclusterid"
                | "%cluster_ctaid"
                | "%cluster_nctaid"
        )
    }

    /// Whether an instruction of that type may read the register: places in the grid were 16 bits wide once, and the
    /// grid's number has become wider twice.
    pub fn has_type(self, ty: ScalarType) -> bool {
        let bits = ty.bits();
        match (self, ty.class()) {
            (Self::ExplicitCluster, _) => ty == ScalarType::Pred,
            (_, Class::Unsigned | Class::Signed | Class::Bits) => self.has_width(bits),
            _ => false,
        }
    }

    /// Whether the register tells a time.
    pub fn is_clock(self) -> bool {
        matches!(self, Self::Clock | Self::ClockHigh | Self::Clock64 | Self::GlobalTimer)
    }

    fn has_width(self, bits: u32) -> bool {
        match self {
            Self::GridId => matches!(bits, 16 | 32 | 64),
            Self::Tid(_) | Self::Ntid(_) | Self::Ctaid(_) | Self::Nctaid(_) | Self::Fourth => matches!(bits, 16 | 32),
            Self::Clock64 | Self::GlobalTimer => bits == 64,
            Self::Fixed(_, width) => bits == width,
            _ => bits == 32,
        }
    }

    /// Whether a name is that of a performance counter or of a register of the driver's.
    fn is_counter(name: &str) -> bool {
        let numbered = |prefix: &str, limit: u32| {
            let digits = name.strip_prefix(prefix).and_then(|digits| digits.parse::<u32>().ok());
            digits.is_some_and(|number| number < limit)
        };
        let wide = name.strip_suffix("_64").and_then(|name| name.strip_prefix("%pm"));
        numbered("%pm", 8)
            || wide.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|number| number < 8)
            || numbered("%envreg", 32)
    }

    /// Whether PTX has a special register of that name, translated or not.
    pub fn is_known(name: &str) -> bool {
        const NAMES: &str =
            "%tid %ntid %ctaid %nctaid %laneid %warpid %nwarpid %smid %nsmid %gridid %is_explicit_cluster
            %clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank %lanemask_eq
            %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi %clock64 %globaltimer %globaltimer_lo
            %globaltimer_hi %total_smem_size %aggr_smem_size %dynamic_smem_size %current_graph_exec
            %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_0
            %reserved_smem_offset_1";
        static KNOWN: LazyLock<FxHashSet<&str>> = LazyLock::new(|| NAMES.split_ascii_whitespace().collect());
        // Names such as `%r1` and `%rd1`, which most are, need not be looked up.
        let is_short = name.as_bytes().get(3).is_none_or(u8::is_ascii_digit);
        !is_short && KNOWN.contains(name) || Self::is_counter(name)
    }
}
