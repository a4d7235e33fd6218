//! Instructions that ptxas refuses are refused here too: those of the lists in `tests/refused`, each in its own kernel.

use std::fs;

use ptx2spv_tests::{files, hostile};

/// A kernel with an instruction, the registers that it names, and variables in all spaces, in a version of PTX for a target.
fn kernel_for(version: &str, target: &str, instruction: &str) -> String {
    let types = "h.b16 uh.u16 sh.s16 a.b32 u.u32 s.s32 f.f32 d.b64 ud.u64 sd.s64 fd.f64 c.b8 z.b128 x.f16x2"
        .split_ascii_whitespace();
    let registers: String = types
        .filter_map(|register| register.split_once('.'))
        .filter(|(name, _)| instruction.contains(&format!("%{name}")))
        .map(|(name, ty)| format!(".reg .{ty} %{name}<4>; "))
        .collect();
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n\
         .global .align 16 .b8 gl[256]; .const .align 16 .b8 co[256];\n\
         .global .texref tx; .global .surfref sf;\n\
         .visible .entry k(.param .align 16 .b8 pa[64])\n{{\n\
         .shared .align 16 .b8 shm[256]; .local .align 16 .b8 loc[256];\n\
         .reg .pred %p, %q, %r, %p<3>; {registers}\n{instruction}\nret;\n}}\n"
    )
}

fn kernel(instruction: &str) -> String {
    let (version, target) = if instruction.starts_with("wgmma") { ("8.4", "sm_90a") } else { ("8.3", "sm_90") };
    kernel_for(version, target, instruction)
}

fn is_refused_as(instruction: &str, kernel: &str) -> bool {
    hostile::translate(instruction, kernel).diagnostics().is_some()
}

fn is_refused(instruction: &str) -> bool {
    is_refused_as(instruction, &kernel(instruction))
}

#[test]
fn what_ptxas_refuses_is_refused() {
    let mut count = 0;
    let mut accepted = Vec::new();
    for entry in fs::read_dir(files::root().join("refused")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for instruction in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            count += 1;
            if !is_refused(instruction) {
                accepted.push(instruction.to_owned());
            }
        }
    }
    assert!(accepted.is_empty(), "accepted:\n{}", accepted.join("\n"));
    assert!(count > 1000, "{count} instructions");
}

