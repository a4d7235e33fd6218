//! What operations cost on devices that lack something: `docs/costs.md` has the instructions that the reference device executes
//! for each of them in a module made for a preset. `PTX2SPV_BLESS=1` writes the table anew; a change of it is a change of the code that
//! is made.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ptx2spv_runtime::{Device, LaunchConfig, Module, ReferenceDevice, ReferenceOptions};
use ptx2spv_translator::{Options, Program, Source, Target};

/// Presets that lack ever more: see the page.
const PRESETS: [&str; 6] = ["amd-rdna", "lavapipe", "mali", "apple-moltenvk", "swiftshader", "vulkan1.1-minimum"];

const THREADS: u32 = 32;

/// Bytes of a thread's operands, and of what it accesses otherwise.
const RECORD: u32 = 128;

/// An instruction with the type of its result and that of its operands. `%r` is its result, `%a`, `%b`, `%c` are its operands, `%n` is a
/// small number, `%w` one of 64 bits, and `@` an address. `{%r4}` stands for four results, all of which are needed.
type Operation = (&'static str, &'static str, &'static str);

/// Groups with their names.
const OPERATIONS: &[(&str, &[Operation])] = &[
    (
        "64-bit integers",
        &[
            ("add.u64 %r, %a, %b", "u64", "u64"),
            ("sub.u64 %r, %a, %b", "u64", "u64"),
            ("mul.lo.u64 %r, %a, %b", "u64", "u64"),
            ("mul.hi.u64 %r, %a, %b", "u64", "u64"),
            ("mul.hi.s64 %r, %a, %b", "s64", "s64"),
            ("mad.lo.u64 %r, %a, %b, %c", "u64", "u64"),
            ("div.u64 %r, %a, %b", "u64", "u64"),
            ("div.s64 %r, %a, %b", "s64", "s64"),
            ("rem.u64 %r, %a, %b", "u64", "u64"),
            ("rem.s64 %r, %a, %b", "s64", "s64"),
            ("neg.s64 %r, %a", "s64", "s64"),
            ("abs.s64 %r, %a", "s64", "s64"),
            ("min.u64 %r, %a, %b", "u64", "u64"),
            ("max.s64 %r, %a, %b", "s64", "s64"),
            ("and.b64 %r, %a, %b", "b64", "b64"),
            ("shl.b64 %r, %a, 7", "b64", "b64"),
            ("shl.b64 %r, %a, %n", "b64", "b64"),
            ("shr.u64 %r, %a, %n", "u64", "u64"),
            ("shr.s64 %r, %a, %n", "s64", "s64"),
            ("set.lt.u32.u64 %r, %a, %b", "u32", "u64"),
            ("set.lt.u32.s64 %r, %a, %b", "u32", "s64"),
            ("popc.b64 %r, %a", "u32", "b64"),
            ("clz.b64 %r, %a", "u32", "b64"),
            ("brev.b64 %r, %a", "b64", "b64"),
            ("bfe.u64 %r, %a, %n, %n", "u64", "u64"),
            ("bfi.b64 %r, %a, %b, %n, %n", "b64", "b64"),
            ("mul.wide.u32 %r, %a, %b", "u64", "u32"),
            ("mul.wide.s32 %r, %a, %b", "s64", "s32"),
            ("mad.wide.u32 %r, %a, %b, %w", "u64", "u32"),
        ],
    ),
    (
        "32-bit and narrow integers",
        &[
            ("mul.hi.u32 %r, %a, %b", "u32", "u32"),
            ("mul.hi.s32 %r, %a, %b", "s32", "s32"),
            ("div.u32 %r, %a, %b", "u32", "u32"),
            ("div.s32 %r, %a, %b", "s32", "s32"),
            ("add.u16 %r, %a, %b", "u16", "u16"),
            ("mul.lo.u16 %r, %a, %b", "u16", "u16"),
            ("min.s16 %r, %a, %b", "s16", "s16"),
            ("shr.s16 %r, %a, %n", "s16", "s16"),
            ("dp4a.s32.s32 %r, %a, %b, %c", "s32", "s32"),
            ("dp2a.lo.s32.s32 %r, %a, %b, %c", "s32", "s32"),
            ("popc.b32 %r, %a", "u32", "b32"),
            ("bfe.u32 %r, %a, %n, %n", "u32", "u32"),
            ("prmt.b32 %r, %a, %b, %n", "b32", "b32"),
            ("shf.l.wrap.b32 %r, %a, %b, %n", "b32", "b32"),
        ],
    ),
    (
        "f64",
        &[
            ("add.rn.f64 %r, %a, %b", "f64", "f64"),
            ("sub.rn.f64 %r, %a, %b", "f64", "f64"),
            ("mul.rn.f64 %r, %a, %b", "f64", "f64"),
            ("fma.rn.f64 %r, %a, %b, %c", "f64", "f64"),
            ("add.rz.f64 %r, %a, %b", "f64", "f64"),
            ("fma.rm.f64 %r, %a, %b, %c", "f64", "f64"),
            ("div.rn.f64 %r, %a, %b", "f64", "f64"),
            ("rcp.rn.f64 %r, %a", "f64", "f64"),
            ("sqrt.rn.f64 %r, %a", "f64", "f64"),
            ("min.f64 %r, %a, %b", "f64", "f64"),
            ("abs.f64 %r, %a", "f64", "f64"),
            ("neg.f64 %r, %a", "f64", "f64"),
            ("set.lt.u32.f64 %r, %a, %b", "u32", "f64"),
            ("cvt.f64.f32 %r, %a", "f64", "f32"),
            ("cvt.rn.f32.f64 %r, %a", "f32", "f64"),
            ("cvt.rn.f64.s32 %r, %a", "f64", "s32"),
            ("cvt.rn.f64.s64 %r, %a", "f64", "s64"),
            ("cvt.rzi.s32.f64 %r, %a", "s32", "f64"),
            ("cvt.rzi.s64.f64 %r, %a", "s64", "f64"),
            ("cvt.rmi.f64.f64 %r, %a", "f64", "f64"),
        ],
    ),
    (
        "f32",
        &[
            ("add.rn.f32 %r, %a, %b", "f32", "f32"),
            ("mul.rn.f32 %r, %a, %b", "f32", "f32"),
            ("fma.rn.f32 %r, %a, %b, %c", "f32", "f32"),
            ("add.rz.f32 %r, %a, %b", "f32", "f32"),
            ("mul.rm.f32 %r, %a, %b", "f32", "f32"),
            ("fma.rp.f32 %r, %a, %b, %c", "f32", "f32"),
            ("add.ftz.f32 %r, %a, %b", "f32", "f32"),
            ("div.rn.f32 %r, %a, %b", "f32", "f32"),
            ("rcp.rn.f32 %r, %a", "f32", "f32"),
            ("sqrt.rn.f32 %r, %a", "f32", "f32"),
            ("rsqrt.approx.f32 %r, %a", "f32", "f32"),
            ("ex2.approx.f32 %r, %a", "f32", "f32"),
            ("lg2.approx.f32 %r, %a", "f32", "f32"),
            ("sin.approx.f32 %r, %a", "f32", "f32"),
            ("tanh.approx.f32 %r, %a", "f32", "f32"),
            ("min.f32 %r, %a, %b", "f32", "f32"),
            ("neg.f32 %r, %a", "f32", "f32"),
            ("set.lt.u32.f32 %r, %a, %b", "u32", "f32"),
            ("cvt.rn.f32.u32 %r, %a", "f32", "u32"),
            ("cvt.rn.f32.s64 %r, %a", "f32", "s64"),
            ("cvt.rzi.s32.f32 %r, %a", "s32", "f32"),
            ("cvt.rzi.s64.f32 %r, %a", "s64", "f32"),
            ("cvt.rni.f32.f32 %r, %a", "f32", "f32"),
        ],
    ),
    (
        "f16",
        &[
            ("add.rn.f16 %r, %a, %b", "f16", "f16"),
            ("mul.rn.f16 %r, %a, %b", "f16", "f16"),
            ("fma.rn.f16 %r, %a, %b, %c", "f16", "f16"),
            ("add.rn.f16x2 %r, %a, %b", "f16x2", "f16x2"),
            ("fma.rn.f16x2 %r, %a, %b, %c", "f16x2", "f16x2"),
            ("min.f16 %r, %a, %b", "f16", "f16"),
            ("set.lt.u32.f16 %r, %a, %b", "u32", "f16"),
            ("cvt.rn.f16.f32 %r, %a", "f16", "f32"),
            ("cvt.f32.f16 %r, %a", "f32", "f16"),
            ("fma.rn.bf16 %r, %a, %b, %c", "bf16", "bf16"),
            ("cvt.rn.bf16.f32 %r, %a", "bf16", "f32"),
        ],
    ),
    (
        "Memory",
        &[
            ("ld.global.b8 %r, @", "b32", "b32"),
            ("ld.global.b16 %r, @", "b16", "b32"),
            ("ld.global.b32 %r, @", "b32", "b32"),
            ("ld.global.b64 %r, @", "b64", "b32"),
            ("st.global.b8 @, %a", "b32", "b32"),
            ("st.global.b16 @, %a", "b32", "b16"),
            ("st.global.b32 @, %a", "b32", "b32"),
            ("st.global.b64 @, %a", "b32", "b64"),
            ("atom.global.add.u32 %r, @, %a", "b32", "b32"),
            ("atom.global.add.f32 %r, @, %a", "f32", "f32"),
            ("atom.global.add.u64 %r, @, %a", "b64", "b64"),
            ("atom.global.cas.b64 %r, @, %a, %b", "b64", "b64"),
        ],
    ),
    (
        "Products of matrices",
        &[
            (
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r4}, {%a, %b, %a, %b}, {%b, %c}, {%c, %a, %c, %a}",
                "b32",
                "f16x2",
            ),
            (
                "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r2}, {%a, %b, %a, %b}, {%b, %c}, {%c, %a}",
                "b32",
                "f16x2",
            ),
            (
                "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r4}, {%a, %b, %a, %b}, {%b, %c}, {%c, %a, %c, %a}",
                "b32",
                "f32",
            ),
            (
                "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%r4}, {%a, %b, %a, %b}, {%b, %c}, {%c, %a, %c, %a}",
                "b32",
                "f32",
            ),
            (
                "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r4}, {%a, %b, %a, %b}, {%b, %c}, {%c, %a, %c, %a}",
                "b32",
                "b32",
            ),
            ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%r2}, {%a}, {%b}, {%c, %a}", "b64", "f64"),
            (
                "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r4}, {%a, %b, %a, %b}, {%b, %c, %b, %c}, {%c, %a, %c, %a}, %a, 0",
                "b32",
                "f16x2",
            ),
        ],
    ),
];

