//! Texts of many megabytes that go on where something should end. The program must refuse each in seconds and in
//! memory that grows no faster than the text.

use std::io::Write;
use std::process::{ChildStdin, Command, Output, Stdio};
use std::time::Instant;

use ptx2spv_tests::{binary, hostile};
use ptx2spv_translator::{Options, Target};

/// The text before the repeated part.
const PLACES: &[(&str, &str)] = &[
    ("file", ""),
    ("module", ".version 7.0\n.target sm_70\n"),
    ("parameters", ".version 7.0\n.target sm_70\n.entry k("),
    ("initialiser", ".version 7.0\n.target sm_70\n.global .u32 g[] = {"),
    ("body", ".version 7.0\n.target sm_70\n.entry k()\n{\n.reg .b32 %r<8>;\n"),
    ("operand", ".version 7.0\n.target sm_70\n.entry k()\n{\n.reg .b32 %r<8>;\nmov.u32 %r1, "),
];

/// The start of the repeated part, and the repeated text.
const FLOODS: &[(&str, &str)] =
    &[("", "{"), ("", "("), ("", "["), ("", ","), ("", "7"), ("", "a"), ("", "{a,"), ("/* ", "x"), ("\"", "x")];

#[test]
fn a_megabyte_anywhere() {
    for (place, before) in PLACES {
        for (start, piece) in FLOODS {
            let text = format!("{before}{start}{}", piece.repeat(1_000_000 / piece.len()));
            let answer = hostile::translate(&format!("{start}{piece} in {place}"), &text);
            assert!(answer.diagnostics().is_some(), "{start}{piece} in {place}");
        }
    }
}

/// Megabytes of a text.
const MEGABYTES: u64 = 40;
/// Kilobytes of address space for the program: the text, a few copies, and the needs of any program.
const MEMORY: u64 = 15_000 * MEGABYTES + 50_000;
/// Kilobytes of address space that suffice for a text of a few megabytes that is refused.
const LITTLE_MEMORY: u64 = 300_000;

