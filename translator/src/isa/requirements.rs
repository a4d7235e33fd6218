//! Requirements of words in instructions and declarations: the first target, and the first version of PTX, that have
//! them, according to ptxas 13.5. Requirements of a row as a whole are that row's
//! [`Availability`](super::availability::Availability).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::modifiers::AddressSpace;
use super::types::ScalarType;
use super::word::Word;
use crate::ast;

/// The requirements of instructions with certain words.
struct Requirement {
    /// The first target, such as 90 for sm_90, or 0 for all.
    target: u32,
    /// The first version of PTX.
    version: (u32, u32),
    /// Opcodes, with `|` between them; empty for all.
    opcodes: &'static str,
    /// Its modifiers, others perhaps between them; each may be one of several, with `|` between them. Types and state spaces are in this
    /// order, and one behind `!` is missing.
    words: &'static str,
}

macro_rules! requirements {
    ($($target:literal $version:tt, $opcodes:literal $($words:literal)?;)*) => {
        const REQUIREMENTS: &[Requirement] = &[$(Requirement {
            target: $target,
            version: $version,
            opcodes: $opcodes,
            words: concat!($($words)?),
        }),*];
    };
}

requirements! {
    // Floats
    53 (4, 2), "abs|add|sub|mul|fma|neg|set|setp|tex" "f16|f16x2";
    53 (6, 5), "set" "u16|s16|u32|s32.f16|f16x2";
    0 (6, 5), "abs" "f16|f16x2";
    0 (6, 0), "neg" "f16|f16x2";
    75 (7, 0), "ex2" "f16|f16x2";
    75 (7, 0), "tanh";
    80 (7, 0), "" "bf16|bf16x2";
    80 (7, 0), "" "relu";
    80 (7, 0), "min|max" "f16|f16x2";
    80 (7, 0), "min|max" "NaN";
    86 (7, 2), "min|max" "xorsign";
    90 (7, 8), "add|sub|mul|set|setp|ex2|tanh" "bf16|bf16x2";
    90 (8, 1), "fma" "oob";
    100 (8, 6), "add|sub|mul|fma" "f32x2";
    100 (8, 6), "add|sub|fma" "f32.f16|bf16";
    0 (4, 0), "rsqrt" "approx.ftz.f64";
    0 (9, 5), "sin|cos" "2pi";

    // Conversions
    70 (6, 0), "cvt" "satfinite";
    80 (7, 0), "cvt" "f16x2.f32";
    80 (7, 1), "cvt" "f32.bf16";
    80 (7, 0), "cvt" "tf32";
    80 (8, 1), "cvt" "satfinite.tf32";
    90 (7, 8), "cvt" "rn|rz.tf32";
    100 (8, 6), "cvt" "rn|rz.satfinite.tf32";
    90 (7, 8), "cvt" "bf16.bf16|f16|f64|u8|u16|u32|u64|s8|s16|s32|s64";
    90 (7, 8), "cvt" "f16|f64|u8|u16|u32|u64|s8|s16|s32|s64.bf16";
    90 (7, 8), "cvt" "ftz.f32.bf16";
    0 (8, 1), "cvt" "satfinite.f16.f32";
    80 (8, 1), "cvt" "satfinite.f16x2|bf16|bf16x2.f32";
    89 (7, 8), "cvt" "e4m3x2|e5m2x2";
    0 (8, 6), "cvt" "e2m1x2|e2m3x2|e3m2x2|ue8m0x2";
    0 (8, 7), "cvt" "rs";
    0 (9, 1), "cvt" "s2f6x2";
    0 (9, 1), "cvt" "e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2.bf16x2";
    0 (9, 1), "cvt" "e2m1x2|e2m3x2|e3m2x2.f16x2";
    0 (9, 2), "cvt" "bf16x2.e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2";
    72 (6, 5), "cvt" "pack";
    75 (6, 5), "cvt" "pack.sat.u2|s2|u4|s4";

    // Integers
    90 (8, 0), "add|min|max" "u16x2|s16x2";
    90 (8, 0), "min|max" "relu.s32";
    0 (9, 2), "add|sub" "sat.u16x2|s16x2";
    0 (9, 2), "add|sub|neg|min|max" "u8x4|s8x4";
    0 (4, 3), "add|addc|sub|subc|mad|madc" "cc.u64|s64";
    70 (7, 6), "bmsk|szext";
    50 (4, 3), "lop3";
    70 (8, 2), "lop3" "and|or|xor";
    32 (3, 1), "shf";
    61 (5, 0), "dp2a|dp4a";
    30 (6, 0), "fns";
    30 (3, 0), "vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2|vset2|vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4|vset4";

    // Memory
    0 (3, 1), "cvta|isspacep" "const";
    70 (7, 7), "cvta|isspacep" "param|param::entry|param::func";
    0 (8, 3), "" "param::entry|param::func";
    0 (7, 8), "" "!async.shared::cta";
    90 (7, 8), "" "shared::cluster";
    90 (7, 8), "" "cluster";
    70 (6, 0), "" "weak|relaxed|acquire|release|acq_rel";
    60 (5, 0), "atom|red" "cta|gpu|sys";
    32 (3, 1), "ld" "nc";
    75 (7, 4), "" "L2::64B|L2::128B";
    70 (7, 4), "ld|st" "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate";
    80 (7, 4), "" "L2::256B";
    80 (7, 4), "" "L2::cache_hint";
    80 (7, 4), "createpolicy|discard|applypriority";
    80 (7, 4), "prefetch" "L2::evict_last|L2::evict_normal";
    70 (8, 2), "ld|st" "mmio";
    0 (9, 3), "ld|st" "!async.mmio.acquire|release";
    70 (8, 3), "ld|ldu|st|mov" "b128";
    0 (8, 4), "ld|st|atom" "sys.b128";
    0 (8, 6), "st" "bulk";
    32 (3, 1), "atom|red" "and|or|xor|min|max.b64|u64|s64";
    60 (5, 0), "atom|red" "add.f64";
    60 (6, 2), "atom|red" "add.f16x2";
    70 (6, 3), "atom|red" "add.f16";
    70 (6, 3), "atom" "cas.b16";
    90 (7, 8), "atom|red" "bf16|bf16x2";
    90 (8, 1), "atom|red" "v2|v4|v8";
    90 (8, 3), "atom" "b128";
    52 (7, 3), "alloca|stacksave|stackrestore";

    // Copies, and what counts them
    80 (7, 0), "cp" "async";
    0 (7, 8), "cp" "async.mbarrier.shared::cta";
    90 (8, 0), "cp" "async.bulk";
    90 (8, 6), "cp" "async.bulk.shared::cta.global";
    100 (8, 6), "cp" "cp_mask";
    0 (8, 6), "cp" "cta_group::1|cta_group::2";
    0 (8, 6), "cp" "tile::gather4|tile::scatter4";
    0 (9, 2), "cp" "ignore_oob";
    90 (8, 0), "cp" "reduce";
    80 (7, 0), "mbarrier";
    80 (7, 1), "mbarrier" "test_wait.parity";
    90 (7, 8), "mbarrier" "try_wait";
    90 (8, 0), "mbarrier" "expect_tx|complete_tx";
    90 (8, 6), "mbarrier" "arrive|arrive_drop|test_wait|try_wait.relaxed";
    80 (8, 0), "mbarrier" "cta|cluster";
    90 (8, 1), "st|red" "async";
    0 (8, 7), "st|red" "async.release";
    0 (9, 2), "st" "async.b128";
    90 (8, 1), "multimem";
    90 (8, 2), "multimem" "acc::f32";
    90 (8, 6), "multimem" "e4m3x4|e5m2x4";
    90 (8, 3), "tensormap";
    90 (8, 6), "tensormap" "replace.swizzle_atomicity";
    90 (8, 0), "prefetch" "tensormap";

    // Threads
    30 (3, 0), "shfl";
    30 (6, 0), "shfl|vote" "sync";
    30 (6, 2), "activemask";
    70 (6, 0), "match";
    70 (6, 2), "nanosleep";
    30 (6, 0), "brx";
    80 (7, 0), "redux";
    0 (8, 6), "redux" "f32";
    90 (8, 0), "elect";
    90 (7, 8), "mapa|getctarank|griddepcontrol";
    30 (6, 0), "barrier";
    30 (6, 0), "bar" "warp";
    90 (7, 8), "barrier" "cluster";
    90 (8, 0), "barrier" "cluster.relaxed|acquire|release";
    0 (7, 8), "bar|barrier" "cta";
    70 (6, 0), "fence";
    60 (7, 5), "fence|membar" "proxy";
    90 (8, 0), "fence" "proxy.async";
    90 (8, 3), "fence" "proxy.tensormap::generic";
    90 (8, 0), "fence" "mbarrier_init";
    90 (8, 6), "fence" "sync_restrict::shared::cta|sync_restrict::shared::cluster";
    90 (8, 0), "setmaxnreg";
    100 (8, 6), "clusterlaunchcontrol";

    // Textures and surfaces
    0 (3, 1), "tex" "base|level|grad";
    0 (4, 3), "tex" "grad.cube|acube";
    30 (3, 2), "tex" "2dms|a2dms";
    30 (4, 3), "tld4" "a2d|cube|acube";
    30 (4, 3), "txq" "level";
    0 (4, 1), "txq|suq" "array_size|num_mipmap_levels|num_samples";
    0 (4, 2), "suq" "memory_layout";
    30 (4, 0), "istypep";
    50 (8, 1), "sured" "min|max.b64|u64|s64";
    30 (4, 1), "sust" "p.a1d|a2d";

    // Matrices
    75 (6, 5), "ldmatrix";
    75 (7, 8), "movmatrix";
    90 (7, 8), "stmatrix";
    100 (8, 6), "ldmatrix|stmatrix" "m16n16|m8n16|m16n8";
    70 (6, 0), "wmma";
    70 (6, 1), "wmma" "m32n8k16|m8n32k16";
    72 (6, 3), "wmma" "s8|u8";
    75 (6, 3), "wmma" "m8n8k32|m8n8k128";
    80 (7, 0), "wmma" "f64|bf16|tf32";
    80 (7, 1), "mma|wmma" "and";
    0 (6, 4), "mma";
    75 (6, 5), "mma" "m8n8k16|m8n8k32|m16n8k8";
    80 (7, 0), "mma" "m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256";
    80 (7, 0), "mma" "f64|bf16|tf32";
    75 (7, 0), "mma" "m8n8k128";
    80 (7, 1), "mma" "sp";
    80 (8, 5), "mma" "sp::ordered_metadata";
    89 (8, 4), "mma" "e4m3|e5m2";
    89 (8, 7), "mma" "m16n8k16.e4m3|e5m2";
    89 (8, 7), "mma" "f16.e4m3|e5m2";
    120 (8, 7), "mma" "e2m3|e3m2|e2m1";
    90 (8, 0), "wgmma";
    90 (8, 2), "wgmma" "sp";
    90 (8, 4), "wgmma" "s8.u8";
    90 (8, 4), "wgmma" "u8.s8";
    100 (8, 6), "tcgen05";
    90 (9, 1), "multimem" "cp";
}