/// The kernel without the instruction is accepted.
#[test]
fn legal_instructions_are_accepted_in_the_same_kernel() {
    let legal = [
        "",
        "tex.2d.v4.f32.s32 {%f0, %a1, %f2, _}, [tx, {%a0, 3, %a2, %a3}];",
        "tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [tx, {%x0, %a1}];",
        "sust.b.a1d.b32.trap [sf, {%x0, %a1}], {%a0};",
        "vset.u32.u32.eq %u0, %x1, %u2;",
        "vadd.u32.u32.u32.add %u0, %u1, %u2, %x3;",
        "cp.async.ca.shared.global [%a0], [%d0], 4, %a1;",
        "tex.level.a2d.v2.f16x2.s32 {%a0, %a1}|%p, [tx, %d0, {%a0, %a1, %a2, %a3}], 1, {2, -3};",
        "suld.b.2d.v2.b8.trap {%h0, %h1}, [sf, {%a1, %a2, %a3, %a0}];",
        "sust.p.1d.v2.b32.zero [%d1, %a0], {%f0, 7};",
        "add.u16 %uh0, %h1, %sh2;",
        "add.cc.u32 %u0, %a1, %s2;",
        "fma.rn.f32 %f0, %f1, %f2, %f3;",
        "mul.lo.s64 %sd0, %d1, %ud2;",
        "add.f64 %fd0, %fd1, %fd2;",
        "mov.b32 %a0, {%c0, %c1, %c2, %c3};",
        "mov.b128 {%d0, _}, %z0;",
        "setp.lt.and.s32 %p|%q, %s0, %s1, !%r;",
        "selp.b32 %a0, %a1, %a2, %p0;",
        "vadd.s32.u32.s32.sat %s0.h0, %u1.b3, %s2.h1, %a3;",
        "vset4.u32.s32.ne.add %a0.b31, %u1.b7310, %s2, %a3;",
        "ld.shared.b32 %a0, [shm+8-4];",
        "ld.local.b32 %a0, [64];",
        "ld.const.b32 %a0, [%a1+-4];",
        "ld.volatile.L2::64B.b32 %a0, [gl];",
        "st.global.v2.b32 [%d0], {%a0, %f1};",
        "ld.global.b8 %fd0, [%d0];",
        "st.global.v2.b16 [%d0], {%f0, %a0};",
        "st.global.u16 [%d0], %x0;",
        "suld.b.1d.b32.trap %fd0, [sf, {%a0}];",
        "cvt.s32.s16 %x0, %x1;",
        "add.u16x2 %x0, %x1, %x2;",
        "prmt.b32 %x0, %x1, %x2, %x3;",
        "shfl.sync.idx.b32 %a0, %a1, %f0, %x0, -1;",
        "isspacep.shared %p, %a0;",
        "cvta.shared.u64 %d0, shm;",
        "cp.async.ca.shared.global [%a0], [gl], 8, 4;",
        "mbarrier.try_wait.parity.acquire.cta.b64 %p0, [%d0], 1, 20;",
        "add.u16 %h0, %h1, 65536;",
        "mov.u32 %a0, 0x100000001;",
        "mov.b64 %d0, gl+(4);",
        "add.u32 %u0, (5), 1;",
        "ld.global.b32 %a0, [gl+(4)];",
        "multimem.red.gpu.relaxed.add.u32 [%d0], %a0;",
        "cp.async.bulk.tensor.shared::cluster.1d.global.mbarrier::complete_tx::bytes [%a0], [%d0, {%a1}], [%a2];",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %a1, %f2, %f2}, 5, %d1, !%p, 1, -1, 0, 1;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%x0, %a1}, {%x0, %a1, 1, 2}, %d1, 1, 1, 1, 0;",
        "wgmma.mma_async.sync.sp.aligned.m64n8k64.s32.s8.u8.satfinite {%s0, %a1, %s2, %s3}, %d0, %d1, %a0, 0, %p;",
        "wgmma.wait_group.sync.aligned 99;",
    ];
    for instruction in legal {
        assert!(!is_refused(instruction), "{instruction}");
    }
}

