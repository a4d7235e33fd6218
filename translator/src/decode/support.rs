//! What of the PTX manual translates: the contents of `docs/support.md`.
//!
//! Nothing here states a verdict. For instructions, the forms that the manual gives are compared with the rows of the
//! [instruction table](crate::isa::table); special registers are looked up as decoding does; directives, and what no form can
//! express, such as recursion, are tried on small modules.

mod directives;

use super::program::Special;
use crate::ast;
use crate::diagnostic::{Source, Span};
use crate::isa::manual::{self, Instruction, Use};
use crate::isa::table;
use crate::target::Target;
use crate::{Options, Program};

/// Which part of the manual an entry belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// An opcode (PTX chapter 9).
    Instruction,
    /// A module's or function's directive (PTX chapters 5 and 11).
    Directive,
    /// A special register (PTX chapter 10).
    SpecialRegister,
}

/// How much of an entry translates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// All of it.
    Full,
    /// Some of it; what is missing.
    Part(Vec<String>),
    /// Nothing: using it gives an error.
    None,
}

/// An entry of the manual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, without dot or percent sign.
    pub name: &'static str,
    /// Its part of the manual.
    pub family: Family,
    /// Whether it translates.
    pub support: Support,
    /// What else a user should know.
    pub remark: &'static str,
}

/// A directive with a small module that uses it.
struct Directive {
    name: &'static str,
    sample: &'static str,
    /// Further uses.
    uses: &'static [Use],
    remark: &'static str,
}

/// Special registers by their names without the percent sign.
const SPECIAL_REGISTERS: &str = "
aggr_smem_size clock clock64 clock_hi cluster_ctaid cluster_ctarank cluster_nctaid cluster_nctarank clusterid ctaid
current_graph_exec dynamic_smem_size globaltimer globaltimer_hi globaltimer_lo gridid is_explicit_cluster laneid
lanemask_eq lanemask_ge lanemask_gt lanemask_le lanemask_lt nclusterid nctaid nsmid ntid nwarpid pm0 pm0_64
reserved_smem_offset_begin reserved_smem_offset_cap reserved_smem_offset_end smid tid total_smem_size warpid";

/// All entries, by family and name.
pub fn entries() -> Vec<Entry> {
    let instructions = manual::ALL.iter().map(instruction);
    let directives = directives::ALL.iter().map(directive);
    instructions.chain(directives).chain(SPECIAL_REGISTERS.split_ascii_whitespace().map(special_register)).collect()
}

fn instruction(instruction: &Instruction) -> Entry {
    let Instruction { name, forms, uses, remark } = *instruction;
    let support = if table::forms(name).is_empty() { Support::None } else { judge(missing_forms(forms), uses) };
    Entry { name, family: Family::Instruction, support, remark }
}

fn directive(directive: &Directive) -> Entry {
    let Directive { name, sample, uses, remark } = *directive;
    let support = if translates(sample) { judge(Vec::new(), uses) } else { Support::None };
    Entry { name, family: Family::Directive, support, remark }
}

fn special_register(name: &'static str) -> Entry {
    let full = format!("%{name}");
    let known = [None, Some("x")].into_iter().any(|component| Special::from_name(&full, component).is_some());
    let remark = match name {
        "laneid" | "warpid" => {
            "Warps are runs of 32 consecutive threads of a block, whatever the device's subgroups are."
        }
        "nwarpid" => "Always 64, as many as a multiprocessor of current hardware has room for.",
        "clock" | "clock_hi" | "clock64" => {
            "Counts in the device's own unit; how often kernels look at it, on devices without a clock."
        }
        "globaltimer" | "globaltimer_lo" | "globaltimer_hi" => {
            "The same counter as `%clock64`, in the device's own unit."
        }
        "smid" | "gridid" | "current_graph_exec" => "Always 0: one multiprocessor, grids have no number, no graph.",
        "nsmid" => "Always 1.",
        "pm0" | "pm0_64" => "And their like: always 0.",
        "reserved_smem_offset_begin" | "reserved_smem_offset_cap" | "reserved_smem_offset_end" => {
            "A kernel that reads any of these registers has 1 KiB more of shared memory, before its own."
        }
        "aggr_smem_size" => "`%total_smem_size` and what is reserved.",
        _ => "",
    };
    let support = if known { Support::Full } else { Support::None };
    Entry { name, family: Family::SpecialRegister, support, remark }
}

