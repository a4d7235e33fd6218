//! Line information: each access to memory, atomic, barrier and branch of a module names the PTX instruction it comes from.

use std::fs;

use ptx2spv_tests::files;
use ptx2spv_translator::{Feature, Options, Program, Source, Target};
use rspirv::binary::{Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::spirv::{Op, StorageClass, Word};
use rustc_hash::FxHashMap;

/// The instructions of a module that other threads or devices can observe, or that decide its control flow, with line
/// and column.
#[derive(Default)]
struct Effects {
    /// The class of memory of each pointer type, then of each pointer.
    classes: FxHashMap<Word, StorageClass>,
    files: FxHashMap<Word, String>,
    position: Option<(u32, u32)>,
    found: Vec<(Op, Option<(u32, u32)>)>,
}

impl Consumer for Effects {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        let op = instruction.class.opcode;
        if op == Op::Line {
            let [Operand::IdRef(file), Operand::LiteralBit32(line), Operand::LiteralBit32(column)] =
                instruction.operands[..]
            else {
                panic!("{instruction:?}");
            };
            assert!(self.files.contains_key(&file));
            self.position = Some((line, column));
        }
        if let (Op::String, Some(id), Operand::LiteralString(name)) =
            (op, instruction.result_id, &instruction.operands.first().cloned().unwrap_or(Operand::LiteralBit32(0)))
        {
            self.files.insert(id, name.clone());
        }
        if let (Op::TypePointer, Some(id), Some(Operand::StorageClass(class))) =
            (op, instruction.result_id, instruction.operands.first())
        {
            self.classes.insert(id, *class);
        }
        if let (Some(ty), Some(id)) = (instruction.result_type, instruction.result_id)
            && let Some(&class) = self.classes.get(&ty)
        {
            self.classes.insert(id, class);
        }
        let pointer = match instruction.operands.first() {
            Some(Operand::IdRef(id)) => self.classes.get(id),
            _ => None,
        };
        let shared = matches!(pointer, Some(StorageClass::PhysicalStorageBuffer | StorageClass::Workgroup));
        let access = shared && !matches!(op, Op::AccessChain | Op::Bitcast | Op::ConvertPtrToU);
        if access || matches!(op, Op::ControlBarrier | Op::MemoryBarrier | Op::BranchConditional) {
            self.found.push((op, self.position));
        }
        if matches!(op, Op::NoLine | Op::Label | Op::FunctionEnd) {
            self.position = None;
        }
        ParseAction::Continue
    }
}

fn effects(spirv: &[u32], file: &str) -> Vec<(Op, Option<(u32, u32)>)> {
    let mut effects = Effects::default();
    parse_words(spirv, &mut effects).unwrap();
    assert_eq!(effects.files.values().collect::<Vec<_>>(), [file]);
    effects.found
}

/// Each line names the instructions that come from that line only. Passes move the loop, the call, the guard and the
/// two conditions on one predicate.
const SAMPLE: &str = include_str!("ptx/lines.ptx");

