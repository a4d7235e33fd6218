//! What the translator makes of small hand-written modules: which are refused, where and with what words, and what their
//! interface tells the host.
//!
//! In texts that must be refused, `¦` stands before each place that a diagnostic must point to, in source order.

use ptx2spv_translator::interface::ParamLocation;
use ptx2spv_translator::{Diagnostics, ErrorKind, Feature, Interface, Options, Program, Source, Target, Translation};

const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

fn lavapipe() -> Target {
    Target::preset("lavapipe").unwrap()
}

fn translate(
    text: &str,
    target: &Target,
    entries: Option<&[String]>,
    keep_going: bool,
) -> Result<Translation, Diagnostics> {
    let source = Source::new("test.ptx", text);
    Program::new(&source)?.translate(&Options { entries, keep_going, ..Options::new(target) })
}

/// Translates a module, which must succeed.
#[track_caller]
fn accepted(text: &str) -> Translation {
    let result = translate(&(HEADER.to_owned() + text), &lavapipe(), None, false);
    result.unwrap_or_else(|errors| panic!("{errors}"))
}

/// Refuses a module at its marks with these messages, or pieces of them, and returns the diagnostics.
#[track_caller]
fn refused(marked: &str, parts: &[&str]) -> Diagnostics {
    let marked = HEADER.to_owned() + marked;
    let places = marked.match_indices('¦').enumerate().map(|(n, (at, mark))| at - n * mark.len());
    let text = marked.replace('¦', "");
    let errors = translate(&text, &lavapipe(), None, false).expect_err("accepted");
    let found: Vec<usize> = errors.list.iter().map(|error| error.span.start as usize).collect();
    assert_eq!(found, places.collect::<Vec<_>>(), "{errors}");
    assert_eq!(errors.list.len(), parts.len(), "{errors}");
    for (error, part) in errors.list.iter().zip(parts) {
        assert!(error.kind.to_string().contains(part), "expected …{part}…:\n{errors}");
    }
    errors
}

/// A kernel with registers of all kinds.
fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 {name}_out)\n{{\n\t.reg .pred %p<5>;\n\t.reg .b16 %h<5>;\n\t.reg .u16 %rs<5>;\n\
         \t.reg .u32 %r<9>;\n\t.reg .b32 %b<5>;\n\t.reg .u64 %rd<5>;\n\t.reg .f32 %f<5>;\n\t.reg .f64 %fd<5>;\n\
         \tld.param.u64 %rd1, [{name}_out];\n\t{body}\n\tret;\n}}\n"
    )
}

fn body_accepted(body: &str) {
    accepted(&kernel("k", body));
}

#[track_caller]
fn body_refused(body: &str, part: &str) {
    refused(&kernel("k", body), &[part]);
}

#[test]
fn registers_must_fit_the_type() {
    body_refused("add.u32 ¦%f1, %r1, %r2;", "register `%f1` is .f32, which does not fit the type .u32");
    body_refused("add.u32 %r1, ¦%rs1, %r2;", "register `%rs1` is .u16, which does not fit the type .u32");
    body_refused("add.f32 %f1, %f2, ¦%fd1;", "register `%fd1` is .f64, which does not fit the type .f32");
    body_refused("add.f32 %f1, %f2, ¦%r1;", "register `%r1` is .u32, which does not fit the type .f32");
    body_refused("setp.eq.u32 ¦%r1, %r2, %r3;", "register `%r1` is .u32, which does not fit the type .pred");
    body_refused("selp.b32 %r1, %r2, %r3, ¦%r4;", "register `%r4` is .u32, which does not fit the type .pred");
    body_refused("@¦%r1 ret;", "guard `%r1` is not a predicate register");
    body_refused("@¦%q ret;", "`%q` is not declared");
    body_refused("mul.wide.u32 ¦%r1, %r2, %r3;", "register `%r1` is .u32, which does not fit the type .u64");
    body_refused("shl.b64 %rd1, %rd2, ¦%rd3;", "register `%rd3` is .u64, which does not fit the type .u32");
    body_refused("cvt.u32.u64 %r1, ¦%r2;", "register `%r2` is .u32, which does not fit the type .u64");
    body_refused("ld.global.u64 ¦%r1, [%rd1];", "register `%r1` is .u32, which does not fit the type .u64");
    body_refused("ld.global.u32 %r1, [¦%f1];", "register `%f1` of type .f32 can't hold an address");
    body_refused("ld.global.u32 %r1, [¦%rs1];", "register `%rs1` of type .u16 can't hold an address");
    body_refused("mov.f32 %f1, ¦%tid.x;", "special register `%tid` is no .f32");
    body_refused("add.u32 %r1, %r2, ¦1.5;", "is no constant of type .u32");
}

#[test]
fn registers_that_may_differ_from_the_type() {
    // Bits fit any type of their width, and signs don't matter.
    body_accepted("add.u32 %b1, %r1, %b2; add.s32 %r1, %b1, -1; add.f32 %b1, %b2, %f1; add.u16 %h1, %rs1, %h2;");
    // Loads, stores and conversions take wider registers.
    body_accepted(
        "ld.global.u8 %r1, [%rd1]; st.global.u16 [%rd1], %r1; ld.global.s8 %rd2, [%rd1+8]; cvt.u8.u32 %r1, %r2;",
    );
    body_accepted("mov.b32 %r1, %f1; mov.b64 %rd2, %fd1; st.global.b32 [%rd1], %f1; ld.global.b64 %fd1, [%rd1];");
}

