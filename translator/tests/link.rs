//! The rules of linking, each for a pair of modules or more, with the answers of NVIDIA's linker (nvlink 13.5) to the
//! same pairs, after its assembler. `tests/linking/` has programs that run.

use ptx2spv_translator::{Diagnostics, Program, Source};

const HEADER: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

fn source(modules: &[&str]) -> Source {
    let named =
        ('a'..).zip(modules).map(|(name, text)| Source::new(format!("{name}.ptx"), format!("{HEADER}{text}\n")));
    Source::linked("linked", named)
}

#[track_caller]
fn links(modules: &[&str]) {
    let source = source(modules);
    if let Err(errors) = Program::new(&source) {
        panic!("{errors}");
    }
}

#[track_caller]
fn refused(modules: &[&str]) -> Diagnostics {
    Program::new(&source(modules)).expect_err("it does link")
}

/// The only error, with the places that it names.
#[track_caller]
fn fails(modules: &[&str], message: &str, places: &[&str]) {
    let errors = refused(modules);
    assert_eq!(errors.list.len(), 1, "{errors}");
    let error = &errors.list[0];
    assert_eq!(error.kind.to_string(), message);
    let spans = error.span.into_iter().chain(error.related.iter().map(|related| related.0));
    let found: Vec<String> = spans.map(|span| errors.source.place(span.start).to_string()).collect();
    assert_eq!(found, places, "{errors}");
    for place in places {
        assert!(errors.render().contains(place), "{errors}");
    }
}

const FUNCTION: &str = ".func (.param .b32 r) f(.param .b32 x)";
const CALL: &str = "\n.visible .entry k() { .param .b32 p, q; call (q), f, (p); ret; }";
const BODY: &str = "{ .reg .b32 %x; ld.param.b32 %x, [x]; st.param.b32 [r], %x; ret; }";

#[test]
fn what_is_declared_and_defined_elsewhere() {
    links(&[".extern .global .u32 x;", ".visible .global .u32 x = 1;"]);
    links(&[".extern .global .u32 x;", ".weak .global .u32 x;"]);
    links(&[".visible .const .b8 x[8];", ".extern .const .b8 x[];"]);
    links(&[".visible .global .attribute(.managed) .u32 x;", ".extern .global .attribute(.managed) .u32 x;"]);
    links(&[&format!(".extern {FUNCTION};"), &format!(".visible {FUNCTION} {BODY}")]);
    links(&[&format!(".extern {FUNCTION};"), &format!(".weak {FUNCTION} {BODY}")]);
    links(&[".extern .shared .align 4 .b8 d[];", ".extern .shared .align 16 .b8 d[];"]);
    links(&[".global .u32 x;", ".global .b8 x[3];"]);
    links(&[".extern .entry k();\n.global .u64 p = k;", ".visible .entry k() { ret; }"]);
}

#[test]
fn what_is_defined_more_than_once() {
    fails(
        &[".visible .global .u32 x;", ".visible .global .u32 x;"],
        "Multiple definition of `x`",
        &["b.ptx:4:23", "a.ptx:4:23"],
    );
    let function = format!(".visible {FUNCTION} {BODY}");
    fails(&[&function, &function], "Multiple definition of `f`", &["b.ptx:4:1", "a.ptx:4:1"]);
    let entry = ".visible .entry k() { ret; }";
    fails(&[entry, "", entry], "Multiple definition of `k`", &["c.ptx:4:1", "a.ptx:4:1"]);
    links(&[".weak .global .u32 x = 1;", ".weak .global .u32 x = 2;"]);
    links(&[".weak .global .u32 x = 1;", ".visible .global .u32 x = 2;", ".weak .global .u32 x;"]);
    links(&[".weak .entry k() { ret; }", ".weak .entry k() { ret; }"]);
    links(&[".common .global .b8 x[4];", ".common .global .b8 x[8];"]);
    links(&[".common .global .u32 x;", ".visible .global .u32 x = 1;"]);
    fails(
        &[".common .global .u32 x;", ".weak .global .u32 x = 1;"],
        "`.weak` and `.common` definitions of `x`",
        &["a.ptx:4:22", "b.ptx:4:20"],
    );
}

