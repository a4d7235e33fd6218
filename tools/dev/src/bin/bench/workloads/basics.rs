//! Kernels that are also launch cases, with results that are known without CUDA.

use super::workload::{Workload, linear};

macro_rules! ptx {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/", $name, ".ptx"))
    };
}

/// All workloads. Quick ones are small enough for a CPU.
pub fn all(quick: bool) -> Vec<Workload> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    vec![
        vector_add(size(1 << 26, 1 << 14)),
        saxpy(size(1 << 26, 1 << 14)),
        transpose(size(8192, 96)),
        stencil2d(size(8192, 96)),
        reduce(size(1 << 26, 1 << 14)),
        histogram(size(1 << 28, 1 << 14)),
        scan(size(1 << 26, 1 << 14)),
        bitonic_sort(size(1 << 16, 4)),
        matmul(size(2048, 48)),
        blocked_matmul(size(4096, 128)),
        spmv(size(1 << 20, 1 << 8)),
        nbody(size(1 << 16, 1 << 8)),
        mandelbrot(size(4096, 32)),
        black_scholes(size(1 << 24, 1 << 10)),
        sha256(size(1 << 20, 1 << 6)),
    ]
}

fn vector_add(n: u32) -> Workload {
    let (grid, block) = linear(n, 256);
    Workload {
        name: "vector add",
        size: format!("{n} f32"),
        ptx: ptx!("vector_add"),
        entry: "vector_add",
        grid,
        block,
        shared: 0,
        args: vec![
            format!("f32[{n}]:random(1)"),
            format!("f32[{n}]:random(2)"),
            format!("f32[{n}]"),
            format!("u32:{n}"),
        ],
    }
}

fn saxpy(n: u32) -> Workload {
    let (grid, block) = linear(n / 8, 256);
    Workload {
        name: "saxpy",
        size: format!("{n} f32, 8 per thread"),
        ptx: ptx!("saxpy"),
        entry: "saxpy",
        grid,
        block,
        shared: 0,
        args: vec!["f32:0.5".into(), format!("f32[{n}]:random(1)"), format!("f32[{n}]:random(2)"), format!("u32:{n}")],
    }
}

/// Tiles of 16 x 16, in blocks of 16 x 4 threads.
fn transpose(side: u32) -> Workload {
    let n = side * side;
    Workload {
        name: "transpose",
        size: format!("{side} x {side} u32"),
        ptx: ptx!("transpose"),
        entry: "transpose",
        grid: [side.div_ceil(16), side.div_ceil(16), 1],
        block: [16, 4, 1],
        shared: 0,
        args: vec![format!("u32[{n}]:random(1)"), format!("u32[{n}]"), format!("u32:{side}"), format!("u32:{side}")],
    }
}

/// Tiles of 16 x 8.
fn stencil2d(side: u32) -> Workload {
    let n = side * side;
    Workload {
        name: "five-point stencil",
        size: format!("{side} x {side} f32"),
        ptx: ptx!("stencil2d"),
        entry: "stencil2d",
        grid: [side.div_ceil(16), side.div_ceil(8), 1],
        block: [16, 8, 1],
        shared: 0,
        args: vec![
            format!("f32[{n}]:random(1)"),
            format!("f32[{n}]"),
            format!("s32:{side}"),
            format!("s32:{side}"),
            "f32:0.125".into(),
        ],
    }
}

pub fn reduce(n: u32) -> Workload {
    Workload {
        name: "reduction",
        size: format!("{n} s32"),
        ptx: ptx!("reduce_atomic"),
        entry: "reduce_atomic",
        grid: [(n / 1024).max(1), 1, 1],
        block: [64, 1, 1],
        shared: 0,
        args: vec![format!("s32[{n}]:random(1)"), "s32[1]".into(), format!("u32:{n}")],
    }
}

fn histogram(n: u32) -> Workload {
    Workload {
        name: "histogram",
        size: format!("{n} bytes, 256 bins"),
        ptx: ptx!("histogram"),
        entry: "histogram",
        grid: [(n / 65536).max(1), 1, 1],
        block: [256, 1, 1],
        shared: 0,
        args: vec![format!("u8[{n}]:random(1)"), "u32[256]".into(), format!("u32:{n}")],
    }
}

fn scan(n: u32) -> Workload {
    let (grid, block) = linear(n, 256);
    Workload {
        name: "block scan",
        size: format!("{n} u32, 256 per block"),
        ptx: ptx!("scan"),
        entry: "scan_inclusive",
        grid,
        block,
        shared: 0,
        args: vec![format!("u32[{n}]:random(1)"), format!("u32[{n}]"), format!("u32:{n}")],
    }
}