#[test]
fn signed_types_do_not_fill_128_bit_registers() {
    let body = |line: &str| kernel("k", &format!(".reg .b128 %q; .reg .b64 %x, %y; {line} mov.b128 {{%x, %y}}, %q;"));
    refused(&body("ld.global.s32 ¦%q, [%rd1];"), &["type .s32 extended to a 128-bit register"]);
    refused(&body("cvt.s64.s32 ¦%q, %r1;"), &["type .s64 extended to a 128-bit register"]);
    accepted(&body("ld.global.u32 %q, [%rd1];"));
}

#[test]
fn vectors_have_the_width_that_the_instruction_says() {
    body_refused("ld.global.v2.u32 ¦{%r1, %r2, %r3}, [%rd1];", "a vector of 2 is needed here, 3 elements are given");
    body_refused("ld.global.v4.u32 ¦%r1, [%rd1];", "a vector of 4 is needed here");
    body_refused("ld.global.u32 ¦{%r1, %r2}, [%rd1];", "a vector of 1 is needed here, 2 elements are given");
    body_refused("st.global.v2.f32 [%rd1], ¦{%f1};", "a vector of 2 is needed here, 1 elements are given");
    body_refused("ld.global.v2.u32 {%r1, ¦%f1}, [%rd1];", "register `%f1` is .f32");
    body_refused(
        "¦ld.shared.v4.f64 {%fd1, %fd2, %fd3, %fd4}, [%rd1];",
        "only accesses to global memory can have 256 bits",
    );
    body_refused("mov.b64 %rd2, ¦{%r1, %r2, %r3};", "3 elements do not divide .b64");
    body_refused("mov.b64 {%r1, ¦%rs1}, %rd1;", "register `%rs1` is .u16, which does not fit the type .b32");
    body_accepted("ld.global.v2.u8 {%r1, _}, [%rd1]; mov.b64 {%r1, _}, %rd1; st.global.v2.u32 [%rd1], {%r1, 7};");
}

#[test]
fn unknown_words_and_words_of_other_instructions() {
    let errors =
        refused(&kernel("k", "¦frobnicate.u32 %r1;"), &["unknown instruction `frobnicate`: PTX has no such opcode"]);
    assert!(matches!(&errors.list[0].kind, ErrorKind::UnknownOpcode(opcode) if opcode == "frobnicate"));
    let errors =
        refused(&kernel("k", "¦tcgen05.fence::before_thread_sync;"), &["PTX instruction `tcgen05` is not translated"]);
    assert!(matches!(errors.list[0].kind, ErrorKind::Unsupported(_)));
    let errors = refused(&kernel("k", "add.¦wobble.u32 %r1, %r2, %r3;"), &["`add` has no modifier `.wobble`"]);
    assert!(matches!(&errors.list[0].kind, ErrorKind::UnknownModifier { modifier, .. } if modifier == "wobble"));
    body_refused("add.¦volatile.u32 %r1, %r2, %r3;", "`add` with modifier `.volatile` is not translated");
    body_refused("¦add.sat.u32 %r1, %r2, %r3;", "`add.sat.u32` is not a form of `add`");
    body_refused("¦ld.global [%rd1];", "`ld.global` is not a form of `ld`");
    body_refused("mov.u32 %r1, ¦%is_explicit_cluster;", "special register `%is_explicit_cluster` is no .u32");
    body_refused("mov.u32 %r1, ¦%tid;", "special register `%tid`");
    body_refused("mov.u32 %r1, ¦%wobble;", "`%wobble` is not declared");
}

#[test]
fn operands_too_few_and_too_many() {
    body_refused("¦add.u32 %r1, %r2;", "takes 3 operands, 2 given");
    body_refused("add.u32 %r1, %r2, %r3, ¦%r4, %r5;", "takes 3 operands, 5 given");
    body_refused("bar.sync 0, 32, ¦3;", "takes 1 to 2 operands, 3 given");
    body_refused("bra ¦NOWHERE;", "NOWHERE");
    body_refused("mov.u32 ¦5, %r1;", "expected a destination register of type .u32");
    body_refused("ld.global.u32 %r1, ¦%rd1;", "expected an address in brackets");
}

#[test]
fn all_errors_of_a_module_come_together() {
    let first = kernel("first", "add.u32 ¦%f1, %r1, %r2;\n\t¦wibble %r1;\n\tadd.u32 %r1, %r2, %r3;");
    let second = kernel("second", "ld.global.u32 %r1, [¦%nothing];");
    let errors =
        refused(&(first + &second), &["register `%f1`", "unknown instruction `wibble`", "`%nothing` is not declared"]);
    let functions: Vec<_> = errors.list.iter().map(|error| error.function.as_deref().unwrap()).collect();
    assert_eq!(functions, ["first", "first", "second"]);
    assert_eq!(errors.source.line_column(errors.list[1].span.start), (16, 2));
    let text = errors.render();
    assert!(text.contains("test.ptx:16:2") && text.contains("in function `second`"), "{text}");
}

#[test]
fn a_hundred_errors_are_enough() {
    let text = HEADER.to_owned() + &kernel("k", &"wibble %r1;\n".repeat(250));
    let errors = translate(&text, &lavapipe(), None, false).unwrap_err();
    assert_eq!((errors.list.len(), errors.left_out), (Diagnostics::MAX, 150));
    assert!(errors.render().ends_with("… and 150 more errors\n"));
}

