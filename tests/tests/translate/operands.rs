//! Operands and names: operand types of instructions, and scopes of names.

use ptx2spv_translator::ErrorKind;

use crate::support::*;

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
    body_refused("¦ld.global.u32 %r1, [%rs1];", "a 16-bit address of global memory");
    let element = |line: &str| kernel("k", &format!(".global .u32 g[8]; .reg .u32 %v; .reg .s16 %s; {line}"));
    refused(&element("ld.global.u32 %v, g[¦%f1];"), &["register `%f1` of type .f32 can't be an index"]);
    refused(&element("ld.global.u32 %v, g[¦%p1];"), &["register `%p1` of type .pred can't be an index"]);
    refused(&element("ld.global.u32 %v, g[¦%s+32768];"), &["32768 does not fit the type .s16 of the index `%s`"]);
    refused(&element("ld.global.u32 %v, g[¦%rs1+65536];"), &["65536 does not fit the type .u16 of the index `%rs1`"]);
    accepted(&element("ld.global.u32 %v, g[%s+32767]; ld.global.u32 %v, g[%rs1+65535];"));
    body_refused("mov.f32 %f1, ¦%tid.x;", "special register `%tid` is no .f32");
    body_refused("add.u32 %r1, %r2, ¦1.5;", "is not a constant of type .u32");
    body_refused("¦mov.b64 %rd2, {1, %tid.x};", "a vector of special registers and constants");
    body_accepted("mov.b64 %rd2, {1, %r1}; mov.b64 %rd2, {%tid.x, %r1};");
}

#[test]
fn registers_that_may_differ_from_the_type() {
    // Bit types fit any type of their width, and signs don't matter.
    body_accepted("add.u32 %b1, %r1, %b2; add.s32 %r1, %b1, -1; add.f32 %b1, %b2, %f1; add.u16 %h1, %rs1, %h2;");
    // Loads, stores and conversions take wider registers.
    body_accepted(
        "ld.global.u8 %r1, [%rd1]; st.global.u16 [%rd1], %r1; ld.global.s8 %rd2, [%rd1+8]; cvt.u8.u32 %r1, %r2;",
    );
    body_accepted("mov.b32 %r1, %f1; mov.b64 %rd2, %fd1; st.global.b32 [%rd1], %f1; ld.global.b64 %fd1, [%rd1];");
}

#[test]
fn signed_types_do_not_fill_128_bit_registers() {
    let body = |line: &str| kernel("k", &format!(".reg .b128 %q; {line}"));
    refused(&body("ld.global.s32 ¦%q, [%rd1];"), &["type .s32 extended to a 128-bit register"]);
    refused(&body("cvt.s64.s32 ¦%q, %r1;"), &["type .s64 extended to a 128-bit register"]);
    accepted(&body("ld.global.u32 %q, [%rd1];"));
}

#[test]
fn a_declaration_of_several_registers_has_a_fault_once() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .b128 %a, %b; ret; }";
    let errors = translate(text, &lavapipe(), None, false).expect_err("`.b128` is of PTX 8.3");
    assert_eq!(errors.list.len(), 1, "{errors}");
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
    body_refused("add.¦volatile.u32 %r1, %r2, %r3;", "`add` has no modifier `.volatile`");
    let what = "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes";
    let line = format!("¦{what} [%r3], [%rd1, {{%r1, %r1, %r1}}], [%r3], {{%rs1, %rs1}};");
    let errors = refused(&kernel("k", &line), &[&format!("PTX instruction `{what}` is not translated yet")]);
    assert!(matches!(errors.list[0].kind, ErrorKind::Unsupported(_)));
    body_refused("¦redux.sync.add.f32 %f1, %f2, %r1;", "`redux.sync.add.f32` is not a form of `redux`");
    body_refused("¦sub.sat.u32 %r1, %r2, %r3;", "`sub.sat.u32` is not a form of `sub`");
    body_refused("¦ld.global [%rd1];", "`ld.global` is not a form of `ld`");
    body_refused("mov.u32 %r1, ¦%is_explicit_cluster;", "special register `%is_explicit_cluster` is no .u32");
    body_refused("mov.u32 %r1, ¦%tid;", "`%tid` is a vector");
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
fn registers_of_the_module() {
    let both = kernel("a", "mov.u32 %g, 1; st.global.u32 [%rd1], %g;") + &kernel("b", "st.global.u32 [%rd1], %g;");
    // From PTX 3.0 on there are none.
    let old = ".version 2.3\n.target sm_20\n.address_size 64\n".to_owned();
    accepted(&(old.clone() + ".reg .u32 %g;\n" + &both));
    let wrong = kernel("a", "add.f32 %f1, %f2, ¦%g;");
    refused(&(old.clone() + ".reg .u32 %g;\n" + &wrong), &["register `%g` is .u32, which does not fit the type .f32"]);
    let range = |body: &str| old.clone() + ".reg .u32 %ra<17>;\n" + &kernel("a", body) + &kernel("b", body);
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
        (".reg .v2 .pred ¦%q;", "there are no vectors of 2 elements of type .pred"),
        (".reg .v4 .f64 ¦%q;", "there are no vectors of 4 elements of type .f64"),
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
    // An inner range hides as many registers as it has.
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
