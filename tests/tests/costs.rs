//! The costs of operations on devices that lack something: `docs/costs.md` has the instructions that the reference device executes for each
//! operation in a module made for a preset. `PTX2SPV_BLESS=1` writes the table anew. A change of the table is a change of the code that is
//! made.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ptx2spv_runtime::{Device, LaunchConfig, Module, ReferenceDevice, ReferenceOptions};
use ptx2spv_translator::{Options, Program, Source, Target};

/// Presets that lack ever more: see the page.
const PRESETS: [&str; 6] = ["amd-rdna", "lavapipe", "mali", "apple-moltenvk", "swiftshader", "vulkan1.1-minimum"];

/// Bytes of a thread's operands, and of its other accesses.
const RECORD: u32 = 128;

/// An instruction in the notation of `costs.txt`, with the type of its result and that of its operands.
type Operation = (&'static str, &'static str, &'static str);

/// The groups of `costs.txt` with their names.
fn groups() -> Vec<(&'static str, Vec<Operation>)> {
    let operation = |line: &'static str| {
        let (result, rest) = line.split_once(' ')?;
        let (operand, instruction) = rest.split_once(' ')?;
        Some((instruction, result, operand))
    };
    let groups = include_str!("costs.txt").split("\n## ").skip(1).filter_map(|group| group.split_once('\n'));
    groups.map(|(name, lines)| (name, lines.lines().filter_map(operation).collect())).collect()
}

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
        let one = if is_of_warpgroup(instruction) {
            format!("wgmma.fence.sync.aligned; {one}; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0")
        } else {
            one
        };
        let combined: String = given.iter().map(|given| format!("xor.{r} %r, %r, {given};")).collect();
        let _ = writeln!(body, "{one}; {combined}");
    }
    let lines = if is_of_warpgroup(instruction) { LINES } else { "" };
    format!(
        ".visible .entry x{index}_{count}(.param .u64 p) {{\n\
         .reg .b64 %p, %w; .reg .b32 %t, %n; .reg .{o} %a, %b, %c; .reg .{r} %r, %s, %s<4>;\n\
         ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, {RECORD}, %p;\n\
         ld.global.{o} %a, [%p]; ld.global.{o} %b, [%p+8]; ld.global.{o} %c, [%p+16];\n\
         ld.global.{r} %r, [%p+24]; ld.global.b64 %w, [%p+32]; ld.global.b32 %n, [%p+40];{lines}\n\
         st.global.{o} [%p+104], %a; st.global.{o} [%p+112], %b; st.global.{o} [%p+120], %c;\n\
         {body}st.global.{r} [%p+48], %r; ret; }}\n"
    )
}

/// Whether an instruction is a product of a warpgroup. The product stands between its fence and its wait, which count too.
fn is_of_warpgroup(instruction: &str) -> bool {
    instruction.starts_with("wgmma")
}

/// The threads of a kernel: a warp or a warpgroup.
fn threads(instruction: &str) -> u32 {
    if is_of_warpgroup(instruction) { 128 } else { 32 }
}

/// Setup of products of warpgroups: lines in shared memory and their descriptor, a predicate, and elements of D.
const LINES: &str = ".shared .align 128 .b8 lines[2048]; .reg .b64 %z; .reg .pred %q;
    mov.u32 %t, lines; shr.u32 %t, %t, 4; cvt.u64.u32 %z, %t; or.b64 %z, %z, 0x1000080000; setp.eq.u32 %q, %n, 5;
    mov.b32 %s0, %a; mov.b32 %s1, %b; mov.b32 %s2, %c; mov.b32 %s3, %a;";

/// The number of an instruction's results.
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
fn instructions(device: &Device, module: &Module, kernel: &str, (instruction, _, ty): Operation) -> f64 {
    let threads = threads(instruction);
    let words = (0..threads).flat_map(|thread| {
        let [a, b, c] = operands(ty, thread);
        [a, b, c, 0, u64::from(thread), 5].into_iter().chain([0; RECORD as usize / 8 - 6])
    });
    let buffer = device.upload(&words.collect::<Vec<u64>>()).unwrap();
    let steps = || device.as_reference().map_or(0, ReferenceDevice::steps);
    let before = steps();
    let kernel = module.kernel(kernel).unwrap();
    // SAFETY: the reference device checks every access.
    unsafe { kernel.launch(&LaunchConfig::new([1; 3], [threads, 1, 1]), &[(&buffer).into()]) }.unwrap();
    device.synchronize().unwrap();
    (steps() - before) as f64 / f64::from(threads)
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

    /// The mean cost of the second and the third time of an operation.
    fn marginal(&self, index: usize, operation: Operation) -> f64 {
        let [one, three] =
            [1, 3].map(|count| instructions(&self.device, &self.module, &format!("x{index}_{count}"), operation));
        (three - one) / 2.0
    }
}

/// One row for each operation, one column for each preset.
fn table() -> String {
    let groups = groups();
    let operations = groups.iter().flat_map(|(_, group)| group.iter().copied());
    let all: Vec<_> = COMBINATIONS.into_iter().chain(operations).collect();
    let text: String = all
        .iter()
        .enumerate()
        .flat_map(|(index, &operation)| [1, 3].map(|count| kernel(index, count, operation)))
        .collect();
    let source = Source::new("costs.ptx", format!(".version 8.6\n.target sm_90a\n.address_size 64\n{text}"));
    let columns = PRESETS.map(|preset| {
        let column = Column::new(preset, &source);
        let costs: Vec<f64> =
            all.iter().enumerate().map(|(index, &operation)| column.marginal(index, operation)).collect();
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
    for (group, operations) in &groups {
        let _ = writeln!(table, "\n## {group}\n\n| operation | {} |\n|{}", PRESETS.join(" | "), " --- |".repeat(7));
        for (instruction, _, _) in operations {
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
