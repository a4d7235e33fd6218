//! The instructions of random kernels: the sections of `forms.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A mnemonic, and a letter for each operand. Capitals are results; `e`, `s`, `g` are registers of 64, 32, 16 bits;
/// `d`, `r`, `h` registers or constants of these widths; `f`, `x` registers or constants of f32 and f64; `p`
/// predicates; `i`, `j` positions within 32 and 64 bits; `k` a truth table.
#[derive(Clone, Copy, Debug)]
pub struct Form(pub &'static str, pub &'static str);

/// The instructions of a section: `integers`, `simd` (the saturating signed ones more often), `floats`, or a name of [`TYPES`].
pub fn forms(section: &str) -> &'static [Form] {
    static SECTIONS: LazyLock<HashMap<&str, Vec<Form>>> = LazyLock::new(|| {
        let line = |line: &'static str| {
            let mut words = line.split(' ');
            let operands = words.next().unwrap_or_default();
            words.map(move |mnemonic| Form(mnemonic, operands))
        };
        let sections = include_str!("forms.txt").split("\n## ").skip(1);
        let sections = sections.filter_map(|section| section.split_once('\n'));
        sections.map(|(name, lines)| (name, lines.lines().flat_map(line).collect())).collect()
    });
    &SECTIONS[section]
}

/// Types of products and sums that may be fused, with the bits of a number and of infinity.
pub const TYPES: &[(&str, u32, u64)] = &[
    ("f32", 32, 0x7f80_0000),
    ("f64", 64, 0x7ff0_0000_0000_0000),
    ("f16", 16, 0x7c00),
    ("f16x2", 16, 0x7c00),
    ("bf16", 16, 0x7f80),
    ("bf16x2", 16, 0x7f80),
];

/// Instructions between products and sums.
pub const BETWEEN: &[&str] = &[
    "membar.gl;",
    "div.s32 %count, %thread, %count; or.b32 %count, %count, 1;",
    "div.u32 %count, %thread, %count; or.b32 %count, %count, 1;",
    "rem.u64 %acc, %t, %acc; or.b64 %acc, %acc, 1;",
    "@%p0 ld.global.u32 %count, [%in];",
    "@%p1 mov.u32 %count, 5;",
    "mul.hi.u32 %count, %count, %thread; or.b32 %count, %count, 1;",
];