const UNSUPPORTED: &str = "tcgen05.fence::before_thread_sync;";

fn names(translation: &Translation) -> Vec<&str> {
    translation.interface.entries.iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn keep_going_leaves_out_what_it_cannot_translate() {
    let text =
        [HEADER.to_owned(), kernel("good", ""), kernel("bad", UNSUPPORTED), kernel("fine", "add.u32 %r1, %r2, 1;")];
    let text = text.concat();
    let translation = translate(&text, &lavapipe(), None, true).unwrap();
    assert_eq!(names(&translation), ["good", "fine"]);
    let skipped = translation.skipped.unwrap();
    assert_eq!(skipped.list.len(), 1);
    assert_eq!(skipped.list[0].function.as_deref(), Some("bad"));
    // Without it, and where nothing is left, the module is refused.
    let errors = translate(&text, &lavapipe(), None, false).unwrap_err();
    assert_eq!(errors.list[0].function.as_deref(), Some("bad"));
    assert!(translate(&(HEADER.to_owned() + &kernel("bad", UNSUPPORTED)), &lavapipe(), None, true).is_err());
    // What isn't PTX is refused in any case.
    let text = [HEADER.to_owned(), kernel("good", ""), kernel("bad", "wibble;")].concat();
    assert!(translate(&text, &lavapipe(), None, true).is_err());
}

#[test]
fn entries_by_name() {
    let text = [HEADER, &kernel("a", ""), ".func f { ret; }\n", &kernel("b", UNSUPPORTED), &kernel("c", "")].concat();
    let chosen = |names: &[&str]| -> Result<Translation, Diagnostics> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        translate(&text, &lavapipe(), Some(&names), false)
    };
    assert_eq!(names(&chosen(&["c"]).unwrap()), ["c"]);
    assert_eq!(names(&chosen(&["c", "a"]).unwrap()), ["a", "c"]);
    assert_eq!(chosen(&["c"]).unwrap().disassemble().matches("OpEntryPoint").count(), 1);
    assert!(chosen(&["a", "b"]).is_err());
    for missing in ["d", "f", ""] {
        let errors = chosen(&["a", missing]).unwrap_err();
        assert_eq!(errors.list[0].kind.to_string(), format!("the module has no kernel `{missing}`"));
    }
}

#[test]
fn functions_matter_to_those_who_call_them() {
    let function = format!(".func f {{ {UNSUPPORTED} ret; }}\n");
    accepted(&(function.clone() + &kernel("k", "")));
    // The fault is where it is, and told once.
    let marked = function.replace(UNSUPPORTED, &format!("¦{UNSUPPORTED}")) + &kernel("k", "call f; call f;");
    let errors = refused(&marked, &["`tcgen05` is not translated"]);
    assert_eq!(errors.list[0].function.as_deref(), Some("f"));
    let prototype = ".extern .func (.param .b32 r) vprint(.param .b64 x);\n";
    accepted(&(prototype.to_owned() + &kernel("k", "")));
    let call = "{ .param .b64 x; .param .b32 r; st.param.b64 [x], %rd1; ¦call (r), vprint, (x); }";
    refused(&(prototype.to_owned() + &kernel("k", call)), &["`vprint`, which this module does not define"]);
}

#[test]
fn prototypes_stand_for_the_functions_that_follow() {
    let prototype = ".func (.reg .u32 y) twice(.reg .u32 x);\n";
    let definition = ".func (.reg .u32 y) twice(.reg .u32 x) { add.u32 y, x, x; ret; }\n";
    accepted(&(prototype.to_owned() + &kernel("k", "call (%r1), twice, (%r2);") + definition));
    refused(&(definition.to_owned() + &definition.replace("twice", "¦twice")), &["`twice` is defined twice"]);
    let wrong = "call (%r1), twice, ¦(%r2, %r3);";
    refused(
        &(prototype.to_owned() + &kernel("k", wrong) + definition),
        &["`twice` takes 1 arguments and gives 1 results"],
    );
    refused(&kernel("k", "call ¦nobody;"), &["`nobody` is not declared"]);
}

#[test]
fn arguments_and_results_fit_the_function() {
    let function = ".func (.reg .u32 y) f(.reg .f32 x) { cvt.rzi.u32.f32 y, x; ret; }\n\
                    .func (.param .b32 y) g(.param .align 4 .b8 x[8]) { st.param.b32 [y], 1; ret; }\n";
    let call = |call: &str| function.to_owned() + &kernel("k", call);
    accepted(&call("call (%r1), f, (%f1); call (%b1), f, (%b2); call (_), f, (0f3F800000); call (%r1), f, (1.5);"));
    refused(&call("call (%r1), f, (¦%r2);"), &["register `%r2` is .u32, which does not fit the type .f32"]);
    refused(&call("call (%r1), f, (¦%fd1);"), &["register `%fd1` is .f64, which does not fit the type .f32"]);
    refused(&call("call (¦%rd1), f, (%f1);"), &["register `%rd1` is .u64, which does not fit the type .u32"]);
    refused(&call("call (¦5), f, (%f1);"), &["expected a destination register of type .u32"]);
    refused(&call("call (%r1), f, (¦_);"), &["expected a register or constant of type .f32"]);
    refused(&call("call (%r1), f, (¦1);"), &["no constant of type .f32"]);
    refused(&call("call (%r1), g, (¦%rd1);"), &["expected a `.param` variable for an array"]);
    let pass = |size: u32, mark: &str| call(&format!("{{ .param .align 4 .b8 p[{size}]; {mark}call (%r1), g, (p); }}"));
    accepted(&pass(8, ""));
    refused(&pass(12, "¦"), &["`g` takes 8 bytes here, 12 are passed"]);
}

