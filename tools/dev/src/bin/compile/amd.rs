//! A model of what AMD's machine code costs: the issue cycles of each instruction, ten times as much for each loop around it.
//!
//! The rates are those of RDNA 2 (AMD, "RDNA 2 Instruction Set Architecture", 2020, and "RDNA Architecture", 2019, page 12; LLVM's
//! `SISchedule.td`, model GFX10): a full-rate vector instruction takes one cycle, transcendental functions and 32-bit products a
//! quarter of that rate, f64 a sixteenth. Memory instructions count as four, which is the rate of the address units, not the latency.
//! Polaris has the same proportions. Nothing is known of how often a loop or a branch is taken: code that is rarely executed counts
//! in full, but for what the translator keeps for infinities and NaNs on f64, for very large and very small operands of divisions and square
//! roots, and for multiply-adds that rounding errors don't decide. So the numbers compare two versions of the same kernel, and say nothing about its time.

use std::collections::{BTreeMap, BTreeSet};

use crate::cost::{self, Cost, RARE};

/// The cost of a kernel, from the text that RADV shows of it, a round of whose loops does the work of so many; `None` where that has none of
/// AMD's instructions.
pub fn cost(code: &str, unrolled: u64) -> Option<Cost> {
    let (mut instructions, mut labels, mut tests) = (Vec::new(), BTreeMap::new(), Vec::new());
    // Scalar registers with such constants.
    let mut rare_constants = BTreeSet::new();
    for line in code.lines() {
        let mut words = line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
        let Some(first) = words.next() else { continue };
        if let Some(label) = first.strip_suffix(':') {
            labels.insert(label, instructions.len());
        } else if is_instruction(first) {
            let operands: Vec<&str> = words.take_while(|word| *word != ";").collect();
            if let Some((register, value)) = constant(first, &operands) {
                if RARE.contains(&value) {
                    rare_constants.insert(register);
                } else {
                    rare_constants.remove(register);
                }
            } else if first.starts_with("v_cmp") {
                let is_rare = |operand| number(operand).is_some_and(|value| RARE.contains(&value));
                if operands.iter().any(|operand| rare_constants.contains(operand) || is_rare(operand)) {
                    tests.push(instructions.len());
                }
            }
            instructions.push((first, operands.first().copied().unwrap_or_default()));
        }
    }
    let target = |&(opcode, operand): &(&str, &str)| labels.get(operand).filter(|_| opcode.contains("branch"));
    let branches = instructions.iter().enumerate().filter_map(|(at, instruction)| Some((at, *target(instruction)?)));
    let costs: Vec<u64> = instructions.iter().map(|(opcode, _)| cycles(opcode)).collect();
    cost::weighted(&costs, &branches.collect(), &tests, unrolled)
}

/// The scalar register that an instruction sets to a constant.
fn constant<'a>(opcode: &str, operands: &[&'a str]) -> Option<(&'a str, u32)> {
    let value = match (opcode, operands) {
        ("s_mov_b32", [_, value]) => number(value)?,
        ("s_brev_b32", [_, value]) => number(value)?.reverse_bits(),
        ("s_bfm_b32", [_, ones, place]) => {
            1u32.checked_shl(number(ones)?)?.wrapping_sub(1).checked_shl(number(place)?)?
        }
        _ => return None,
    };
    Some((operands[0], value))
}

fn number(operand: &str) -> Option<u32> {
    operand.strip_prefix("0x").map_or_else(|| operand.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok())
}

/// The units that have instructions, as their prefixes.
const MEMORY: [&str; 6] = ["ds_", "global_", "buffer_", "flat_", "scratch_", "image_"];

fn is_instruction(word: &str) -> bool {
    word.starts_with("s_") || word.starts_with("v_") || MEMORY.iter().any(|unit| word.starts_with(unit))
}