fn judge(mut missing: Vec<String>, uses: &[Use]) -> Support {
    missing.extend(uses.iter().filter(|use_| !translates(use_.sample)).map(|use_| use_.words.to_owned()));
    if missing.is_empty() { Support::Full } else { Support::Part(missing) }
}

/// Whether a program translates for a device that has everything. A sample that begins with an instruction or a declaration gets the
/// usual header.
fn translates(sample: &str) -> bool {
    let header = if sample.contains(".version") { "" } else { ".version 8.1\n.target sm_90\n.address_size 64\n" };
    let source = Source::new("sample", format!("{header}{sample}"));
    let target = Target::preset("nvidia");
    let options = target.as_ref().map(Options::new);
    let program = Program::new(&source);
    matches!((program, options), (Ok(program), Some(options)) if program.translate(&options).is_ok())
}

/// One place of a form: what may stand there.
struct Slot<'f> {
    choices: Vec<&'f str>,
    required: bool,
}

/// Splits `op{.a|.b}.(c|d).e` into the opcode and its slots.
fn slots(form: &str) -> (&str, Vec<Slot<'_>>) {
    let end = form.find(['.', '{']).unwrap_or(form.len());
    let (opcode, mut rest) = form.split_at(end);
    let mut slots = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (text, required, next) = if first == '{' {
            let (text, next) = rest[1..].split_once('}').unwrap_or((&rest[1..], ""));
            (text, false, next)
        } else if let Some(inner) = rest.strip_prefix(".(") {
            let (text, next) = inner.split_once(')').unwrap_or((inner, ""));
            (text, true, next)
        } else {
            // A form goes on with `.` or `{`, each one byte.
            let end = rest[1..].find(['.', '{']).map_or(rest.len(), |end| end + 1);
            (&rest[1..end], true, &rest[end..])
        };
        slots.push(Slot { choices: text.split('|').map(|choice| choice.trim_start_matches('.')).collect(), required });
        rest = next;
    }
    (opcode, slots)
}

/// All ways to write a form: every choice of what must be there, alone and with one of what may be. Together they show
/// each modifier at work; all combinations of optional ones would be too many.
fn spellings<'f>(slots: &[Slot<'f>]) -> Vec<Vec<&'f str>> {
    let optional = slots.iter().enumerate().filter(|(_, slot)| !slot.required);
    let with = optional.flat_map(|(place, slot)| slot.choices.iter().map(move |choice| (place, *choice)));
    [None].into_iter().chain(with.map(Some)).flat_map(|with| spellings_with(slots, with)).collect()
}

/// Every choice of what must be there, with one of what may be, if any, in its place.
fn spellings_with<'f>(slots: &[Slot<'f>], optional: Option<(usize, &'f str)>) -> Vec<Vec<&'f str>> {
    let mut all: Vec<Vec<&str>> = vec![Vec::new()];
    for (place, slot) in slots.iter().enumerate() {
        let choices = match optional {
            Some((at, choice)) if at == place => vec![choice],
            _ if slot.required => slot.choices.clone(),
            _ => continue,
        };
        all = all
            .iter()
            .flat_map(|start| choices.iter().map(move |choice| [start.as_slice(), &[*choice]].concat()))
            .collect();
    }
    all
}

/// Whether the table has a row for an opcode with modifiers.
fn has_row(opcode: &str, modifiers: &[&str]) -> bool {
    let ident = |text| ast::Ident { text, span: Span::default() };
    let instruction = ast::Instruction {
        guard: None,
        opcode: ident(opcode),
        modifiers: modifiers.iter().copied().map(ident).collect(),
        operands: Vec::new(),
        span: Span::default(),
    };
    table::find(&instruction).is_ok()
}

/// What of a form has no row.
#[derive(Default)]
struct Missing<'f> {
    /// Modifiers that it never has.
    never: Vec<&'f str>,
    /// What is missing beside them.
    spellings: Vec<Vec<&'f str>>,
    /// Everything.
    all: bool,
}

