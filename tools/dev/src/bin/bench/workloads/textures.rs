//! Textures and surfaces: point reads, linear filtering, linear memory, and stores.

use super::workload::{Workload, kernel, linear, planar};

pub fn all(quick: bool) -> Vec<Workload> {
    let size = |real: u32, small: u32| if quick { small } else { real };
    vec![
        blur("texture blur of rows", size(4096, 32), false),
        blur("texture blur of columns", size(4096, 32), true),
        bilateral(size(4096, 32)),
        rotation(size(8192, 32)),
        volume(size(256, 16), size(1024, 32)),
        lookup(size(1 << 22, 1 << 8)),
        surface(size(8192, 32)),
    ]
}

/// A square image of floats, which is read without a filter.
fn image(side: u32) -> String {
    format!("texture:f32[{side}x{side}]:random(1,0,1),point,clamp")
}

fn blur(name: &'static str, side: u32, down: bool) -> Workload {
    kernel!("texture_blur").workload(
        name,
        format!("{side} x {side} f32, 17 point reads"),
        planar(side, side),
        [
            image(side),
            format!("f32[{}]", side * side),
            "f32[17]:random(2,0,0.1)".into(),
            format!("u32:{side}"),
            format!("u32:{}", u32::from(down)),
        ],
    )
}

fn bilateral(side: u32) -> Workload {
    kernel!("texture_bilateral").workload(
        "texture bilateral filter",
        format!("{side} x {side} f32, 26 point reads"),
        planar(side, side),
        [image(side), format!("f32[{}]", side * side), format!("u32:{side}"), "f32:-0.2".into(), "f32:-8".into()],
    )
}

/// By 0.3 radians.
fn rotation(side: u32) -> Workload {
    kernel!("texture_rotation").workload(
        "texture rotation",
        format!("{side} x {side} pixels of four bytes, a linear read"),
        planar(side, side),
        [
            format!("texture:u8x4[{side}x{side}]:random(1),linear,wrap,normalized,float"),
            format!("u32[{}]", side * side),
            format!("u32:{side}"),
            "f32:0.9553365".into(),
            "f32:0.29552022".into(),
        ],
    )
}

fn volume(depth: u32, side: u32) -> Workload {
    kernel!("texture_volume").workload(
        "texture volume",
        format!("{side} x {side} rays, {depth} cubed bytes, two linear reads a step"),
        planar(side, side),
        [
            format!("texture:u8[{depth}x{depth}x{depth}]:random(1),linear,clamp,normalized,float"),
            "texture:f32x4[256]:random(2,0,0.02),linear,clamp,normalized".into(),
            format!("f32[{}]", 4 * side * side),
            format!("u32:{side}"),
            format!("u32:{depth}"),
            "f32:0.25".into(),
        ],
    )
}

/// 64 entries of a table in each thread.
fn lookup(threads: u32) -> Workload {
    let entries = 1 << 14;
    kernel!("texture_lookup").workload(
        "texture look-up",
        format!("{threads} threads, 64 of {entries} f32"),
        linear(threads, 256),
        [
            format!("texture:f32[{entries}]:random(1),memory"),
            format!("f32[{threads}]"),
            format!("u32:{}", entries - 1),
            "u32:64".into(),
        ],
    )
}

fn surface(side: u32) -> Workload {
    kernel!("surface_write").workload(
        "surface writes",
        format!("{side} x {side} pixels of four bytes"),
        planar(side, side),
        [format!("u32[{}]:random(1)", side * side), format!("surface:u8x4[{side}x{side}]"), format!("u32:{side}")],
    )
}
