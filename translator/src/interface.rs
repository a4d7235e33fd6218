//! The description that travels with a SPIR-V module: all that a host program must know to bind and launch it.
//!
//! It is a Rust type and, through serde, the `.json` file beside the `.spv`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::target::{Feature, Version};
use crate::{Assumptions, Math};

/// Specialization constant ids of every module.
pub mod spec_id {
    /// Block size in x; y and z follow as 1 and 2.
    pub const BLOCK_X: u32 = 0;
    /// Block size in y.
    pub const BLOCK_Y: u32 = 1;
    /// Block size in z.
    pub const BLOCK_Z: u32 = 2;
    /// Total shared memory of the launch, static and dynamic, in bytes rounded up to a multiple of 16; for entries with
    /// [`super::Entry::cluster`] what [`super::Cluster::shared_bytes`] gives.
    pub const SHARED_BYTES: u32 = 3;
    /// `%ntid.x` of kernels with [`super::Entry::packing`] or [`super::Entry::cluster`], whose block size above is another; y and z follow as 5 and 6.
    pub const NTID_X: u32 = 4;
    /// `%ntid.y` of those.
    pub const NTID_Y: u32 = 5;
    /// `%ntid.z` of those.
    pub const NTID_Z: u32 = 6;
    /// Dynamic shared memory of the launch in bytes, not rounded: `%dynamic_smem_size`.
    pub const DYNAMIC_SHARED_BYTES: u32 = 7;
    /// 0 where the driver's memory barriers wait for the whole workgroup, which has the module do without; else 1.
    pub const MEMORY_BARRIERS: u32 = 8;
}

/// Byte offsets within the push constant block of every module.
pub mod push_constant {
    /// u64: device address of the module's variables (`.global` and `.const`), see [`super::Interface::variables`].
    pub const VARIABLES_ADDRESS: u32 = 0;
    /// u64: device address of the parameter block, where [`super::ParamLocation::Buffer`] says so; or that of scratch memory, see
    /// [`super::Scratch::address`].
    pub const PARAMS_ADDRESS: u32 = 8;
    /// 3 × u32: `%nctaid`, the whole grid's size even if it is split over several dispatches.
    pub const GRID_SIZE: u32 = 16;
    /// 3 × u32: added to the dispatch's own workgroup id to give `%ctaid`, or `%clusterid` of entries with
    /// [`super::Entry::cluster`].
    pub const GRID_BASE: u32 = 28;
    /// First byte of the parameter block, where [`super::ParamLocation::PushConstant`] says so; or the address of scratch memory.
    pub const PARAMS: u32 = 40;
}

/// The interface of one SPIR-V module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// Version of this description's form.
    pub format: u32,
    /// Name of the target that it was made for.
    pub target: String,
    /// How exact its float arithmetic is.
    #[serde(default)]
    pub math: Math,
    /// SPIR-V version of the module.
    pub spirv: Version,
    /// The kernels.
    pub entries: Vec<Entry>,
    /// The module's variables in device memory.
    pub variables: Variables,
    /// Where kernels report what went wrong, if some kernel of the PTX module may do so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Where kernels put what they print, if some kernel of the PTX module calls `vprintf`: see [`output`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<MemoryRegion>,
    /// Memory that kernels allocate from, if some kernel of the PTX module calls `malloc` or `free`. It begins as zeros
    /// and is the kernels' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<MemoryRegion>,
    /// Where kernels count events, if some kernel of the PTX module has `pmevent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// Device features that the module's capabilities need (the union over its entries).
    pub features: BTreeSet<Feature>,
    /// What it takes for granted of the device besides; unknown if it doesn't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<Assumptions>,
}

impl Interface {
    /// The value of [`Interface::format`] that this version writes.
    pub const FORMAT: u32 = 1;

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// A record in the variables' allocation where kernels report what went wrong, for the host to look at when they have
/// finished: [`Status::WORDS`] words of 32 bits. The first report stays until the host clears them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Offset in the variables' allocation in bytes, a multiple of 4.
    pub offset: u64,
}