#[test]
fn what_is_defined_nowhere() {
    fails(&[".extern .global .u32 x;", ""], "Undefined reference to `x`", &["a.ptx:4:22"]);
    let declared = format!(".extern {FUNCTION};");
    let table = "\n.global .u64 p = f;";
    fails(&["", &(declared.clone() + CALL)], "Undefined reference to `f`", &["b.ptx:4:1"]);
    fails(&["", &(declared.clone() + table)], "Undefined reference to `f`", &["b.ptx:4:1"]);
    // A function without calls needn't be defined.
    links(&[&declared, &declared]);
    fails(&[".extern .shared .b8 s[16];", ""], "Undefined reference to `s`", &["a.ptx:4:21"]);
    links(&[".extern .shared .b8 s[16];", ".visible .shared .b8 s[16];"]);
    fails(&[".extern .global .u32 x;", ".global .u32 x;"], "Undefined reference to `x`", &["a.ptx:4:22"]);
    let errors = refused(&[".extern .func (.param .b32 r) __nv_ffs(.param .b32 x);\n.global .u64 p = __nv_ffs;"]);
    assert!(errors.to_string().contains("libdevice"), "{errors}");
    links(&[
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);",
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);",
    ]);
    // A module that isn't linked may lack what no kernel needs.
    assert!(Program::new(&Source::new("a.ptx", format!("{HEADER}.extern .global .u32 x;\n"))).is_ok());
}

#[test]
fn what_is_declared_in_other_ways() {
    let places = ["b.ptx:4:23", "a.ptx:4:22"];
    fails(&[".extern .global .u32 x;", ".visible .global .u64 x;"], "Size doesn't match for `x`", &places);
    fails(
        &[".weak .global .u32 x;", ".weak .global .b8 x[8];"],
        "Size doesn't match for `x`",
        &["b.ptx:4:19", "a.ptx:4:20"],
    );
    fails(
        &[".extern .const .u32 x;", ".visible .global .u32 x;"],
        "Memory space doesn't match for `x`",
        &["b.ptx:4:23", "a.ptx:4:21"],
    );
    let (places, caller) = (["b.ptx:4:1", "a.ptx:4:1"], format!(".extern {FUNCTION};{CALL}"));
    for other in [
        "(.param .b32 r) f(.param .b64 x)",
        "(.param .b32 r) f(.param .f32 x)",
        "(.param .f32 r) f(.param .b32 x)",
        "(.param .b32 r) f(.param .align 4 .b8 x[4])",
        "(.param .b32 r) f(.param .b32 x, .param .b32 y)",
        "f(.param .b32 x)",
    ] {
        let other = format!(".visible .func {other} {{ ret; }}");
        fails(&[&caller, &other], "Prototype doesn't match for `f`", &places);
        links(&[&format!(".extern {FUNCTION};"), &other]);
    }
    links(&[&caller, ".visible .func (.param .u32 r) f(.param .s32 x) { ret; }"]);
    let weak = format!(".weak {FUNCTION} {BODY}");
    let other = ".weak .func (.param .b32 r) f(.param .b64 x) { ret; }";
    fails(&[&weak, other], "Prototype doesn't match for `f`", &places);
    let places = ["b.ptx:4:23", "a.ptx:4:22"];
    fails(
        &[".extern .global .u64 x;", ".common .global .u32 x;"],
        "Size doesn't match for `x`",
        &["b.ptx:4:22", "a.ptx:4:22"],
    );
    let message = "A `.common` declaration has a larger size than the definition of `x`";
    fails(&[".common .global .u64 x;", ".visible .global .u32 x = 3;"], message, &places);
    links(&[".common .global .u32 x;", ".visible .global .u64 x = 3;"]);
    let managed = ".visible .global .attribute(.managed) .u32 x;";
    let places = ["b.ptx:4:44", "a.ptx:4:22"];
    fails(&[".extern .global .u32 x;", managed], "Managed attribute doesn't match for `x`", &places);
    fails(
        &[&format!(".extern {FUNCTION};"), ".visible .global .u32 f;"],
        "Memory space doesn't match for `f`",
        &["b.ptx:4:23", "a.ptx:4:1"],
    );
    fails(
        &[&format!(".extern {FUNCTION};"), ".visible .entry f() { ret; }"],
        "`.entry` and `.func` are both said of `f`",
        &["b.ptx:4:1", "a.ptx:4:1"],
    );
}

