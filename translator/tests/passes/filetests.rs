//! File tests, executed: the expected output of a pass does the same to memory as its input. The file tests themselves
//! look at the shape of code, which blessing accepts whatever it is; this test looks at the results of the code.
//!
//! Input and expected text run on a machine that does everything right, also what no device has by itself. Expansions of an operation must
//! give its result there as they do on the devices that need them.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use super::evaluator::{Fault, GLOBAL_BASE, Machine};
use super::shape::Shape;
use super::support::Random;
use ptx2spv_translator::internals::ir::{Function, GENERIC_LOCAL, GENERIC_SHARED, GENERIC_TAG_SHIFT, Type};
use ptx2spv_translator::internals::pipeline::Unit;
use ptx2spv_translator::target::Facts;

const RUNS: u32 = 48;

/// Bytes of global memory.
const GLOBAL: usize = 0x1200;

/// A test with its input and its expected output.
struct Test {
    name: String,
    /// Why the two can't be compared, by a line `; not executed: REASON`.
    not_executed: Option<String>,
    facts: Facts,
    input: Function,
    expected: Function,
}

impl Test {
    fn read(root: &Path, file: &Path) -> Test {
        let text = fs::read_to_string(file).unwrap();
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let (input, expected) = text.split_once("; ----\n").unwrap_or_else(|| panic!("{name} has no second part"));
        let parse = |text| match Unit::parse_tree(text) {
            Ok(unit) => unit.function,
            Err(error) => panic!("{name}: {error}"),
        };
        let key =
            |key: &str| input.lines().find_map(|line| line.strip_prefix("; ")?.strip_prefix(key)?.strip_prefix(": "));
        let mut facts = Facts { convert_f16_exact: true, dot_f32_fused: true, ..Facts::ALL };
        // What a device does otherwise than the operation says, where a pass makes use of that.
        for fact in key("right").into_iter().flat_map(|facts| facts.split(", ")) {
            match fact {
                "fma_f32_flushes" => facts.fma_f32_flushes = true,
                "add_f32_flushes" => (facts.add_f32_flushes, facts.denormals_f32_kept) = (true, false),
                "exp2_f32_flushes" => facts.exp2_f32_flushes = true,
                "roots_f32_flush" => facts.roots_f32_flush = true,
                _ => {}
            }
        }
        let not_executed = key("not executed").map(str::to_owned);
        let [input, expected] = [input, expected].map(parse);
        Test { name, not_executed, facts, input, expected }
    }

    /// Compares both in runs with different memories. Says whether the input wrote anything that could be compared.
    ///
    /// # Errors
    /// The input's last fault, if it came to its end in no run.
    fn execute(&self) -> Result<bool, Fault> {
        let mut random = Random::new(7);
        let mut outcome = Err(Fault::Steps);
        for run in 0..RUNS {
            let mut before = self.machine(run, &mut random);
            let mut after = Machine { facts: self.facts.clone(), steps: 200_000, ..before.clone() };
            before.shared.truncate(shared_bytes(&self.input));
            let (global, shared) = (before.global.clone(), before.shared.clone());
            if let Err(fault) = before.run(&self.input) {
                outcome = outcome.map_err(|_| fault);
                continue;
            }
            let has_written = before.global != global || before.shared != shared;
            outcome = Ok(has_written || outcome == Ok(true));
            after.run(&self.expected).unwrap_or_else(|fault| panic!("run {run}: {fault}"));
            for (memory, found, right) in
                [("global", &after.global, &before.global), ("shared", &after.shared, &before.shared)]
            {
                compare(found, right).unwrap_or_else(|error| panic!("run {run}, {memory} memory: {error}"));
            }
        }
        outcome
    }