#[test]
fn registers_of_the_module() {
    let both = kernel("a", "mov.u32 %g, 1; st.global.u32 [%rd1], %g;") + &kernel("b", "st.global.u32 [%rd1], %g;");
    accepted(&(".reg .u32 %g;\n".to_owned() + &both));
    let wrong = kernel("a", "add.f32 %f1, %f2, ¦%g;");
    refused(&(".reg .u32 %g;\n".to_owned() + &wrong), &["register `%g` is .u32, which does not fit the type .f32"]);
    let range = |body: &str| ".reg .u32 %ra<17>;\n".to_owned() + &kernel("a", body) + &kernel("b", body);
    accepted(&range("mov.u32 %ra0, 1; add.u32 %ra16, %ra0, %ra1; st.global.u32 [%rd1], %ra16;"));
    let (first, second) = ("mov.u32 ¦%ra17, 1;", "`%ra17` is not declared");
    refused(&range(first), &[second, second]);
}

#[test]
fn vectors_of_registers() {
    let body = |line: &str| kernel("k", &format!(".reg .v4 .f32 %v<2>, %w; .reg .v2 .b32 %u; {line}"));
    accepted(&body("ld.global.v4.f32 %v1, [%rd1]; add.f32 %w.x, %v1.w, %v0.r; st.global.v4.b32 [%rd1], %w;"));
    accepted(&body("mov.b64 %u, %rd1; mov.b64 %rd2, %u; mov.v4.f32 %w, %v1; mov.v2.u32 {%b1, %b2}, %u;"));
    for (line, part) in [
        ("add.f32 ¦%w, %f1, %f2;", "`%w` is not a register"),
        ("add.f32 %f1, ¦%w, %f2;", "`%w` is not a register"),
        ("mov.b32 %b1, %u.¦z;", "`%u` has 2 elements, and no `.z`"),
        ("add.f32 %w.¦xy, %f1, %f2;", "`%w` has 4 elements, and no `.xy`"),
        ("mov.u32 %r1, ¦%w.x;", "register `%w` is .f32"),
        ("mov.u32 %r1, %r2.¦x;", "selector `.x` is not allowed here"),
        ("mov.u32 %r1.¦x, %r2;", "selector `.x` is not allowed here"),
        ("ld.global.v2.f32 ¦%w, [%rd1];", "a vector of 2 is needed here"),
        ("ld.global.v4.u32 ¦%w, [%rd1];", "register `%w` is .f32"),
        ("mov.b64 %rd1, ¦%w;", "register `%w` is .f32"),
        ("mov.v2.f32 ¦%w, %w;", "a vector of 2 is needed here"),
        ("mov.v4.f32 %w, ¦%v2;", "`%v2` is not declared"),
        ("ld.global.f32 %f1, [¦%u];", "`%u` is neither a register nor a variable"),
        (".reg .v2 .pred ¦%q;", "registers have no vectors of 2 elements of type .pred"),
        (".reg .v4 .f64 ¦%q;", "registers have no vectors of 4 elements of type .f64"),
        (".reg .u32 ¦%q[4];", "registers have no arrays"),
    ] {
        refused(&body(line), &[part]);
    }
}

#[test]
fn inner_names_hide_outer_ones_until_their_scope_ends() {
    body_accepted("{ .reg .f32 %r1; add.f32 %r1, %r1, %f1; } add.u32 %r1, %r1, 1;");
    body_refused("{ .reg .f32 %r1; add.u32 ¦%r1, %r2, 1; }", "register `%r1` is .f32");
    body_refused("{ .reg .f32 %x; } add.f32 ¦%x, %f1, %f2;", "`%x` is not declared");
    body_refused("{ .reg .f32 %x<3>; add.f32 ¦%x3, %f1, %f2; }", "`%x3` is not declared");
    // A range inside hides as many registers as it has.
    body_accepted("{ .reg .f32 %r<2>; add.f32 %r1, %r0, %f1; add.u32 %r2, %r3, 1; }");
    // A variable hides a parameter and a special register.
    body_accepted("{ .shared .u32 k_out; st.shared.u32 [k_out], %r1; } ld.param.u64 %rd2, [k_out];");
    body_accepted("{ .reg .f32 %laneid; add.f32 %laneid, %laneid, %f1; } mov.u32 %r1, %laneid;");
    body_refused(".reg .u32 %z; .reg .f32 ¦%z;", "`%z` is declared twice in this scope");
    body_refused(".reg .f32 ¦%r8;", "`%r8` is declared twice in this scope");
    body_accepted(".reg .f32 %r9; add.f32 %r9, %r9, %f1;");
    body_refused(".reg .u32 %y4; .reg .u32 ¦%y<5>;", "`%y<…>` is declared twice in this scope");
    body_accepted(".reg .u32 %y5; .reg .u32 %y<5>;");
}

