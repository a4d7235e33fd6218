//! Instructions that ptxas refuses are refused here too: those of the lists in `tests/refused`, each in its own kernel.

use std::fs;

use ptx2spv_tests::{files, hostile};

/// A kernel with an instruction, the registers that it names, and variables in all spaces, in a version of PTX for a target.
fn kernel_for(version: &str, target: &str, instruction: &str) -> String {
    let types = "h.b16 uh.u16 sh.s16 a.b32 u.u32 s.s32 f.f32 d.b64 ud.u64 sd.s64 fd.f64 c.b8 z.b128 x.f16x2"
        .split_ascii_whitespace();
    let registers: String = types
        .filter_map(|register| register.split_once('.'))
        .filter(|(name, _)| instruction.contains(&format!("%{name}")))
        .map(|(name, ty)| format!(".reg .{ty} %{name}<4>; "))
        .collect();
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n\
         .global .align 16 .b8 gl[256]; .const .align 16 .b8 co[256];\n\
         .global .texref tx; .global .surfref sf;\n\
         .visible .entry k(.param .align 16 .b8 pa[64])\n{{\n\
         .shared .align 16 .b8 shm[256]; .local .align 16 .b8 loc[256];\n\
         .reg .pred %p, %q, %r, %p<3>; {registers}\n{instruction}\nret;\n}}\n"
    )
}

fn kernel(instruction: &str) -> String {
    let (version, target) = if instruction.starts_with("wgmma") { ("8.4", "sm_90a") } else { ("8.3", "sm_90") };
    kernel_for(version, target, instruction)
}

fn is_refused_as(instruction: &str, kernel: &str) -> bool {
    hostile::translate(instruction, kernel).diagnostics().is_some()
}

fn is_refused(instruction: &str) -> bool {
    is_refused_as(instruction, &kernel(instruction))
}

/// The lines of a list, without comments.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[test]
fn what_ptxas_refuses_is_refused() {
    let mut count = 0;
    let mut accepted = Vec::new();
    for entry in fs::read_dir(files::root().join("refused")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for instruction in rows(&text) {
            count += 1;
            if !is_refused(instruction) {
                accepted.push(instruction.to_owned());
            }
        }
    }
    assert!(accepted.is_empty(), "accepted:\n{}", accepted.join("\n"));
    assert!(count > 1000, "{count} instructions");
}

/// The kernel without the instruction is accepted.
#[test]
fn legal_instructions_are_accepted_in_the_same_kernel() {
    assert!(!is_refused(""), "the kernel without an instruction");
    for instruction in rows(include_str!("accepted.txt")) {
        assert!(!is_refused(instruction), "{instruction}");
    }
}

/// The kernels of rows are refused in the versions and for the targets that the rows begin with, if these have a `-`, and legal otherwise.
fn decide(text: &str, kernel: fn(&str, &str, &str) -> String) {
    for row in rows(text) {
        let (versions, code) = row.split_once("  ").expect("two blanks");
        for version in versions.split(' ') {
            let (refused, version) = version.strip_prefix('-').map_or((false, version), |version| (true, version));
            let (version, target) = version.split_once('/').expect("a version and a target");
            let is_refused = is_refused_as(code, &kernel(version, target, code));
            assert_eq!(is_refused, refused, "{code} in {version} for {target}");
        }
    }
}

/// Instructions that newer PTX for newer chips no longer has, or only newer PTX has.
#[test]
fn versions_and_targets_decide() {
    decide(include_str!("versions.txt"), kernel_for);
}

/// Directives that a version of PTX or a target doesn't have yet.
#[test]
fn versions_and_targets_decide_on_directives() {
    decide(include_str!("directives.txt"), |version, target, module| {
        format!(".version {version}\n.target {target}\n{module}\n")
    });
}