/// The type of registers, loads and stores.
fn bits(ty: &str) -> &'static str {
    if ty.ends_with("64") {
        "b64"
    } else if ty.ends_with("16") {
        "b16"
    } else {
        "b32"
    }
}

/// A kernel that executes an instruction `count` times, on the same operands in another order each. Results are combined, so that all are
/// needed, and so are all operands, whatever the count is.
fn kernel(index: usize, count: usize, (instruction, result, operand): Operation) -> String {
    let (r, o) = (bits(result), bits(operand));
    let mut body = String::new();
    for (round, [a, b, c]) in
        [["%a", "%b", "%c"], ["%b", "%c", "%a"], ["%c", "%a", "%b"]].into_iter().enumerate().take(count)
    {
        let address = format!("[%p+{}]", 64 + 8 * round);
        let one = instruction.replace("%a", "%1").replace("%b", "%2").replace("%c", "%3").replace("%r", "%s");
        let one = one.replace("%1", a).replace("%2", b).replace("%3", c).replace('@', &address);
        let given: Vec<String> = match results(instruction) {
            1 => vec!["%s".into()],
            several => (0..several).map(|number| format!("%s{number}")).collect(),
        };
        let one = one.replace(&format!("{{%s{}}}", given.len()), &format!("{{{}}}", given.join(", ")));
        let combined: String = given.iter().map(|given| format!("xor.{r} %r, %r, {given};")).collect();
        let _ = writeln!(body, "{one}; {combined}");
    }
    format!(
        ".visible .entry x{index}_{count}(.param .u64 p) {{\n\
         .reg .b64 %p, %w; .reg .b32 %t, %n; .reg .{o} %a, %b, %c; .reg .{r} %r, %s, %s<4>;\n\
         ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, {RECORD}, %p;\n\
         ld.global.{o} %a, [%p]; ld.global.{o} %b, [%p+8]; ld.global.{o} %c, [%p+16];\n\
         ld.global.{r} %r, [%p+24]; ld.global.b64 %w, [%p+32]; ld.global.b32 %n, [%p+40];\n\
         st.global.{o} [%p+104], %a; st.global.{o} [%p+112], %b; st.global.{o} [%p+120], %c;\n\
         {body}st.global.{r} [%p+48], %r; ret; }}\n"
    )
}

