//! Images, grids and transforms.

use super::workload::{linear, planar, rows};

rows! { "/kernels/";
    stencil2d_f64(side: 8192 => 48; n = side * side): "nine-point stencil, f64", "{side} x {side}", planar(side, side),
        "f64[{n}]:random(1) f64[{n}] s32:{side}";
    stencil3d_f32["stencil3d"](side: 512 => 34; n = side * side * side):
        "seven-point stencil", "{side} cubed, f32", planar(side, side),
        "f32[{n}]:random(1) f32[{n}] s32:{side}";
    stencil3d_f64["stencil3d"](side: 384 => 34; n = side * side * side):
        "seven-point stencil, f64", "{side} cubed", planar(side, side),
        "f64[{n}]:random(1) f64[{n}] s32:{side}";
    lattice_boltzmann(side: 2048 => 32; n = 9 * side * side):
        "lattice Boltzmann", "{side} x {side}, 9 speeds", planar(side, side),
        "f32[{n}]:random(1,0.1,0.2) f32[{n}] u32:{side} f32:0.6";
    fft(transforms: 1 << 15 => 1; floats = transforms * 2048):
        "Fourier transform", "{transforms} of 1024 complex f32", linear(transforms * 256, 256),
        "f32[{floats}]:random(1)";
    bilateral(side: 4096 => 32; n = side * side): "bilateral filter", "{side} x {side} f32, 5 x 5", planar(side, side),
        "f32[{n}]:random(1,0,1) f32[{n}] s32:{side} f32:-0.2 f32:-8";
    median(side: 8192 => 128; n = side * side): "median filter", "{side} x {side} bytes, 3 x 3", planar(side / 4, side),
        "u8[{n}]:random(1) u8[{n}] s32:{side}";
    perlin(side: 8192 => 32; n = side * side): "Perlin noise", "{side} x {side}, 4 octaves", planar(side, side),
        "f32[{n}] u32:{side} f32:0.0123 f32:0.7";
    spheres(side: 4096 => 32; n = side * side): "ray tracing", "{side} x {side}, 64 spheres", planar(side, side),
        "f32[256]:random(1,-2,2) f32[{n}] u32:{side}";
    // Each thread has a block of 8 x 4 bytes.
    block_match(side: 4096 => 64; words = side * side / 4, blocks = words / 8, high = side / 4):
        "motion search", "{side} x {side} bytes, 16 displacements", planar(side / 8, side / 4),
        "u32[{words}]:random(1) u32[{words}]:random(2) u32[{blocks}] u32:{high}";
    euler_flux(side: 4096 => 32; n = 4 * side * side): "fluxes of a gas", "{side} x {side} cells", planar(side, side),
        "f32[{n}]:random(1,1,2) f32[{n}] u32:{side} u32:{side}";
    ray_marching(side: 2048 => 32; n = side * side): "ray marching", "{side} x {side}, 64 steps", planar(side, side),
        "f32[{n}] u32:{side} u32:64";
    bvh_walk(side: 2048 => 32; leaves = 1 << 15, sides = 8 * leaves, n = side * side):
        "walk in a tree of boxes", "{side} x {side} rays, {leaves} leaves", planar(side, side),
        "f32[{sides}]:random(1) u32[{n}] u32:{side} u32:{leaves}";
}