/// Issue cycles of an instruction.
fn cycles(opcode: &str) -> u64 {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| opcode.starts_with(prefix));
    if starts(&["s_waitcnt", "s_nop", "s_clause", "s_inst_prefetch", "s_delay", "s_code_end"]) {
        0
    } else if opcode.starts_with("s_") {
        1
    } else if starts(&MEMORY) {
        4
    } else if opcode.contains("f64") {
        if starts(&["v_rcp", "v_rsq", "v_sqrt"]) { 32 } else { 16 }
    } else if starts(&["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"])
        || starts(&["v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mul_lo_i32", "v_mad_u64_u32", "v_mad_i64_i32"])
    {
        4
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_their_rates() {
        let code = "BB0:\n\
            \ts_mov_b32 s0, s1     ; be800301\n\
            \ts_waitcnt vmcnt(0)   ; bf8c3f70\n\
            \tv_fma_f32 v0, v1, v2, v3 ; d54b0000 040e0501\n\
            \tv_rcp_f32_e32 v0, v0 ; 7e005500\n\
            \tv_mul_lo_u32 v0, v0, v1 ; d5690000 00020300\n\
            \tv_add_f64 v[0:1], v[0:1], v[2:3] ; d5640000 00020500\n\
            \tv_rcp_f64_e32 v[0:1], v[0:1] ; 7e005f00\n\
            \tglobal_load_dword v0, v[0:1], off ; dc308000 007d0000\n\
            \ts_endpgm             ; bf810000\n";
        assert_eq!(cost(code, 1), Some(Cost { cycles: 1 + 1 + 4 + 4 + 16 + 32 + 4 + 1, loops: 0 }));
    }

    #[test]
    fn loops_nest() {
        // The outer loop has two backward branches. The branch to BB9 leaves it, and closes none.
        let code = "BB0:\n\tv_add_f32 v0, v0, v0\nBB1:\n\tv_add_f32 v0, v0, v0\nBB2:\n\tv_add_f32 v0, v0, v0\n\
            \ts_cbranch_scc1 BB2\n\ts_cbranch_scc0 BB1\n\ts_cbranch_execz BB9\n\ts_branch BB1\nBB9:\n\ts_endpgm\n";
        assert_eq!(cost(code, 1), Some(Cost { cycles: 1 + 10 + 200 + 30 + 1, loops: 2 }));
    }

    #[test]
    fn loops_one_after_the_other_do_not_nest() {
        let code = "BB0:\n\tv_add_f32 v0, v0, v0\n\ts_branch BB0\nBB1:\n\tv_add_f32 v0, v0, v0\n\ts_branch BB1\n";
        assert_eq!(cost(code, 1), Some(Cost { cycles: 40, loops: 1 }));
    }

    #[test]
    fn what_extreme_operands_take_is_rare() {
        let code = "BB0:\n\ts_mov_b32 s9, 0xffe00000\n\tv_cmpx_le_u32_e32 s9, v1 ; 7da602ff\n\ts_cbranch_execz BB2\nBB1:\n\tv_add_f64 v[0:1], v[0:1], v[2:3]\n\
            BB2:\n\ts_brev_b32 s9, 10\n\tv_cmpx_le_u32_e32 s9, v1\n\ts_cbranch_execz BB3\n\tv_add_f32 v0, v0, v0\nBB3:\n\ts_mov_b32 s9, 5\n\tv_cmp_gt_u32_e32 vcc, s9, v1\n\ts_cbranch_execz BB4\n\tv_add_f64 v[0:1], v[0:1], v[2:3]\nBB4:\n\ts_endpgm\n";
        assert_eq!(cost(code, 1), Some(Cost { cycles: 3 + 3 + 3 + 16 + 1, loops: 0 }));
    }

    #[test]
    fn unrolled_loops_have_fewer_rounds() {
        let code =
            "BB0:\n\tv_add_f32 v0, v0, v0\nBB1:\n\tv_add_f32 v0, v0, v0\n\tv_add_f32 v0, v0, v0\n\ts_branch BB1\n";
        assert_eq!(cost(code, 2), Some(Cost { cycles: 1 + 15, loops: 1 }));
    }

    #[test]
    fn other_code_has_no_cost() {
        assert_eq!(cost("define void @main() {\n  ret void\n}\n", 1), None);
    }
}
