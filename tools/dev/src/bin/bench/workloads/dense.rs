//! Dense matrices and neural networks.

use super::workload::{Workload, kernel, linear, planar};

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
        half_polynomial(size(1 << 25, 1 << 9)),
        half_saxpy(size(1 << 26, 1 << 9)),
        kmeans(size(1 << 22, 1 << 9)),
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
