//! Sizes of modules for targets with few features, compared to one with nearly all.

use std::fs;

use ptx2spv_tests::files;
use ptx2spv_translator::{Options, Program, Source, Target};

use super::support::HEADER;

/// Maximum size of a module relative to that for the preset `nvidia`.
const FACTOR: usize = 12;

/// Repetitions of the instructions in the kernels below.
const ROUNDS: usize = 60;

/// Arithmetic. Each kind of operation is emulated on some target.
fn arithmetic() -> String {
    let round = "fma.rn.f32 %f1, %f1, %f2, %f3; add.rz.f32 %f2, %f2, %f1; mul.rn.f32 %f3, %f1, %f2;\n\
        div.rn.f32 %f1, %f3, %f2; sqrt.rn.f32 %f2, %f1; rsqrt.approx.f32 %f3, %f2; ex2.approx.f32 %f1, %f3;\n\
        cvt.f64.f32 %d1, %f1; fma.rn.f64 %d2, %d1, %d2, %d3; add.rn.f64 %d3, %d2, %d1; div.rn.f64 %d2, %d3, %d1;\n\
        cvt.rn.f32.f64 %f2, %d2; cvt.rzi.s64.f64 %l1, %d3; div.u64 %l2, %l1, %l2; add.u64 %l2, %l2, 3;\n";
    format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .u64 %l<4>;\n\
            ld.param.u64 %l3, [p]; ld.global.f32 %f1, [%l3]; ld.global.f32 %f2, [%l3+4]; ld.global.f32 %f3, [%l3+8];\n\
            ld.global.f64 %d2, [%l3+16]; ld.global.f64 %d3, [%l3+24]; ld.global.u64 %l2, [%l3+32];\n{}\
            st.global.f32 [%l3], %f1; st.global.f64 [%l3+16], %d2; st.global.u64 [%l3+32], %l2; ret; }}",
        round.repeat(ROUNDS)
    )
}

/// Arithmetic on f16 and bf16, single and in pairs.
fn halves() -> String {
    let round = "fma.rn.f16 %h1, %h1, %h2, %h3; add.rn.f16 %h2, %h2, %h1; mul.rn.f16 %h3, %h1, %h2;\n\
        min.f16 %h1, %h3, %h2; neg.f16 %h2, %h1; cvt.f32.f16 %f1, %h1; cvt.rn.f16.f32 %h3, %f1;\n\
        setp.lt.f16 %p1, %h1, %h3; selp.b16 %h2, %h3, %h2, %p1; ex2.approx.f16 %h1, %h2; tanh.approx.f16 %h3, %h1;\n\
        fma.rn.f16x2 %b1, %b1, %b2, %b3; add.rn.f16x2 %b2, %b2, %b1; mul.rn.f16x2 %b3, %b1, %b2; max.f16x2 %b1, %b2, %b3;\n\
        fma.rn.bf16 %g1, %g1, %g2, %g3; add.rn.bf16 %g2, %g2, %g1; mul.rn.bf16 %g3, %g1, %g2; max.bf16 %g1, %g2, %g3;\n\
        cvt.rn.bf16.f32 %g2, %f1; fma.rn.bf16x2 %c1, %c1, %c2, %c3; add.rn.bf16x2 %c2, %c2, %c1; min.bf16x2 %c3, %c1, %c2;\n";
    format!(
        ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{ .reg .pred %p<2>;\n\
            .reg .f16 %h<4>; .reg .f16x2 %b<4>; .reg .b16 %g<4>; .reg .b32 %c<4>; .reg .f32 %f<2>; .reg .u64 %l<2>;\n\
            ld.param.u64 %l1, [p]; ld.global.v2.b16 {{%h1, %h2}}, [%l1]; ld.global.v2.b16 {{%h3, %g1}}, [%l1+4];\n\
            ld.global.v2.b16 {{%g2, %g3}}, [%l1+8]; ld.global.v2.b32 {{%b1, %b2}}, [%l1+16];\n\
            ld.global.v2.b32 {{%b3, %c1}}, [%l1+24]; ld.global.v2.b32 {{%c2, %c3}}, [%l1+32];\n{}\
            st.global.v2.b16 [%l1], {{%h3, %g1}}; st.global.v2.b32 [%l1+16], {{%b1, %c3}}; ret; }}",
        round.repeat(ROUNDS)
    )
}

/// Operations of warps and barriers where threads go different ways.
fn warps() -> String {
    let round = |n: usize| {
        format!(
            "and.b32 %r4, %r1, {bit}; setp.ne.u32 %p1, %r4, 0; @%p1 bra A{n};\n\
             activemask.b32 %r5; shfl.sync.idx.b32 %r2, %r2, %r3, 31, %r5; bar.sync 0; add.u32 %r3, %r3, %r2; bra B{n};\n\
             A{n}: activemask.b32 %r5; vote.sync.ballot.b32 %r6, %p2, %r5; xor.b32 %r2, %r2, %r6; bar.sync 0;\n\
             B{n}: shfl.sync.bfly.b32 %r4, %r3, {bit}, 31, -1; match.any.sync.b32 %r5, %r4, -1; add.u32 %r2, %r2, %r5;\n\
             redux.sync.add.s32 %r6, %r2, -1; setp.lt.s32 %p2, %r6, %r3; vote.sync.any.pred %p1, %p2, -1;\n\
             @%p1 add.u32 %r3, %r3, 1;\n",
            bit = 1 << (n % 5)
        )
    };
    format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .pred %p<3>; .reg .b32 %r<7>; .reg .u64 %l<3>;\n\
            ld.param.u64 %l1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %l2, %r1, 4; add.u64 %l1, %l1, %l2;\n\
            ld.global.u32 %r2, [%l1]; mov.u32 %r3, %r1; setp.lt.u32 %p2, %r2, %r1;\n{}\
            st.global.u32 [%l1], %r3; ret; }}",
        (0..ROUNDS).map(round).collect::<String>()
    )
}

