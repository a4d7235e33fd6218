//! The description that travels with a SPIR-V module: all that a host program must know to bind and launch it.
//!
//! It is a Rust type and, through serde, the `.json` file beside the `.spv`.

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

mod assumptions;
mod bundle;
mod contents;
mod header;
pub mod launches;
pub mod texture;

pub use assumptions::Assumptions;
pub use bundle::{Bundle, Variant};
pub use contents::Contents;
pub use launches::Launches;
use ptx2spv_target::{Cluster, Feature, Math, Packing, Scratch, Version};

/// Specialization constant ids of every module.
pub mod spec_id {
    /// Block size in x; y and z follow as 1 and 2.
    pub const BLOCK_X: u32 = 0;
    /// Block size in y.
    pub const BLOCK_Y: u32 = 1;
    /// Block size in z.
    pub const BLOCK_Z: u32 = 2;
    /// Total shared memory of the launch, static and dynamic, in bytes rounded up to a multiple of 16; for entries with
    /// [`super::Entry::cluster`] what [`ptx2spv_target::Cluster::shared_bytes`] gives.
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
    /// [`ptx2spv_target::Scratch::address`].
    pub const PARAMS_ADDRESS: u32 = 8;
    /// 3 × u32: `%nctaid`, the whole grid's size even if it is split over several dispatches.
    pub const GRID_SIZE: u32 = 16;
    /// 3 × u32: added to the dispatch's own workgroup id to give `%ctaid`, or `%clusterid` of entries with
    /// [`super::Entry::cluster`].
    pub const GRID_BASE: u32 = 28;
    /// First byte of the parameter block, where [`super::ParamLocation::PushConstant`] says so; or the address of scratch memory.
    pub const PARAMS: u32 = 40;
    /// u64: device address of the launch's workspace, for entries with [`super::Entry::cooperative`].
    pub const WORKSPACE_ADDRESS: u32 = 48;
    /// u64: device address of the table of live [`super::allocations`], for entries that have it and their parameters in a buffer. It
    /// comes after the parameters where these are push constants too.
    pub const ALLOCATIONS_ADDRESS: u32 = 56;
}

/// The interface of one SPIR-V module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// Version of this description's form, and of what its module expects of the host: [`Interface::FORMAT`].
    #[serde(deserialize_with = "this_format")]
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
    /// Where kernels ask the host to launch others, if some kernel of the PTX module may: see [`launches`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<Launches>,
    /// Device features that the module's capabilities need (the union over its entries).
    pub features: BTreeSet<Feature>,
    /// What it takes for granted of the device besides; unknown if it doesn't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relies_on: Option<Assumptions>,
}

impl Interface {
    /// The value of [`Interface::format`] that this version writes, and the only one that it reads. It changes whenever a host that
    /// knows the earlier form would misread a description, or would not do what the module expects of it.
    pub const FORMAT: u32 = 3;

    /// What to tell about a description of another format.
    pub fn other_format(format: u32) -> String {
        let age = if format < Self::FORMAT { "an older" } else { "a newer" };
        format!(
            "format {format} is that of {age} version of ptx2spv, this version reads format {}: translate the PTX again",
            Self::FORMAT
        )
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// Reads [`Interface::format`]. The fields of other formats may be others, so that what is wrong with those says little.
fn this_format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let format = u32::deserialize(deserializer)?;
    if format == Interface::FORMAT { Ok(format) } else { Err(D::Error::custom(Interface::other_format(format))) }
}

/// A record in the variables' allocation where kernels report what went wrong, for the host to look at when they have
/// finished: [`Status::WORDS`] words of 32 bits. The first report stays until the host clears them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Offset in the variables' allocation in bytes, a multiple of 4.
    pub offset: u64,
}

