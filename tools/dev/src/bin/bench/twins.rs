//! GLSL twins: hand-written Vulkan shaders for comparison, which show what the driver can do.

use std::io::Cursor;

use anyhow::{Context as _, Result, bail};
use ptx2spv_runtime::{Device, Module};
use ptx2spv_translator::{Options, Program, Source};

/// Twins by the names of the kernels, compiled by glslang.
macro_rules! twins {
    ($($entry:literal: $file:literal),* $(,)?) => {
        &[$(($entry, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/glsl/", $file, ".spv")))),*]
    };
}

const TWINS: &[(&str, &[u8])] = twins! {
    "vector_add": "vector_add",
    "transpose": "transpose",
    "reduce_atomic": "reduce_atomic",
    "scan_inclusive": "scan",
    "matmul_tiled": "matmul_tiled",
    "matmul_blocked": "matmul_blocked",
    "nbody": "nbody",
    "mandelbrot": "mandelbrot",
    "attention": "attention",
    "softmax": "softmax",
    "convolution": "convolution",
    "int8_product": "int8_product",
    "stencil3d_f32": "stencil3d",
    "median": "median",
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
