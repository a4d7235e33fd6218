//! The manual's instructions with all forms that it gives, in the notation of [the table's rows](crate::isa::rows).
//!
//! Forms of one opcode stand together wherever the manual describes them. This is the manual's side of the comparison:
//! it changes with PTX, not with the translator. In `manual.txt` a form is a line; a line with `#` says what else a user should know of the
//! opcode before it.

use std::sync::LazyLock;

use super::rows::split_opcode;

/// A use of an entry in words, and a module that uses it so.
#[derive(Clone, Copy)]
pub struct Use {
    /// The use in words.
    pub words: &'static str,
    /// The module.
    pub sample: &'static str,
}

/// An instruction of the manual.
#[derive(Default)]
pub struct Instruction {
    /// Its opcode.
    pub name: &'static str,
    /// All forms in the notation of the table's rows.
    pub forms: Vec<&'static str>,
    /// Uses that the forms don't tell.
    pub uses: &'static [Use],
    /// A remark for users.
    pub remark: &'static str,
}

/// All instructions by name.
pub static ALL: LazyLock<Vec<Instruction>> = LazyLock::new(|| {
    let mut all: Vec<Instruction> = Vec::new();
    for line in include_str!("manual.txt").lines() {
        let remark = line.strip_prefix("# ");
        let (name, _) = split_opcode(line);
        match (all.last_mut(), remark) {
            (Some(last), Some(remark)) => last.remark = remark,
            (Some(last), None) if last.name == name => last.forms.push(line),
            _ => {
                let uses = USES.iter().find(|(opcode, _)| *opcode == name).map_or(&[][..], |(_, uses)| *uses);
                all.push(Instruction { name, forms: vec![line], uses, remark: "" });
            }
        }
    }
    all
});

/// Uses of some opcodes that forms don't tell.
const USES: &[(&str, &[Use])] = &[
    (
        "call",
        &[
            Use { words: "recursion", sample: ".func f() { call f; ret; } .entry k() { call f; ret; }" },
            Use {
                words: "calls through a register",
                sample: ".func f() { ret; } .entry k() { .reg .b64 %a; mov.u64 %a, f; p: .callprototype _ (); call %a, (), p; ret; }",
            },
            Use {
                words: "functions that another module defines",
                sample: "//// ptx2spv module a\n.version 8.1\n.target sm_90\n.address_size 64\n.extern .func f(); .entry k() { call f; ret; }\n//// ptx2spv module b\n.version 8.1\n.target sm_90\n.address_size 64\n.visible .func f() { ret; }",
            },
        ],
    ),
    (
        "isspacep",
        &[Use {
            words: "`.const` and `.param`",
            sample: ".entry k() { .reg .b64 %a; .reg .pred %p; mov.u64 %a, 0; isspacep.const %p, %a; isspacep.param %p, %a; ret; }",
        }],
    ),
    (
        "mov",
        &[Use {
            words: "addresses of functions",
            sample: ".func f() { ret; } .entry k() { .reg .b64 %a; mov.u64 %a, f; ret; }",
        }],
    ),
];
