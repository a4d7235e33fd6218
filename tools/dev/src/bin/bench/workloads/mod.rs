//! The kernels to measure, at realistic sizes.

mod basics;
mod dense;
mod grids;
pub mod limits;
mod scalar;
mod sparse;
pub mod work;

/// A kernel with its launch and inputs.
#[derive(Clone)]
pub struct Workload {
    /// The name in the table.
    pub name: &'static str,
    /// A description of the size.
    pub size: String,
    /// The PTX module.
    pub ptx: &'static str,
    /// The kernel in it.
    pub entry: &'static str,
    /// Number of blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Arguments in the form of the command line.
    pub args: Vec<String>,
}

/// All workloads. Quick ones are small enough for a CPU and say nothing about speed.
pub fn all(quick: bool) -> Vec<Workload> {
    [basics::all(quick), dense::all(quick), grids::all(quick), sparse::all(quick), scalar::all(quick)].concat()
}

/// Workloads with sizes for a few cores.
pub fn for_cpus() -> Vec<Workload> {
    vec![
        basics::nbody(1 << 12),
        basics::matmul(256),
        basics::mandelbrot(256),
        basics::black_scholes(1 << 18),
        basics::reduce(1 << 22),
        dense::softmax(256),
        dense::kmeans(1 << 15),
        grids::stencil3d_f32(128),
        grids::median(1024),
        scalar::md5(1 << 15),
    ]
}

/// The PTX of all workloads, without duplicates.
pub fn modules() -> Vec<&'static str> {
    let mut list: Vec<&str> = Vec::new();
    for workload in all(true) {
        if !list.contains(&workload.ptx) {
            list.push(workload.ptx);
        }
    }
    list
}

/// Kernels with nothing but arithmetic, and one result for each thread.
pub fn arithmetic() -> Vec<Workload> {
    let workload = |name, entry, rounds: u32| Workload {
        name,
        size: format!("64 threads, {rounds} rounds"),
        ptx: include_str!("../arithmetic.ptx"),
        entry,
        grid: [1, 1, 1],
        block: [64, 1, 1],
        shared: 0,
        args: vec!["u32[64]".into(), format!("u32:{rounds}")],
    };
    vec![workload("integers", "integers", 20_000), workload("floats", "floats", 20_000)]
}

/// The kernel that is named like its file in `tools/dev/kernels/`, or another one of that file.
macro_rules! kernel {
    ($file:literal) => {
        kernel!($file, $file)
    };
    ($file:literal, $entry:literal) => {
        Kernel { ptx: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $file, ".ptx")), entry: $entry }
    };
}
use kernel;

/// A kernel of a module.
struct Kernel {
    ptx: &'static str,
    entry: &'static str,
}

impl Kernel {
    /// A workload without dynamic shared memory.
    fn workload<const ARGS: usize>(
        self,
        name: &'static str,
        size: String,
        (grid, block): ([u32; 3], [u32; 3]),
        args: [String; ARGS],
    ) -> Workload {
        Workload { name, size, ptx: self.ptx, entry: self.entry, grid, block, shared: 0, args: args.into() }
    }
}

fn linear(threads: u32, block: u32) -> ([u32; 3], [u32; 3]) {
    ([threads.div_ceil(block), 1, 1], [block, 1, 1])
}

/// Blocks of 32 x 8 threads.
fn planar(width: u32, height: u32) -> ([u32; 3], [u32; 3]) {
    ([width.div_ceil(32), height.div_ceil(8), 1], [32, 8, 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx2spv::cases::argument_text;
    use ptx2spv_runtime::target_by_name;
    use ptx2spv_translator::{Options, Program, Source};

    #[test]
    fn all_kernels_translate() {
        let target = target_by_name("nvidia").unwrap();
        for ptx in modules() {
            let source = Source::new("bench.ptx", ptx);
            Program::new(&source).unwrap().translate(&Options::new(&target)).unwrap();
        }
    }

    #[test]
    fn quick_arguments_can_be_made_and_kernels_are_there() {
        for workload in all(true) {
            assert!(workload.ptx.contains(&format!(".entry {}(", workload.entry)), "{}", workload.name);
            argument_text::parse_all(&workload.args).unwrap();
        }
    }
}
