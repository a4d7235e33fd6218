//! A workload: a kernel with a launch.

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

/// The kernel that is named like its file in `tools/dev/kernels/`, or another one of that file.
macro_rules! kernel {
    ($file:literal) => {
        kernel!($file, $file)
    };
    ($file:literal, $entry:literal) => {
        $crate::workloads::workload::Kernel {
            ptx: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $file, ".ptx")),
            entry: $entry,
        }
    };
}
pub(super) use kernel;

/// A kernel of a module.
pub struct Kernel {
    /// The PTX module.
    pub ptx: &'static str,
    /// The kernel's name in there.
    pub entry: &'static str,
}

impl Kernel {
    /// A workload without dynamic shared memory.
    pub fn workload<const ARGS: usize>(
        self,
        name: &'static str,
        size: String,
        (grid, block): ([u32; 3], [u32; 3]),
        args: [String; ARGS],
    ) -> Workload {
        Workload { name, size, ptx: self.ptx, entry: self.entry, grid, block, shared: 0, args: args.into() }
    }
}

/// Blocks in a row.
pub fn linear(threads: u32, block: u32) -> ([u32; 3], [u32; 3]) {
    ([threads.div_ceil(block), 1, 1], [block, 1, 1])
}

/// Blocks of 32 x 8 threads.
pub fn planar(width: u32, height: u32) -> ([u32; 3], [u32; 3]) {
    ([width.div_ceil(32), height.div_ceil(8), 1], [32, 8, 1])
}