/// Instructions that newer PTX for newer chips no longer has, or only newer PTX has.
#[test]
fn versions_and_targets_decide() {
    let rows = [
        ("vote.all.pred %p, %q;", [("6.3", "sm_70", false), ("6.4", "sm_70", true), ("8.3", "sm_60", false)]),
        ("vote.ballot.b32 %a0, %p;", [("6.0", "sm_70", false), ("7.8", "sm_90", true), ("8.3", "sm_50", false)]),
        (
            "shfl.up.b32 %a0|%p, %a1, %a2, %a3;",
            [("3.0", "sm_30", false), ("6.4", "sm_75", true), ("6.4", "sm_60", false)],
        ),
        (
            "shfl.sync.idx.b32 %a0, %a1, %a2, 31, -1;",
            [("6.0", "sm_70", false), ("6.4", "sm_70", false), ("8.3", "sm_90", false)],
        ),
        (
            "setmaxnreg.inc.sync.aligned.u32 40;",
            [("8.0", "sm_90", true), ("8.0", "sm_90a", false), ("8.6", "sm_100a", false)],
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f0, %f1, %f2, %f3}, %d0, %d1, %p, 1, 1;",
            [("7.8", "sm_90a", true), ("8.0", "sm_90a", false), ("8.4", "sm_100a", true)],
        ),
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%s0, %s1, %s2, %s3}, %d0, %d1, %a0, 0, %p;",
            [("8.0", "sm_90a", true), ("8.2", "sm_90a", false), ("8.4", "sm_90", true)],
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%s0, %s1, %s2, %s3}, %d0, %d1, %p;",
            [("8.0", "sm_90a", true), ("8.3", "sm_90a", true), ("8.4", "sm_90a", false)],
        ),
        (
            "ld.global.v4.b64 {%d0, %d1, %d2, %d3}, [%ud0];",
            [("8.8", "sm_90", true), ("8.8", "sm_100", false), ("8.8", "sm_90a", true)],
        ),
        (
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%a0], \
             [%d0, {%s0, %s1, %s2, %s3, %s0}], [%a1];",
            [("8.8", "sm_90a", true), ("8.8", "sm_100", false), ("8.8", "sm_120a", false)],
        ),
        (
            "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.cta_group::1 [%a0], [%d0, {%s0, %s1}], [%a1];",
            [("8.8", "sm_90a", true), ("8.8", "sm_100", true), ("8.8", "sm_100f", false)],
        ),
        (
            "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d0], 1;",
            [("8.8", "sm_90a", true), ("8.8", "sm_100", true), ("8.8", "sm_120a", false)],
        ),
        (
            "min.xorsign.abs.f32 %f0, %f1, %f2;",
            [("8.3", "sm_80", true), ("7.2", "sm_86", false), ("8.3", "sm_90", false)],
        ),
        ("abs.bf16 %h0, %h1;", [("6.5", "sm_80", true), ("7.0", "sm_75", true), ("7.0", "sm_80", false)]),
        ("cvt.rn.bf16.s32 %h0, %s0;", [("7.7", "sm_90", true), ("7.8", "sm_86", true), ("7.8", "sm_90", false)]),
        ("cvt.f32.bf16 %f0, %h0;", [("7.0", "sm_80", true), ("7.1", "sm_75", true), ("7.1", "sm_80", false)]),
        (
            "redux.sync.add.u32 %a0, %a1, %a2;",
            [("6.5", "sm_80", true), ("7.0", "sm_75", true), ("7.0", "sm_80", false)],
        ),
        ("fence.acq_rel.cluster;", [("7.7", "sm_90", true), ("7.8", "sm_89", true), ("7.8", "sm_90", false)]),
        ("ld.shared::cta.b32 %a0, [shm];", [("7.7", "sm_70", true), ("7.8", "sm_70", false), ("8.3", "sm_90", false)]),
        (
            "cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;",
            [("7.7", "sm_90", true), ("8.3", "sm_86", true), ("8.3", "sm_89", false)],
        ),
        (
            "mbarrier.try_wait.parity.acquire.cta.b64 %p0, [%d0], 1, 20;",
            [("8.0", "sm_80", true), ("7.8", "sm_90", true), ("8.0", "sm_90", false)],
        ),
        (
            "add.sat.u16x2 %a0, %a1, %a2;",
            [("9.2", "sm_100a", true), ("9.2", "sm_120", true), ("9.2", "sm_120f", false)],
        ),
        ("mad.f32 %f0, %f1, %f2, %f3;", [("1.4", "sm_13", false), ("3.1", "sm_20", false), ("3.2", "sm_20", true)]),
        ("add.f16 %h0, %h1, %h2;", [("4.2", "sm_53", false), ("4.1", "sm_53", true), ("4.2", "sm_52", true)]),
        (
            "atom.global.add.f64 %fd0, [%d0], %fd1;",
            [("5.0", "sm_60", false), ("5.0", "sm_53", true), ("8.0", "sm_90", false)],
        ),
        ("cvt.rn.f16x2.e4m3x2 %a0, %h0;", [("8.0", "sm_89", true), ("8.1", "sm_89", false), ("7.8", "sm_90", false)]),
        ("min.f32 %f0, %f1, %f2, %f3;", [("8.6", "sm_100", true), ("8.8", "sm_90", true), ("8.8", "sm_100", false)]),
        (
            "cp.async.ca.shared.global [%a0], [%d0], 4, !%p;",
            [("7.4", "sm_80", true), ("7.5", "sm_80", false), ("8.3", "sm_90", false)],
        ),
        (
            "cp.async.ca.shared.global [%a0], [%d0], 4, %a1;",
            [("7.0", "sm_80", false), ("7.0", "sm_75", true), ("8.3", "sm_90", false)],
        ),
        (
            "tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}|%p, [tx, {%a0, %a1}];",
            [("7.0", "sm_80", true), ("7.1", "sm_53", true), ("7.1", "sm_60", false)],
        ),
        (
            "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [tx, {%f0, %f1}], {1, 1};",
            [("4.2", "sm_30", true), ("4.3", "sm_20", true), ("4.3", "sm_30", false)],
        ),
        ("mov.u32 %a0, %clusterid.x;", [("7.7", "sm_90", true), ("7.8", "sm_89", true), ("7.8", "sm_90", false)]),
        ("mov.u32 %a0, %clock_hi;", [("4.3", "sm_53", true), ("5.0", "sm_53", false), ("8.3", "sm_90", false)]),
        ("mov.u64 %d0, %globaltimer;", [("3.0", "sm_30", true), ("3.1", "sm_20", true), ("3.1", "sm_30", false)]),
        ("mov.b128 %z0, {%d0, %d1};", [("8.2", "sm_90", true), ("8.3", "sm_60", true), ("8.3", "sm_70", false)]),
        ("add.f16x2 %x0, %x1, %x2;", [("4.1", "sm_53", true), ("4.2", "sm_52", true), ("4.2", "sm_53", false)]),
        ("mad.f64 %fd0, %fd1, %fd2, %fd3;", [("1.4", "sm_13", false), ("2.0", "sm_13", true), ("8.3", "sm_90", true)]),
    ];
    for (instruction, expected) in rows {
        for (version, target, refused) in expected {
            let kernel = kernel_for(version, target, instruction);
            assert_eq!(is_refused_as(instruction, &kernel), refused, "{instruction} in {version} for {target}");
        }
    }
}