impl Status {
    /// Nothing went wrong: what the first word holds where it holds no [`Fault::code`]. The initial value.
    pub const FINE: u32 = 0;
    /// Words of the record.
    pub const WORDS: u32 = 16;
    /// Size of the record in bytes.
    pub const SIZE: u64 = 4 * Self::WORDS as u64;
    /// The word with the kernel's [`Entry::number`].
    pub const KERNEL: u32 = 1;
    /// The word with the place's index into [`Entry::reports`].
    pub const PLACE: u32 = 2;
    /// The first word of what the fault has to say besides ([`Fault::Assertion`]).
    pub const DETAILS: u32 = 3;
}

/// A place in the variables' allocation where kernels count how often warps have executed `pmevent`, for each event:
/// [`Counters::COUNT`] words of 64 bits, which begin as zeros. They grow until the host clears them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Offset in the variables' allocation in bytes, a multiple of 8.
    pub offset: u64,
}

impl Counters {
    /// How many events there are. CUDA keeps those from 8 on for itself.
    pub const COUNT: u32 = 16;
    /// Size of the counters in bytes.
    pub const SIZE: u64 = 8 * Self::COUNT as u64;
}

/// A part of the variables' allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRegion {
    /// Offset in the variables' allocation in bytes, a multiple of 16.
    pub offset: u64,
    /// Size in bytes, a multiple of 16.
    pub size: u64,
}

/// What lies in the region that kernels print to, all in 32-bit words. It begins as zeros, and whoever has read it clears
/// what it has read.
pub mod output {
    /// Size of the region in bytes: as much as CUDA has.
    pub const BYTES: u64 = 1 << 20;
    /// Offset of the word that counts the bytes asked for: the end of the records, if that is inside of the region.
    pub const USED: u64 = 0;
    /// Offset of the word that counts the records left out because the region was full.
    pub const DROPPED: u64 = 4;
    /// Offset of the first record. Each is its size in bytes (a multiple of 8), a zero, the address of the format
    /// (64 bits), and the arguments as C lays them out in a struct. A size of 0 ends them.
    pub const RECORDS: u64 = 16;
    /// Bytes of a record before its arguments.
    pub const HEADER: u64 = 16;
}

/// What lies in the region that kernels allocate from: arenas, each with granules of one size and a bitmap of those in use.
pub mod heap {
    /// Granules of one size.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Arena {
        /// Base-2 logarithm of a granule's bytes.
        pub shift: u32,
        /// Words of the bitmap, each for 32 granules.
        pub words: u32,
        /// Where the bitmap begins in the region.
        pub bitmap: u64,
        /// Where the table of allocations begins in the region: for each granule a word, which is the size asked for plus one
        /// where an allocation begins, else zero.
        pub sizes: u64,
        /// Where the granules begin in the region.
        pub granules: u64,
    }

    /// Allocations of less than 1 KiB, 32 KiB and 1 MiB. Together they take 7 MiB, their bitmaps and tables less than one of the
    /// 8 MiB that the region has.
    pub const ARENAS: [Arena; 3] = [
        Arena { shift: 5, words: 2048, bitmap: 0, sizes: 0x4000, granules: 1 << 20 },
        Arena { shift: 10, words: 64, bitmap: 0x2000, sizes: 0x44000, granules: 3 << 20 },
        Arena { shift: 15, words: 3, bitmap: 0x2100, sizes: 0x46000, granules: 5 << 20 },
    ];
}

/// Instructions of SPIR-V that mean nothing but to the reference device's checks.
pub mod marks {
    /// The name of their set.
    pub const SET: &str = "NonSemantic.ptx2spv.Checks";

    /// A thread stops at a barrier instruction that all threads of its warp must execute together. Operands: the thread's number,
    /// of which the lowest five bits are its place in the warp; and a constant that tells one barrier instruction of PTX from
    /// another.
    pub const ARRIVE: u32 = 1;
}