/// The requirements of special registers, types, directives and operators of initial values: the first target, or 0 for
/// all, the first version, and the words.
const NAMES: &[(u32, (u32, u32), &str)] = &[
    (0, (1, 3), "%laneid %warpid %smid %pm0 %pm1 %pm2 %pm3"),
    (0, (2, 0), "%nwarpid %nsmid %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock64"),
    (0, (3, 0), "%pm4 %pm5 %pm6 %pm7"),
    (30, (3, 1), "%globaltimer %globaltimer_lo %globaltimer_hi"),
    (50, (4, 0), "%pm0_64 %pm1_64 %pm2_64 %pm3_64 %pm4_64 %pm5_64 %pm6_64 %pm7_64"),
    (0, (4, 1), "%total_smem_size %dynamic_smem_size"),
    (0, (5, 0), "%clock_hi"),
    (80, (7, 6), "%reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap"),
    (80, (7, 6), "%reserved_smem_offset_0 %reserved_smem_offset_1"),
    (90, (7, 8), "%clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank"),
    (90, (7, 8), "%is_explicit_cluster"),
    (50, (8, 0), "%current_graph_exec"),
    (90, (8, 1), "%aggr_smem_size"),
    (53, (1, 0), ".f16x2"),
    (70, (8, 3), ".b128"),
    (0, (1, 3), ".maxnreg .maxntid .minnctapersm"),
    (0, (2, 0), ".pragma"),
    (0, (2, 1), ".reqntid"),
    (0, (3, 1), ".weak generic()"),
    (30, (4, 0), ".managed"),
    (0, (5, 0), ".common"),
    (30, (6, 0), ".branchtargets"),
    (30, (6, 3), ".alias"),
    (30, (6, 4), ".noreturn"),
    (0, (7, 1), "mask()"),
    (90, (7, 8), ".explicitcluster .reqnctapercluster .maxclusterrank"),
    (80, (9, 0), ".abi_preserve .abi_preserve_control"),
    (90, (9, 0), ".blocksareclusters"),
];

