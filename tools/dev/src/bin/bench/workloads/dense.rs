//! Dense matrices and neural networks.

use super::workload::{Kernel, Workload, kernel, linear, planar};

pub fn all(quick: bool) -> Vec<Workload> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    vec![
        naive_product(size(2048, 64)),
        attention(size(64, 1), size(4096, 128)),
        softmax(size(8192, 4)),
        layer_norm(size(8192, 4)),
        convolution(size(4096, 48)),
        small_products(size(1 << 16, 4)),
        dgemm(size(2048, 64)),
        int8_product(size(4096, 64)),
        matrix_units("hgemm_mma", "matrix product, f16 by mma.sync", "f16", "f32", size(4096, 128)),
        matrix_units("int8_mma", "matrix product, int8 by mma.sync", "u8", "u32", size(4096, 128)),
        matrix_units("hgemm_wmma", "matrix product, f16 by wmma", "f16", "f32", size(4096, 128)),
        half_polynomial(size(1 << 25, 1 << 9)),
        half_saxpy(size(1 << 26, 1 << 9)),
        kmeans(size(1 << 22, 1 << 9)),
        int8_gemv(size(1 << 16, 16)),
        nibble_table(size(1 << 16, 16)),
        small_floats(size(1 << 24, 1 << 10), size(1 << 18, 1 << 8)),
        lu(size(1 << 17, 4)),
    ]
}

fn naive_product(side: u32) -> Workload {
    let n = side * side;
    kernel!("naive_product").workload(
        "matrix product, naive",
        format!("{side} cubed, f32"),
        planar(side, side),
        [format!("f32[{n}]:random(1)"), format!("f32[{n}]:random(2)"), format!("f32[{n}]"), format!("u32:{side}")],
    )
}

fn attention(heads: u32, rows: u32) -> Workload {
    let n = heads * rows * 64;
    kernel!("attention").workload(
        "attention",
        format!("{heads} heads of {rows} x 64 f32"),
        ([rows / 128, heads, 1], [128, 1, 1]),
        [
            format!("f32[{n}]:random(1)"),
            format!("f32[{n}]:random(2)"),
            format!("f32[{n}]:random(3)"),
            format!("f32[{n}]"),
            format!("u32:{rows}"),
        ],
    )
}

pub fn softmax(rows: u32) -> Workload {
    let n = rows * 4096;
    kernel!("rows", "softmax").workload(
        "softmax",
        format!("{rows} rows of 4096 f32"),
        linear(rows * 256, 256),
        [format!("f32[{n}]:random(1,-8,8)"), format!("f32[{n}]")],
    )
}

fn layer_norm(rows: u32) -> Workload {
    let n = rows * 4096;
    kernel!("rows", "layer_norm").workload(
        "layer norm",
        format!("{rows} rows of 4096 f32"),
        linear(rows * 256, 256),
        [
            format!("f32[{n}]:random(1)"),
            "f32[4096]:random(2)".into(),
            "f32[4096]:random(3)".into(),
            format!("f32[{n}]"),
        ],
    )
}

fn convolution(side: u32) -> Workload {
    let n = side * side;
    kernel!("convolution").workload(
        "convolution",
        format!("{side} x {side} f32, 7 x 7 weights"),
        ([side / 16, side / 16, 1], [16, 16, 1]),
        [format!("f32[{n}]:random(1)"), "f32[49]:random(2)".into(), format!("f32[{n}]"), format!("s32:{side}")],
    )
}

fn small_products(pairs: u32) -> Workload {
    let n = pairs * 256;
    kernel!("small_products").workload(
        "small matrix products",
        format!("{pairs} of 16 cubed, f32"),
        ([pairs, 1, 1], [16, 16, 1]),
        [format!("f32[{n}]:random(1)"), format!("f32[{n}]:random(2)"), format!("f32[{n}]")],
    )
}

fn dgemm(side: u32) -> Workload {
    let n = side * side;
    kernel!("dgemm").workload(
        "matrix product, f64",
        format!("{side} cubed"),
        ([side / 64, side / 64, 1], [256, 1, 1]),
        [format!("f64[{n}]:random(1)"), format!("f64[{n}]:random(2)"), format!("f64[{n}]"), format!("u32:{side}")],
    )
}

