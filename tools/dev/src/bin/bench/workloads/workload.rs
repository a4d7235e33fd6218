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
    /// The kernel in the PTX module.
    pub entry: &'static str,
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Arguments in the form of the command line.
    pub args: Vec<String>,
}

/// Workloads from a folder with PTX, one a row: the kernel, which is also the name of its file unless that stands in brackets
/// (with the kernel if it differs), the sizes, real and quick, and what follows from them; the name, the description of the
/// size, grid and block, the arguments, and dynamic shared memory. Each row becomes a function of its sizes, and `all` has all.
macro_rules! rows {
    ($folder:literal; $(
        $kernel:ident $([$($file:literal)+])? ($($param:ident: $real:expr => $quick:expr),+ $(; $($value:ident = $of:expr),+)?):
        $name:literal, $size:literal, $shape:expr, $args:literal $(, shared $shared:literal)?;
    )+) => {
        /// All workloads. Quick ones are small enough for a CPU.
        pub fn all(quick: bool) -> Vec<$crate::workloads::Workload> {
            vec![$($kernel($(if quick { $quick } else { $real }),+)),+]
        }

        $(
            pub fn $kernel($($param: u32),+) -> $crate::workloads::Workload {
                $($(let $value = $of;)+)?
                let (grid, block) = $shape;
                $crate::workloads::Workload {
                    name: $name,
                    size: format!($size),
                    ptx: rows!(@ptx $folder $kernel $($($file)+)?),
                    entry: rows!(@entry $kernel $($($file)+)?),
                    grid,
                    block,
                    shared: 0 $(+ $shared)?,
                    args: format!($args).split(' ').map(String::from).collect(),
                }
            }
        )+
    };
    (@ptx $folder:literal $kernel:ident) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), $folder, stringify!($kernel), ".ptx"))
    };
    (@ptx $folder:literal $kernel:ident $file:literal $($entry:literal)?) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), $folder, $file, ".ptx"))
    };
    (@entry $kernel:ident $file:literal $entry:literal) => {
        $entry
    };
    (@entry $kernel:ident $($file:literal)?) => {
        stringify!($kernel)
    };
}
pub(super) use rows;

/// Blocks in a row.
pub fn linear(threads: u32, block: u32) -> ([u32; 3], [u32; 3]) {
    ([threads.div_ceil(block), 1, 1], [block, 1, 1])
}

/// Blocks of 32 x 8 threads.
pub fn planar(width: u32, height: u32) -> ([u32; 3], [u32; 3]) {
    ([width.div_ceil(32), height.div_ceil(8), 1], [32, 8, 1])
}
