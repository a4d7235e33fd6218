//! PTX that asks for far too much: it is translated or refused within bounded time and memory.

use ptx2spv_tests::hostile;

const HEADER: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

/// A module with these declarations, and a kernel with this body and registers of several kinds.
fn module(declarations: &str, body: &str) -> String {
    let registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;";
    format!(
        "{HEADER}{declarations}\n.visible .entry kernel(.param .u64 out)\n{{\n{registers}\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n{body}\nst.global.u32 [%rd1], %r2;\nret;\n}}\n"
    )
}

fn kernel(body: &str) -> String {
    module("", body)
}

/// The module must be refused for this reason.
#[track_caller]
fn refused(text: &str, part: &str) {
    let answer = hostile::translate("refused", text);
    assert!(answer.messages().contains(part), "{}", answer.messages());
}

/// The module must be translated completely.
#[track_caller]
fn translated(text: &str) {
    let answer = hostile::translate("translated", text);
    assert!(answer.diagnostics().is_none(), "{}", answer.messages());
}

#[test]
fn registers_without_number() {
    translated(&kernel(".reg .b32 %x<4000000>; add.u32 %r2, %x3999999, %x0;"));
    refused(&kernel(".reg .b32 %x<4000000000>;"), "a function of more than 4194304 registers");
    refused(&kernel(".reg .b32 %x<4294967296>;"), "`4294967296` is too large");
    let many: String = (0..2000).map(|n| format!(".reg .b32 %x{n}_<4000000>;")).collect();
    refused(&kernel(&many), "a function of more than 4194304 registers");
}

#[test]
fn alignments() {
    translated(&kernel(".shared .align 1048576 .b8 s[4]; mov.u32 %r2, s;"));
    refused(&kernel(".shared .align 2147483648 .b8 s[4]; mov.u32 %r2, s;"), "alignments of more than 1048576 bytes");
    refused(&kernel(".shared .align 4294967296 .b8 s[4]; mov.u32 %r2, s;"), "`4294967296` is too large");
    refused(&kernel(".shared .align 0 .b8 s[4]; mov.u32 %r2, s;"), "power of two");
    refused(&kernel(".shared .align 3 .b8 s[4]; mov.u32 %r2, s;"), "power of two");
}

#[test]
fn more_memory_than_there_is() {
    let shared = "bytes of shared memory with `s`: 4294967295 needed, the target has 232448";
    refused(&kernel(".shared .b8 s[4294967295]; mov.u32 %r2, s;"), shared);
    refused(&kernel(".shared .b8 s[232449]; mov.u32 %r2, s;"), "232449 needed, the target has 232448");
    translated(&kernel(".shared .b8 s[232448]; mov.u32 %r2, s;"));
    let both = ".shared .b8 s[120000]; .shared .b8 t[120000]; mov.u32 %r2, s; mov.u32 %r2, t;";
    refused(&kernel(both), "bytes of shared memory with `t`: 240000 needed");
    refused(&kernel(".shared .b8 s[18446744073709551615]; mov.u32 %r2, s;"), "larger than a terabyte");
    refused(&kernel(".shared .b8 s[65536][65536][65536][65536]; mov.u32 %r2, s;"), "larger than a terabyte");
    refused(&kernel(".local .b8 l[524289]; mov.u32 %r2, l;"), "bytes of local memory with `l`");
    refused(&module(".global .u32 g[1000000000000];", ""), "larger than a terabyte");
    let parameters: Vec<String> = (0..5000).map(|n| format!(".param .b8 p{n}[1000000]")).collect();
    refused(&format!("{HEADER}.entry k({}) {{ ret; }}", parameters.join(", ")), "bytes of kernel parameters");
}

