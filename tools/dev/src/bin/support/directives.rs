//! The manual's directives, each with a module that uses it.

use ptx2spv_translator::internals::isa::manual::Use;

/// A directive with a small module that uses it.
pub struct Directive {
    pub name: &'static str,
    pub sample: &'static str,
    /// Further uses.
    pub uses: &'static [Use],
    pub remark: &'static str,
}

const fn directive(name: &'static str, sample: &'static str) -> Directive {
    Directive { name, sample, uses: &[], remark: "" }
}

impl Directive {
    const fn uses(self, uses: &'static [Use]) -> Self {
        Self { uses, ..self }
    }

    const fn remark(self, remark: &'static str) -> Self {
        Self { remark, ..self }
    }
}

const NOTHING: &str = "Accepted; has no effect.";
const LINKED: &str = "By the rules of NVIDIA's linker: see getting-ptx.md.";
const KERNEL: &str = ".visible .entry k() { ret; }";

/// All directives by name. The header precedes every sample.
pub const ALL: &[Directive] = &[
    directive("address_size", KERNEL).uses(&[Use {
        words: "modules with 32-bit addresses",
        sample: ".version 7.0\n.target sm_75\n.address_size 32\n.entry k() { ret; }",
    }])
    .remark("With 32 bits for targets before sm_80, as hardware had it: all buffers come from one region."),
    directive("alias", ".func g(); .func f() { ret; } .alias g, f; .entry k() { call g; ret; }"),
    directive(
        "branchtargets",
        ".entry k() { .reg .u32 %i; mov.u32 %i, 0; a: .branchtargets b, c; brx.idx %i, a; b: ret; c: exit; }",
    ),
    directive(
        "callprototype",
        ".func f() { ret; } .entry k() { .reg .b64 %a; mov.u64 %a, f; p: .callprototype _ (); call %a, (), p; ret; }",
    ),
    directive(
        "calltargets",
        ".func f() { ret; } .entry k() { .reg .b64 %a; mov.u64 %a, f; t: .calltargets f; call %a, (), t; ret; }",
    ),
    directive("common", ".common .global .u32 x; .entry k() { ret; }")
        .remark(LINKED),
    directive("entry", ".entry k() { ret; }"),
    directive("explicitcluster", ".entry k() .explicitcluster .reqnctapercluster 1 { ret; }"),
    directive("extern", ".extern .shared .align 16 .b8 s[]; .entry k() { ret; }").uses(&[Use {
        words: "variables and functions that another module defines",
        sample: "//// ptx2spv module a\n.version 8.1\n.target sm_90\n.address_size 64\n.extern .global .u32 x; .entry k() { .reg .u32 %r; ld.global.u32 %r, [x]; ret; }\n//// ptx2spv module b\n.version 8.1\n.target sm_90\n.address_size 64\n.visible .global .u32 x;",
    }])
    .remark(LINKED),
    directive("file", ".file 1 \"k.cu\"\n.entry k() { ret; }").remark("Names a source for `.loc`."),
    directive("func", ".func (.reg .u32 r) f(.reg .u32 a) { mov.u32 r, a; ret; } .entry k() { ret; }")
        .remark("Calls are inlined up to a limit; what can't be called is under `call`."),
    directive("loc", ".file 1 \"k.cu\"\n.entry k() { .loc 1 2 3\nret; }")
        .remark("Messages about kernels that were stopped name the line."),
    directive("maxclusterrank", ".entry k() .maxclusterrank 4 { ret; }"),
    directive("maxnreg", ".entry k() .maxnreg 32 { ret; }").remark(NOTHING),
    directive("maxntid", ".entry k() .maxntid 16, 2, 1 { ret; }").remark("The runtime checks it at each launch."),
    directive("minnctapersm", ".entry k() .maxntid 64 .minnctapersm 2 { ret; }").remark(NOTHING),
    directive("noreturn", ".func f() .noreturn { exit; } .entry k() { call f; ret; }").remark(NOTHING),
    directive("pragma", ".entry k() { .pragma \"nounroll\"; ret; }").remark(NOTHING),
    directive("reqnctapercluster", ".entry k() .reqnctapercluster 2, 2, 1 { ret; }")
        .remark("A cluster is a workgroup; larger ones than the device's are refused."),
    directive("reqntid", ".entry k() .reqntid 16, 2, 1 { ret; }").remark("The runtime checks it at each launch."),
    directive("target", KERNEL).remark("`map_f64_to_f32` and `texmode_…` have no effect."),
    directive("version", KERNEL).remark("Any version; newer ones give errors only where something new is used."),
    directive("visible", ".visible .entry k() { ret; }").remark(LINKED),
    directive("weak", ".weak .entry k() { ret; }").remark(LINKED),
];
