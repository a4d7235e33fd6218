//! The kernels to measure, at realistic sizes.

mod basics;
mod dense;
mod grids;
pub mod limits;
mod scalar;
mod sparse;
mod textures;
pub mod work;
mod workload;

pub use workload::Workload;

/// All workloads. Quick ones are small enough for a CPU and say nothing about speed.
pub fn all(quick: bool) -> Vec<Workload> {
    [without_textures(quick), textures::all(quick)].concat()
}

fn without_textures(quick: bool) -> Vec<Workload> {
    [basics::all(quick), dense::all(quick), grids::all(quick), sparse::all(quick), scalar::all(quick)].concat()
}

/// Workloads with sizes for a few cores.
pub fn for_cpus() -> Vec<Workload> {
    vec![
        basics::nbody(1 << 12),
        basics::matmul_tiled(256),
        basics::mandelbrot(256),
        basics::black_scholes(1 << 18),
        basics::reduce_atomic(1 << 22),
        dense::softmax(256),
        dense::kmeans(1 << 15),
        grids::stencil3d_f32(128),
        grids::median(1024),
        scalar::md5(1 << 15),
    ]
}

/// The PTX of workloads, without duplicates. Those with textures are left out: each read becomes hundreds of operations, so that
/// speeds by the size of the PTX would be about little else.
pub fn modules() -> Vec<&'static str> {
    let mut list: Vec<&str> = Vec::new();
    for workload in without_textures(true) {
        if !list.contains(&workload.ptx) {
            list.push(workload.ptx);
        }
    }
    list
}

/// Kernels with nothing but arithmetic, and one result for each thread.
pub fn arithmetic() -> Vec<Workload> {
    let workload = |name, entry, rounds: u32| Workload {
        name,
        size: format!("64 threads, {rounds} rounds"),
        ptx: include_str!("../arithmetic.ptx"),
        entry,
        grid: [1, 1, 1],
        block: [64, 1, 1],
        shared: 0,
        args: vec!["u32[64]".into(), format!("u32:{rounds}")],
    };
    vec![workload("integers", "integers", 20_000), workload("floats", "floats", 20_000)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx2spv::cases::argument_text;
    use ptx2spv_runtime::target_by_name;
    use ptx2spv_translator::{Options, Program, Source};

    #[test]
    fn all_kernels_translate() {
        let target = target_by_name("nvidia").unwrap();
        for workload in all(true) {
            let source = Source::new("bench.ptx", workload.ptx);
            Program::new(&source).unwrap().translate(&Options::new(&target)).unwrap();
        }
    }

    #[test]
    fn quick_arguments_can_be_made_and_kernels_are_there() {
        for workload in all(true) {
            assert!(workload.ptx.contains(&format!(".entry {}(", workload.entry)), "{}", workload.name);
            argument_text::parse_all(&workload.args).unwrap();
        }
    }
}
