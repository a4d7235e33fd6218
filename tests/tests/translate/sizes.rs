//! Sizes of modules for targets with few features, compared to one with nearly all.

use std::fs;

use ptx2spv_tests::files;
use ptx2spv_translator::Target;

use super::support::{HEADER, translate};

/// Maximum size of a module relative to that for the preset `nvidia`.
const FACTOR: usize = 12;

/// A kernel with `rounds` repetitions of arithmetic. Each kind of operation is emulated on some target.
fn arithmetic(rounds: usize) -> String {
    let round = "fma.rn.f32 %f1, %f1, %f2, %f3; add.rz.f32 %f2, %f2, %f1; mul.rn.f32 %f3, %f1, %f2;\n\
        div.rn.f32 %f1, %f3, %f2; sqrt.rn.f32 %f2, %f1; rsqrt.approx.f32 %f3, %f2; ex2.approx.f32 %f1, %f3;\n\
        cvt.f64.f32 %d1, %f1; fma.rn.f64 %d2, %d1, %d2, %d3; add.rn.f64 %d3, %d2, %d1; div.rn.f64 %d2, %d3, %d1;\n\
        cvt.rn.f32.f64 %f2, %d2; cvt.rzi.s64.f64 %l1, %d3; div.u64 %l2, %l1, %l2; add.u64 %l2, %l2, 3;\n";
    format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .u64 %l<4>;\n\
            ld.param.u64 %l3, [p]; ld.global.f32 %f1, [%l3]; ld.global.f32 %f2, [%l3+4]; ld.global.f32 %f3, [%l3+8];\n\
            ld.global.f64 %d2, [%l3+16]; ld.global.f64 %d3, [%l3+24]; ld.global.u64 %l2, [%l3+32];\n{}\
            st.global.f32 [%l3], %f1; st.global.f64 [%l3+16], %d2; st.global.u64 [%l3+32], %l2; ret; }}",
        round.repeat(rounds)
    )
}

fn words(text: &str, target: &str) -> usize {
    let target = Target::preset(target).unwrap();
    translate(text, &target, None, false).unwrap_or_else(|errors| panic!("{}: {errors}", target.name)).spirv.len()
}

#[test]
fn emulation_does_not_multiply() {
    let text = arithmetic(60);
    let least = words(&text, "nvidia");
    for preset in Target::presets() {
        let size = words(&text, preset.name);
        assert!(size <= FACTOR * least, "{}: {size} words, {least} for nvidia", preset.name);
    }
}

#[test]
fn kernels_are_of_like_size() {
    for file in files::valid_ptx().unwrap() {
        let name = files::short_name(&file);
        if !(name.starts_with("kernels/") || name.starts_with("ptx/")) || name.contains("/nvcc/") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let least = words(&text, "nvidia");
        for preset in Target::presets() {
            let size = words(&text, preset.name);
            assert!(size <= FACTOR * least, "{name}, {}: {size} words, {least} for nvidia", preset.name);
        }
    }
}
