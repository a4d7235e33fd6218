//! GLSL twins: hand-written Vulkan shaders for comparison, which show what the driver can do.

use std::io::Cursor;

use anyhow::{Context as _, Result, bail};
use ptx2spv_runtime::{Device, Module};
use ptx2spv_translator::{Options, Program, Source};

/// Twins by the names of the kernels, compiled by glslang.
macro_rules! twins {
    ($($entry:literal)*) => {
        &[$(($entry, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/glsl/", $entry, ".spv")))),*]
    };
}

#[rustfmt::skip]
const TWINS: &[(&str, &[u8])] = twins! {
    "alignment" "attention" "bfs" "bilateral" "bitonic_sort" "black_scholes" "compaction" "convolution" "dgemm" "fft"
    "half_polynomial" "half_saxpy" "histogram" "int8_product" "kmeans" "lattice_boltzmann" "layer_norm" "mandelbrot"
    "matmul_blocked" "matmul_tiled" "md5" "means_f32" "means_f64" "median" "merge_sort" "monte_carlo" "naive_product"
    "nbody" "perlin" "radix_sort" "reduce_atomic" "saxpy" "scan_inclusive" "small_products" "softmax" "spheres"
    "spmv_csr" "spmv_vector" "stencil2d" "stencil2d_f64" "stencil3d_f32" "stencil3d_f64" "string_search"
    "tangents_f32" "tangents_f64" "transpose" "vector_add"
};

/// The name of a twin's entry point.
pub const ENTRY: &str = "main";

/// The twin of a kernel, if there is one.
pub fn of(entry: &str) -> Option<&'static [u8]> {
    TWINS.iter().find(|(name, _)| *name == entry).map(|&(_, spirv)| spirv)
}

/// The kernel's twin, loaded with the interface of the kernel's translation: both take the same arguments at the same
/// offsets.
pub fn load(device: &Device, source: &Source, spirv: &[u8]) -> Result<Module> {
    let mut interface = Program::new(source)?.translate(&Options::new(device.target()))?.interface;
    interface.entries.retain(|entry| of(&entry.name) == Some(spirv));
    let [kernel] = &mut interface.entries[..] else { bail!("the module has no kernel with this twin") };
    ENTRY.clone_into(&mut kernel.name);
    let words = ash::util::read_spv(&mut Cursor::new(spirv)).context("reading the twin")?;
    // SAFETY: glslang compiled the module from a source written for this interface.
    Ok(unsafe { device.load_spirv(&words, &interface) }?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sides::{Code, load, prepare};
    use crate::workloads;
    use ptx2spv::cases::Outputs;
    use ptx2spv::cases::device::Made;
    use ptx2spv::cases::prepare::{Argument, Prepared, Subject};
    use ptx2spv_runtime::{LaunchConfig, ReferenceOptions};
    use ptx2spv_translator::Math;

    /// Twins whose results may differ, relative to the largest result: their sums have another order, or GLSL's `exp`, `sin`, `normalize`
    /// and the like take the place of steps that the kernel spells out.
    const INEXACT: &[(&str, f64)] = &[
        ("attention", 1e-5),
        ("bilateral", 1e-6),
        ("black_scholes", 1e-6),
        ("fft", 1e-6),
        ("layer_norm", 1e-6),
        ("monte_carlo", 1e-4),
        ("softmax", 1e-6),
        // Where rays graze spheres, small differences become large.
        ("spheres", 1e-2),
        ("spmv_vector", 1e-6),
    ];

    fn outputs(device: &Device, case: &Prepared, code: Code) -> Outputs {
        let (module, kernel) = load(device, case, code).unwrap().unwrap();
        let made = Made::new(device, case).unwrap();
        made.bind(&module, case).unwrap();
        // SAFETY: the reference device checks every access.
        unsafe { kernel.launch(&LaunchConfig::from(case), &made.arguments(case)) }.unwrap();
        device.synchronize().unwrap();
        made.read().unwrap()
    }

    /// The largest difference of two buffers' elements by the largest element.
    fn difference(case: &Prepared, kernel: &Outputs, twin: &Outputs) -> f64 {
        let mut worst: f64 = 0.0;
        for (index, argument) in case.args.iter().enumerate() {
            let Argument::Buffer(array) = argument else { continue };
            let values = |outputs: &Outputs| -> Vec<f64> {
                let bytes = outputs.bytes(&Subject::Arg(index));
                array.ty.elements(bytes).map(|bits| array.ty.to_f64(bits)).collect()
            };
            let (kernel, twin) = (values(kernel), values(twin));
            let largest = kernel.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            for (kernel, twin) in kernel.iter().zip(&twin).filter(|(kernel, twin)| kernel != twin) {
                let difference = (kernel - twin).abs() / largest;
                // A NaN or an infinity on one side is a fault.
                worst = worst.max(if difference.is_finite() { difference } else { f64::INFINITY });
            }
        }
        worst
    }

    #[test]
    fn twins_compute_what_their_kernels_do() {
        // Its subgroups are of 32 invocations, as the twins with warp operations take for granted.
        let device = Device::reference(ReferenceOptions::default().config().unwrap());
        for (entry, _) in TWINS {
            let workload = workloads::all(true).into_iter().find(|workload| workload.entry == *entry).unwrap();
            let case = prepare(&workload).unwrap();
            let [kernel, twin] =
                [Code::Translation(Math::default()), Code::Glsl].map(|code| outputs(&device, &case, code));
            let difference = difference(&case, &kernel, &twin);
            let allowed = INEXACT.iter().find(|(name, _)| name == entry).map_or(0.0, |(_, allowed)| *allowed);
            assert!(difference <= allowed, "{entry}: {difference:e}, and {allowed:e} is allowed");
        }
    }
}