/// Why a launch failed, as a kernel itself finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The driver may have ended a loop before it was done ([`crate::target::Quirks::loop_budget`]), and threads have
    /// left out what follows.
    LoopCutShort,
    /// A thread executed `trap`.
    Trap,
    /// A thread executed `brkpt`, and there is no debugger.
    Breakpoint,
    /// A thread called `__assertfail`. The details are its arguments, as 64-bit addresses the message, the file and the
    /// function, then 32-bit words: the line, the block's `%ctaid` and the thread's `%tid`, three each.
    Assertion,
    /// Recursive calls went deeper than the thread's stack.
    StackOverflow,
    /// A call or branch through a register went to none of those that it may go to.
    BadTarget,
    /// Threads that an operation of a warp names as members are elsewhere, and never come.
    DivergedMembers,
    /// Threads wait for each other in a way that never ends.
    Deadlock,
    /// A thread called `free` with an address that `malloc` hasn't given, or has and was given back already.
    InvalidFree,
}

impl Fault {
    const ALL: [Fault; 9] = [
        Fault::LoopCutShort,
        Fault::Trap,
        Fault::Breakpoint,
        Fault::Assertion,
        Fault::StackOverflow,
        Fault::BadTarget,
        Fault::DivergedMembers,
        Fault::Deadlock,
        Fault::InvalidFree,
    ];

    /// The number that stands for it in the record's first word: from 1, below 2^31.
    pub fn code(self) -> u32 {
        self as u32 + 1
    }

    /// The fault of that number.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.code() == code)
    }
}

/// A place from which a kernel may report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    /// Line of the PTX text, from 1; 0 for the kernel as a whole.
    pub line: u32,
    /// The PTX function that it stands in, if that isn't the kernel itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// What `.loc` says of it: file and line, such as `kernel.cu:12`, or `vector.h:3, inlined at kernel.cu:12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its PTX name, which is also the SPIR-V entry point's name.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of the parameter block in bytes.
    pub params_size: u32,
    /// Where the parameter block goes.
    pub params_location: ParamLocation,
    /// Bytes of push constants that the entry reads (a multiple of 4).
    pub push_constant_size: u32,
    /// Shared memory.
    pub shared: Shared,
    /// What the kernel demands of its block size.
    pub block: BlockSize,
    /// How it names itself in reports: its position among the kernels of the PTX module, from 0, and from bit 24 on what tells
    /// versions for blocks of different sizes ([`crate::Options::block_threads`]) from each other.
    #[serde(default)]
    pub number: u32,
    /// From where it may report something to the host ([`Interface::status`]); empty if it never does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<SourceLocation>,
    /// Whether it may print something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prints: bool,
    /// Whether its blocks may wait for each other: such a grid is no longer sure to end if it is split into several dispatches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// How the block's threads lie on invocations. Without it, each thread is an invocation of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<Packing>,
    /// The blocks that share a workgroup, for a kernel whose clusters have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// Local and shared memory for which the launch has to provide device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<Scratch>,
    /// Device features that this kernel needs.
    pub features: BTreeSet<Feature>,
}

/// One kernel parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// PTX name.
    pub name: String,
    /// PTX scalar type without its dot, such as `u64`; for arrays and structs by value the element's.
    #[serde(rename = "type")]
    pub ty: String,
    /// Offset within the parameter block in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Whether PTX declares it as an array (a struct by value).
    pub array: bool,
    /// Whether PTX declares it as a pointer (`.ptr`), or the kernel is seen to compute addresses that it accesses from it.
    pub pointer: bool,
}

/// Where a kernel's parameter block goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamLocation {
    /// Into the push constants from [`push_constant::PARAMS`].
    PushConstant,
    /// Into a buffer aligned to 16 bytes, whose address stands at [`push_constant::PARAMS_ADDRESS`].
    Buffer,
}