#[test]
fn labels_belong_to_their_scope() {
    body_accepted("{ bra L; L: } { bra L; L: } L: add.u32 %r1, %r1, 1;");
    body_accepted("setp.eq.u32 %p1, %r1, 0; { @%p1 bra OUT; add.u32 %r1, %r1, 1; } OUT:");
    body_refused("L: add.u32 %r1, %r1, 1; ¦L:", "label `L` is declared twice");
    body_refused("bra ¦L; { L: }", "`L`");
    refused(&(kernel("a", "L:") + &kernel("b", "bra ¦L;")), &["`L`"]);
}

#[test]
fn dynamic_shared_memory_is_told() {
    let shared = |text: &str| accepted(text).interface.entries[0].shared.clone();
    let none = shared(&kernel("k", ""));
    assert_eq!((none.static_bytes, none.dynamic), (0, false));
    let some =
        shared(&kernel("k", ".shared .align 8 .b8 s[20]; .shared .u32 t; st.shared.u32 [s], 1; st.shared.u32 [t], 2;"));
    assert_eq!((some.static_bytes, some.dynamic), (24, false));
    let dynamic = ".extern .shared .align 16 .b8 dyn[];\n".to_owned();
    let both =
        shared(&(dynamic.clone() + &kernel("k", ".shared .u32 t; st.shared.u32 [t], 2; st.shared.u32 [dyn+4], 3;")));
    assert_eq!((both.static_bytes, both.dynamic), (4, true));
    assert!(!shared(&(dynamic + &kernel("k", ""))).dynamic);
}

/// Offset, size, alignment, and whether it is an array and a pointer.
type ParamFacts = (u32, u32, u32, bool, bool);

fn params(interface: &Interface) -> Vec<ParamFacts> {
    let facts = |param: &ptx2spv_translator::interface::Param| {
        (param.offset, param.size, param.align, param.array, param.pointer)
    };
    interface.entries[0].params.iter().map(facts).collect()
}

#[test]
fn parameters_lie_at_multiples_of_their_alignment() {
    let parameters = ".param .u8 a, .param .u64 b, .param .align 8 .b8 s[12], .param .u16 c, .param .f32 d,
        .param .u64 .ptr .global .align 16 e, .param .b8 f[3], .param .align 4 .b8 g[4]";
    let interface = accepted(&format!(".entry k({parameters}) {{ ret; }}")).interface;
    let expected: [ParamFacts; 8] = [
        (0, 1, 1, false, false),
        (8, 8, 8, false, false),
        (16, 12, 8, true, false),
        (28, 2, 2, false, false),
        (32, 4, 4, false, false),
        (40, 8, 8, false, true),
        (48, 3, 1, true, false),
        (52, 4, 4, true, false),
    ];
    assert_eq!(params(&interface), expected);
    let entry = &interface.entries[0];
    assert_eq!((entry.params_size, entry.params_location), (56, ParamLocation::PushConstant));
    assert_eq!(entry.push_constant_size, 40 + 56);
    let names: Vec<_> = entry.params.iter().map(|param| (param.name.as_str(), param.ty.as_str())).collect();
    assert_eq!(names[..3], [("a", "u8"), ("b", "u64"), ("s", "b8")]);
}

#[test]
fn parameters_that_are_too_large_for_push_constants_go_to_a_buffer() {
    // lavapipe has 128 bytes, of which 40 are taken.
    let location = |size: u32, body: &str| {
        let text =
            format!(".entry k(.param .align 4 .b8 s[{size}]) {{ .reg .u32 %r<2>; .reg .u64 %rd<2>; {body} ret; }}");
        let interface = accepted(&text).interface;
        let entry = &interface.entries[0];
        (entry.params_location, entry.params_size, entry.push_constant_size)
    };
    let load = "ld.param.u32 %r1, [s+80];";
    assert_eq!(location(88, load), (ParamLocation::PushConstant, 88, 128));
    assert_eq!(location(89, load), (ParamLocation::Buffer, 89, 40));
    assert_eq!(location(4096, load), (ParamLocation::Buffer, 4096, 40));
    // An address needs memory behind it.
    assert_eq!(location(88, "mov.b64 %rd1, s;").0, ParamLocation::Buffer);
}

#[test]
fn accesses_to_parameters_must_lie_inside() {
    let text = |access: &str| {
        format!(".entry k(.param .u32 a, .param .align 4 .b8 s[6]) {{ .reg .u32 %r<3>; {access} ret; }}")
    };
    accepted(&text("ld.param.u32 %r1, [s]; ld.param.u16 %r1, [s+4]; ld.param.u8 %r1, [s+5];"));
    refused(&text("¦ld.param.u32 %r1, [s+4];"), &["do not lie in the parameter's 6 bytes"]);
    refused(&text("¦ld.param.u32 %r1, [a+-4];"), &["do not lie in the parameter's 4 bytes"]);
    refused(&text("¦ld.param.u16 %r1, [s+1];"), &["2 bytes at offset 1"]);
    refused(&text("¦ld.param.v2.u32 {%r1, %r2}, [s];"), &["4 bytes at offset 4"]);
    refused(&text("¦st.param.u32 [a], %r1;"), &["a kernel's parameters can't be written"]);
    refused(&text("¦ld.global.u32 %r1, [a];"), &["another state space"]);
    let unaligned = ".entry k(.param .u8 a, .param .b8 s[8]) { .reg .u32 %r<2>; ¦ld.param.u32 %r1, [s]; ret; }";
    refused(unaligned, &["4 bytes of a parameter that lies at offset 1"]);
}