impl Status {
    /// Nothing went wrong: what the first word holds where it holds no [`ptx2spv_target::Fault::code`]. The initial value.
    pub const FINE: u32 = 0;
    /// Words of the record.
    pub const WORDS: u32 = 16;
    /// Size of the record in bytes.
    pub const SIZE: u64 = 4 * Self::WORDS as u64;
    /// The word with the kernel's [`Entry::number`].
    pub const KERNEL: u32 = 1;
    /// The word with the place's index into [`Entry::reports`].
    pub const PLACE: u32 = 2;
    /// The first word of what the fault has to say besides ([`ptx2spv_target::Fault::Assertion`]).
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

/// How much device memory kernels have for what they print, allocate and launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceSizes {
    /// Bytes of the region that `malloc` takes from: rounded up to a power of two, [`heap::BYTES`] to [`heap::MAX_BYTES`].
    pub heap: u64,
    /// Bytes of the region that `printf` writes to: rounded up to a multiple of 16, 1 KiB to [`output::MAX_BYTES`].
    pub output: u64,
    /// How many launches the kernel of one grid can ask for: 1 to [`launches::MAX_CAPACITY`].
    pub launches: u32,
}

impl Default for ServiceSizes {
    fn default() -> Self {
        Self { heap: heap::BYTES, output: output::BYTES, launches: launches::CAPACITY }
    }
}

impl ServiceSizes {
    /// The sizes that there can be, for those asked for.
    #[must_use]
    pub fn rounded(self) -> Self {
        let output = self.output.clamp(1 << 10, output::MAX_BYTES).next_multiple_of(16);
        let launches = self.launches.clamp(1, launches::MAX_CAPACITY);
        Self { heap: heap::region_bytes(self.heap), output, launches }
    }
}

/// What lies in the region that kernels print to, all in 32-bit words. It begins as zeros, and whoever has read it clears
/// what it has read.
pub mod output {
    /// Size of the region in bytes, unless more is asked for: as much as CUDA has.
    pub const BYTES: u64 = 1 << 20;
    /// The most that it can have.
    pub const MAX_BYTES: u64 = 1 << 30;
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

/// What lies in the workspace of a cooperative launch, which begins as zeros but for [`workspace::PATIENCE`]. As long as blocks are
/// suspended, the host dispatches the grid again, which then goes on where it was.
pub mod workspace {
    /// Offset of the word by which blocks wait for each other, after one that tells CUDA's libraries the size of both.
    pub const BARRIER: u64 = 4;
    /// Offset of the word that counts the workgroups suspended at the end of a dispatch. The host clears it before each.
    pub const SUSPENDED: u64 = 8;
    /// Offset of the word that counts the workgroups that could do more in a dispatch than wait. The host may clear it.
    pub const PROGRESS: u64 = 12;
    /// Offset of the word that says how often waiting threads look again before their workgroup is suspended.
    pub const PATIENCE: u64 = 16;
    /// Offset of what the first workgroup saves, if workgroups can be suspended; those of the others follow, x fastest.
    pub const BLOCKS: u64 = 64;
    /// Bytes of a workgroup before its shared memory, after which its threads' words follow.
    pub const BLOCK_HEADER: u64 = 16;
}

/// What a kernel needs that is translated for cooperative launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cooperative {
    /// Words that each thread of the workgroup saves in the [`workspace`] when that is suspended, if it can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_words: Option<u32>,
}

impl Cooperative {
    /// Size of the [`workspace`] in bytes, for so many workgroups of so many threads and bytes of shared memory.
    pub fn workspace_bytes(self, workgroups: u64, threads: u64, shared_bytes: u64) -> u64 {
        let block = |words: u32| {
            let threads = threads.saturating_mul(4 * u64::from(words));
            threads.saturating_add(shared_bytes).saturating_add(workspace::BLOCK_HEADER)
        };
        workgroups.saturating_mul(self.saved_words.map_or(0, block)).saturating_add(workspace::BLOCKS)
    }
}

/// The table of live allocations, for kernels that check their accesses: their number in 64 bits, and from
/// [`allocations::ENTRIES`] on an entry for each, sorted by address. The first entry is empty and at address 0.
pub mod allocations {
    /// Offset of the first entry.
    pub const ENTRIES: u64 = 16;
    /// Bytes of an entry: the address and the size, of 64 bits each.
    pub const ENTRY: u64 = 16;
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

    /// Size of the region in bytes, unless more is asked for: as much as CUDA has.
    pub const BYTES: u64 = 8 << 20;
    /// The most that it can have.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// Size of a region of at least so many bytes, as far as there can be one: a power of two.
    pub fn region_bytes(bytes: u64) -> u64 {
        bytes.clamp(BYTES, MAX_BYTES).next_power_of_two()
    }

