//! The kernels of this repository, as a device's compiler sees them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ptx2spv_translator::interface::Entry;
use ptx2spv_translator::target::{Feature, Math, Target};
use ptx2spv_translator::{Options, Program, Source};
use serde::{Deserialize, Serialize};

use crate::pipelines::{Compiled, Vulkan};

/// Threads of a block, where neither the kernel nor its twin says it.
const BLOCK: [u32; 3] = [256, 1, 1];

/// Kernels in whose PTX a compiler has unrolled the loop, whose rounds do the work of so many of the twin's.
const UNROLLED: [(&str, u64); 4] = [("bfs", 2), ("naive_product", 2), ("radix_sort", 4), ("spmv_csr", 2)];

/// One of this many files of single instructions is compiled.
const SAMPLE: usize = 10;

/// Statistics of a kernel's machine code, or of all kernels of a file together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    pub instructions: u64,
    /// Vector registers, the most of any kernel.
    pub registers: u64,
    pub spills: u64,
    pub cycles: u64,
    /// The deepest nesting of loops.
    pub loops: u32,
}

impl Numbers {
    fn of(compiled: &Compiled, unrolled: u64) -> Result<Self> {
        let cost =
            compiled.cost(unrolled).with_context(|| format!("{}: no machine code that is known", compiled.name))?;
        // By the names of RADV, ANV and Turnip.
        let sum = |names: [&str; 2]| names.map(|name| compiled.statistic(name)).iter().sum::<u64>();
        Ok(Self {
            instructions: sum(["Instructions", "Instruction Count"]),
            registers: sum(["VGPRs", "Max live registers"]) + compiled.statistic("Registers used"),
            spills: sum(["Spilled SGPRs", "Spilled VGPRs"]) + sum(["Spill Count", "STP Count"]),
            cycles: cost.cycles,
            loops: cost.loops,
        })
    }

    fn and(self, other: Self) -> Self {
        Self {
            instructions: self.instructions + other.instructions,
            registers: self.registers.max(other.registers),
            spills: self.spills + other.spills,
            cycles: self.cycles + other.cycles,
            loops: self.loops.max(other.loops),
        }
    }
}

/// Kernels on one device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// A kernel with a GLSL twin, or a file with its other kernels.
    pub name: String,
    pub exact: Numbers,
    pub fast: Numbers,
    pub twin: Option<Numbers>,
    /// Processor time of the slowest pipeline, and its kernel.
    pub slowest: (f64, String),
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The PTX files: the files of the launch cases and of the bench, and a sample of the files of single instructions.
pub fn files() -> Result<Vec<PathBuf>> {
    let in_folder = |folder: &str| -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(repository().join(folder)).with_context(|| folder.to_owned())?;
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "ptx"));
        files.sort();
        Ok(files)
    };
    let mut files = Vec::new();
    for folder in ["tools/dev/kernels", "tests/kernels", "tests/kernels/nvcc", "tests/ptx"] {
        files.extend(in_folder(folder)?);
    }
    files.extend(in_folder("tests/instructions")?.into_iter().step_by(SAMPLE));
    Ok(files)
}

/// Whether a file has a kernel with a GLSL twin.
pub fn has_twin(file: &Path) -> Result<bool> {
    let text = fs::read_to_string(file)?;
    let entries = text.split(".entry").skip(1).filter_map(|rest| rest.trim_start().split(['(', ' ', '\n']).next());
    let measured: Vec<&str> = entries.filter(|entry| is_measured(file, entry)).collect();
    measured.into_iter().try_fold(false, |has, entry| Ok(has || twin(entry)?.is_some()))
}

/// A file's path within the repository.
pub fn name(file: &Path) -> String {
    let repository = repository();
    file.strip_prefix(&repository).unwrap_or(file).display().to_string()
}

/// Whether a file has the bench's kernel of that name, and not another kernel: the bench's own files, and launch cases named as their
/// kernels are.
fn is_measured(file: &Path, entry: &str) -> bool {
    let in_folder = |folder: &str| file.parent().is_some_and(|parent| parent == repository().join(folder));
    let is_named = file.file_stem().is_some_and(|stem| entry.starts_with(&*stem.to_string_lossy()));
    in_folder("tools/dev/kernels") || in_folder("tests/kernels") && is_named
}