fn bitonic_sort(arrays: u32) -> Workload {
    let n = arrays * 1024;
    Workload {
        name: "bitonic sort",
        size: format!("{arrays} arrays of 1024 u32"),
        ptx: ptx!("bitonic_sort"),
        entry: "bitonic_sort",
        grid: [arrays, 1, 1],
        block: [256, 1, 1],
        shared: 4096,
        args: vec![format!("u32[{n}]:random(1)"), "u32:1024".into(), "u32:1024".into()],
    }
}

/// Tiles of 8 x 8.
pub fn matmul(side: u32) -> Workload {
    let n = side * side;
    let matrix = |seed| format!("f32[{n}]:random({seed})");
    let sizes = vec![format!("u32:{side}"); 3];
    Workload {
        name: "matrix product",
        size: format!("{side} cubed, f32"),
        ptx: ptx!("matmul_tiled"),
        entry: "matmul_tiled",
        grid: [side.div_ceil(8), side.div_ceil(8), 1],
        block: [8, 8, 1],
        shared: 0,
        args: [vec![matrix(1), matrix(2), format!("f32[{n}]")], sizes].concat(),
    }
}

/// Blocks of 128 x 128 results.
fn blocked_matmul(side: u32) -> Workload {
    let n = side * side;
    let matrix = |seed| format!("f32[{n}]:random({seed})");
    Workload {
        name: "matrix product in registers",
        size: format!("{side} cubed, f32"),
        ptx: ptx!("matmul_blocked"),
        entry: "matmul_blocked",
        grid: [side / 128, side / 128, 1],
        block: [256, 1, 1],
        shared: 0,
        args: vec![matrix(1), matrix(2), format!("f32[{n}]"), format!("u32:{side}"), format!("u32:{side}")],
    }
}

/// 32 elements in each row.
fn spmv(rows: u32) -> Workload {
    let (grid, block) = linear(rows, 128);
    let elements = rows * 32;
    Workload {
        name: "sparse matrix by vector",
        size: format!("{rows} rows of 32 f32"),
        ptx: ptx!("spmv_csr"),
        entry: "spmv_csr",
        grid,
        block,
        shared: 0,
        args: vec![
            format!("u32[{}]:iota(32)", rows + 1),
            format!("u32[{elements}]:random(1,0,{rows})"),
            format!("f32[{elements}]:random(2)"),
            format!("f32[{rows}]:random(3)"),
            format!("f32[{rows}]"),
            format!("u32:{rows}"),
        ],
    }
}

pub fn nbody(bodies: u32) -> Workload {
    let (grid, block) = linear(bodies, 32);
    Workload {
        name: "n-body",
        size: format!("{bodies} bodies"),
        ptx: ptx!("nbody"),
        entry: "nbody",
        grid,
        block,
        shared: 0,
        args: vec![
            format!("f32[{}]:random(1)", 4 * bodies),
            format!("f32[{}]", 4 * bodies),
            format!("u32:{bodies}"),
            "f32:0.01".into(),
        ],
    }
}

pub fn mandelbrot(side: u32) -> Workload {
    let step = 3.0 / f64::from(side);
    Workload {
        name: "Mandelbrot",
        size: format!("{side} x {side}, 1000 steps"),
        ptx: ptx!("mandelbrot"),
        entry: "mandelbrot",
        grid: [side.div_ceil(16), side.div_ceil(16), 1],
        block: [16, 16, 1],
        shared: 0,
        args: vec![
            format!("u32[{}]", side * side),
            format!("u32:{side}"),
            format!("u32:{side}"),
            "f32:-2.25".into(),
            "f32:1.5".into(),
            format!("f32:{step}"),
            "u32:1000".into(),
        ],
    }
}

pub fn black_scholes(n: u32) -> Workload {
    let (grid, block) = linear(n / 4, 128);
    Workload {
        name: "Black-Scholes",
        size: format!("{n} options"),
        ptx: ptx!("black_scholes"),
        entry: "black_scholes",
        grid,
        block,
        shared: 0,
        args: vec![
            format!("f32[{n}]:random(1,5,30)"),
            format!("f32[{n}]:random(2,1,100)"),
            format!("f32[{n}]:random(3,0.25,10)"),
            format!("f32[{n}]"),
            format!("f32[{n}]"),
            "f32:0.02".into(),
            "f32:0.3".into(),
            format!("u32:{n}"),
        ],
    }
}

fn sha256(messages: u32) -> Workload {
    let (grid, block) = linear(messages, 128);
    Workload {
        name: "SHA-256",
        size: format!("{messages} messages of 128 bytes"),
        ptx: ptx!("sha256"),
        entry: "sha256",
        grid,
        block,
        shared: 0,
        args: vec![
            format!("u8[{}]:random(1)", 128 * messages),
            format!("u32[{}]:iota(128)", messages + 1),
            format!("u32[{}]", 8 * messages),
            format!("u32:{messages}"),
        ],
    }
}
