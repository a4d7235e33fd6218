//! The manual's instructions with all forms that it gives, in the notation of [the table's rows](super::super::rows).
//!
//! Forms of one opcode stand together wherever the manual describes them. This is the manual's side of the comparison:
//! it changes with PTX, not with the translator.

use super::{Instruction, Use};

const fn op(name: &'static str, forms: &'static [&'static str]) -> Instruction {
    Instruction { name, forms, uses: &[], limit: "", remark: "" }
}

impl Instruction {
    const fn uses(self, uses: &'static [Use]) -> Self {
        Self { uses, ..self }
    }

    const fn limit(self, limit: &'static str) -> Self {
        Self { limit, ..self }
    }

    const fn remark(self, remark: &'static str) -> Self {
        Self { remark, ..self }
    }
}

const APPROXIMATE: &str = "the manual's error bound (the error is the device's own)";
const NO_EFFECT: &str = "Accepted; has no effect.";
const AS_THE_MANUAL: &str = "As in the manual, also where current hardware departs from it.";
const INLINED: &str = "Inlined.";

/// All instructions by name.
#[rustfmt::skip]
pub(super) const ALL: &[Instruction] = &[
    op("abs", &["abs.(s16|s32|s64)", "abs{.ftz}.f32", "abs.f64", "abs{.ftz}.(f16|f16x2)", "abs.(bf16|bf16x2)"]),
    op("activemask", &["activemask.b32"]),
    op("add", &[
        "add.(u16|u32|u64|s16|s64)", "add{.sat}.s32", "add.(u16x2|s16x2)",
        "add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "add{.rn|.rz|.rm|.rp}.f64",
        "add{.rn}{.ftz}{.sat}.(f16|f16x2)", "add{.rn}.(bf16|bf16x2)",
        "add.cc.(u32|s32|u64|s64)",
    ]),
    op("addc", &["addc{.cc}.(u32|s32|u64|s64)"]),
    op("alloca", &["alloca.(u32|u64)"]),
    op("and", &["and.(pred|b16|b32|b64)"]),
    op("applypriority", &["applypriority{.global}.L2::evict_normal"]),
    op("atom", &[
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(and|or|xor|exch|cas).(b32|b64)",
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(inc|dec).u32",
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.(u32|u64|s32|f32|f64)",
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(min|max).(u32|u64|s32|s64)",
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}.cas.b16",
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}.add.noftz.(f16|f16x2|bf16|bf16x2)",
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.gpu|.sys}{.global}.add.(v2|v4).f32",
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.gpu|.sys}{.global}.(add|min|max).noftz.(v2|v4|v8).(f16|bf16)",
        "atom{.relaxed|.acquire|.release|.acq_rel}{.cta|.gpu|.sys}{.global}.(add|min|max).noftz.(v2|v4).(f16x2|bf16x2)",
    ]),
    op("bar", &["bar{.cta}.sync", "bar{.cta}.arrive", "bar{.cta}.red.popc.u32", "bar{.cta}.red.(and|or).pred", "bar.warp.sync"])
        .uses(&[Use {
            words: "barriers for a part of the block's threads",
            sample: ".entry k() { bar.sync 1, 32; bar.sync 2, 64; ret; }",
        }]),
    op("barrier", &[
        "barrier{.cta}.sync{.aligned}", "barrier{.cta}.arrive{.aligned}",
        "barrier{.cta}.red.popc{.aligned}.u32", "barrier{.cta}.red.(and|or){.aligned}.pred",
        "barrier.cluster.arrive{.release|.relaxed}{.aligned}", "barrier.cluster.wait{.acquire}{.aligned}",
    ]).uses(&[Use {
        words: "barriers for a part of the block's threads",
        sample: ".entry k() { barrier.sync 1, 32; barrier.sync 2, 64; ret; }",
    }]),
    op("bfe", &["bfe.(u32|u64|s32|s64)"]),
    op("bfi", &["bfi.(b32|b64)"]),
    op("bfind", &["bfind{.shiftamt}.(u32|u64|s32|s64)"]),
    op("bmsk", &["bmsk.(clamp|wrap).b32"]),
    op("bra", &["bra{.uni}"]),
    op("brev", &["brev.(b32|b64)"]),
    op("brkpt", &["brkpt"]),
    op("brx", &["brx.idx{.uni}"]),
    op("call", &["call{.uni}"])
        .uses(&[
            Use { words: "recursion", sample: ".func f() { call f; ret; } .entry k() { call f; ret; }" },
            Use {
                words: "calls through a register",
                sample: ".func f() { ret; } .entry k() { .reg .b64 %a; mov.u64 %a, f; p: .callprototype _ (); call %a, (), p; ret; }",
            },
            Use {
                words: "functions that the module does not define, `vprintf`, `malloc` and their like included",
                sample: ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b); .entry k() { .param .b32 r; .param .b64 a; .param .b64 b; call (r), vprintf, (a, b); ret; }",
            },
        ])
        .remark(INLINED),
    op("clz", &["clz.(b32|b64)"]),
    op("cnot", &["cnot.(b16|b32|b64)"]),
    op("copysign", &["copysign.(f32|f64)"]),
    op("cos", &["cos.approx{.ftz}.f32"]).limit(APPROXIMATE),
    op("cp", &[
        "cp.async.(ca|cg).(shared|shared::cta).global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}",
        "cp.async.(commit_group|wait_group|wait_all)",
        "cp.async.mbarrier.arrive{.noinc}{.shared|.shared::cta}.b64",
        "cp.async.bulk.(commit_group|wait_group)",
        "cp.async.bulk.shared::cluster.(global|shared::cta).mbarrier::complete_tx::bytes",
        "cp.async.bulk.global.shared::cta.bulk_group",
        "cp.async.bulk.prefetch.L2.global",
        "cp.async.bulk.tensor.(1d|2d|3d|4d|5d).shared::cluster.global.mbarrier::complete_tx::bytes{.tile|.im2col}",
        "cp.async.bulk.tensor.(1d|2d|3d|4d|5d).global.shared::cta.bulk_group{.tile|.im2col_no_offs}",
        "cp.reduce.async.bulk.(global|shared::cluster).shared::cta.(bulk_group|mbarrier::complete_tx::bytes).(and|or|xor|add|inc|dec|min|max).(b32|u32|s32|b64|u64|s64)",
    ]),
    op("createpolicy", &[
        "createpolicy.range{.global}.(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged){.L2::evict_first|.L2::evict_unchanged}.b64",
        "createpolicy.fractional.(L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged){.L2::evict_first|.L2::evict_unchanged}.b64",
        "createpolicy.cvt.L2.b64",
    ]),
    op("cvt", &[
        "cvt{.sat}.(u8|u16|u32|u64|s8|s16|s32|s64).(u8|u16|u32|u64|s8|s16|s32|s64)",
        "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f32.(u8|u16|u32|u64|s8|s16|s32|s64)",
        "cvt.(rn|rz|rm|rp){.sat}.f64.(u8|u16|u32|u64|s8|s16|s32|s64)",
        "cvt.(rn|rz|rm|rp){.sat}.f16.(u8|u16|u32|u64|s8|s16|s32|s64)",
        "cvt.(rn|rz|rm|rp).bf16.(u8|u16|u32|u64|s8|s16|s32|s64)",
        "cvt.(rni|rzi|rmi|rpi){.ftz}{.sat}.(u8|u16|u32|u64|s8|s16|s32|s64).f32",
        "cvt.(rni|rzi|rmi|rpi){.sat}.(u8|u16|u32|u64|s8|s16|s32|s64).f64",
        "cvt.(rni|rzi|rmi|rpi){.sat}.(u8|u16|u32|u64|s8|s16|s32|s64).f16",
        "cvt.(rni|rzi|rmi|rpi).(u8|u16|u32|u64|s8|s16|s32|s64).bf16",
        "cvt{.rni|.rzi|.rmi|.rpi}{.ftz}{.sat}.f32.f32", "cvt{.rni|.rzi|.rmi|.rpi}{.sat}.f64.f64",
        "cvt{.rni|.rzi|.rmi|.rpi}{.ftz}{.sat}.f16.f16", "cvt{.rni|.rzi|.rmi|.rpi}.bf16.bf16",
        "cvt{.ftz}{.sat}.f64.f32", "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f32.f64",
        "cvt{.ftz}{.sat}.f32.f16", "cvt{.sat}.f64.f16", "cvt.(rn|rz|rm|rp){.ftz}{.sat}.f16.(f32|f64)",
        "cvt.(f32|f64|f16).bf16", "cvt.(rn|rz|rm|rp).bf16.(f32|f64|f16)",
        "cvt.(rn|rz){.relu}{.satfinite}.(f16|bf16|f16x2|bf16x2).f32",
        "cvt.rna{.satfinite}.tf32.f32", "cvt.(rn|rz){.relu}.tf32.f32",
        "cvt.rn.satfinite{.relu}.(e4m3x2|e5m2x2).(f32|f16x2)", "cvt.rn{.relu}.f16x2.(e4m3x2|e5m2x2)",
        "cvt.pack.sat.(u16|s16).s32", "cvt.pack.sat.(u2|s2|u4|s4|u8|s8).s32.b32",
    ]),
    op("cvta", &["cvta{.to}.(const|global|local|shared|shared::cta|shared::cluster|param).(u32|u64)"]),
    op("discard", &["discard{.global}.L2"]),
    op("div", &[
        "div.(u16|u32|u64|s16|s32|s64)", "div.(approx|full){.ftz}.f32", "div.(rn|rz|rm|rp){.ftz}.f32",
        "div.(rn|rz|rm|rp).f64",
    ]).limit("the manual's error bound of `.approx` and `.full` (the error is the device's own)"),
    op("dp2a", &["dp2a.(lo|hi).(u32|s32).(u32|s32)"]),
    op("dp4a", &["dp4a.(u32|s32).(u32|s32)"]),
    op("elect", &["elect.sync"]),
    op("ex2", &["ex2.approx{.ftz}.f32", "ex2.approx.(f16|f16x2)", "ex2.approx.ftz.(bf16|bf16x2)"]).limit("the manual's error bound on devices without double precision"),
    op("exit", &["exit"]),
    op("fence", &[
        "fence{.sc|.acq_rel}.(cta|cluster|gpu|sys)", "fence.mbarrier_init.release.cluster",
        "fence.proxy.alias", "fence.proxy.async{.global|.shared::cta|.shared::cluster}",
    ]),
    op("fma", &[
        "fma.(rn|rz|rm|rp){.ftz}{.sat}.f32", "fma.(rn|rz|rm|rp).f64", "fma.rn{.ftz}{.sat}{.relu}.(f16|f16x2)",
        "fma.rn{.relu}.(bf16|bf16x2)",
    ]),
    op("fns", &["fns.b32"]),
    op("getctarank", &["getctarank{.shared::cluster}.(u32|u64)"]),
    op("griddepcontrol", &["griddepcontrol.(launch_dependents|wait)"]),
    op("isspacep", &["isspacep.(const|global|local|shared|shared::cta|shared::cluster|param)"])
        .uses(&[Use {
            words: "`.const` and `.param`",
            sample: ".entry k() { .reg .b64 %a; .reg .pred %p; mov.u64 %a, 0; isspacep.const %p, %a; isspacep.param %p, %a; ret; }",
        }]),
    op("istypep", &["istypep.(texref|samplerref|surfref)"]),
    op("ld", &[
        "ld{.weak}{.const|.global|.local|.param|.param::entry|.param::func|.shared|.shared::cta|.shared::cluster}{.ca|.cg|.cs|.lu|.cv}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
        "ld.volatile{.const|.global|.local|.param|.shared|.shared::cta|.shared::cluster}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
        "ld.(relaxed|acquire).(cta|cluster|gpu|sys){.global|.shared|.shared::cta|.shared::cluster}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
        "ld.global{.ca|.cg|.cs}.nc{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}{.v2|.v4}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
    ]).remark("Hints about caches have no effect."),
    op("ldmatrix", &["ldmatrix.sync.aligned.m8n8.(x1|x2|x4){.trans}{.shared|.shared::cta}.b16"]),
    op("ldu", &["ldu{.global}{.v2|.v4}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)"]),
    op("lg2", &["lg2.approx{.ftz}.f32"]).limit(APPROXIMATE),
    op("lop3", &["lop3.b32", "lop3.(and|or).b32"]),
    op("mad", &[
        "mad.(hi|lo).(u16|u32|u64|s16|s32|s64)", "mad.wide.(u16|u32|s16|s32)", "mad.hi.sat.s32",
        "mad.(hi|lo).cc.(u32|s32|u64|s64)",
        "mad{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "mad.(rn|rz|rm|rp).f64",
    ]),
    op("mad24", &["mad24.(hi|lo).(u32|s32)", "mad24.hi.sat.s32"]),
    op("madc", &["madc.(hi|lo){.cc}.(u32|s32|u64|s64)"]),
    op("mapa", &["mapa{.shared::cluster}.(u32|u64)"]),
    op("match", &["match.(any|all).sync.(b32|b64)"]),
    op("max", &[
        "max.(u16|u32|u64|s16|s64|u16x2)", "max{.relu}.(s32|s16x2)",
        "max{.ftz}{.NaN}.f32", "max{.ftz}{.NaN}.xorsign.abs.f32", "max.f64",
        "max{.ftz}{.NaN}.(f16|f16x2)", "max{.ftz}{.NaN}.xorsign.abs.(f16|f16x2)",
        "max{.NaN}.(bf16|bf16x2)", "max{.NaN}.xorsign.abs.(bf16|bf16x2)",
    ]),
    op("mbarrier", &[
        "mbarrier.(init|inval){.shared|.shared::cta}.b64",
        "mbarrier.(expect_tx|complete_tx){.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64",
        "mbarrier.(arrive|arrive_drop){.release}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}{.expect_tx|.noComplete}.b64",
        "mbarrier.(test_wait|try_wait){.parity}{.acquire}{.cta|.cluster}{.shared|.shared::cta}.b64",
        "mbarrier.pending_count.b64",
    ]),
    op("membar", &["membar.(cta|gl|sys)", "membar.proxy.alias"]),
    op("min", &[
        "min.(u16|u32|u64|s16|s64|u16x2)", "min{.relu}.(s32|s16x2)",
        "min{.ftz}{.NaN}.f32", "min{.ftz}{.NaN}.xorsign.abs.f32", "min.f64",
        "min{.ftz}{.NaN}.(f16|f16x2)", "min{.ftz}{.NaN}.xorsign.abs.(f16|f16x2)",
        "min{.NaN}.(bf16|bf16x2)", "min{.NaN}.xorsign.abs.(bf16|bf16x2)",
    ]),
    op("mma", &[
        "mma.sync.aligned.(m16n8k8|m16n8k16).row.col.(f16|f32).f16.f16.(f16|f32)",
        "mma.sync.aligned.(m16n8k8|m16n8k16).row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.(m16n8k4|m16n8k8).row.col.f32.tf32.tf32.f32",
        "mma.sync.aligned.(m8n8k16|m16n8k16|m16n8k32).row.col{.satfinite}.s32.(u8|s8).(u8|s8).s32",
        "mma.sync.aligned.(m8n8k32|m16n8k32|m16n8k64).row.col{.satfinite}.s32.(u4|s4).(u4|s4).s32",
        "mma.sync.aligned.(m8n8k128|m16n8k128|m16n8k256).row.col.s32.b1.b1.s32.(xor|and).popc",
        "mma.sync.aligned.m8n8k4.(row|col).(row|col).(f16|f32).f16.f16.(f16|f32)",
        "mma.sync.aligned.(m8n8k4|m16n8k4|m16n8k8|m16n8k16).row.col.f64.f64.f64.f64",
    ]),
    op("mov", &["mov.(pred|b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64)", "mov.b128"]).uses(&[Use {
        words: "addresses of functions",
        sample: ".func f() { ret; } .entry k() { .reg .b64 %a; mov.u64 %a, f; ret; }",
    }]),
    op("movmatrix", &["movmatrix.sync.aligned.m8n8.trans.b16"]),
    op("mul", &[
        "mul.(hi|lo).(u16|u32|u64|s16|s32|s64)", "mul.wide.(u16|u32|s16|s32)",
        "mul{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "mul{.rn|.rz|.rm|.rp}.f64",
        "mul{.rn}{.ftz}{.sat}.(f16|f16x2)", "mul{.rn}.(bf16|bf16x2)",
    ]),
    op("mul24", &["mul24.(hi|lo).(u32|s32)"]),
    op("multimem", &[
        "multimem.ld_reduce{.weak|.relaxed|.acquire}{.cta|.cluster|.gpu|.sys}{.global}.(min|max|add|and|or|xor){.v2|.v4|.v8}.(b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64)",
        "multimem.st{.weak|.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global}{.v2|.v4|.v8}.(b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64)",
        "multimem.red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global}.(min|max|add|and|or|xor){.v2|.v4|.v8}.(b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64)",
    ]),
    op("nanosleep", &["nanosleep.u32"]),
    op("neg", &["neg.(s16|s32|s64)", "neg{.ftz}.f32", "neg.f64", "neg{.ftz}.(f16|f16x2)", "neg.(bf16|bf16x2)"]),
    op("not", &["not.(pred|b16|b32|b64)"]),
    op("or", &["or.(pred|b16|b32|b64)"]),
    op("pmevent", &["pmevent{.mask}"]),
    op("popc", &["popc.(b32|b64)"]),
    op("prefetch", &["prefetch{.global|.local}.(L1|L2)", "prefetch.global.(L2::evict_last|L2::evict_normal)", "prefetch{.const|.param}.tensormap"])
        .remark(NO_EFFECT),
    op("prefetchu", &["prefetchu.L1"]).remark(NO_EFFECT),
    op("prmt", &["prmt.b32{.f4e|.b4e|.rc8|.ecl|.ecr|.rc16}"]),
    op("rcp", &["rcp.approx{.ftz}.f32", "rcp.approx.ftz.f64", "rcp.(rn|rz|rm|rp){.ftz}.f32", "rcp.(rn|rz|rm|rp).f64"])
        .limit("the manual's error bound of `.approx` (the error is the device's own)"),
    op("red", &[
        "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(and|or|xor).(b32|b64)",
        "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(inc|dec).u32",
        "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.add.(u32|u64|s32|f32|f64)",
        "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}{.L2::cache_hint}.(min|max).(u32|u64|s32|s64)",
        "red{.relaxed|.release}{.cta|.cluster|.gpu|.sys}{.global|.shared|.shared::cta|.shared::cluster}.add.noftz.(f16|f16x2|bf16|bf16x2)",
        "red{.relaxed|.release}{.cta|.gpu|.sys}{.global}.add.(v2|v4).f32",
        "red{.relaxed|.release}{.cta|.gpu|.sys}{.global}.(add|min|max).noftz.(v2|v4|v8).(f16|bf16)",
        "red{.relaxed|.release}{.cta|.gpu|.sys}{.global}.(add|min|max).noftz.(v2|v4).(f16x2|bf16x2)",
        "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.(inc|dec|min|max|add|and|or|xor).(u32|s32|u64|b32)",
    ]),
    op("redux", &["redux.sync.(add|min|max).(u32|s32)", "redux.sync.(and|or|xor).b32"]),
    op("rem", &["rem.(u16|u32|u64|s16|s32|s64)"]),
    op("ret", &["ret{.uni}"]),
    op("rsqrt", &["rsqrt.approx{.ftz}.f32", "rsqrt.approx{.ftz}.f64"]).limit(APPROXIMATE),
    op("sad", &["sad.(u16|u32|u64|s16|s32|s64)"]),
    op("selp", &["selp.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64)"]),
    op("set", &[
        "set.(eq|ne){.and|.or|.xor}.(u32|s32|f32).(b16|b32|b64)", "set.(eq|ne|lt|le|gt|ge){.and|.or|.xor}.(u32|s32|f32).(s16|s32|s64)",
        "set.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs){.and|.or|.xor}.(u32|s32|f32).(u16|u32|u64)",
        "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}{.ftz}.(u32|s32|f32).f32",
        "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}.(u32|s32|f32).f64",
        "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}{.ftz}.(f16|f16x2).(f16|f16x2)",
        "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}.(bf16|bf16x2).(bf16|bf16x2)",
        "set.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}.(u16|s16|u32|s32).(f16|bf16)",
    ]),
    op("setmaxnreg", &["setmaxnreg.(inc|dec).sync.aligned.u32"]),
    op("setp", &[
        "setp.(eq|ne){.and|.or|.xor}.(b16|b32|b64)", "setp.(eq|ne|lt|le|gt|ge){.and|.or|.xor}.(s16|s32|s64)",
        "setp.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs){.and|.or|.xor}.(u16|u32|u64)",
        "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}{.ftz}.f32",
        "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}.f64",
        "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}{.ftz}.(f16|f16x2)",
        "setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan){.and|.or|.xor}.(bf16|bf16x2)",
    ]),
    op("shf", &["shf.(l|r).(clamp|wrap).b32"]),
    op("shfl", &["shfl.(up|down|bfly|idx).b32", "shfl.sync.(up|down|bfly|idx).b32"]),
    op("shl", &["shl.(b16|b32|b64)"]),
    op("shr", &["shr.(b16|b32|b64|u16|u32|u64|s16|s32|s64)"]),
    op("sin", &["sin.approx{.ftz}.f32"]).limit(APPROXIMATE),
    op("slct", &["slct.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64).s32", "slct{.ftz}.(b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64).f32"]),
    op("sqrt", &["sqrt.approx{.ftz}.f32", "sqrt.(rn|rz|rm|rp){.ftz}.f32", "sqrt.(rn|rz|rm|rp).f64"])
        .limit("the manual's error bound of `.approx` (the error is the device's own)"),
    op("st", &[
        "st{.weak}{.global|.local|.param|.param::func|.shared|.shared::cta|.shared::cluster}{.wb|.cg|.cs|.wt}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::cache_hint}{.v2|.v4}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
        "st.volatile{.global|.local|.param|.shared|.shared::cta|.shared::cluster}{.v2|.v4}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
        "st.(relaxed|release).(cta|cluster|gpu|sys){.global|.shared|.shared::cta|.shared::cluster}{.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate}{.L2::cache_hint}{.v2|.v4}.(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
        "st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2|.v4}.(b32|b64|u32|u64|s32|s64|f32|f64)",
    ]).remark("Hints about caches have no effect."),
    op("stackrestore", &["stackrestore.(u32|u64)"]),
    op("stacksave", &["stacksave.(u32|u64)"]),
    op("stmatrix", &["stmatrix.sync.aligned.m8n8.(x1|x2|x4){.trans}{.shared|.shared::cta}.b16"]),
    op("sub", &[
        "sub.(u16|u32|u64|s16|s64)", "sub{.sat}.s32",
        "sub{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32", "sub{.rn|.rz|.rm|.rp}.f64",
        "sub{.rn}{.ftz}{.sat}.(f16|f16x2)", "sub{.rn}.(bf16|bf16x2)",
        "sub.cc.(u32|s32|u64|s64)",
    ]),
    op("subc", &["subc{.cc}.(u32|s32|u64|s64)"]),
    op("suld", &["suld.b.(1d|2d|3d|a1d|a2d){.ca|.cg|.cs|.cv}{.v2|.v4}.(b8|b16|b32|b64).(trap|clamp|zero)"]),
    op("suq", &["suq.(width|height|depth|channel_data_type|channel_order|array_size|memory_layout).b32"]),
    op("sured", &[
        "sured.b.(add|min|max|and|or).(1d|2d|3d).(u32|u64|s32|b32|s64).(trap|clamp|zero)",
        "sured.p.(add|min|max|and|or).(1d|2d|3d).(b32|b64).(trap|clamp|zero)",
    ]),
    op("sust", &[
        "sust.b.(1d|2d|3d|a1d|a2d){.wb|.cg|.cs|.wt}{.v2|.v4}.(b8|b16|b32|b64).(trap|clamp|zero)",
        "sust.p.(1d|2d|3d){.v2|.v4}.b32.(trap|clamp|zero)",
    ]),
    op("szext", &["szext.(clamp|wrap).(u32|s32)"]),
    op("tanh", &["tanh.approx.(f32|f16|f16x2|bf16|bf16x2)"]),
    op("testp", &["testp.(finite|infinite|number|notanumber|normal|subnormal).(f32|f64)"]),
    op("tex", &[
        "tex{.base|.level|.grad}.(1d|2d|3d|a1d|a2d|cube|acube|2dms|a2dms).v4.(u32|s32|f16|f32).(s32|f32)",
        "tex{.base|.level|.grad}.(1d|2d|3d|a1d|a2d|cube|acube|2dms|a2dms).v2.f16x2.(s32|f32)",
    ]),
    op("tld4", &["tld4.(r|g|b|a).(2d|a2d|cube|acube).v4.(u32|s32|f32).f32"]),
    op("trap", &["trap"]),
    op("txq", &[
        "txq.(width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|num_samples).b32",
        "txq.level.(width|height|depth).b32",
        "txq.(force_unnormalized_coords|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2).b32",
    ]),
    op("vabsdiff", &["vabsdiff.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}"]).remark(AS_THE_MANUAL),
    op("vabsdiff2", &["vabsdiff2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vabsdiff4", &["vabsdiff4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vadd", &["vadd.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}"]).remark(AS_THE_MANUAL),
    op("vadd2", &["vadd2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vadd4", &["vadd4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vavrg2", &["vavrg2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vavrg4", &["vavrg4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vmad", &["vmad.(u32|s32).(u32|s32).(u32|s32){.po}{.sat}{.shr7|.shr15}"]).remark(AS_THE_MANUAL),
    op("vmax", &["vmax.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}"]).remark(AS_THE_MANUAL),
    op("vmax2", &["vmax2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vmax4", &["vmax4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vmin", &["vmin.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}"]).remark(AS_THE_MANUAL),
    op("vmin2", &["vmin2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vmin4", &["vmin4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vote", &["vote.(all|any|uni).pred", "vote.ballot.b32", "vote.sync.(all|any|uni).pred", "vote.sync.ballot.b32"]),
    op("vset", &["vset.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add|.min|.max}"]).remark(AS_THE_MANUAL),
    op("vset2", &["vset2.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add}"]),
    op("vset4", &["vset4.(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge){.add}"]),
    op("vshl", &["vshl.(u32|s32).(u32|s32).u32{.sat}.(clamp|wrap){.add|.min|.max}"]).remark(AS_THE_MANUAL),
    op("vshr", &["vshr.(u32|s32).(u32|s32).u32{.sat}.(clamp|wrap){.add|.min|.max}"]).remark(AS_THE_MANUAL),
    op("vsub", &["vsub.(u32|s32).(u32|s32).(u32|s32){.sat}{.add|.min|.max}"]).remark(AS_THE_MANUAL),
    op("vsub2", &["vsub2.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("vsub4", &["vsub4.(u32|s32).(u32|s32).(u32|s32){.sat|.add}"]),
    op("wgmma", &["wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned", "wgmma.mma_async.sync.aligned"]),
    op("wmma", &["wmma.load.(a|b|c).sync.aligned", "wmma.store.d.sync.aligned", "wmma.mma.sync.aligned"]),
    op("xor", &["xor.(pred|b16|b32|b64)"]),
];