/// Errors of all modules come together, each in its own text.
#[test]
fn errors_inside_modules() {
    let errors = refused(&[".global .u32 x = y;", "\n.visible .entry k() { wibble; }"]);
    let places: Vec<_> = errors.list.iter().map(|error| errors.source.place(error.place().start).to_string()).collect();
    assert_eq!(places, ["a.ptx:4:18", "b.ptx:5:23"]);
    let narrow = Source::linked(
        "linked",
        [
            Source::new("a", format!("{HEADER}.visible .entry k() {{ ret; }}")),
            Source::new("b", ".version 7.0\n.target sm_70\n.address_size 32\n"),
        ],
    );
    let errors = Program::new(&narrow).unwrap_err().to_string();
    assert!(errors.contains("modules with addresses of 32 and of 64 bits can't be linked"), "{errors}");
}

/// Names that no module sees of another may be the same.
#[test]
fn names_that_modules_have_for_themselves() {
    let module = ".global .u32 x;\n.entry k() { ret; }\n.func f() { ret; }";
    let source = source(&[module, module, ".visible .global .u32 x;"]);
    let program = Program::new(&source).unwrap();
    assert_eq!(program.entries(), ["k", "k@b.ptx"]);
    let target = ptx2spv_translator::Target::preset("nvidia").unwrap();
    let variables = program.translate(&ptx2spv_translator::Options::new(&target)).unwrap().interface.variables;
    let names: Vec<_> = variables.list.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["x@a.ptx", "x@b.ptx", "x"]);
}

/// The definitions of CUDA's library for launches from kernels are only declarations to the linker: the library's code
/// is for NVIDIA's driver, and calls functions that only the driver has.
#[test]
fn device_runtime() {
    let library = ".extern .func (.param .b32 r) __cuda_syscall_cnpv2Limit(.param .b64 v);
        .weak .func (.param .b32 r) __cudaCDP2DeviceGetLimit(.param .b64 v, .param .b32 l) {
        .param .b64 p; .param .b32 q; call (q), __cuda_syscall_cnpv2Limit, (p); ret; }";
    let user = ".extern .func (.param .b32 r) __cudaCDP2DeviceGetLimit(.param .b64 v, .param .b32 l);
        .visible .entry k(.param .u64 out) { .reg .b64 %o; ld.param.u64 %o, [out];
        .param .b64 v; .param .b32 l; .param .b32 r; st.param.b64 [v], %o; st.param.b32 [l], 2;
        call (r), __cudaCDP2DeviceGetLimit, (v, l); ret; }";
    let target = ptx2spv_translator::Target::preset("nvidia").unwrap();
    for modules in [[user, library], [library, user]] {
        let source = source(&modules);
        let translated = Program::new(&source).unwrap().translate(&ptx2spv_translator::Options::new(&target));
        translated.unwrap_or_else(|errors| panic!("{errors}"));
    }
}

/// An alias means the function that it stands for, in whatever module that function counts.
#[test]
fn aliases() {
    let both = ".weak .func g() { ret; }\n.weak .func a();\n.alias a, g;";
    links(&[both, both, ".extern .func a();\n.visible .entry k() { call a; ret; }"]);
    let errors = refused(&[both, ".visible .func a() { ret; }"]);
    assert!(errors.to_string().contains("an alias that the definition in another module replaces"), "{errors}");
}

/// Addresses that are unknown when the program is loaded.
#[test]
fn unknown_addresses() {
    let errors = refused(&[".global .texref t;\n.visible .global .u64 p = t;", ".extern .global .u64 p;"]);
    assert!(errors.to_string().contains("not supported: the address of `t` as an initial value"), "{errors}");
    links(&[
        ".extern .global .u32 x;\n.visible .global .u64 p = x;",
        ".visible .global .u32 x;\n.extern .global .u64 p;",
    ]);
}
