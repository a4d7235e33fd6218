//! The minimum work of a kernel: the bytes of its buffers and, where arithmetic may be the bottleneck, its operations.

use ptx2spv::cases::prepare::{Argument, Prepared};

/// The unit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Reading or writing a byte of device memory.
    Byte,
    /// An f32 addition or multiplication.
    F32,
    /// An f64 addition or multiplication.
    F64,
    /// An f16 addition or multiplication, in pairs.
    F16,
    /// A byte addition or multiplication, in dot products of four.
    S8,
    /// An f16 or bf16 addition or multiplication, by matrix units.
    MatrixF16,
    /// A tf32 addition or multiplication, by matrix units.
    MatrixTf32,
    /// A byte addition or multiplication, by matrix units.
    MatrixS8,
}

/// The number of units in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub unit: Unit,
    pub count: u64,
}

/// The bytes of all buffers and images, each read or written once, or twice if the kernel works in place.
pub fn bytes(case: &Prepared) -> Work {
    let rewritten = match case.entry.as_str() {
        "saxpy" | "half_saxpy" => Some(1),
        "bitonic_sort" | "fft" => Some(0),
        _ => None,
    };
    let count =
        sizes(case).zip(0..).map(|((bytes, _), index)| if Some(index) == rewritten { 2 * bytes } else { bytes });
    let images = case.textures.images.values().map(|image| image.contents.bytes.len() as u64);
    Work { unit: Unit::Byte, count: count.chain(images).sum() }
}

/// The operations of kernels whose number doesn't depend on the data. An `fma` counts as two.
pub fn operations(case: &Prepared) -> Option<Work> {
    let elements: Vec<u64> = sizes(case).map(|(_, elements)| elements).collect();
    let last = elements.last().copied()?;
    let [grid_x, _, _] = case.grid.map(u64::from);
    let (unit, count) = match case.entry.as_str() {
        // For each result, two operations in each of `side` steps.
        "naive_product" | "matmul_tiled" | "matmul_blocked" => (Unit::F32, 2 * last * last.isqrt()),
        "dgemm" => (Unit::F64, 2 * last * last.isqrt()),
        "int8_product" => (Unit::S8, 2 * last * last.isqrt()),
        "hgemm_mma" | "bf16_mma" | "hgemm_wmma" | "hgemm_wgmma" => (Unit::MatrixF16, 2 * last * last.isqrt()),
        "tf32_mma" => (Unit::MatrixTf32, 2 * last * last.isqrt()),
        "int8_mma" => (Unit::MatrixS8, 2 * last * last.isqrt()),
        // Without the products that are left out.
        "hgemm_sparse" => (Unit::MatrixF16, last * last.isqrt()),
        "flash_attention" => (Unit::MatrixF16, 4 * last * grid_x * 64),
        "small_products" => (Unit::F32, 2 * last * 16),
        "convolution" => (Unit::F32, 2 * last * 49),
        // For each element of the queries a product with all keys, and for each result a product with all values.
        "attention" => (Unit::F32, 4 * last * grid_x * 128),
        "half_polynomial" => (Unit::F16, 2 * last * 63),
        // A difference and an `fma` for each dimension of each center.
        "kmeans" => (Unit::F32, 3 * last * 16 * 64),
        // Three differences, six operations for the distance, its inverse square root cubed, and three `fma`.
        "nbody" => (Unit::F32, 18 * (last / 4) * (last / 4)),
        // Five operations for each butterfly of ten stages.
        "fft" => (Unit::F32, last / 2 * 5 * 10),
        _ => return None,
    };
    Some(Work { unit, count })
}

/// Bytes and elements of the buffers among the arguments.
fn sizes(case: &Prepared) -> impl Iterator<Item = (u64, u64)> {
    case.args.iter().filter_map(|argument| match argument {
        Argument::Buffer(array) => Some((array.bytes.len() as u64, array.ty.elements(&array.bytes).count() as u64)),
        _ => None,
    })
}
