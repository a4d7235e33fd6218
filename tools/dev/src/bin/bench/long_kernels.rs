//! Makes kernels of many lines, of the kinds whose translation has grown faster than they did.

use std::fmt::Write;

const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";
const REGISTERS: &str = ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n";
const PROTOTYPE: &str = "prototype: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n";

/// Lines of code that one kind of kernel consists of; `#` is replaced by a number.
type Piece = &'static str;

const ARITHMETIC: Piece = "ld.global.u32 %r3, [%rd1+#];\nmad.lo.u32 %r1, %r3, %r1, %r2;\nsetp.lt.u32 %p1, %r1, #;\n\
    @%p1 bra A#;\nxor.b32 %r1, %r1, %r3;\nA#:\nmov.u32 %r4, 0;\nB#:\nadd.u32 %r4, %r4, 1;\nadd.u32 %r1, %r1, %r4;\n\
    setp.lt.u32 %p2, %r4, %r2;\n@%p2 bra B#;\n";

/// Threads diverge, and wait for each other in both arms and after them.
const BARRIERS: Piece = "setp.lt.u32 %p1, %r1, #;\n@%p1 bra A#;\nshfl.sync.down.b32 %r4, %r1, 1, 31, -1;\nbra B#;\nA#:\n\
    shfl.sync.down.b32 %r4, %r1, 2, 31, -1;\nB#:\nadd.u32 %r1, %r1, %r4;\nbar.sync 0;\n";

/// Threads wait for what others write, and for a lock.
const WAITS: Piece = "C#:\nld.volatile.global.u32 %r3, [%rd1+#];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra C#;\nD#:\n\
    atom.global.cas.b32 %r4, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra D#;\n\
    st.volatile.global.u32 [%rd1+8], %r1;\natom.global.exch.b32 %r4, [%rd1], 0;\n";

const DIRECT: Piece = "call (result), f#, (number, pointer);\n";
const INDIRECT: Piece = "ld.global.u64 %rd2, [%rd1+512];\ncall (result), %rd2, (number, pointer), prototype;\n";

/// Kernels of about so many lines, with what they have many of.
pub fn kernels(lines: usize) -> [(&'static str, String); 4] {
    [
        ("functions", functions(lines, ARITHMETIC, |number| (number % 3 == 2).then(|| call(DIRECT, number - 1)))),
        ("indirect calls", functions(lines, BARRIERS, |_| Some(call(INDIRECT, 0)))),
        ("barriers", single(lines, BARRIERS)),
        ("loops that wait", single(lines, &[WAITS, BARRIERS].concat())),
    ]
}

/// A kernel without functions.
fn single(lines: usize, piece: &str) -> String {
    let body = repeated(piece, lines);
    format!(
        "{HEAD}.visible .entry k(.param .u64 p) {{\n{REGISTERS}ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\n{body}st.global.u32 [%rd1], %r1;\nret;\n}}\n"
    )
}

/// A kernel that calls functions, each of which may call another one after every piece.
fn functions(lines: usize, piece: &str, called: impl Fn(usize) -> Option<String>) -> String {
    const EACH: usize = 200;
    let count = lines / EACH;
    let mut text = HEAD.to_owned();
    let (mut addresses, mut calls) = (String::new(), String::new());
    for number in 0..count {
        let piece = format!("{piece}{}", called(number).unwrap_or_default());
        let body = repeated(&piece, EACH - 16);
        // Writing to a string can't fail.
        let _ = write!(
            text,
            ".func (.param .b32 out) f{number} (.param .b32 a, .param .b64 p) {{\n{REGISTERS}{PROTOTYPE}ld.param.u32 %r1, [a];\n\
             ld.param.u64 %rd1, [p];\nmov.u32 %r2, %tid.x;\n{body}st.param.b32 [out], %r1;\nret;\n}}\n"
        );
        let _ = write!(addresses, "mov.u64 %rd3, f{number};\nst.global.u64 [%rd1+{}], %rd3;\n", 1024 + 8 * number);
        calls += &call(DIRECT, number);
    }
    let indirect = called(0).is_some();
    let body = if indirect { addresses + &call(INDIRECT, 0) } else { calls };
    text + &format!(
        ".visible .entry k(.param .u64 p) {{\n{REGISTERS}{PROTOTYPE}ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n{body}\
         st.global.u32 [%rd1], %r1;\nret;\n}}\n"
    )
}

fn call(call: Piece, function: usize) -> String {
    let call = call.replace('#', &function.to_string());
    format!(
        "{{\n.param .b32 result, number;\n.param .b64 pointer;\nst.param.b32 [number], %r1;\nst.param.b64 [pointer], %rd1;\n{call}\
         ld.param.b32 %r1, [result];\n}}\n"
    )
}

/// A piece as often as fits into so many lines, each time with another number.
fn repeated(piece: &str, lines: usize) -> String {
    let times = lines / piece.lines().count().max(1);
    (0..times).map(|number| piece.replace('#', &(4 * number).to_string())).collect()
}