/// How many results an instruction gives.
fn results(instruction: &str) -> usize {
    match instruction.split_once("{%r") {
        Some((_, count)) => count.split('}').next().and_then(|count| count.parse().ok()).unwrap(),
        None => usize::from(instruction.contains("%r")),
    }
}

/// The operands of a thread: the first is longer than the second, so that quotients aren't trivial.
fn operands(ty: &str, thread: u32) -> [u64; 3] {
    let x = f64::from(thread);
    let floats = [1.0 + x / 7.0, 0.3 + x / 31.0, -0.75 - x / 13.0];
    let halves = |value: f64| u64::from(half_bits(value as f32));
    let mixed = u64::from(thread + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match ty {
        "f64" => floats.map(f64::to_bits),
        "f32" => floats.map(|value| u64::from((value as f32).to_bits())),
        "f16" => floats.map(halves),
        "f16x2" => floats.map(|value| halves(value) << 16 | halves(value)),
        "bf16" => floats.map(|value| u64::from((value as f32).to_bits() >> 16)),
        _ => [mixed, mixed.rotate_left(11) >> 25, mixed.rotate_left(29)],
    }
}

/// A normal number between 2^-14 and 2^15 as f16, cut off.
fn half_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits >> 16 & 0x8000) | ((bits >> 13 & 0x3ffff) - (112 << 10))) as u16
}