/// Directives that a version of PTX or a target doesn't have yet.
#[test]
fn versions_and_targets_decide_on_directives() {
    let rows = [
        (".entry k() .reqnctapercluster 2 { ret; }", ("7.7", "sm_90"), ("7.8", "sm_89"), ("7.8", "sm_90")),
        (".entry k() .reqntid 32 { ret; }", ("2.0", "sm_20"), ("1.4", "sm_13"), ("2.1", "sm_13")),
        (".func f() .noreturn { trap; } .entry k() { ret; }", ("6.3", "sm_70"), ("6.4", "sm_20"), ("6.4", "sm_30")),
        (
            ".func f() { ret; } .func g(); .alias g, f; .entry k() { ret; }",
            ("6.2", "sm_70"),
            ("6.3", "sm_20"),
            ("6.3", "sm_30"),
        ),
        (".pragma \"nounroll\"; .entry k() { ret; }", ("1.4", "sm_13"), ("1.3", "sm_10"), ("2.0", "sm_13")),
        (".entry k() { .pragma \"nounroll\"; ret; }", ("1.4", "sm_13"), ("1.3", "sm_10"), ("2.0", "sm_13")),
        (".weak .func f() { ret; } .entry k() { ret; }", ("3.0", "sm_30"), ("2.3", "sm_20"), ("3.1", "sm_20")),
        (".common .global .b32 c; .entry k() { ret; }", ("4.3", "sm_30"), ("3.1", "sm_20"), ("5.0", "sm_30")),
        (
            ".global .attribute(.managed) .b32 m; .entry k() { ret; }",
            ("3.2", "sm_30"),
            ("4.0", "sm_20"),
            ("4.0", "sm_30"),
        ),
        (".global .b128 g; .entry k() { ret; }", ("8.2", "sm_90"), ("8.3", "sm_60"), ("8.3", "sm_70")),
    ];
    for (module, older, lesser, enough) in rows {
        for ((version, target), refused) in [(older, true), (lesser, true), (enough, false)] {
            let text = format!(".version {version}\n.target {target}\n{module}\n");
            assert_eq!(is_refused_as(module, &text), refused, "{module} in {version} for {target}");
        }
    }
}