/// The SPIR-V of a kernel's GLSL twin, if there is one.
fn twin(entry: &str) -> Result<Option<Vec<u32>>> {
    let file = repository().join("tools/dev/kernels/glsl").join(entry).with_extension("spv");
    Ok(if file.exists() { Some(ash::util::read_spv(&mut fs::File::open(file)?)?) } else { None })
}

/// The number of rounds of the twin's loops that one round of a kernel's loop does.
fn unrolled(entry: &str) -> u64 {
    UNROLLED.iter().find(|(kernel, _)| *kernel == entry).map_or(1, |(_, times)| *times)
}

/// A module's instructions: their opcodes and operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(5..).unwrap_or_default();
    std::iter::from_fn(move || {
        let head = rest.first()?;
        let (instruction, others) = rest.split_at_checked((head >> 16).max(1) as usize)?;
        rest = others;
        Some((head & 0xffff, &instruction[1..]))
    })
}

/// The workgroup of a module with one entry point: the operands of `OpExecutionMode … LocalSize`.
fn workgroup(words: &[u32]) -> Option<[u32; 3]> {
    const EXECUTION_MODE: u32 = 16;
    const LOCAL_SIZE: u32 = 17;
    instructions(words).find_map(|instruction| match instruction {
        (EXECUTION_MODE, [_, LOCAL_SIZE, x, y, z, ..]) => Some([*x, *y, *z]),
        _ => None,
    })
}

/// Whether a target has the arithmetic that a module computes with.
fn is_possible(words: &[u32], target: &Target) -> bool {
    const CAPABILITY: u32 = 17;
    let needs = |capability: u32| instructions(words).any(|instruction| instruction == (CAPABILITY, &[capability][..]));
    [(9, Feature::ShaderFloat16), (10, Feature::ShaderFloat64), (11, Feature::ShaderInt64)]
        .into_iter()
        .all(|(capability, feature)| !needs(capability) || target.has(feature))
}

/// Translates a file for a preset, and makes the pipelines on a device.
pub fn compile(file: &Path, target: &Target, vulkan: &Vulkan) -> Result<Vec<Row>> {
    let source = Source::new(name(file), fs::read_to_string(file)?);
    let program = Program::new(&source)?;
    let mut rows: Vec<Row> = Vec::new();
    for math in [Math::EXACT, Math::FAST] {
        let translated = program.translate(&Options::new(target).math(math).keep_going(true))?;
        // Kernels that read images need descriptors, which nothing here has.
        for entry in translated.interface.entries.iter().filter(|entry| !entry.samples()) {
            let twin = if is_measured(file, &entry.name) { twin(&entry.name)? } else { None };
            let twin = twin.filter(|words| is_possible(words, target));
            let block = twin.as_deref().and_then(workgroup).unwrap_or(BLOCK);
            let unrolled = if twin.is_some() { unrolled(&entry.name) } else { 1 };
            let compiled = vulkan.compile_kernel(&translated.spirv, entry, block)?;
            let own = Numbers::of(&compiled, unrolled)?;
            let row = if twin.is_some() { entry.name.clone() } else { name(file) };
            let at = match rows.iter().position(|known| known.name == row) {
                Some(at) => at,
                None => {
                    let twin = twin.map(|words| of_twin(vulkan, &words, entry, block)).transpose()?;
                    let [exact, fast] = [Numbers::default(); 2];
                    rows.push(Row { name: row, exact, fast, twin, slowest: (0.0, String::new()) });
                    rows.len() - 1
                }
            };
            let sum = if math == Math::EXACT { &mut rows[at].exact } else { &mut rows[at].fast };
            *sum = sum.and(own);
            if compiled.seconds > rows[at].slowest.0 {
                rows[at].slowest = (compiled.seconds, compiled.name);
            }
        }
    }
    Ok(rows)
}

/// A twin's code, with the subgroups and push constants of its kernel.
fn of_twin(vulkan: &Vulkan, words: &[u32], entry: &Entry, block: [u32; 3]) -> Result<Numbers> {
    let entry = Entry { name: "main".to_owned(), ..entry.clone() };
    Numbers::of(&vulkan.compile_kernel(words, &entry, block)?, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_say_their_workgroups() {
        let of = |entry| workgroup(&twin(entry).unwrap().unwrap());
        assert_eq!(of("transpose"), Some([16, 4, 1]));
        assert_eq!(of("nbody"), Some([32, 1, 1]));
    }
}
