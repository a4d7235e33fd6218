//! Whole modules: reported errors, parts that are left out of a translation, functions and declarations.

use ptx2spv_translator::{Diagnostics, Translation};

use crate::support::*;

const UNSUPPORTED: &str = "tcgen05.fence::before_thread_sync;";

#[test]
fn all_errors_of_a_module_come_together() {
    let first = kernel("first", "add.u32 ¦%f1, %r1, %r2;\n\t¦wibble %r1;\n\tadd.u32 %r1, %r2, %r3;");
    let second = kernel("second", "ld.global.u32 %r1, [¦%nothing];");
    let errors =
        refused(&(first + &second), &["register `%f1`", "unknown instruction `wibble`", "`%nothing` is not declared"]);
    let functions: Vec<_> = errors.list.iter().map(|error| error.function.as_deref().unwrap()).collect();
    assert_eq!(functions, ["first", "first", "second"]);
    assert_eq!(errors.source.line_column(errors.list[1].place().start), (16, 2));
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
    // Without it, or if no kernel is left, the module is refused.
    let errors = translate(&text, &lavapipe(), None, false).unwrap_err();
    assert_eq!(errors.list[0].function.as_deref(), Some("bad"));
    assert!(translate(&(HEADER.to_owned() + &kernel("bad", UNSUPPORTED)), &lavapipe(), None, true).is_err());
    // Text that isn't PTX is always refused.
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
    // The fault is reported once, at its place.
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
    refused(&call("call (%r1), f, (¦1);"), &["an integer is not a constant of type .f32"]);
    refused(&call("call (%r1), g, (¦%rd1);"), &["expected a `.param` variable for an array"]);
    let pass = |size: u32, mark: &str| call(&format!("{{ .param .align 4 .b8 p[{size}]; {mark}call (%r1), g, (p); }}"));
    accepted(&pass(8, ""));
    refused(&pass(12, "¦"), &["`g` takes 8 bytes here, 12 are passed"]);
}

#[test]
fn initial_values_that_nobody_knows_are_refused_where_they_are_used() {
    let variables = ".extern .global .u32 e; .global .u32 g;
        .global .u64 to_e = e; .global .u64 to_g = g; .global .u64 to_to_e = to_e;";
    accepted(&(variables.to_owned() + &kernel("k", "ld.global.u64 %rd2, [to_g];")));
    let used = |name: &str| kernel("k", &format!("ld.global.u64 %rd2, [{name}];"));
    for (name, reason) in [("to_e", "`e`"), ("to_to_e", "`to_e`")] {
        let text = format!("{HEADER}{variables}{}", used(name));
        let errors = translate(&text, &lavapipe(), None, false).unwrap_err();
        let message = errors.list[0].kind.to_string();
        assert!(message.contains(&format!("the address of {reason} as an initial value")), "{name}: {errors}");
    }
}

#[test]
fn declarations_that_are_not_translated_matter_where_they_are_used() {
    let texture = ".global .texref picture[2];\n".to_owned();
    accepted(&(texture.clone() + &kernel("k", "")));
    let text = HEADER.to_owned() + &texture + &kernel("k", "mov.u64 %rd2, picture;");
    let errors = translate(&text, &lavapipe(), None, false).unwrap_err();
    assert!(errors.list[0].kind.to_string().contains("textures"), "{errors}");
    // The error is at the declaration, not at later uses.
    let body = "\n{\n\t.reg .b64 %x, %y;\n\tmov.b128 {%x, %y}, %v;\n\tret;\n}\n";
    let function = |mark: &str| format!(".func f({mark}.reg .b128 %v){body}");
    accepted(&(function("") + &kernel("k", "")));
    let call = kernel("k", ".reg .b128 %w; call f, (%w);");
    refused(&(function("¦") + &call), &["a parameter in a register of type .b128"]);
}

#[test]
fn variables_that_ptx_does_not_have() {
    let initial = "only global and constant variables have initial values";
    let size = "only `.extern` arrays can lack a size";
    for (module, body, part) in [
        (".shared .u32 ¦s = 5;", "", initial),
        (".global .b32 ¦a[];", "", size),
        (".const .b32 ¦a[];", "", size),
        (".shared .b32 ¦a[];", "", size),
        (".global .u64 a = ¦nothing;", "", "`nothing` is not declared"),
        (".func f(.param .b32 .¦v2 a) { ret; }", "", "`.v2` comes too late"),
        (".shared .u32 s; .global .u64 ¦a = s;", "", "the address of `s`, which lies in `.shared`"),
        (".shared .u32 s; .global .u64 ¦a[2] = {1, generic(s)};", "", "the address of `s`, which lies in `.shared`"),
        (".local .u32 ¦l;", "", "`.local` stands in functions from PTX 3.0 on"),
        (".reg .u32 ¦r;", "", "`.reg` stands in functions from PTX 3.0 on"),
        (".global .texref t = { ¦force_unnormalized_coords = 1 };", "", "no property `force_unnormalized_coords`"),
        (".global .samplerref s = { ¦normalized_coords = 1 };", "", "no property `normalized_coords`"),
        ("", ".local .u32 ¦l = 1;", initial),
        ("", ".shared .b8 ¦s[];", size),
        ("", ".global .u64 a = ¦later; .global .u32 later;", "`later` is not declared"),
        ("", ".global .u32 a[2] = ¦{1, 2, 3};", "more initial values than the variable has room for"),
    ] {
        refused(&format!("{module}\n{}", kernel("k", body)), &[part]);
    }
    // Of several alignments the largest counts, and no name declares nothing.
    accepted(
        &(".global .align 8 .align 64 .u32 a[WARP_SZ];\n.global .u32 ;\n".to_owned() + &kernel("k", ".reg .u32 ;")),
    );
    accepted(&(".extern .shared .b8 s[];\n.extern .global .b8 g[];\n".to_owned() + &kernel("k", "")));
    let address = "{ .shared .u32 s; .global .u64 ¦a = s; }";
    refused(&kernel("k", address), &["the address of `s`, which lies in `.shared`, as an initial value"]);
}

#[test]
fn modules_with_32_bit_addresses_are_refused_for_newer_targets() {
    let text = ".version 7.0\n.target sm_80\n.address_size 32\n.entry k() { ret; }\n";
    let errors = translate(text, &lavapipe(), None, false).unwrap_err();
    assert!(errors.list[0].kind.to_string().contains("32-bit addresses"), "{errors}");
    assert_eq!(
        text.get(errors.list[0].place().start as usize..).and_then(|rest| rest.lines().next()),
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