/// How the threads of a block lie on the invocations of a workgroup, so that each warp lies within one subgroup and the block
/// within one workgroup.
///
/// Workgroups have one dimension and full subgroups. Thread number `g * (S * L) + l * S + s` of the block is lane `l` of
/// the invocation `s` of subgroup `g`, where `S` is the size of subgroups and `L` the number of lanes. Threads beyond the
/// block's last one fill the last subgroup; they do nothing. A kernel without operations of a warp uses no subgroups, which
/// `S` = 1 says, and lane `l` of invocation `i` of `W` is thread `l * W + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Packing {
    /// Invocations of a subgroup: a power of two up to 128. 1: the kernel uses no subgroups, and the device's may have any size.
    pub subgroup_size: u32,
    /// Threads that each invocation carries: a power of two, and with operations of a warp at least as many as it takes for
    /// subgroups of 32 threads.
    pub lanes: u32,
}

impl Packing {
    /// Threads of a subgroup.
    pub fn span(self) -> u32 {
        self.subgroup_size.saturating_mul(self.lanes).max(1)
    }

    /// Lanes of an invocation that belong to one warp.
    pub fn warp_lanes(self) -> u32 {
        (32 / self.subgroup_size.max(1)).max(1)
    }

    /// Words of 32 bits that a ballot over the subgroup has.
    pub fn ballot_words(self) -> usize {
        self.subgroup_size.div_ceil(32) as usize
    }

    /// Invocations of a workgroup for a block of so many threads.
    pub fn invocations(self, threads: u32) -> u32 {
        threads.div_ceil(self.span()).saturating_mul(self.subgroup_size)
    }
}

/// Invocations in x, y and z of a workgroup for blocks of that size.
pub fn workgroup(block: [u32; 3], packing: Option<Packing>, cluster: Option<Cluster>) -> [u32; 3] {
    let threads = block.into_iter().fold(1, u32::saturating_mul);
    let invocations = packing.map_or(threads, |packing| packing.invocations(threads));
    match (packing, cluster) {
        (None, None) => block,
        (Some(_), None) => [invocations, 1, 1],
        (_, Some(cluster)) => [invocations.saturating_mul(cluster.blocks()), 1, 1],
    }
}

/// Bytes of shared memory of a workgroup whose blocks declare `static_bytes` and get `dynamic_bytes`: the value of
/// [`spec_id::SHARED_BYTES`] before it is rounded up to 16.
pub fn shared_bytes(static_bytes: u32, dynamic_bytes: u32, cluster: Option<Cluster>) -> u64 {
    match cluster {
        Some(cluster) => cluster.shared_bytes(static_bytes, dynamic_bytes),
        None => u64::from(static_bytes).next_multiple_of(16) + u64::from(dynamic_bytes),
    }
}

/// Local and shared memory that the target has no room for, and that lies in device memory instead: the launch's scratch
/// memory, at an address that is a multiple of 16.
///
/// Each workgroup of a dispatch has [`Scratch::bytes`] of it, x fastest, so that the dispatch's number of workgroups says how
/// much there must be. Its contents are nobody's before and after the dispatch; dispatches with the same scratch memory run one
/// after the other, with a barrier in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scratch {
    /// Offset in the push constants of its address, a u64: the one of [`push_constant::PARAMS_ADDRESS`] and
    /// [`push_constant::PARAMS`] that the parameter block leaves free.
    pub address: u32,
    /// Bytes for the local memory of each invocation: a multiple of 16, and 0 if local memory lies elsewhere.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub local_bytes: u32,
    /// Whether all shared memory lies there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

impl Scratch {
    /// Where the push constants have its address, for a kernel whose parameter block lies there.
    pub fn address_for(params: ParamLocation) -> u32 {
        match params {
            ParamLocation::PushConstant => push_constant::PARAMS_ADDRESS,
            ParamLocation::Buffer => push_constant::PARAMS,
        }
    }

    /// Bytes that a workgroup takes which has so many invocations and bytes of shared memory.
    pub fn bytes(self, invocations: u32, shared_bytes: u32) -> u64 {
        let local = u64::from(self.local_bytes) * u64::from(invocations);
        if self.shared { local + u64::from(shared_bytes) } else { local }
    }
}