const VARIABLES: &str = ".global .u32 a = 5;
.global .align 8 .b8 b[3] = {1, 2, 3};
.const .f32 c[2] = {1.0, 0f40000000};
.global .u64 p = b+1;
.global .u32 z;
.global .u8 q[3] = {0xFF(b), 7, 0xFF00(b)};
.global .u16 w[2][2] = {{1, 2}, {-1}};
";

/// The preset for NVIDIA's driver, whose modules have no variables of the translator's own.
fn interface_of_variables() -> Interface {
    let target = Target::preset("nvidia").unwrap();
    translate(&format!("{HEADER}{VARIABLES}{}", kernel("k", "")), &target, None, false).unwrap().interface
}

#[test]
fn variables_have_places() {
    let variables = interface_of_variables().variables;
    let places: Vec<_> =
        variables.list.iter().map(|v| (v.name.as_str(), &*v.space, &*v.ty, v.offset, v.size)).collect();
    let expected = [
        ("a", "global", "u32", 8, 4),
        ("b", "global", "b8", 16, 3),
        ("c", "const", "f32", 0, 8),
        ("p", "global", "u64", 24, 8),
        ("z", "global", "u32", 32, 4),
        ("q", "global", "u8", 36, 3),
        ("w", "global", "u16", 40, 8),
    ];
    assert_eq!(places, expected);
    assert_eq!(variables.size, 48);
    assert!(variables.align >= 8 && variables.align.is_power_of_two());
}

#[test]
fn variables_have_initial_content() {
    let variables = interface_of_variables().variables;
    let mut image = [0u8; 48];
    for run in &variables.image {
        image[run.offset as usize..][..run.bytes.len()].copy_from_slice(&run.bytes);
    }
    let mut expected = [0u8; 48];
    // Constants come first.
    expected[..4].copy_from_slice(&1.0_f32.to_le_bytes());
    expected[4..8].copy_from_slice(&2.0_f32.to_le_bytes());
    expected[8] = 5;
    expected[16..19].copy_from_slice(&[1, 2, 3]);
    expected[37] = 7;
    expected[40..46].copy_from_slice(&[1, 0, 2, 0, 0xff, 0xff]);
    assert_eq!(image, expected);
    let relocations: Vec<_> = variables.relocations.iter().map(|r| (r.offset, r.size, r.target, r.shift)).collect();
    assert_eq!(relocations, [(24, 8, 17, 0), (36, 1, 16, 0), (38, 1, 16, 8)]);
}

#[test]
fn initial_values_that_nobody_knows_are_refused_where_they_are_used() {
    let variables = ".shared .u32 s; .extern .global .u32 e; .global .u32 g;
        .global .u64 to_s = s; .global .u64 to_e = e; .global .u64 to_g = g; .global .u64 to_to_s = to_s;";
    accepted(&(variables.to_owned() + &kernel("k", "ld.global.u64 %rd2, [to_g];")));
    let used = |name: &str| kernel("k", &format!("ld.global.u64 %rd2, [{name}];"));
    for (name, reason) in [("to_s", "`s`"), ("to_e", "`e`"), ("to_to_s", "`to_s`")] {
        let text = format!("{HEADER}{variables}{}", used(name));
        let errors = translate(&text, &lavapipe(), None, false).unwrap_err();
        let message = errors.list[0].kind.to_string();
        assert!(message.contains(&format!("the address of {reason} as an initial value")), "{name}: {errors}");
    }
}

#[test]
fn declarations_that_are_not_translated_matter_where_they_are_used() {
    let texture = ".global .texref picture;\n".to_owned();
    accepted(&(texture.clone() + &kernel("k", "")));
    let text = HEADER.to_owned() + &texture + &kernel("k", "mov.u64 %rd2, picture;");
    let errors = translate(&text, &lavapipe(), None, false).unwrap_err();
    assert!(errors.list[0].kind.to_string().contains("textures"), "{errors}");
    // The declaration is to blame, not the uses that follow it.
    let function = ".func f(.reg .v2 .f32 ¦%v)\n{\n\t.reg .f32 %f;\n\tmov.f32 %f, %v.x;\n\tret;\n}\n";
    refused(function, &["a parameter in a vector of registers"]);
}

#[test]
fn block_sizes_are_told() {
    let block =
        |directives: &str| accepted(&format!(".entry k() {directives} {{ ret; }}")).interface.entries[0].block.clone();
    assert_eq!((block("").required, block("").max), (None, None));
    assert_eq!(block(".reqntid 32, 2, 1").required, Some([32, 2, 1]));
    assert_eq!(block(".reqntid 32").required, Some([32, 1, 1]));
    assert_eq!(block(".maxntid 64, 4").max, Some([64, 4, 1]));
    assert_eq!(block(".minnctapersm 2 .maxnreg 32").max, None);
}

#[test]
fn features_are_those_of_what_is_used() {
    let text = kernel("plain", "add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;")
        + &kernel("double", "ld.global.f64 %fd1, [%rd1]; add.f64 %fd1, %fd1, %fd1; st.global.f64 [%rd1], %fd1;");
    let interface = accepted(&text).interface;
    let has = |name: &str| interface.entry(name).unwrap().features.contains(&Feature::ShaderFloat64);
    assert!(!has("plain") && has("double") && interface.features.contains(&Feature::ShaderFloat64));
    for entry in &interface.entries {
        assert!(entry.features.contains(&Feature::BufferDeviceAddress));
        assert!(entry.features.is_subset(&interface.features));
    }
}