/// Instructions of each thread, on the average.
fn instructions(device: &Device, module: &Module, kernel: &str, ty: &str) -> f64 {
    let words = (0..THREADS).flat_map(|thread| {
        let [a, b, c] = operands(ty, thread);
        [a, b, c, 0, u64::from(thread), 5].into_iter().chain([0; RECORD as usize / 8 - 6])
    });
    let buffer = device.upload(&words.collect::<Vec<u64>>()).unwrap();
    let steps = || device.as_reference().map_or(0, ReferenceDevice::steps);
    let before = steps();
    let kernel = module.kernel(kernel).unwrap();
    // SAFETY: the reference device checks every access.
    unsafe { kernel.launch(&LaunchConfig::new([1; 3], [THREADS, 1, 1]), &[(&buffer).into()]) }.unwrap();
    device.synchronize().unwrap();
    (steps() - before) as f64 / f64::from(THREADS)
}

/// Kernels with an operation once more than others, in a module for one preset.
struct Column {
    device: Device,
    module: Module,
}

impl Column {
    fn new(preset: &str, source: &Source) -> Self {
        let target = Target::preset(preset).unwrap();
        let options: ReferenceOptions = format!("threads=1,target={preset}").parse().unwrap();
        let device = Device::reference(options.config().unwrap());
        // With the preset's facts, and not those of the reference device.
        let mut translation = Program::new(source).unwrap().translate(&Options::new(&target)).unwrap();
        // The reference device's arithmetic differs from the preset's. That changes results, not what is executed.
        translation.interface.relies_on = None;
        // SAFETY: the translator made the module with its interface.
        let module = unsafe { device.load_spirv(&translation.spirv, &translation.interface) }.unwrap();
        Self { device, module }
    }