/// A cluster of several blocks, which is one workgroup. Workgroups have one dimension.
///
/// The blocks lie in it one after the other, x fastest: each takes as many invocations as its threads do, or
/// [`Packing::invocations`] with packing. So do their shares of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cluster {
    /// Blocks in x, y and z. The grid is a multiple of it.
    pub size: [u32; 3],
    /// The shared memory of each block is a multiple of so many bytes: a power of two, at least 16.
    pub shared_align: u32,
    /// Bytes of the translator's own behind all blocks' shared memory: a multiple of 16.
    pub own_shared_bytes: u32,
}

impl Cluster {
    /// Blocks of a cluster.
    pub fn blocks(self) -> u32 {
        self.size.into_iter().fold(1, u32::saturating_mul)
    }

    /// Bytes of shared memory that a block takes which declares `static_bytes` and gets `dynamic_bytes`.
    pub fn share(self, static_bytes: u32, dynamic_bytes: u32) -> u64 {
        let block = u64::from(static_bytes).next_multiple_of(16) + u64::from(dynamic_bytes);
        block.max(1).next_multiple_of(self.shared_align.max(1).into())
    }

    /// Bytes of shared memory of a workgroup of such blocks.
    pub fn shared_bytes(self, static_bytes: u32, dynamic_bytes: u32) -> u64 {
        let blocks = self.share(static_bytes, dynamic_bytes).saturating_mul(self.blocks().into());
        blocks.saturating_add(self.own_shared_bytes.into())
    }
}

/// A kernel's use of shared memory. Dynamic shared memory begins at `static_bytes` rounded up to 16.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// Bytes that each block declares, the translator's own included where [`Entry::cluster`] doesn't say them.
    pub static_bytes: u32,
    /// How many of them are the translator's own: for barriers, fences and the like.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub own_bytes: u32,
    /// Whether the kernel refers to dynamic (`.extern .shared`) memory.
    pub dynamic: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(bytes: &u32) -> bool {
    *bytes == 0
}

/// What a kernel demands of its block size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSize {
    /// `.reqntid`: exactly this.
    pub required: Option<[u32; 3]>,
    /// `.maxntid`: at most as many threads as the product.
    pub max: Option<[u32; 3]>,
    /// The threads, rounded up to whole warps of 32, must be a multiple of this: the kernel's barriers wait for so many.
    #[serde(default)]
    pub threads: Option<u32>,
}

/// The module's `.global` and `.const` variables: one allocation, filled from `image` when the module is loaded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variables {
    /// Size of the allocation in bytes.
    pub size: u64,
    /// Alignment of the allocation in bytes.
    pub align: u32,
    /// The variables by offset.
    pub list: Vec<Variable>,
    /// Initial bytes, as runs; everything else is zero.
    pub image: Vec<ImageRun>,
    /// Places that receive a device address.
    pub relocations: Vec<Relocation>,
}

/// One module variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// PTX name.
    pub name: String,
    /// `global` or `const`.
    pub space: String,
    /// PTX scalar type of its elements, without the dot.
    #[serde(rename = "type")]
    pub ty: String,
    /// Offset in the allocation in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

/// A run of initial bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRun {
    /// Offset in the allocation.
    pub offset: u64,
    /// The bytes as lowercase hexadecimal digits.
    #[serde(with = "hex_bytes")]
    pub bytes: Vec<u8>,
}

/// A place in the image that receives an address: `(address of the allocation + target) >> shift`, cut to `size` bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocation {
    /// Where, as an offset in the allocation.
    pub offset: u64,
    /// Bytes written there: 1 to 8.
    pub size: u8,
    /// Offset in the allocation that the address points to.
    pub target: u64,
    /// Right shift in bits (from PTX's `mask()` operators).
    pub shift: u8,
}

mod hex_bytes {
    //! Bytes as one hexadecimal string: compact in JSON and easy to read back in any language.
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
        let text: String = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        serializer.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
        match digits {
            Some(digits) if digits.len() % 2 == 0 => {
                Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
            }
            _ => Err(D::Error::custom("expected pairs of hexadecimal digits")),
        }
    }
}