#[test]
fn doubles_need_no_feature() {
    let mut target = lavapipe();
    target.features.remove(&Feature::ShaderFloat64);
    let double = "ld.global.f64 %fd1, [%rd1]; add.f64 %fd1, %fd1, %fd1; st.global.f64 [%rd1], %fd1;";
    let text = HEADER.to_owned() + &kernel("double", double);
    let interface = translate(&text, &target, None, false).unwrap().interface;
    assert!(!interface.features.contains(&Feature::ShaderFloat64), "{:?}", interface.features);
}

#[test]
fn missing_features_are_named() {
    let mut target = lavapipe();
    target.features.remove(&Feature::BufferDeviceAddress);
    let text = HEADER.to_owned() + &kernel("k", "");
    let errors = translate(&text, &target, None, false).unwrap_err();
    assert_eq!(errors.list.len(), 1, "{errors}");
    let error = &errors.list[0];
    assert!(matches!(error.kind, ErrorKind::MissingFeature { feature: Feature::BufferDeviceAddress, .. }), "{errors}");
    assert!(error.kind.to_string().contains("`bufferDeviceAddress`"), "{errors}");
}

#[test]
fn limits_are_named() {
    let mut target = lavapipe();
    target.limits.max_compute_shared_memory_size = 1024;
    let text = HEADER.to_owned() + &kernel("k", ".shared .b8 s[1025]; st.shared.u8 [s+1], %r1;");
    let errors = translate(&text, &target, None, false).unwrap_err();
    let limit = matches!(errors.list[0].kind, ErrorKind::Limit { needed: 1025, available: 1024, .. });
    assert!(limit, "{errors}");
}

#[test]
fn modules_with_32_bit_addresses_are_refused() {
    let text = ".version 7.0\n.target sm_50\n.address_size 32\n.entry k() { ret; }\n";
    let errors = translate(text, &lavapipe(), None, false).unwrap_err();
    assert!(errors.list[0].kind.to_string().contains("32-bit addresses"), "{errors}");
    assert_eq!(
        text.get(errors.list[0].span.start as usize..).and_then(|rest| rest.lines().next()),
        Some(".address_size 32")
    );
}

#[test]
fn global_memory_has_no_32_bit_addresses() {
    for (line, space) in [
        ("¦ld.global.u32 %r1, [%r2];", "global"),
        ("¦st.volatile.global.u32 [%r2], %r1;", "global"),
        ("¦red.global.add.u32 [%r2], 1;", "global"),
        ("¦mov.u32 %r1, words;", "global"),
        ("¦ld.u32 %r1, [%r2];", "generic"),
        ("¦cvta.shared.u32 %r1, %r2;", "generic"),
        ("¦cvta.to.global.u32 %r1, %r2;", "generic"),
    ] {
        let message = format!("a 32-bit address of {space} memory: device addresses have 64 bits");
        refused(&(".global .u32 words[4];\n".to_owned() + &kernel("k", line)), &[&message]);
    }
}

#[test]
fn what_has_no_address_or_no_size() {
    let function = ".func f(.param .align 4 .b8 p[16]) { ret; }\n";
    let body = ".param .align 4 .b8 given[16]; mov.u64 %rd2, ¦given; call f, (given);";
    refused(
        &(function.to_owned() + &kernel("k", body)),
        &["`given` is passed to or from a function: it has no address"],
    );
    refused(
        ".func f(¦.param .b8 p[], .param .b32 n) { ret; }\n.entry k() { ret; }\n",
        &["only a function's last parameter"],
    );
    refused(".entry k(¦.param .align 4 .b8 p[]) { ret; }\n", &["only a function's last parameter"]);
    body_refused(".param .align 4 .b8 ¦p[];", "this array has no size");
    let open = ".func f(.param .b32 n, .param .align 4 .b8 p[]) { .reg .b32 %v; ld.param.b32 %v, [p+8]; ret; }\n";
    accepted(&(open.to_owned() + &kernel("k", ".param .b32 n; st.param.b32 [n], 0; call f, (n);")));
    let none = ".param .b32 n; st.param.b32 [n], 0; call f, ¦(n, n, n);";
    refused(&(open.to_owned() + &kernel("k", none)), &["takes 2 arguments and gives 0 results, here are 3 and 0"]);
}

/// `OpControlBarrier`s of a kernel with this body.
fn barriers(body: &str) -> usize {
    accepted(&kernel("k", body)).disassemble().matches("OpControlBarrier").count()
}

#[test]
fn uniform_barriers_stay_as_they_are() {
    assert_eq!(barriers(""), 0);
    assert_eq!(barriers("bar.sync 0;"), 1);
    assert_eq!(barriers("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 add.u32 %r2, %r2, 1; bar.sync 0;"), 1);
    // A branch of a part of the threads that meets again before the barrier.
    assert_eq!(
        barriers("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; add.u32 %r2, %r2, 1; L: bar.sync 0;"),
        1
    );
    // A loop and a condition that are the same for all threads.
    assert_eq!(barriers("LOOP: bar.sync 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP;"), 1);
    assert_eq!(barriers("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; bar.sync 0; L: bar.sync 0;"), 2);
}