/// Runs the program in so many kilobytes of address space on the text that `write` gives.
fn translate_in(kilobytes: u64, write: impl FnOnce(&mut ChildStdin)) -> Output {
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"")])
        .arg(binary::ptx2spv())
        .args(["translate", "--target", "lavapipe", "--emit", "spirv", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    write(&mut stdin);
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[test]
fn many_megabytes() {
    let places = ["body", "operand", "operand", "initialiser", "operand", "module", "body", "body", "module"];
    for (place, (start, piece)) in places.iter().zip(FLOODS) {
        let (_, before) = PLACES.iter().find(|(name, _)| name == place).unwrap();
        let time = Instant::now();
        let output = translate_in(MEMORY, |stdin| {
            stdin.write_all(format!("{before}{start}").as_bytes()).unwrap();
            let block = piece.repeat(1_000_000 / piece.len());
            for _ in 0..MEGABYTES {
                stdin.write_all(block.as_bytes()).unwrap();
            }
        });
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{start}{piece} in {place}: {err:.1000}");
        assert!(err.starts_with("error: ") && err.len() < 100_000, "{start}{piece} in {place}: {err:.1000}");
        assert!(time.elapsed() < hostile::TIME_LIMIT, "{start}{piece} in {place}: {:?}", time.elapsed());
    }
}

/// A module with a kernel that has this body, after these functions.
fn module(functions: &str, body: &str) -> String {
    let registers = ".reg .pred %p<8>;\n.reg .b32 %r<8>;\n.reg .f32 %f<8>;\n";
    format!(".version 7.0\n.target sm_70\n{functions}.visible .entry k() {{\n{registers}{body}ret;\n}}\n")
}

#[test]
fn copies_of_functions() {
    let long = format!(".func f {{\n.reg .b32 %r<3>;\n{}ret;\n}}\n", "add.u32 %r2, %r2, %r1;\n".repeat(200));
    let twice = |n: usize| format!(".func f{n} {{ {} ret; }}\n", format!("call f{};", n + 1).repeat(2));
    let chain: String = [".func f30 { ret; }\n".to_owned()].into_iter().chain((0..30).rev().map(twice)).collect();
    for text in [module(&long, &"call f;\n".repeat(3000)), module(&chain, "call f0;\n")] {
        let output = translate_in(LITTLE_MEMORY, |stdin| stdin.write_all(text.as_bytes()).unwrap());
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{err:.1000}");
    }
}

/// Functions that call each other through pointers and are inlined nowhere. Each has branches with operations of warps on both sides, loops
/// that wait, and barriers.
fn waiting_functions(functions: usize) -> String {
    const PARTS: usize = 3;
    let prototype = "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\n";
    let call = "{\n.param .b32 result, number;\nst.param.b32 [number], %r1;\nld.global.u64 %rd1, [table];\n\
                call (result), %rd1, (number), prototype;\nld.param.b32 %r1, [result];\n}\n";
    let part = |n: usize| {
        format!(
            "setp.lt.u32 %p1, %r1, %r2;\n@%p1 bra A{n};\nshfl.sync.down.b32 %r3, %r1, 1, 31, -1;\nbra B{n};\n\
             A{n}:\nshfl.sync.down.b32 %r3, %r1, 2, 31, -1;\nB{n}:\nadd.u32 %r1, %r1, %r3;\n\
             C{n}:\nld.volatile.global.u32 %r4, [flag];\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra C{n};\nbar.sync 0;\n{call}"
        )
    };
    let parts: String = (0..PARTS).map(part).collect();
    let function = |n: usize| {
        format!(
            ".func (.param .b32 out) f{n}(.param .b32 in) {{\n.reg .pred %p<8>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<2>;\n\
             {prototype}ld.param.u32 %r1, [in];\nmov.u32 %r2, %tid.x;\n{parts}st.param.b32 [out], %r1;\nret;\n}}\n"
        )
    };
    let code: String = (0..functions).map(function).collect();
    let address = |n: usize| format!("mov.u64 %rd1, f{n};\nst.global.u64 [table+{}], %rd1;\n", 8 * n);
    let addresses: String = (0..functions).map(address).collect();
    module(
        &format!(".global .u64 table[{functions}];\n.global .u32 flag;\n{code}"),
        &format!(".reg .b64 %rd<2>;\n{prototype}mov.u32 %r1, %tid.x;\n{addresses}{call}"),
    )
}

/// The kernel grows with the functions and the calls, not with their product.
#[test]
fn functions_that_wait() {
    let target = Target::preset("lavapipe").unwrap();
    let [few, many] = [10, 20].map(|functions| {
        let (answer, translation) =
            hostile::translate_with(&Options::new(&target), "functions that wait", &waiting_functions(functions));
        translation.unwrap_or_else(|| panic!("{}", answer.messages())).spirv.len()
    });
    // The product would have four times as much, and twenty functions once had 521,936 words.
    assert!(4 * many < 9 * few && many < 300_000, "{few} words for 10 functions, {many} for 20");
}

/// The number of ways from an address to the terms of its sum is a Fibonacci number, and each value is looked at once.
#[test]
fn sums_of_sums() {
    let sums = "add.u64 %rd1, %rd1, %rd2;\nadd.u64 %rd2, %rd1, %rd2;\n".repeat(100);
    let body = format!(
        ".reg .b64 %rd<3>;\nld.global.u64 %rd1, [g];\nld.global.u64 %rd2, [g+8];\n{sums}st.global.u32 [%rd1], 1;\n"
    );
    let target = Target::preset("lavapipe").unwrap();
    let options = Options::new(&target).checks(true);
    let (answer, translation) =
        hostile::translate_with(&options, "sums of sums", &module(".global .u64 g[2];\n", &body));
    assert!(translation.is_some(), "{}", answer.messages());
}

/// Code that can't be translated is found before the rest is translated.
#[test]
fn unsupported_at_the_end() {
    let round = |n: usize| {
        format!(
            "setp.lt.u32 %p1, %r1, {n};\n@%p1 bra L{n};\ndiv.rn.f32 %f1, %f1, %f2;\nL{n}:\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n"
        )
    };
    let rounds: String = (0..20_000).map(round).collect();
    let large = module(".extern .func elsewhere;\n", &rounds);
    let text = format!("{large}.visible .entry last() {{\ncall elsewhere;\nret;\n}}\n");
    let output = translate_in(LITTLE_MEMORY, |stdin| stdin.write_all(text.as_bytes()).unwrap());
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err:.1000}");
    assert!(err.contains("elsewhere"), "{err:.1000}");
}
