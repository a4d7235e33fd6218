//! Instructions that ptxas refuses are refused here too: those of the lists in `tests/refused`, each in a kernel of its
//! own.

use std::fs;

use ptx2spv_tests::{files, hostile};

/// A kernel with registers of all types around an instruction.
fn kernel(instruction: &str) -> String {
    let types =
        "h.b16 uh.u16 sh.s16 a.b32 u.u32 s.s32 f.f32 d.b64 ud.u64 sd.s64 fd.f64 c.b8 z.b128".split_ascii_whitespace();
    let registers: String = types
        .filter_map(|register| register.split_once('.'))
        .map(|(name, ty)| format!(".reg .{ty} %{name}<4>; "))
        .collect();
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .pred %p, %q, %r, %p<3>; {registers}\n{instruction}\nret;\n}}\n"
    )
}

fn is_refused(instruction: &str) -> bool {
    hostile::translate(instruction, &kernel(instruction)).diagnostics().is_some()
}

#[test]
fn what_ptxas_refuses_is_refused() {
    let mut count = 0;
    let mut accepted = Vec::new();
    for entry in fs::read_dir(files::root().join("refused")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for instruction in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            count += 1;
            if !is_refused(instruction) {
                accepted.push(instruction.to_owned());
            }
        }
    }
    assert!(accepted.is_empty(), "accepted:\n{}", accepted.join("\n"));
    assert!(count > 1000, "{count} instructions");
}

/// The kernel itself is no reason to refuse.
#[test]
fn legal_instructions_are_accepted_in_the_same_kernel() {
    let legal = [
        "",
        "add.u16 %uh0, %h1, %sh2;",
        "add.cc.u32 %u0, %a1, %s2;",
        "fma.rn.f32 %f0, %f1, %f2, %f3;",
        "mul.lo.s64 %sd0, %d1, %ud2;",
        "add.f64 %fd0, %fd1, %fd2;",
        "mov.b32 %a0, {%c0, %c1, %c2, %c3};",
        "mov.b128 {%d0, _}, %z0;",
        "setp.lt.and.s32 %p|%q, %s0, %s1, !%r;",
        "selp.b32 %a0, %a1, %a2, %p0;",
        "vadd.s32.u32.s32.sat %s0.h0, %u1.b3, %s2.h1, %a3;",
        "vset4.u32.s32.ne.add %a0.b31, %u1.b7310, %s2, %a3;",
    ];
    for instruction in legal {
        assert!(!is_refused(instruction), "{instruction}");
    }
}