/// Translates a module for all presets. Gives the presets for which the module is too large.
fn too_large(name: &str, text: &str) -> Vec<String> {
    let source = Source::new(name, text);
    let program = Program::new(&source).unwrap_or_else(|errors| panic!("{errors}"));
    let words = |preset: &str| {
        let target = Target::preset(preset).unwrap();
        let translation = program.translate(&Options::new(&target));
        translation.unwrap_or_else(|errors| panic!("{name}, {preset}: {errors}")).spirv.len()
    };
    let least = words("nvidia");
    let sizes = Target::presets().iter().map(|preset| (preset.name, words(preset.name)));
    let above = sizes.filter(|(_, size)| *size > FACTOR * least);
    above.map(|(preset, size)| format!("{name}, {preset}: {size} words, {least} for nvidia")).collect()
}

#[test]
fn emulation_does_not_multiply() {
    let kernels = [("arithmetic", arithmetic()), ("halves", halves()), ("warps", warps())];
    let found: Vec<String> = kernels.iter().flat_map(|(name, text)| too_large(name, text)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn kernels_are_of_like_size() {
    let mut found = Vec::new();
    for file in files::valid_ptx().unwrap() {
        let name = files::short_name(&file);
        if name.starts_with("kernels/") || name.starts_with("ptx/") {
            found.extend(too_large(&name, &fs::read_to_string(&file).unwrap()));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A warp's product of 128 by 64 elements of f16 in 64 instructions doesn't have the code of one 64 times.
#[test]
fn products_of_matrices_share_their_code() {
    let vector = |name: char, first: usize, count: usize| {
        let registers: Vec<String> = (first..first + count).map(|number| format!("%{name}{number}")).collect();
        format!("{{{}}}", registers.join(", "))
    };
    let mut text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{ .reg .b64 %p; .reg .b32 %a<32>, %b<16>; .reg .f32 %d<256>;\n\
            ld.param.u64 %p, [p];\n"
    );
    let registers = (0..32).map(|number| ('a', number)).chain((0..16).map(|number| ('b', number)));
    registers.for_each(|(name, number)| text += &format!("ld.global.b32 %{name}{number}, [%p+{}];\n", 4 * number));
    (0..256).for_each(|number| text += &format!("mov.f32 %d{number}, 0f00000000;\n"));
    for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
        let sums = vector('d', 4 * (8 * row + column), 4);
        let [a, b] = [vector('a', 4 * row, 4), vector('b', 2 * column, 2)];
        text += &format!("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {sums}, {a}, {b}, {sums};\n");
    }
    (0..256).for_each(|number| text += &format!("st.global.f32 [%p+{}], %d{number};\n", 4 * number));
    text += "ret; }";
    for preset in ["nvidia", "amd-rdna", "intel-xe", "adreno"] {
        let bytes = 4 * words(preset, text.clone());
        assert!(bytes < 200_000, "{bytes} for {preset}");
    }
}

fn words(preset: &str, text: String) -> usize {
    let source = Source::new("kernel", text);
    let program = Program::new(&source).unwrap_or_else(|errors| panic!("{errors}"));
    let translation = program.translate(&Options::new(&Target::preset(preset).unwrap()));
    translation.unwrap_or_else(|errors| panic!("{errors}")).spirv.len()
}

/// lavapipe takes long for many blocks, so a function with conditions must not be repeated for each of its calls.
#[test]
fn calls_share_conditions() {
    let kernel = |calls: usize| {
        let condition =
            "setp.lt.u32 p, y, z; @p bra L; ld.global.u32 z, [q]; st.global.u32 [q+4], y; mad.lo.u32 y, y, z, 5;\n";
        format!(
            "{HEADER}.func (.reg .b32 y) f(.reg .b32 x, .reg .b64 q) {{ .reg .pred p; .reg .b32 z;\n\
             mov.u32 y, x; mov.u32 z, x;\n{}L: ret; }}\n\
             .visible .entry k(.param .u64 a) {{ .reg .b64 q; .reg .b32 v; ld.param.u64 q, [a]; mov.u32 v, 1;\n{}\
             st.global.u32 [q], v; ret; }}",
            condition.repeat(20),
            "call (v), f, (v, q);\n".repeat(calls)
        )
    };
    let [one, few, many] = [1, 10, 30].map(|calls| words("lavapipe", kernel(calls)));
    let call = (many - few) / 20;
    assert!(10 * call < one, "{one} words for the kernel with one call, {call} for each further call");
}

/// Drivers inline functions, so the code of `vprintf` must not be repeated for each call.
#[test]
fn calls_of_printf_share_their_code() {
    let kernel = |calls: usize| {
        let call = "{ .param .b64 f, a; .param .b32 c; st.param.b64 [f], %l1; st.param.b64 [a], %l2;\n\
            call (c), vprintf, (f, a); ld.param.b32 %r1, [c]; }\n";
        format!(
            "{HEADER}.extern .func (.param .b32 c) vprintf(.param .b64 f, .param .b64 a);\n\
             .visible .entry k(.param .u64 p) {{ .reg .b32 %r<2>; .reg .b64 %l<3>;\n\
             ld.param.u64 %l1, [p]; ld.global.u64 %l2, [%l1];\n{}ret; }}",
            call.repeat(calls)
        )
    };
    let [one, two, many] = [1, 2, 52].map(|calls| words("lavapipe", kernel(calls)));
    // The second call has the copy that all others share.
    let (copy, call) = (two - one, (many - two) / 50);
    assert!(10 * call < copy, "{copy} words for the code, {call} for each call");
}