/// As ptxas has it, a dimension of zero is one without a size.
#[test]
fn arrays_of_nothing() {
    let incomplete = "only `.extern` arrays can lack a size";
    refused(&kernel(".shared .b8 s[0]; mov.u32 %r2, s;"), incomplete);
    refused(&kernel(".local .b8 s[0]; st.local.u32 [s], %r2;"), incomplete);
    for declaration in [".global .b8 g[0];", ".global .b8 g[0][5];", ".global .b8 g[];"] {
        refused(&module(declaration, "ld.global.u8 %r2, [g];"), incomplete);
    }
    hostile::translate("external", &module(".extern .shared .b8 g[0];", "ld.shared.u8 %r2, [g];"));
    for declaration in [".const .f64 g[5][0] = {};", ".global .b8 g[5][0] = {1, 2};", ".global .b8 g[][0] = {1};"] {
        refused(&module(declaration, ""), "only an array's first dimension can lack a size");
    }
    let parameters = format!("{HEADER}.entry k(.param .b8 a[0], .param .b8 b[0]) {{ ret; }}");
    refused(&parameters, "only a function's last parameter can lack a size");
}

#[test]
fn offsets_at_the_ends() {
    let declarations = ".global .u32 g[4]; .const .u32 c[4];";
    for offset in ["9223372036854775807", "-9223372036854775808", "18446744073709551615", "-1", "4294967296"] {
        for base in ["%rd1", "%r1", "s", "g", "c", "l", "out", "0", "s+9223372036854775807"] {
            for space in [".global", ".shared", ".local", ".param", ".const", ""] {
                for access in ["ld@.v2.u32 {%r1, %r2}, [#];", "st@.u64 [#], %rd1;", "atom@.add.u32 %r1, [#], %r1;"] {
                    let access = access.replace('@', space).replace('#', &format!("{base}+{offset}"));
                    let body = format!(".shared .u32 s[4]; .local .u32 l[4]; {access}");
                    hostile::translate(&access, &module(declarations, &body));
                }
            }
        }
    }
    for value in ["g+9223372036854775807", "g-9223372036854775807", "generic(g)-1", "0xFF(g+4611686018427387904)"] {
        hostile::translate(value, &module(&format!("{declarations} .global .u64 p[2] = {{{value}, {value}}};"), ""));
    }
}

#[test]
fn barriers_of_any_number() {
    for number in ["0", "15", "16", "4294967295", "-1", "%r1", "%tid.x", "18446744073709551615", "1.5", "out"] {
        for barrier in [
            "bar.sync #;",
            "bar.sync 0, #;",
            "barrier.sync #, 64;",
            "bar.arrive #, 64;",
            "bar.red.popc.u32 %r2, #, %p1;",
        ] {
            hostile::translate(barrier, &kernel(&barrier.replace('#', number)));
        }
    }
}

#[test]
fn deep_scopes() {
    let nested = |depth: usize| "{".repeat(depth) + &"add.u32 %r2, %r2, %r3;\n".repeat(depth) + &"}".repeat(depth);
    translated(&kernel(&nested(1000)));
    refused(&kernel(&nested(100_000)), "scopes are nested deeper");
}

/// Ifs, loops, or loops with barriers, each nested in the previous one.
fn nest(shape: &str, depth: usize) -> String {
    kernel(&nested(shape, depth))
}

fn nested(shape: &str, depth: usize) -> String {
    let (open, close) = match shape {
        "ifs" => ("setp.eq.u32 %p1, %r1, #; @%p1 bra L#;\n", "add.u32 %r2, %r2, #;\nL#: mul.lo.u32 %r2, %r2, 3;\n"),
        "loops" => ("L#: add.u32 %r2, %r2, #;\n", "setp.eq.u32 %p1, %r2, #; @%p1 bra L#;\n"),
        _ => ("L#: bar.sync 0; add.u32 %r2, %r2, %r1;\n", "setp.eq.u32 %p1, %r2, #; @%p1 bra L#;\n"),
    };
    let numbered = |text: &str, n: usize| text.replace('#', &n.to_string());
    let opened: String = (0..depth).map(|n| numbered(open, n)).collect();
    let closed: String = (0..depth).rev().map(|n| numbered(close, n)).collect();
    opened + &closed
}

#[test]
fn deep_control_flow() {
    for shape in ["ifs", "loops", "barriers"] {
        translated(&nest(shape, 30));
        // llvmpipe ignores control flow that is nested too deeply. Conditions are flattened, including those around
        // barriers; loops can't be.
        match shape {
            "loops" => refused(&nest(shape, 500), "nesting of control flow"),
            _ => translated(&nest(shape, 500)),
        }
        let answer = hostile::translate_for("nvidia", shape, &nest(shape, 500));
        assert!(answer.diagnostics().is_none(), "{}", answer.messages());
        for depth in [1020, 1021, 1022, 1023, 1024] {
            hostile::translate_for("nvidia", shape, &nest(shape, depth));
        }
        refused(&nest(shape, 2000), "nested more than");
        refused(&nest(shape, 10_000), "nested more than");
    }
}