#[test]
fn effects_of_a_sample_have_their_lines() {
    let source = Source::new("dir/sample.ptx", SAMPLE);
    let target = Target::preset("nvidia").unwrap();
    let options = Options::new(&target).line_info(true);
    let spirv = Program::new(&source).unwrap().translate(&options).unwrap().spirv;
    let mut found: Vec<String> = effects(&spirv, "dir/sample.ptx")
        .iter()
        .map(|(op, position)| {
            let (line, column) = position.unwrap_or_else(|| panic!("{op:?} has no line"));
            let text = SAMPLE.lines().nth(line as usize - 1).unwrap();
            assert_eq!(column as usize, text.len() - text.trim_start().len() + 1, "{text}");
            format!("{line} {op:?}")
        })
        .collect();
    let mut expected: Vec<String> = (1..)
        .zip(SAMPLE.lines())
        .flat_map(|(line, text)| {
            let ops = text.split_once("// ").map_or("", |(_, ops)| ops);
            ops.split_whitespace().map(move |op| format!("{line} {op}"))
        })
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn modules_have_no_lines_unless_asked() {
    let source = Source::new("sample.ptx", SAMPLE);
    let target = Target::preset("nvidia").unwrap();
    let text = Program::new(&source).unwrap().translate(&Options::new(&target)).unwrap().disassemble();
    assert!(!text.contains("OpLine") && !text.contains("OpNoLine") && !text.contains("OpString"), "{text}");
}

/// Instructions where the threads of a block may wait for each other, including loops that wait, and those that complete barriers in memory.
const SYNCHRONIZING: &[&str] = &["bar", "barrier", "bra", "clusterlaunchcontrol", "mbarrier"];
/// Instructions that may report to the host.
const REPORTING: &[&str] = &[
    "alloca",
    "brkpt",
    "brx",
    "call",
    "elect",
    "match",
    "mbarrier",
    "mma",
    "movmatrix",
    "red",
    "redux",
    "shfl",
    "trap",
    "vote",
];
/// Instructions that access memory for the lanes of a warp, which wait for each other, and report lanes that are missing.
const MATRICES: &[&str] = &["ldmatrix", "stmatrix", "wgmma", "wmma"];

/// Instructions that read the description of a texture or surface, and its texels; some write or report.
const TEXTURES: &[&str] = &["tex", "tld4", "txq", "suld", "suq", "sured", "sust"];

/// Lines before loops that wait for other threads, in kernels without barriers. The operation that synchronizes the threads has one of
/// these lines.
const WAITING: &[(&str, u32)] = &[
    ("instructions/matrix_warpgroups.ptx", 2986),
    ("instructions/matrix_warpgroups.ptx", 3010),
    ("kernels/locked_task.ptx", 81),
    ("kernels/long_waits.ptx", 565),
    ("kernels/long_waits.ptx", 904),
    ("ptx/progress.ptx", 44),
    ("ptx/waiting_leaders.ptx", 30),
];

/// Parts of the names of special registers that tell a time.
const CLOCKS: &[&str] = &["%clock", "%globaltimer"];

/// Accesses to memory and barriers come from PTX instructions that access memory or are barriers. Those that the
/// translator adds, to detect loops that the driver ended early, have no line.
#[test]
fn effects_of_all_files_have_lines_of_their_kind() {
    let mut effects_found = 0;
    for (file, first) in files::valid_ptx().unwrap().into_iter().zip((0..Target::PRESETS.len()).cycle()) {
        let text = fs::read_to_string(&file).unwrap();
        let name = files::short_name(&file);
        let source = Source::new(name.as_str(), text.as_str());
        // Lines of linked modules are those of their own texts.
        if source.is_linked() {
            continue;
        }
        let program = Program::new(&source).unwrap();
        // The presets take turns.
        for preset in Target::PRESETS.iter().cycle().skip(first).step_by(5).take(3) {
            let target = Target::preset(preset).unwrap();
            let options = Options::new(&target).keep_going(true).line_info(true);
            let Ok(translation) = program.translate(&options) else { continue };
            let lines: Vec<&str> = text.split('\n').collect();
            // An invocation that runs several threads keeps their registers in local memory, so any instruction may
            // store there.
            let has_scratch = translation.interface.entries.iter().any(|entry| entry.scratch.is_some());
            // If CUDA reserves shared memory, warp operations order memory too.
            let orders = text.contains("%reserved_smem_offset");
            let has_locks = !target.has(Feature::ShaderSharedInt64Atomics);
            // Loads report blocks that aren't there where addresses of other blocks are made, and where no driver checks offsets
            // what lies past the end.
            let loads_report = text.contains("mapa") || target.quirks.offsets_unchecked;
            for (op, position) in effects(&translation.spirv, &name) {
                let Some((line, column)) = position else {
                    // The return address of a recursive function isn't decided by an instruction. Neither are the
                    // unlock operations that emulate 64-bit atomics, and the clearing of the memory that CUDA reserves.
                    let added =
                        target.quirks.loop_budget.is_some() || has_locks || orders || op == Op::BranchConditional;
                    assert!(added, "{name} for {preset}: {op:?} has no line");
                    continue;
                };
                let instruction = &lines[line as usize - 1][column as usize - 1..];
                let guarded = instruction.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace));
                let opcode = guarded.map_or(instruction, |(_, rest)| rest.trim_start());
                let opcode = opcode.split(['.', ' ', '\t', ';']).next().unwrap();
                let (own, reports): (&[&str], bool) = match op {
                    Op::BranchConditional => continue,
                    Op::ControlBarrier => (&[], false),
                    Op::Load | Op::AtomicLoad => {
                        (&["ld", "ldu", "cp", "call", "atom", "red", "st", "tensormap", "multimem"], false)
                    }
                    Op::Store | Op::AtomicStore => (&["st", "cp", "call", "tensormap", "multimem"], true),
                    Op::AtomicCompareExchange => (&["atom", "red", "st", "cp", "call", "multimem"], true),
                    _ => (
                        &[
                            "atom",
                            "red",
                            "st",
                            "ld",
                            "cp",
                            "call",
                            "fence",
                            "membar",
                            "pmevent",
                            "tensormap",
                            "multimem",
                        ],
                        false,
                    ),
                };
                // Atomics under a lock become loads and stores (as all of 128 bits do), missing clocks are emulated by
                // counting, and a warp synchronizes before volatile accesses to shared memory.
                let stands_in = (has_locks || instruction.contains(".b128")) && matches!(opcode, "atom" | "red" | "ld")
                    || CLOCKS.iter().any(|clock| instruction.contains(clock))
                    || op == Op::ControlBarrier && instruction.contains(".volatile")
                    // A grid waits at a call, which begins with its arguments.
                    || op == Op::ControlBarrier && opcode == "st" && instruction.contains(".param")
                    || WAITING.contains(&(name.as_str(), line))
                    || orders && matches!(op, Op::MemoryBarrier | Op::ControlBarrier)
                    // Calls that share a choice of functions report what happens on the way into a function at its header.
                    || reports && instruction.starts_with(".func")
                    || has_scratch && matches!(op, Op::Load | Op::Store);
                let expected = own.contains(&opcode)
                    || TEXTURES.contains(&opcode)
                    || MATRICES.contains(&opcode)
                    || SYNCHRONIZING.contains(&opcode)
                    || reports && (REPORTING.contains(&opcode) || loads_report && matches!(opcode, "ld" | "atom"))
                    || stands_in;
                assert!(expected, "{name}:{line} for {preset}: {op:?} from `{instruction}`");
                effects_found += 1;
            }
        }
    }
    assert!(effects_found > 1000, "{effects_found}");
}