/// The requirements of opcodes, and those of all.
static BY_OPCODE: LazyLock<FxHashMap<&'static str, Vec<&'static Requirement>>> = LazyLock::new(|| {
    let mut by_opcode: FxHashMap<&'static str, Vec<&'static Requirement>> = FxHashMap::default();
    for needed in REQUIREMENTS {
        for opcode in needed.opcodes.split('|') {
            by_opcode.entry(opcode).or_default().push(needed);
        }
    }
    by_opcode
});

impl Requirement {
    /// Whether an instruction has the words.
    fn concerns(&self, instruction: &ast::Instruction<'_>) -> bool {
        let modifiers = instruction.modifiers.iter().map(|modifier| modifier.text);
        let mut placed = modifiers.clone();
        let has = |word: &str| {
            let mut choices = word.split('|');
            match word.strip_prefix('!') {
                Some(without) => modifiers.clone().all(|modifier| modifier != without),
                None if choices.clone().all(is_placed) => {
                    placed.any(|modifier| choices.clone().any(|choice| choice == modifier))
                }
                None => choices.any(|choice| modifiers.clone().any(|modifier| modifier == choice)),
            }
        };
        self.words.split('.').filter(|word| !word.is_empty()).all(has)
    }
}

/// Whether the place of a modifier among others matters.
fn is_placed(modifier: &str) -> bool {
    ScalarType::from_name(modifier).is_some() || Word::from_text(modifier).and_then(AddressSpace::of).is_some()
}

