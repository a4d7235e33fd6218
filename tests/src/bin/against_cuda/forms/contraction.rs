//! Products and sums that may be fused, and the instructions that affect fusing, for one type at a time.

use super::form::Form;

/// The types, with the bits of a number and of infinity.
pub const TYPES: &[(&[Form], u32, u64)] = &[
    (SINGLE, 32, 0x7f80_0000),
    (DOUBLE, 64, 0x7ff0_0000_0000_0000),
    (HALF, 16, 0x7c00),
    (HALVES, 16, 0x7c00),
    (BFLOAT, 16, 0x7f80),
    (BFLOATS, 16, 0x7f80),
];

const SINGLE: &[Form] = &[
    Form("mul.f32", "Rss"),
    Form("mul.f32", "Rss"),
    Form("mul.f32", "Rss"),
    Form("mul.f32", "Rsf"),
    Form("mul.f32", "Rfs"),
    Form("add.f32", "Rss"),
    Form("add.f32", "Rss"),
    Form("add.f32", "Rss"),
    Form("add.f32", "Rsf"),
    Form("sub.f32", "Rss"),
    Form("sub.f32", "Rss"),
    Form("sub.f32", "Rfs"),
    Form("add.sat.f32", "Rss"),
    Form("mul.sat.f32", "Rss"),
    Form("neg.f32", "Rs"),
    Form("mov.f32", "Rs"),
    Form("mov.b32", "Rs"),
    Form("abs.f32", "Rs"),
    Form("mul.rn.f32", "Rss"),
    Form("add.rn.f32", "Rss"),
    Form("add.rz.f32", "Rss"),
    Form("fma.rn.f32", "Rsss"),
    Form("mul.ftz.f32", "Rss"),
    Form("mul.ftz.f32", "Rss"),
    Form("add.ftz.f32", "Rss"),
    Form("add.ftz.f32", "Rss"),
    Form("sub.ftz.f32", "Rss"),
    Form("neg.ftz.f32", "Rs"),
    Form("selp.f32", "Rssp"),
    Form("min.f32", "Rss"),
    Form("setp.lt.f32", "Psf"),
    Form("div.rn.f32", "Rss"),
];

const DOUBLE: &[Form] = &[
    Form("mul.f64", "Dee"),
    Form("mul.f64", "Dee"),
    Form("mul.f64", "Dee"),
    Form("mul.f64", "Dex"),
    Form("add.f64", "Dee"),
    Form("add.f64", "Dee"),
    Form("add.f64", "Dex"),
    Form("sub.f64", "Dee"),
    Form("sub.f64", "Dxe"),
    Form("neg.f64", "De"),
    Form("mov.f64", "De"),
    Form("abs.f64", "De"),
    Form("add.rn.f64", "Dee"),
    Form("mul.rn.f64", "Dee"),
    Form("fma.rn.f64", "Deee"),
    Form("selp.f64", "Deep"),
    Form("setp.lt.f64", "Pex"),
    Form("div.rn.f64", "Dee"),
];

const HALF: &[Form] = &[
    Form("mul.f16", "Hgg"),
    Form("mul.f16", "Hgg"),
    Form("mul.f16", "Hgg"),
    Form("add.f16", "Hgg"),
    Form("add.f16", "Hgg"),
    Form("add.sat.f16", "Hgg"),
    Form("sub.f16", "Hgg"),
    Form("sub.f16", "Hgg"),
    Form("neg.f16", "Hg"),
    Form("abs.f16", "Hg"),
    Form("mov.b16", "Hg"),
    Form("mul.rn.f16", "Hgg"),
    Form("add.rn.f16", "Hgg"),
    Form("fma.rn.f16", "Hggg"),
    Form("mul.ftz.f16", "Hgg"),
    Form("add.ftz.f16", "Hgg"),
    Form("selp.b16", "Hggp"),
];

const HALVES: &[Form] = &[
    Form("mul.f16x2", "Rss"),
    Form("mul.f16x2", "Rss"),
    Form("mul.f16x2", "Rss"),
    Form("add.f16x2", "Rss"),
    Form("add.f16x2", "Rss"),
    Form("sub.f16x2", "Rss"),
    Form("sub.f16x2", "Rss"),
    Form("neg.f16x2", "Rs"),
    Form("mov.b32", "Rs"),
    Form("add.rn.f16x2", "Rss"),
    Form("fma.rn.f16x2", "Rsss"),
];

const BFLOAT: &[Form] = &[
    Form("mul.bf16", "Hgg"),
    Form("mul.bf16", "Hgg"),
    Form("mul.bf16", "Hgg"),
    Form("add.bf16", "Hgg"),
    Form("add.bf16", "Hgg"),
    Form("sub.bf16", "Hgg"),
    Form("sub.bf16", "Hgg"),
    Form("neg.bf16", "Hg"),
    Form("mov.b16", "Hg"),
    Form("add.rn.bf16", "Hgg"),
    Form("fma.rn.bf16", "Hggg"),
];

const BFLOATS: &[Form] = &[
    Form("mul.bf16x2", "Rss"),
    Form("mul.bf16x2", "Rss"),
    Form("mul.bf16x2", "Rss"),
    Form("add.bf16x2", "Rss"),
    Form("add.bf16x2", "Rss"),
    Form("sub.bf16x2", "Rss"),
    Form("sub.bf16x2", "Rss"),
    Form("neg.bf16x2", "Rs"),
    Form("mov.b32", "Rs"),
    Form("add.rn.bf16x2", "Rss"),
    Form("fma.rn.bf16x2", "Rsss"),
];

/// Instructions between products and sums.
pub const BETWEEN: &[&str] = &[
    "membar.gl;",
    "div.s32 %count, %thread, %count; or.b32 %count, %count, 1;",
    "div.u32 %count, %thread, %count; or.b32 %count, %count, 1;",
    "rem.u64 %acc, %t, %acc; or.b64 %acc, %acc, 1;",
    "@%p0 ld.global.u32 %count, [%in];",
    "@%p1 mov.u32 %count, 5;",
    "mul.hi.u32 %count, %count, %thread; or.b32 %count, %count, 1;",
];