    /// What the second and third time of an operation cost more than the first, each.
    fn marginal(&self, index: usize, ty: &str) -> f64 {
        let [one, three] =
            [1, 3].map(|count| instructions(&self.device, &self.module, &format!("x{index}_{count}"), ty));
        (three - one) / 2.0
    }
}

/// One row for each operation, one column for each preset.
fn table() -> String {
    let groups = OPERATIONS.iter().flat_map(|(_, group)| group.iter().copied());
    let all: Vec<_> = COMBINATIONS.into_iter().chain(groups).collect();
    let text: String = all
        .iter()
        .enumerate()
        .flat_map(|(index, &operation)| [1, 3].map(|count| kernel(index, count, operation)))
        .collect();
    let source = Source::new("costs.ptx", format!(".version 8.6\n.target sm_90\n.address_size 64\n{text}"));
    let columns = PRESETS.map(|preset| {
        let column = Column::new(preset, &source);
        let costs: Vec<f64> = all.iter().enumerate().map(|(index, &(_, _, ty))| column.marginal(index, ty)).collect();
        let combining = |&(instruction, result, _): &Operation| {
            let index = COMBINATIONS.iter().position(|(_, ty, _)| *ty == bits(result)).unwrap();
            // An exclusive or of two operands is combined with the sum by another.
            costs[index] / 2.0 * results(instruction) as f64
        };
        all.iter()
            .zip(&costs)
            .map(|(operation, cost)| cost - combining(operation))
            .skip(COMBINATIONS.len())
            .collect::<Vec<_>>()
    });
    let mut table = String::new();
    let mut index = 0;
    for (group, operations) in OPERATIONS {
        let _ = writeln!(table, "\n## {group}\n\n| operation | {} |\n|{}", PRESETS.join(" | "), " --- |".repeat(7));
        for (instruction, _, _) in *operations {
            let cells: Vec<String> = columns.iter().map(|column| format!("{:.0}", column[index])).collect();
            let shown = instruction.replace("{%r2}", "{r, s}").replace("{%r4}", "{r, s, t, u}");
            let shown = shown.replace('%', "").replace('@', "[p]");
            let _ = writeln!(table, "| `{shown}` | {} |", cells.join(" | "));
            index += 1;
        }
    }
    table
}

/// Exclusive ors, which combine results.
const COMBINATIONS: [Operation; 3] =
    [("xor.b16 %r, %a, %b", "b16", "b16"), ("xor.b32 %r, %a, %b", "b32", "b32"), ("xor.b64 %r, %a, %b", "b64", "b64")];

#[test]
fn costs_are_as_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/costs.md");
    let text = fs::read_to_string(&path).unwrap();
    let (head, _) = text.split_once("\n## ").expect("the text before the tables");
    let made = format!("{}\n{}", head.trim_end(), table());
    if std::env::var_os("PTX2SPV_BLESS").is_some() {
        fs::write(&path, made).unwrap();
    } else {
        assert_eq!(text, made, "PTX2SPV_BLESS=1 writes the tables of docs/costs.md anew");
    }
}
