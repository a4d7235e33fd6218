//! The support status of the PTX manual's entries: the contents of `docs/support.md`.
//!
//! No status is written by hand. For instructions, the manual's forms are compared with the rows of the [instruction
//! table](table); special registers are looked up like in decoding; directives, and things that no form expresses, such
//! as recursion, are tried with small modules.

use ptx2spv_translator::internals::decode::program::Special;
use ptx2spv_translator::internals::isa::manual::{self, Instruction, Use};
use ptx2spv_translator::internals::isa::table;
use ptx2spv_translator::{Options, Program, Source, Target};

use crate::directives::{self, Directive};
use crate::forms::missing_forms;

/// The part of the manual that an entry belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// An opcode (PTX chapter 9).
    Instruction,
    /// A directive of a module or function (PTX chapters 5 and 11).
    Directive,
    /// A special register (PTX chapter 10).
    SpecialRegister,
}

/// The support status of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// Everything translates.
    Full,
    /// Some uses translate. Lists the missing ones.
    Part(Vec<String>),
    /// Nothing translates: every use is an error.
    None,
}

/// An entry of the manual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, without dot or percent sign.
    pub name: &'static str,
    /// The part of the manual.
    pub family: Family,
    /// The support status.
    pub support: Support,
    /// Further remarks for users.
    pub remark: &'static str,
}

/// Special registers by their names without the percent sign.
const SPECIAL_REGISTERS: &str = "
aggr_smem_size clock clock64 clock_hi cluster_ctaid cluster_ctarank cluster_nctaid cluster_nctarank clusterid ctaid
current_graph_exec dynamic_smem_size globaltimer globaltimer_hi globaltimer_lo gridid is_explicit_cluster laneid
lanemask_eq lanemask_ge lanemask_gt lanemask_le lanemask_lt nclusterid nctaid nsmid ntid nwarpid pm0 pm0_64
reserved_smem_offset_begin reserved_smem_offset_cap reserved_smem_offset_end smid tid total_smem_size warpid";

/// All entries, ordered by family and name.
pub fn entries() -> Vec<Entry> {
    let instructions = manual::ALL.iter().map(instruction);
    let directives = directives::ALL.iter().map(directive);
    instructions.chain(directives).chain(SPECIAL_REGISTERS.split_ascii_whitespace().map(special_register)).collect()
}

fn instruction(instruction: &Instruction) -> Entry {
    let Instruction { name, ref forms, uses, remark } = *instruction;
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

/// Whether a program translates for a device with all features. A sample that begins with an instruction or a
/// declaration gets a standard header.
fn translates(sample: &str) -> bool {
    let header = if sample.contains(".version") { "" } else { ".version 8.1\n.target sm_90\n.address_size 64\n" };
    let source = Source::new("sample", format!("{header}{sample}"));
    let target = Target::preset("nvidia");
    let options = target.as_ref().map(Options::new);
    let program = Program::new(&source);
    matches!((program, options), (Ok(program), Some(options)) if program.translate(&options).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

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