#[test]
fn barriers_that_only_some_threads_reach_become_one() {
    // One at the start, for the flags that tell who is left, and the one where all threads meet.
    let exit = "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 20; @%p1 ret; bar.sync 0; add.u32 %r1, %r1, 1; bar.sync 0;";
    assert_eq!(barriers(exit), 2);
    assert_eq!(
        barriers("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; bar.sync 0; bra M; L: bar.sync 0; M:"),
        2
    );
    assert_eq!(
        barriers("mov.u32 %r1, %tid.x; LOOP: bar.sync 0; sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra LOOP;"),
        2
    );
}

#[test]
fn barriers_that_all_threads_reach_ask_for_a_multiple_of_those_they_wait_for() {
    let threads = |code: &str| accepted(&kernel("k", code)).interface.entries[0].block.threads;
    assert_eq!(threads("bar.sync 0, 64; bar.sync 1, 64;"), Some(64));
    assert_eq!(threads("bar.sync 0, 64; bar.sync 1, 96;"), Some(192));
    assert_eq!(threads("bar.sync 0; bar.sync 1;"), None);
    // An account of the barriers does with any number.
    assert_eq!(threads("mov.u32 %r1, %ntid.x; bar.sync 0, %r1;"), None);
    assert_eq!(threads("bar.arrive 0, 64; bar.sync 1, 64;"), None);
    let required = accepted(".entry k() .reqntid 32, 2 { bar.sync 0, 64; ret; }");
    assert_eq!(required.interface.entries[0].block.threads, None);
    refused(&kernel("k", "¦bar.sync 16;"), &["barrier 16: there are 16, numbered from 0"]);
    refused(&kernel("k", "¦bar.sync 0, 48;"), &["a barrier for 48 threads: that is no multiple of a warp's 32"]);
}

#[test]
fn loops_that_wait_for_other_threads_let_them_run() {
    let spin = "L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.release.gpu.global.u32 [%rd1], 0;";
    assert_eq!(barriers(spin), 2);
    let flag = "L: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;";
    assert_eq!(barriers(flag), 2);
    // A loop that only counts with atomics, and one around a compare-and-swap with what the loop has read.
    let counts = "mov.u32 %r2, 9; L: atom.global.add.u32 %r1, [%rd1], 1; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;";
    assert_eq!(barriers(counts), 0);
    let retries = "ld.global.u32 %r1, [%rd1]; L: mov.u32 %r2, %r1; add.u32 %r3, %r2, 1; \
        atom.global.cas.b32 %r1, [%rd1], %r2, %r3; setp.ne.u32 %p1, %r1, %r2; @%p1 bra L;";
    assert_eq!(barriers(retries), 0);
}

#[test]
fn clusters_take_no_more_than_a_workgroup_has() {
    let interface = accepted(".entry k() .reqnctapercluster 2, 4 { ret; }").interface;
    assert_eq!(interface.entries[0].cluster.map(|cluster| cluster.size), Some([2, 4, 1]));
    assert_eq!(accepted(".entry k() .reqnctapercluster 1 { ret; }").interface.entries[0].cluster, None);
    let limit = |text: &str, numbers: (u64, u64)| {
        let errors = translate(&(HEADER.to_owned() + text), &lavapipe(), None, false).unwrap_err();
        let found = match errors.list[0].kind {
            ErrorKind::Limit { needed, available, .. } => (needed, available),
            _ => panic!("{errors}"),
        };
        assert_eq!(found, numbers, "{errors}");
    };
    limit(".entry k() .reqnctapercluster 9, 2 { ret; }", (18, 16));
    // Each block has 8,192 bytes of shared memory.
    limit(
        ".entry k() .reqnctapercluster 5 { .shared .b32 s[2048]; .reg .u32 %r; ld.shared.u32 %r, [s]; st.shared.u32 [s+4], %r; ret; }",
        (5 * 8192, 32768),
    );
}

/// Maximal reconvergence is declared where the device has it, unless its driver compiles it wrong, and never without operations of
/// a warp; without full subgroups there is no operation of a subgroup left.
#[test]
fn subgroups_as_the_driver_has_them() {
    const VOTE: &str = "mov.u32 %r2, %tid.x;\n\tsetp.gt.u32 %p1, %r2, 5;\n\tvote.sync.ballot.b32 %r1, %p1, -1;\n\t\
                        st.global.u32 [%rd1], %r1;";
    let text = format!("{HEADER}{}", kernel("k", VOTE));
    let made = |target: &Target| translate(&text, target, None, false).unwrap();
    let mut target = Target::preset("nvidia").unwrap();
    let usual = made(&target).disassemble();
    assert!(usual.contains("MaximallyReconvergesKHR") && usual.contains("OpGroupNonUniformBallot"), "{usual}");
    target.quirks.maximal_reconvergence_wrong = true;
    let careful = made(&target);
    assert!(!careful.interface.features.contains(&Feature::ShaderMaximalReconvergence));
    let careful = careful.disassemble();
    assert!(!careful.contains("Maximal") && careful.contains("SubgroupUniformControlFlowKHR"), "{careful}");
    target.features.remove(&Feature::ComputeFullSubgroups);
    let alone = made(&target);
    assert_eq!(alone.interface.entries[0].packing.map(|packing| (packing.subgroup_size, packing.lanes)), Some((1, 32)));
    let alone = alone.disassemble();
    assert!(!alone.contains("GroupNonUniform"), "{alone}");
}
