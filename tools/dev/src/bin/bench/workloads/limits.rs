//! Launches that come as close as possible to the chip's limits.

use super::work::{Unit, Work};
use super::workload::{Kernel, Workload, kernel, linear};

/// Operations of a thread in each round: eight chains of sixteen steps.
const STEPS: u64 = 8 * 16;

/// Workloads with the amount of work that they do.
pub fn all(quick: bool) -> Vec<(Workload, Work)> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    let (vectors, threads, rounds) = (size(1 << 25, 1 << 9), size(1 << 19, 1 << 8), size(256, 2));
    let copy = kernel!("limits", "copy").workload(
        "copy",
        format!("{vectors} vectors of 16 bytes"),
        linear(vectors, 256),
        [format!("u32[{}]:random(1)", 4 * vectors), format!("u32[{}]", 4 * vectors)],
    );
    let chains = |kernel: Kernel, unit, result: String, factor: &str, per_step: u64| {
        let args = [result, factor.to_owned(), format!("u32:{rounds}")];
        let size = format!("{threads} threads, {rounds} rounds");
        let workload = kernel.workload("chains", size, linear(threads, 256), args);
        (workload, Work { unit, count: u64::from(threads) * u64::from(rounds) * STEPS * per_step })
    };
    vec![
        (copy, Work { unit: Unit::Byte, count: 32 * u64::from(vectors) }),
        chains(kernel!("limits", "fma_f32"), Unit::F32, format!("f32[{threads}]"), "f32:0.75", 2),
        chains(kernel!("limits", "fma_f64"), Unit::F64, format!("f64[{threads}]"), "f64:0.75", 2),
        chains(kernel!("limits", "fma_f16"), Unit::F16, format!("f16[{}]", 2 * threads), "f32:0.75", 4),
        chains(kernel!("limits", "dot_s8"), Unit::S8, format!("s32[{threads}]"), "u32:0x01020304", 8),
    ]
}
