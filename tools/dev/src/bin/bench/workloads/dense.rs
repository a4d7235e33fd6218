//! Dense matrices and neural networks.

use super::workload::{linear, planar, rows};

rows! { "/kernels/";
    naive_product(side: 2048 => 64; n = side * side): "matrix product, naive", "{side} cubed, f32", planar(side, side),
        "f32[{n}]:random(1) f32[{n}]:random(2) f32[{n}] u32:{side}";
    attention(heads: 64 => 1, rows: 4096 => 128; n = heads * rows * 64):
        "attention", "{heads} heads of {rows} x 64 f32", ([rows / 128, heads, 1], [128, 1, 1]),
        "f32[{n}]:random(1) f32[{n}]:random(2) f32[{n}]:random(3) f32[{n}] u32:{rows}";
    softmax["rows"](rows: 8192 => 4; n = rows * 4096): "softmax", "{rows} rows of 4096 f32", linear(rows * 256, 256),
        "f32[{n}]:random(1,-8,8) f32[{n}]";
    layer_norm["rows"](rows: 8192 => 4; n = rows * 4096):
        "layer norm", "{rows} rows of 4096 f32", linear(rows * 256, 256),
        "f32[{n}]:random(1) f32[4096]:random(2) f32[4096]:random(3) f32[{n}]";
    convolution(side: 4096 => 48; n = side * side):
        "convolution", "{side} x {side} f32, 7 x 7 weights", ([side / 16, side / 16, 1], [16, 16, 1]),
        "f32[{n}]:random(1) f32[49]:random(2) f32[{n}] s32:{side}";
    small_products(pairs: 1 << 16 => 4; n = pairs * 256):
        "small matrix products", "{pairs} of 16 cubed, f32", ([pairs, 1, 1], [16, 16, 1]),
        "f32[{n}]:random(1) f32[{n}]:random(2) f32[{n}]";
    dgemm(side: 2048 => 64; n = side * side):
        "matrix product, f64", "{side} cubed", ([side / 64, side / 64, 1], [256, 1, 1]),
        "f64[{n}]:random(1) f64[{n}]:random(2) f64[{n}] u32:{side}";
    int8_product(side: 4096 => 64; n = side * side, words = side * side / 4):
        "matrix product, s8", "{side} cubed, by dp4a", ([side / 64, side / 64, 1], [256, 1, 1]),
        "u32[{words}]:random(1) u32[{words}]:random(2) s32[{n}] u32:{side}";
    // By tensor cores, with a block of 256 threads for each 128 by 128 elements.
    hgemm_mma["matrix_units"](side: 4096 => 128; n = side * side):
        "matrix product, f16 by mma.sync", "{side} cubed", ([side / 128, side / 128, 1], [256, 1, 1]),
        "f32[{n}] f16[{n}]:random(1) f16[{n}]:random(2) u32:{side} u32:{side}";
    bf16_mma["matrix_floats"](side: 4096 => 128; n = side * side):
        "matrix product, bf16 by mma.sync", "{side} cubed", ([side / 128, side / 128, 1], [256, 1, 1]),
        "f32[{n}] bf16[{n}]:random(1) bf16[{n}]:random(2) u32:{side} u32:{side}";
    tf32_mma["matrix_floats"](side: 4096 => 128; n = side * side):
        "matrix product, tf32 by mma.sync", "{side} cubed", ([side / 128, side / 128, 1], [256, 1, 1]),
        "f32[{n}] f32[{n}]:random(1) f32[{n}]:random(2) u32:{side} u32:{side}";
    int8_mma["matrix_units"](side: 4096 => 128; n = side * side):
        "matrix product, int8 by mma.sync", "{side} cubed", ([side / 128, side / 128, 1], [256, 1, 1]),
        "u32[{n}] u8[{n}]:random(1) u8[{n}]:random(2) u32:{side} u32:{side}";
    hgemm_wmma["matrix_units"](side: 4096 => 128; n = side * side):
        "matrix product, f16 by wmma", "{side} cubed", ([side / 128, side / 128, 1], [256, 1, 1]),
        "f32[{n}] f16[{n}]:random(1) f16[{n}]:random(2) u32:{side} u32:{side}";
    hgemm_wgmma["warpgroups"](side: 4096 => 128; n = side * side):
        "matrix product, f16 by wgmma", "{side} cubed", ([side / 128, side / 128, 1], [256, 1, 1]),
        "f32[{n}] f16[{n}]:random(1) f16[{n}]:random(2) u32:{side} u32:{side}";
    // Half of a factor's elements are left out; which, a word for each 32 of the others says.
    hgemm_sparse["matrix_sparse"](side: 4096 => 128; n = side * side, kept = side * side / 2, words = side * side / 32):
        "matrix product, f16 by mma.sp", "{side} cubed", ([side / 128, side / 128, 1], [256, 1, 1]),
        "f32[{n}] u32[{words}]:random(3) f16[{kept}]:random(1) f16[{n}]:random(2) u32:{side} u32:{side}";
    flash_attention(heads: 64 => 1, rows: 4096 => 128; n = heads * rows * 64):
        "attention, f16 by mma.sync", "{heads} heads of {rows} x 64", ([rows / 64, heads, 1], [128, 1, 1]),
        "f16[{n}] f16[{n}]:random(1) f16[{n}]:random(2) f16[{n}]:random(3) u32:{rows}";
    half_polynomial["half"](pairs: 1 << 25 => 1 << 9; n = 2 * pairs):
        "polynomial, f16", "{n} f16, degree 63", linear(pairs, 256),
        "f16[{n}]:random(1) f16[128]:random(2) f16[{n}]";
    half_saxpy["half"](pairs: 1 << 26 => 1 << 9; n = 2 * pairs): "saxpy, f16", "{n} f16", linear(pairs, 256),
        "f16[{n}]:random(1) f16[{n}]:random(2) f32:0.4";
    kmeans(points: 1 << 22 => 1 << 9; floats = points * 16):
        "k-means", "{points} points, 16 dimensions, 64 centres", linear(points, 256),
        "f32[{floats}]:random(1) f32[1024]:random(2) u32[{points}] u32:{points}";
    // A warp for each row of 4096 bytes.
    int8_gemv(rows: 1 << 16 => 16; words = rows * 1024):
        "matrix by vector, s8", "{rows} rows of 4096, by dp4a", linear(rows * 32, 256),
        "u32[{words}]:random(1) u32[1024]:random(2) f32[{rows}]:random(3) f32[{rows}] u32:256 f32:0.0078125";
    // A warp for each row of 4096 weights of four bits.
    nibble_table(rows: 1 << 16 => 16; words = rows * 512):
        "matrix of 4 bits by vector", "{rows} rows of 4096, looked up by prmt", linear(rows * 32, 256),
        "u32[{words}]:random(1) u32[1024]:random(2) s32[{rows}] {{u32:0xcfbfad81;u32:0xf6ede3d9;u32:0x1e140b00;u32:0x7f563928}} u32:128";
    small_floats(words: 1 << 24 => 1 << 10, threads: 1 << 18 => 1 << 8; n = 4 * words):
        "decoding of 8-bit floats", "{n} by shuffles", linear(threads, 256),
        "u32[{words}]:random(1) f32[{n}] u32:{words} f32:0.375";
    lu(matrices: 1 << 17 => 4; n = matrices * 256):
        "triangular factors", "{matrices} of 16 x 16 f32", ([matrices, 1, 1], [16, 16, 1]),
        "f32[{n}]:random(1) f32[{n}]";
}