/// If an invocation runs a whole warp, the code is a loop over the lanes, which stays under a condition around it.
#[test]
fn deep_control_flow_of_lanes() {
    let body = nested("ifs", 100);
    let text =
        kernel(&format!("setp.eq.u32 %p2, %r3, 7; @%p2 bra END;\n{body}vote.sync.any.pred %p1, %p1, -1;\nEND:\n"));
    let answer = hostile::translate_for("vulkan1.1-minimum", "lanes", &text);
    assert!(answer.diagnostics().is_none(), "{}", answer.messages());
}

#[test]
fn much_control_flow() {
    translated(&kernel(&"add.u32 %r2, %r2, %r3;\n".repeat(100_000)));
    let branch = |n: usize, target: usize| {
        format!("setp.eq.u32 %p1, %r1, {n}; @%p1 bra L{target};\nadd.u32 %r1, %r1, 1; L{n}:\n")
    };
    let text: String = (0..10_000).map(|n| branch(n, n)).collect();
    translated(&kernel(&text));
    translated(&kernel(&text.replace("add.u32 %r1", "bar.sync 0; add.u32 %r1")));
    hostile::translate("spaghetti", &kernel(&(0..10_000).map(|n| branch(n, n * 7919 % 10_000)).collect::<String>()));
}

/// Functions `f0` to `f{length - 1}`, each of which calls the next one `calls` times, and a kernel that calls the
/// first.
fn chain(length: usize, calls: usize, parameter: &str) -> String {
    let (formal, local, actual) = match parameter {
        "" => (String::new(), String::new(), ""),
        ty => (format!("(.param {ty} q)"), format!(".param {ty} p;\n"), ", (p)"),
    };
    let (formal, local) = (formal.replace("N q", " q[1000000]"), local.replace("N p", " p[1000000]"));
    let function = |n: usize| {
        let body = if n + 1 < length { format!("call f{}{actual};\n", n + 1).repeat(calls) } else { String::new() };
        format!(".func f{n}{formal} {{ {local}{body}ret; }}\n")
    };
    let functions: String = (0..length).rev().map(function).collect();
    module(&functions, &format!("{{ {local}call f0{actual}; }}"))
}

#[test]
fn calls_that_multiply() {
    translated(&chain(10, 2, ""));
    translated(&chain(16, 2, ""));
    translated(&chain(100, 2, ""));
    refused(&chain(64, 1000, ""), "functions that are called so often that their copies have over 400000 instructions");
    refused(&chain(40, 2, ".b8N"), "kernels of more than 4000000 instructions after inlining");
}

#[test]
fn many_calls_of_a_long_function() {
    let function = format!(".func f {{ .reg .b32 %r<3>;\n{} ret; }}\n", "add.u32 %r2, %r2, %r1;\n".repeat(200));
    translated(&module(&function, &"call f;\n".repeat(3000)));
}

#[test]
fn calls_inside_calls() {
    translated(&chain(100, 1, ""));
    translated(&chain(1000, 1, ""));
}

#[test]
fn recursion() {
    translated(&module(".func a { call a; ret; }", "call a;"));
    let mutual = ".func a; .func b { call a; ret; } .func a { call b; ret; }";
    translated(&module(mutual, "call a;"));
    // The function is never called.
    translated(&module(mutual, ""));
}

#[test]
fn giant_initialisers() {
    let values = "1,".repeat(1_000_000);
    translated(&module(&format!(".global .u32 g[] = {{{values}1}};"), ""));
    refused(&module(&format!(".global .u32 g[10] = {{{values}1}};"), ""), "more initial values");
    let nested = format!(".global .u32 g[10] = {}1{};", "{".repeat(1_000_000), "}".repeat(1_000_000));
    refused(&module(&nested, ""), "an initialiser is nested deeper than");
}
