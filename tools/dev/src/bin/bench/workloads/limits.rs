//! Launches that come as close as possible to the chip's limits.

use super::work::{Unit, Work};
use super::workload::{Workload, linear};

/// Operations of a thread in each round: eight chains of sixteen steps.
const STEPS: u64 = 8 * 16;
/// Products of a warp in each round, each of 16 by 8 elements.
const PRODUCTS: u64 = 8;

/// Workloads with the amount of work that they do.
pub fn all(quick: bool) -> Vec<(Workload, Work)> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    let (vectors, threads, rounds) = (size(1 << 25, 1 << 9), size(1 << 19, 1 << 8), size(256, 2));
    let chains_ptx = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/limits.ptx"));
    let products_ptx = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/matrix_chains.ptx"));
    let launch = |ptx, entry, name, size, threads, args: String| {
        let (grid, block) = linear(threads, 256);
        Workload { name, size, ptx, entry, grid, block, shared: 0, args: args.split(' ').map(String::from).collect() }
    };
    let (size, words) = (format!("{vectors} vectors of 16 bytes"), 4 * vectors);
    let copy = launch(chains_ptx, "copy", "copy", size, vectors, format!("u32[{words}]:random(1) u32[{words}]"));
    let chains = |entry, unit, args: String, per_step: u64| {
        let size = format!("{threads} threads, {rounds} rounds");
        let work = Work { unit, count: u64::from(threads) * u64::from(rounds) * STEPS * per_step };
        (launch(chains_ptx, entry, "chains", size, threads, format!("{args} u32:{rounds}")), work)
    };
    let products = |entry, unit, ty, factor, depth: u64| {
        let size = format!("{threads} threads, {rounds} rounds");
        let warps = u64::from(threads / 32);
        let work = Work { unit, count: warps * u64::from(rounds) * PRODUCTS * 2 * 16 * 8 * depth };
        let args = format!("{ty}[{threads}] u32:{factor} u32:{rounds}");
        (launch(products_ptx, entry, "chains of products", size, threads, args), work)
    };
    vec![
        (copy, Work { unit: Unit::Byte, count: 32 * u64::from(vectors) }),
        chains("fma_f32", Unit::F32, format!("f32[{threads}] f32:0.75"), 2),
        chains("fma_f64", Unit::F64, format!("f64[{threads}] f64:0.75"), 2),
        chains("fma_f16", Unit::F16, format!("f16[{}] f32:0.75", 2 * threads), 4),
        chains("dot_s8", Unit::S8, format!("s32[{threads}] u32:0x01020304"), 8),
        products("chain_f16", Unit::MatrixF16, "f32", "0x3c003800", 16),
        products("chain_tf32", Unit::MatrixTf32, "f32", "0x3f800000", 8),
        products("chain_s8", Unit::MatrixS8, "s32", "0x01020304", 32),
    ]
}