fn missing<'f>(opcode: &str, slots: &[Slot<'f>]) -> Missing<'f> {
    let (there, absent): (Vec<_>, Vec<_>) =
        spellings(slots).into_iter().partition(|spelling| has_row(opcode, spelling));
    if there.is_empty() {
        return Missing { all: true, ..Missing::default() };
    }
    let choices = slots.iter().flat_map(|slot| slot.choices.iter().copied());
    let never: Vec<&str> = choices.filter(|choice| !there.iter().any(|spelling| spelling.contains(choice))).collect();
    let spellings = absent.into_iter().filter(|spelling| !never.iter().any(|word| spelling.contains(word))).collect();
    Missing { never, spellings, all: false }
}

/// What of an instruction's forms has no row, in words. Forms that lack the same modifiers are named together.
fn missing_forms(forms: &[&str]) -> Vec<String> {
    let mut never: Vec<(String, Vec<String>)> = Vec::new();
    let mut rest = Vec::new();
    for form in forms {
        let (opcode, slots) = slots(form);
        let missing = missing(opcode, &slots);
        if missing.all {
            rest.push(format!("`{}`", brief(opcode, &slots)));
        }
        if !missing.never.is_empty() {
            let words: Vec<String> = missing.never.iter().map(|word| format!("`.{word}`")).collect();
            let (words, name) = (words.join(" "), format!("`{}`", brief(opcode, &slots)));
            match never.iter_mut().find(|(known, _)| *known == words) {
                Some((_, names)) => names.push(name),
                None => never.push((words, vec![name])),
            }
        }
        rest.extend(missing.spellings.iter().map(|spelling| format!("`{opcode}.{}`", spelling.join("."))));
    }
    never.into_iter().map(|(words, names)| format!("{words} in {}", names.join(", "))).chain(rest).collect()
}

