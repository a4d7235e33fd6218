//! Reads of textures that don't depend on each other.

use std::fmt::Write as _;

use crate::support::*;

/// The loops of a kernel with this number of reads, each into registers of its own.
fn loops(reads: usize) -> usize {
    let registers = reads + 1;
    let mut body = format!(
        ".reg .b32 %x<{registers}>, %a<{registers}>, %u<{registers}>, %v<{registers}>, %w<{registers}>, %s; .reg .b64 %t;\n\
         ld.global.u64 %t, [%rd1]; mov.u32 %s, 0;\n"
    );
    for n in 0..reads {
        let _ = writeln!(
            body,
            "mov.b32 %x{n}, {n}; tex.2d.v4.f32.f32 {{%a{n}, %u{n}, %v{n}, %w{n}}}, [%t, {{%x{n}, %x0}}]; xor.b32 %s, %s, %a{n};"
        );
    }
    accepted(&kernel("k", &format!("{body} st.global.u32 [%rd1], %s;"))).disassemble().matches("OpLoopMerge").count()
}

#[test]
fn reads_that_do_not_depend_on_each_other_share_their_loads() {
    let [two, most, more, twice] = [2, 32, 34, 64].map(loops);
    assert_eq!(most, two, "one batch");
    assert!(more > most && twice == more, "two batches");
}