/// The requirements that may concern instructions of an opcode.
fn of_opcode(opcode: &str) -> impl Iterator<Item = &'static Requirement> {
    let of = |opcode| BY_OPCODE.get(opcode).map_or(&[][..], Vec::as_slice);
    of(opcode).iter().chain(of("")).copied()
}

/// The first version of PTX with all that this table knows of an instruction, if there is anything.
pub fn first_version(instruction: &ast::Instruction<'_>) -> Option<(u32, u32)> {
    let concerning = of_opcode(instruction.opcode.text).filter(|needed| needed.concerns(instruction));
    concerning.map(|needed| needed.version).max()
}

/// The requirement of an instruction that a module of a version and a target doesn't meet, in words.
pub fn lack(instruction: &ast::Instruction<'_>, version: (u32, u32), architecture: Option<u32>) -> Option<String> {
    let lacks = |needed: &Requirement| is_lacking(needed.target, needed.version, version, architecture);
    let mut lacking = of_opcode(instruction.opcode.text).filter(|needed| lacks(needed));
    let needed = lacking.find(|needed| needed.concerns(instruction))?;
    let words = instruction.modifiers.iter().map(|modifier| format!(".{}", modifier.text));
    let name = words.fold(instruction.opcode.text.to_owned(), |name, word| name + &word);
    Some(reason(&format!("`{name}`"), needed.target, needed.version, version))
}

/// The requirement that a module of a version and a target doesn't meet, of a special register, a type or a directive,
/// with its `%` or `.`, or of an operator of initial values with `()`.
pub fn lack_of(name: &str, version: (u32, u32), architecture: Option<u32>) -> Option<String> {
    let mut lacking = NAMES.iter().filter(|(target, first, _)| is_lacking(*target, *first, version, architecture));
    let (target, first, _) = lacking.find(|(_, _, names)| names.split(' ').any(|named| named == name))?;
    Some(reason(&format!("`{name}`"), *target, *first, version))
}

/// The requirement of an operand: its description, the first target, and the first version of PTX.
pub struct OperandRequirement(pub &'static str, pub u32, pub (u32, u32));

impl OperandRequirement {
    /// The requirement in words, if a module of a version and a target doesn't meet it.
    pub fn lack(self, version: (u32, u32), architecture: Option<u32>) -> Option<String> {
        let Self(name, target, first) = self;
        is_lacking(target, first, version, architecture).then(|| reason(name, target, first, version))
    }
}

fn is_lacking(target: u32, first: (u32, u32), version: (u32, u32), architecture: Option<u32>) -> bool {
    version < first || architecture.is_some_and(|architecture| architecture < target)
}

fn reason(name: &str, target: u32, first: (u32, u32), version: (u32, u32)) -> String {
    let (major, minor) = first;
    if version < first {
        format!("{name}, which PTX has from {major}.{minor} on")
    } else {
        format!("{name}, which targets from sm_{target} on have")
    }
}