    /// Behind the first pointers, push constants are numbers of all kinds, offsets, or pointers, which memory may hold too.
    fn machine(&self, run: u32, random: &mut Random) -> Machine {
        let mut words =
            |bytes: usize| -> Vec<u8> { (0..bytes / 8).flat_map(|_| number(random).to_le_bytes()).collect() };
        let local = self.input.local_bytes.max(self.expected.local_bytes).next_multiple_of(8);
        let shared = shared_bytes(&self.input).max(shared_bytes(&self.expected));
        let (local, shared) = (words(local as usize), words(shared));
        let (mut global, mut push_constants) = (words(GLOBAL), words(256));
        let has_shared = self.input.shared_bytes > 0 || self.input.dynamic_shared;
        let tag = match run / 4 % 3 {
            1 if has_shared => GENERIC_SHARED,
            2 if self.input.local_bytes > 0 => GENERIC_LOCAL,
            _ => 0,
        };
        for place in 0..32 {
            let pointer = GLOBAL_BASE + 0x60 * place;
            let offset = 16 * ((place + 3) % 4);
            let constant = match run % 4 {
                _ if place < 5 => Some(pointer),
                2 if place > 5 || run % 8 == 2 => Some(offset << 32 | offset),
                _ if place == 5 => Some(pointer),
                3 => Some(pointer),
                _ => None,
            };
            let generic = if tag == 0 { pointer } else { tag << GENERIC_TAG_SHIFT | offset };
            let held = Some(generic).filter(|_| run % 4 == 3);
            for (memory, word) in [(&mut push_constants, constant), (&mut global, held)] {
                if let Some(word) = word {
                    memory[8 * place as usize..][..8].copy_from_slice(&word.to_le_bytes());
                }
            }
        }
        let facts = Facts { convert_f16_exact: true, dot_f32_fused: true, ..Facts::ALL };
        let thread = [0, 4, 1, 8, 32][(run / 4 % 5) as usize];
        Machine {
            facts,
            defines: true,
            global,
            shared,
            local,
            push_constants,
            thread,
            steps: 5_000,
            ..Machine::default()
        }
    }
}

/// Bytes of a function's shared memory, with some dynamic ones if there may be any.
fn shared_bytes(function: &Function) -> usize {
    let dynamic = if function.dynamic_shared { 64 } else { 0 };
    (function.shared_bytes + dynamic).next_multiple_of(8) as usize
}

/// Numbers where arithmetic has its corners, of both types, and small integers. No NaNs: which one comes of them isn't defined.
fn number(random: &mut Random) -> u64 {
    let is_number = |bits: u64| {
        let words = [bits, bits >> 32].map(|word| f32::from_bits(word as u32));
        !f64::from_bits(bits).is_nan() && !words.into_iter().any(f32::is_nan)
    };
    let mut single = || match random.below(3) {
        0 => random.below(40) as u64,
        1 => random.pick(&Shape::of(Type::F32).corners()),
        _ => Shape::of(Type::F32).random(random),
    };
    let singles = single() | single() << 32;
    let bits = match random.below(4) {
        0 => random.below(100) as u64,
        1 => Shape::of(Type::F64).random(random),
        _ => singles,
    };
    if is_number(bits) { bits } else { bits & 0x7fff_0000_7fff }
}

/// Compares memories. Instead of a NaN of the host, which a computation gave, there may be any.
fn compare(found: &[u8], right: &[u8]) -> Result<(), String> {
    let words = |bytes: &[u8]| -> Vec<u64> {
        bytes.chunks(8).map(|word| word.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))).collect()
    };
    let same_single = |found: u32, right: u32| {
        found == right || f32::from_bits(found).is_nan() && right & i32::MAX as u32 == f32::NAN.to_bits()
    };
    for (place, (found, right)) in words(found).into_iter().zip(words(right)).enumerate() {
        let is_nan = f64::from_bits(found).is_nan() && right & i64::MAX as u64 == f64::NAN.to_bits();
        let halves = [found, found >> 32].into_iter().zip([right, right >> 32]);
        if !is_nan && !halves.into_iter().all(|(found, right)| same_single(found as u32, right as u32)) {
            return Err(format!("{found:#x}, not {right:#x}, at {:#x}", 8 * place));
        }
    }
    Ok(())
}

#[test]
fn what_is_expected_computes_what_the_input_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/filetests");
    let list =
        |folder: &Path| -> Vec<PathBuf> { fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let mut files: Vec<PathBuf> = list(&root).iter().flat_map(|folder| list(folder)).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ir"));
    files.sort();
    let mut wrong = Vec::new();
    for file in &files {
        let test = Test::read(&root, file);
        let outcome = catch_unwind(|| test.execute());
        let problem = match (&test.not_executed, outcome) {
            (None, Ok(Ok(false))) => "the input writes nothing, so that nothing is compared".to_owned(),
            (None, Ok(Err(fault))) => format!("no run ends: {fault}"),
            (None, Err(panic)) => panic.downcast_ref::<String>().cloned().unwrap_or_default(),
            (Some(reason), Ok(Ok(true))) => format!("it can be executed, although {reason}"),
            _ => continue,
        };
        wrong.push(format!("{}: {problem}", test.name));
    }
    assert!(
        wrong.is_empty(),
        "a header says why a test can't be executed, as `; not executed: REASON`\n{}",
        wrong.join("\n")
    );
}