    /// The arenas of a region of a size that [`region_bytes`] gives. Their granules take seven eighths of it, their bitmaps and tables
    /// less than one.
    ///
    /// The smallest has allocations of less than 1 KiB, 32 KiB and 1 MiB. One that is *k* times as large has *k* times as many,
    /// but for a third of the place of the last, and in that others, of less than *k* MiB.
    pub fn arenas(bytes: u64) -> Vec<Arena> {
        let times = region_bytes(bytes) / BYTES;
        // Both are small.
        let (factor, shift) = (u32::try_from(times).unwrap_or(1), times.trailing_zeros());
        let arena = |shift, words, [bitmap, sizes, granules]: [u64; 3]| {
            let [bitmap, sizes, granules] = [bitmap, sizes, granules].map(|offset| offset * times);
            Arena { shift, words, bitmap, sizes, granules }
        };
        let last = if times == 1 { 3 } else { factor };
        let mut arenas = vec![
            arena(5, 2048 * factor, [0, 0x4000, 1 << 20]),
            arena(10, 64 * factor, [0x2000, 0x44000, 3 << 20]),
            arena(15, last, [0x2100, 0x46000, 5 << 20]),
        ];
        if times > 1 {
            arenas.push(arena(15 + shift, 2, [0x2200, 0x47000, 6 << 20]));
        }
        arenas
    }
}

/// A place from which a kernel may report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLocation {
    /// Line of the PTX text, from 1; 0 for the kernel as a whole.
    pub line: u32,
    /// The module that the line is counted in, where several were linked or the kernel checks its accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
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
    /// The number of its PTX module's `.target sm_NN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<u32>,
    /// How it names itself in reports: its position among the kernels of the PTX module, from 0, and from bit 24 on what tells
    /// versions for blocks of different sizes  from each other.
    #[serde(default)]
    pub number: u32,
    /// From where it may report something to the host ([`Interface::status`]); empty if it never does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<SourceLocation>,
    /// Whether it may print something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prints: bool,
    /// Whether it may launch kernels: see [`launches`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub launches: bool,
    /// Whether its blocks may wait for each other: such a grid is no longer sure to end if it is split into several dispatches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// What it takes besides, if it is translated for cooperative launches: its blocks may wait for each other then, however many
    /// they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooperative: Option<Cooperative>,
    /// What it takes besides, if its threads wait for what they launch and it is translated for ordinary launches: see [`launches`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for_launches: Option<Cooperative>,
    /// How the block's threads lie on invocations. Without it, each thread is an invocation of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<Packing>,
    /// The blocks that share a workgroup, for a kernel whose clusters have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// Local and shared memory for which the launch has to provide device memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<Scratch>,
    /// Where the push constants have the address of the table of live [`allocations`], if the kernel checks its accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocations: Option<u32>,
    /// Device features that this kernel needs.
    pub features: BTreeSet<Feature>,
}

impl Entry {
    /// The workspace of its launches, if they have one.
    pub fn workspace(&self) -> Option<Cooperative> {
        self.cooperative.or(self.waits_for_launches)
    }
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

impl ParamLocation {
    /// Where the push constants have the address of scratch memory, for a kernel whose parameter block goes there.
    pub fn scratch_address(self) -> u32 {
        match self {
            ParamLocation::PushConstant => push_constant::PARAMS_ADDRESS,
            ParamLocation::Buffer => push_constant::PARAMS,
        }
    }

    /// Where the push constants have the address of the table of live [`allocations`], for a kernel whose parameter block goes there
    /// and that checks its accesses.
    pub fn allocations_address(self, params_size: u32) -> u32 {
        match self {
            ParamLocation::PushConstant => push_constant::PARAMS.saturating_add(params_size).next_multiple_of(8),
            ParamLocation::Buffer => push_constant::ALLOCATIONS_ADDRESS,
        }
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(flag: &bool) -> bool {
    !flag
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
    /// Whether kernels have pointers of 32 bits, the low halves of device addresses: then all memory that they reach lies less than 1 GiB
    /// before or after the start of the variables.
    #[serde(default, skip_serializing_if = "is_false")]
    pub near: bool,
}

/// One module variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// PTX name.
    pub name: String,
    /// `global` or `const`.
    pub space: String,
    /// PTX scalar type of its elements, without the dot. `texref`, `samplerref` and `surfref` are records: see [`texture`].
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
    #[serde(with = "hex")]
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