/// A product by tensor cores, with a block of 256 threads for each 128 by 128 elements.
fn matrix_units(
    entry: &'static str,
    name: &'static str,
    factor: &'static str,
    sum: &'static str,
    side: u32,
) -> Workload {
    let n = side * side;
    let kernel = Kernel { entry, ..kernel!("matrix_units") };
    kernel.workload(
        name,
        format!("{side} cubed"),
        ([side / 128, side / 128, 1], [256, 1, 1]),
        [
            format!("{sum}[{n}]"),
            format!("{factor}[{n}]:random(1)"),
            format!("{factor}[{n}]:random(2)"),
            format!("u32:{side}"),
            format!("u32:{side}"),
        ],
    )
}

fn int8_product(side: u32) -> Workload {
    let (n, words) = (side * side, side * side / 4);
    kernel!("int8_product").workload(
        "matrix product, s8",
        format!("{side} cubed, by dp4a"),
        ([side / 64, side / 64, 1], [256, 1, 1]),
        [
            format!("u32[{words}]:random(1)"),
            format!("u32[{words}]:random(2)"),
            format!("s32[{n}]"),
            format!("u32:{side}"),
        ],
    )
}

fn half_polynomial(pairs: u32) -> Workload {
    let n = 2 * pairs;
    kernel!("half", "half_polynomial").workload(
        "polynomial, f16",
        format!("{n} f16, degree 63"),
        linear(pairs, 256),
        [format!("f16[{n}]:random(1)"), "f16[128]:random(2)".into(), format!("f16[{n}]")],
    )
}

fn half_saxpy(pairs: u32) -> Workload {
    let n = 2 * pairs;
    kernel!("half", "half_saxpy").workload(
        "saxpy, f16",
        format!("{n} f16"),
        linear(pairs, 256),
        [format!("f16[{n}]:random(1)"), format!("f16[{n}]:random(2)"), "f32:0.4".into()],
    )
}

pub fn kmeans(points: u32) -> Workload {
    kernel!("kmeans").workload(
        "k-means",
        format!("{points} points, 16 dimensions, 64 centres"),
        linear(points, 256),
        [
            format!("f32[{}]:random(1)", points * 16),
            "f32[1024]:random(2)".into(),
            format!("u32[{points}]"),
            format!("u32:{points}"),
        ],
    )
}

/// A warp for each row of 4096 bytes.
fn int8_gemv(rows: u32) -> Workload {
    kernel!("int8_gemv").workload(
        "matrix by vector, s8",
        format!("{rows} rows of 4096, by dp4a"),
        linear(rows * 32, 256),
        [
            format!("u32[{}]:random(1)", rows * 1024),
            "u32[1024]:random(2)".into(),
            format!("f32[{rows}]:random(3)"),
            format!("f32[{rows}]"),
            "u32:256".into(),
            "f32:0.0078125".into(),
        ],
    )
}

/// A warp for each row of 4096 weights of four bits.
fn nibble_table(rows: u32) -> Workload {
    kernel!("nibble_table").workload(
        "matrix of 4 bits by vector",
        format!("{rows} rows of 4096, looked up by prmt"),
        linear(rows * 32, 256),
        [
            format!("u32[{}]:random(1)", rows * 512),
            "u32[1024]:random(2)".into(),
            format!("s32[{rows}]"),
            "{u32:0xcfbfad81;u32:0xf6ede3d9;u32:0x1e140b00;u32:0x7f563928}".into(),
            "u32:128".into(),
        ],
    )
}

fn small_floats(words: u32, threads: u32) -> Workload {
    kernel!("small_floats").workload(
        "decoding of 8-bit floats",
        format!("{} by shuffles", 4 * words),
        linear(threads, 256),
        [format!("u32[{words}]:random(1)"), format!("f32[{}]", 4 * words), format!("u32:{words}"), "f32:0.375".into()],
    )
}

fn lu(matrices: u32) -> Workload {
    let n = matrices * 256;
    kernel!("lu").workload(
        "triangular factors",
        format!("{matrices} of 16 x 16 f32"),
        ([matrices, 1, 1], [16, 16, 1]),
        [format!("f32[{n}]:random(1)"), format!("f32[{n}]")],
    )
}
