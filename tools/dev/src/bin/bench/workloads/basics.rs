//! Kernels that are also launch cases, with results that are known without CUDA.

use super::workload::{linear, rows};

rows! { "/../../tests/kernels/";
    vector_add(n: 1 << 26 => 1 << 14): "vector add", "{n} f32", linear(n, 256),
        "f32[{n}]:random(1) f32[{n}]:random(2) f32[{n}] u32:{n}";
    saxpy(n: 1 << 26 => 1 << 14): "saxpy", "{n} f32, 8 per thread", linear(n / 8, 256),
        "f32:0.5 f32[{n}]:random(1) f32[{n}]:random(2) u32:{n}";
    // Tiles of 16 x 16, in blocks of 16 x 4 threads.
    transpose(side: 8192 => 96; n = side * side):
        "transpose", "{side} x {side} u32", ([side.div_ceil(16), side.div_ceil(16), 1], [16, 4, 1]),
        "u32[{n}]:random(1) u32[{n}] u32:{side} u32:{side}";
    // Tiles of 16 x 8.
    stencil2d(side: 8192 => 96; n = side * side):
        "five-point stencil", "{side} x {side} f32", ([side.div_ceil(16), side.div_ceil(8), 1], [16, 8, 1]),
        "f32[{n}]:random(1) f32[{n}] s32:{side} s32:{side} f32:0.125";
    reduce_atomic(n: 1 << 26 => 1 << 14): "reduction", "{n} s32", ([(n / 1024).max(1), 1, 1], [64, 1, 1]),
        "s32[{n}]:random(1) s32[1] u32:{n}";
    histogram(n: 1 << 28 => 1 << 14): "histogram", "{n} bytes, 256 bins", ([(n / 65536).max(1), 1, 1], [256, 1, 1]),
        "u8[{n}]:random(1) u32[256] u32:{n}";
    scan_inclusive["scan"](n: 1 << 26 => 1 << 14): "block scan", "{n} u32, 256 per block", linear(n, 256),
        "u32[{n}]:random(1) u32[{n}] u32:{n}";
    bitonic_sort(arrays: 1 << 16 => 4; n = arrays * 1024):
        "bitonic sort", "{arrays} arrays of 1024 u32", ([arrays, 1, 1], [256, 1, 1]),
        "u32[{n}]:random(1) u32:1024 u32:1024", shared 4096;
    // Tiles of 8 x 8.
    matmul_tiled(side: 2048 => 48; n = side * side):
        "matrix product", "{side} cubed, f32", ([side.div_ceil(8), side.div_ceil(8), 1], [8, 8, 1]),
        "f32[{n}]:random(1) f32[{n}]:random(2) f32[{n}] u32:{side} u32:{side} u32:{side}";
    // Blocks of 128 x 128 results.
    matmul_blocked(side: 4096 => 128; n = side * side):
        "matrix product in registers", "{side} cubed, f32", ([side / 128, side / 128, 1], [256, 1, 1]),
        "f32[{n}]:random(1) f32[{n}]:random(2) f32[{n}] u32:{side} u32:{side}";
    // 32 elements in each row.
    spmv_csr(rows: 1 << 20 => 1 << 8; elements = rows * 32, ends = rows + 1):
        "sparse matrix by vector", "{rows} rows of 32 f32", linear(rows, 128),
        "u32[{ends}]:iota(32) u32[{elements}]:random(1,0,{rows}) f32[{elements}]:random(2) f32[{rows}]:random(3) f32[{rows}] u32:{rows}";
    nbody(bodies: 1 << 16 => 1 << 8; floats = 4 * bodies): "n-body", "{bodies} bodies", linear(bodies, 32),
        "f32[{floats}]:random(1) f32[{floats}] u32:{bodies} f32:0.01";
    mandelbrot(side: 4096 => 32; step = 3.0 / f64::from(side), n = side * side):
        "Mandelbrot", "{side} x {side}, 1000 steps", ([side.div_ceil(16), side.div_ceil(16), 1], [16, 16, 1]),
        "u32[{n}] u32:{side} u32:{side} f32:-2.25 f32:1.5 f32:{step} u32:1000";
    black_scholes(n: 1 << 24 => 1 << 10): "Black-Scholes", "{n} options", linear(n / 4, 128),
        "f32[{n}]:random(1,5,30) f32[{n}]:random(2,1,100) f32[{n}]:random(3,0.25,10) f32[{n}] f32[{n}] f32:0.02 f32:0.3 u32:{n}";
    sha256(messages: 1 << 20 => 1 << 6; bytes = 128 * messages, ends = messages + 1, words = 8 * messages):
        "SHA-256", "{messages} messages of 128 bytes", linear(messages, 128),
        "u8[{bytes}]:random(1) u32[{ends}]:iota(128) u32[{words}] u32:{messages}";
}