/// A form without what may be left out, its long choices cut short.
fn brief(opcode: &str, slots: &[Slot<'_>]) -> String {
    const MOST: usize = 6;
    let mut text = opcode.to_owned();
    for slot in slots.iter().filter(|slot| slot.required) {
        match slot.choices.as_slice() {
            [only] => text.push_str(&format!(".{only}")),
            choices if choices.len() > MOST => text.push_str(&format!(".({}|…)", choices[..MOST].join("|"))),
            choices => text.push_str(&format!(".({})", choices.join("|"))),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::isa::{manual, rows::ROWS, vocabulary};

    /// The titles of the manual's entries (PTX 8.1).
    const MANUAL: &str = "
abs activemask add addc address_size aggr_smem_size alias alloca and applypriority atom bar barrier bfe bra
branchtargets brev brkpt brx call callprototype calltargets clock clock64 clock_hi cluster_ctaid
cluster_ctarank cluster_nctaid cluster_nctarank clusterid clz cnot common copysign cos cp createpolicy ctaid
current_graph_exec cvt cvta discard div dp2a dp4a dynamic_smem_size elect entry ex2 exit explicitcluster
extern file fma fns func getctarank globaltimer globaltimer_hi globaltimer_lo griddepcontrol gridid
is_explicit_cluster isspacep istypep laneid lanemask_eq lanemask_ge lanemask_gt lanemask_le lanemask_lt ld ldu
lg2 loc lop3 mad mad24 madc mapa match max maxclusterrank maxnreg maxntid mbarrier min minnctapersm mov mul
mul24 multimem nanosleep nclusterid nctaid neg noreturn not nsmid ntid nwarpid or pm0 pm0_64 pmevent popc
pragma prefetch prefetchu prmt rcp red redux rem reqnctapercluster reqntid reserved_smem_offset_begin
reserved_smem_offset_cap reserved_smem_offset_end ret rsqrt sad selp set setmaxnreg setp shf shfl shl shr sin
slct smid sqrt st stackrestore stacksave sub subc suld suq sured sust szext tanh target testp tex tid tld4
total_smem_size trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 version visible vmad vmax
vmax2 vmax4 vmin vmin2 vmin4 vote vset vset2 vset4 vshl vshr vsub vsub2 vsub4 warpid weak xor";

    #[test]
    fn every_entry_of_the_manual_is_there() {
        let names: Vec<_> = entries().iter().map(|entry| entry.name).collect();
        let missing: Vec<_> = MANUAL.split_ascii_whitespace().filter(|name| !names.contains(name)).collect();
        assert_eq!(missing, [""; 0]);
        assert_eq!(MANUAL.split_ascii_whitespace().count(), 182);
    }

    #[test]
    fn every_row_has_an_entry() {
        let entries: BTreeSet<_> = manual::ALL.iter().map(|entry| entry.name).collect();
        assert_eq!(entries.len(), manual::ALL.len(), "an opcode stands twice");
        for row in ROWS {
            assert!(entries.contains(slots(row.syntax).0), "`{}` has no entry", row.syntax);
        }
    }

    #[test]
    fn forms_are_ptx() {
        for entry in manual::ALL {
            assert!(vocabulary::is_opcode(entry.name), "{}", entry.name);
            assert!(!entry.forms.is_empty(), "`{}` has no forms", entry.name);
            for form in entry.forms {
                let (opcode, slots) = slots(form);
                assert_eq!(opcode, entry.name, "{form}");
                for choice in slots.iter().flat_map(|slot| &slot.choices) {
                    assert!(vocabulary::is_modifier(choice), "`.{choice}` in {form}");
                }
            }
        }
    }

    #[test]
    fn spellings_show_each_modifier() {
        let (opcode, slots) = slots("op{.x|.y}.(a|b).c{.z}");
        assert_eq!((opcode, slots.len()), ("op", 4));
        let all: Vec<String> = spellings(&slots).iter().map(|spelling| spelling.join(".")).collect();
        assert_eq!(all, ["a.c", "b.c", "x.a.c", "x.b.c", "y.a.c", "y.b.c", "a.c.z", "b.c.z"]);
    }

    #[test]
    fn missing_is_said_shortly() {
        assert!(missing_forms(&["ret{.uni}"]).is_empty());
        assert_eq!(missing_forms(&["ret{.uni}.f16"]), ["`ret.f16`"]);
        assert_eq!(missing_forms(&["ret{.uni|.sync}", "exit{.sync}"]), ["`.sync` in `ret`, `exit`"]);
        assert_eq!(missing_forms(&["mul.(lo|wide).(s32|s64)"]), ["`mul.wide.s64`"]);
        assert_eq!(missing_forms(&["ret.(a|b|c|d|e|f|g){.x|.y}"]), ["`ret.(a|b|c|d|e|f|…)`"]);
    }

    #[test]
    fn samples_are_valid_without_their_directive() {
        assert!(translates(".visible .entry k() { ret; }"));
        assert!(!translates(".visible .entry k() { frobnicate; }"));
        for Directive { name, sample, .. } in directives::ALL {
            let in_header = matches!(*name, "version" | "target" | "address_size");
            assert!(in_header || sample.contains(&format!(".{name}")), "{name}");
        }
    }

    #[test]
    fn special_registers_are_ptx() {
        for name in SPECIAL_REGISTERS.split_ascii_whitespace() {
            assert!(Special::is_known(&format!("%{name}")), "{name}");
        }
    }
}
