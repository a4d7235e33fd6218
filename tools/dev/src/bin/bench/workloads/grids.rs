//! Images, grids and transforms.

use super::workload::{Workload, kernel, linear, planar};

pub fn all(quick: bool) -> Vec<Workload> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    vec![
        stencil2d_f64(size(8192, 48)),
        stencil3d_f32(size(512, 34)),
        stencil3d_f64(size(384, 34)),
        lattice_boltzmann(size(2048, 32)),
        fft(size(1 << 15, 1)),
        bilateral(size(4096, 32)),
        median(size(8192, 128)),
        perlin(size(8192, 32)),
        spheres(size(4096, 32)),
        block_match(size(4096, 64)),
        euler_flux(size(4096, 32)),
        ray_marching(size(2048, 32)),
        bvh_walk(size(2048, 32)),
    ]
}

fn stencil2d_f64(side: u32) -> Workload {
    let n = side * side;
    kernel!("stencil2d_f64").workload(
        "nine-point stencil, f64",
        format!("{side} x {side}"),
        planar(side, side),
        [format!("f64[{n}]:random(1)"), format!("f64[{n}]"), format!("s32:{side}")],
    )
}

pub fn stencil3d_f32(side: u32) -> Workload {
    let n = side * side * side;
    kernel!("stencil3d", "stencil3d_f32").workload(
        "seven-point stencil",
        format!("{side} cubed, f32"),
        planar(side, side),
        [format!("f32[{n}]:random(1)"), format!("f32[{n}]"), format!("s32:{side}")],
    )
}

fn stencil3d_f64(side: u32) -> Workload {
    let n = side * side * side;
    kernel!("stencil3d", "stencil3d_f64").workload(
        "seven-point stencil, f64",
        format!("{side} cubed"),
        planar(side, side),
        [format!("f64[{n}]:random(1)"), format!("f64[{n}]"), format!("s32:{side}")],
    )
}

fn lattice_boltzmann(side: u32) -> Workload {
    let n = 9 * side * side;
    kernel!("lattice_boltzmann").workload(
        "lattice Boltzmann",
        format!("{side} x {side}, 9 speeds"),
        planar(side, side),
        [format!("f32[{n}]:random(1,0.1,0.2)"), format!("f32[{n}]"), format!("u32:{side}"), "f32:0.6".into()],
    )
}

fn fft(transforms: u32) -> Workload {
    kernel!("fft").workload(
        "Fourier transform",
        format!("{transforms} of 1024 complex f32"),
        linear(transforms * 256, 256),
        [format!("f32[{}]:random(1)", transforms * 2048)],
    )
}

fn bilateral(side: u32) -> Workload {
    let n = side * side;
    kernel!("bilateral").workload(
        "bilateral filter",
        format!("{side} x {side} f32, 5 x 5"),
        planar(side, side),
        [
            format!("f32[{n}]:random(1,0,1)"),
            format!("f32[{n}]"),
            format!("s32:{side}"),
            "f32:-0.2".into(),
            "f32:-8".into(),
        ],
    )
}

pub fn median(side: u32) -> Workload {
    let n = side * side;
    kernel!("median").workload(
        "median filter",
        format!("{side} x {side} bytes, 3 x 3"),
        planar(side / 4, side),
        [format!("u8[{n}]:random(1)"), format!("u8[{n}]"), format!("s32:{side}")],
    )
}

fn perlin(side: u32) -> Workload {
    kernel!("perlin").workload(
        "Perlin noise",
        format!("{side} x {side}, 4 octaves"),
        planar(side, side),
        [format!("f32[{}]", side * side), format!("u32:{side}"), "f32:0.0123".into(), "f32:0.7".into()],
    )
}

fn spheres(side: u32) -> Workload {
    kernel!("spheres").workload(
        "ray tracing",
        format!("{side} x {side}, 64 spheres"),
        planar(side, side),
        ["f32[256]:random(1,-2,2)".into(), format!("f32[{}]", side * side), format!("u32:{side}")],
    )
}

/// Each thread has a block of 8 x 4 bytes.
fn block_match(side: u32) -> Workload {
    let words = side * side / 4;
    kernel!("block_match").workload(
        "motion search",
        format!("{side} x {side} bytes, 16 displacements"),
        planar(side / 8, side / 4),
        [
            format!("u32[{words}]:random(1)"),
            format!("u32[{words}]:random(2)"),
            format!("u32[{}]", words / 8),
            format!("u32:{}", side / 4),
        ],
    )
}

fn euler_flux(side: u32) -> Workload {
    let n = 4 * side * side;
    kernel!("euler_flux").workload(
        "fluxes of a gas",
        format!("{side} x {side} cells"),
        planar(side, side),
        [format!("f32[{n}]:random(1,1,2)"), format!("f32[{n}]"), format!("u32:{side}"), format!("u32:{side}")],
    )
}

fn ray_marching(side: u32) -> Workload {
    kernel!("ray_marching").workload(
        "ray marching",
        format!("{side} x {side}, 64 steps"),
        planar(side, side),
        [format!("f32[{}]", side * side), format!("u32:{side}"), "u32:64".into()],
    )
}

fn bvh_walk(side: u32) -> Workload {
    let leaves = 1 << 15;
    kernel!("bvh_walk").workload(
        "walk in a tree of boxes",
        format!("{side} x {side} rays, {leaves} leaves"),
        planar(side, side),
        [
            format!("f32[{}]:random(1)", 8 * leaves),
            format!("u32[{}]", side * side),
            format!("u32:{side}"),
            format!("u32:{leaves}"),
        ],
    )
}
