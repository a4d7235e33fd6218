//! Textures and surfaces: point reads, linear filtering, linear memory, and stores.

use super::workload::{linear, planar, rows};

rows! { "/kernels/";
    texture_blur_rows["texture_blur" "texture_blur"](side: 4096 => 32; n = side * side):
        "texture blur of rows", "{side} x {side} f32, 17 point reads", planar(side, side),
        "texture:f32[{side}x{side}]:random(1,0,1),point,clamp f32[{n}] f32[17]:random(2,0,0.1) u32:{side} u32:0";
    texture_blur_columns["texture_blur" "texture_blur"](side: 4096 => 32; n = side * side):
        "texture blur of columns", "{side} x {side} f32, 17 point reads", planar(side, side),
        "texture:f32[{side}x{side}]:random(1,0,1),point,clamp f32[{n}] f32[17]:random(2,0,0.1) u32:{side} u32:1";
    texture_bilateral(side: 4096 => 32; n = side * side):
        "texture bilateral filter", "{side} x {side} f32, 26 point reads", planar(side, side),
        "texture:f32[{side}x{side}]:random(1,0,1),point,clamp f32[{n}] u32:{side} f32:-0.2 f32:-8";
    // By 0.3 radians.
    texture_rotation(side: 8192 => 32; n = side * side):
        "texture rotation", "{side} x {side} pixels of four bytes, a linear read", planar(side, side),
        "texture:u8x4[{side}x{side}]:random(1),linear,wrap,normalized,float u32[{n}] u32:{side} f32:0.9553365 f32:0.29552022";
    texture_volume(depth: 256 => 16, side: 1024 => 32; bytes = 4 * side * side):
        "texture volume", "{side} x {side} rays, {depth} cubed bytes, two linear reads a step", planar(side, side),
        "texture:u8[{depth}x{depth}x{depth}]:random(1),linear,clamp,normalized,float texture:f32x4[256]:random(2,0,0.02),linear,clamp,normalized f32[{bytes}] u32:{side} u32:{depth} f32:0.25";
    // 64 entries of a table in each thread.
    texture_lookup(threads: 1 << 22 => 1 << 8; entries = 1 << 14, last = entries - 1):
        "texture look-up", "{threads} threads, 64 of {entries} f32", linear(threads, 256),
        "texture:f32[{entries}]:random(1),memory f32[{threads}] u32:{last} u32:64";
    surface_write(side: 8192 => 32; n = side * side):
        "surface writes", "{side} x {side} pixels of four bytes", planar(side, side),
        "u32[{n}]:random(1) surface:u8x4[{side}x{side}] u32:{side}";
}
