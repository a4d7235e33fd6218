//! A model of the cost of Intel's machine code, as ANV shows the code.
//!
//! Execution units of Gen 9 to Xe have eight lanes for floats and integers of 32 bits, and two for mathematical functions (Intel, "The Compute
//! Architecture of Intel Processor Graphics Gen9", 2015). An instruction names its lanes, and takes as many cycles as these need; f64 and
//! 64-bit integers take four times as many. Messages to memory count as four. Costs are those of 32 invocations.

use std::collections::{BTreeMap, BTreeSet};

use crate::cost::{self, Cost, RARE};

/// Lanes of an execution unit.
const LANES: u64 = 8;

/// The cost of a kernel, from the text that ANV shows of it; `None` where that has none of Intel's instructions.
pub fn cost(code: &str, subgroup: u32, unrolled: u64) -> Option<Cost> {
    let (mut costs, mut labels, mut jumps, mut tests) = (Vec::new(), BTreeMap::new(), Vec::new(), Vec::new());
    // Flags and registers that say whether an operand is extreme.
    let mut rare = BTreeSet::new();
    for line in code.lines() {
        let mut words = line.split_whitespace().peekable();
        // A predicate stands before the instruction.
        let predicate = words.next_if(|word| word.starts_with("(+") || word.starts_with("(-")).unwrap_or_default();
        let Some(mut first) = words.next() else { continue };
        let is_function = first == "math";
        if is_function {
            first = words.next().unwrap_or_default();
        }
        if let Some(label) = first.strip_suffix(':') {
            labels.insert(label, costs.len());
        } else if let Some((opcode, lanes)) = instruction(first) {
            if matches!(opcode, "if" | "while") {
                jumps.extend(words.nth(1).map(|label| (costs.len(), label)));
                let flag = predicate.strip_prefix("(+").and_then(|rest| rest.strip_suffix(')'));
                if flag.is_some_and(|flag| rare.contains(flag)) {
                    tests.push(costs.len());
                }
            } else {
                let target = words.next().map(register).filter(|name| *name != "null");
                let operands: Vec<&str> = words.take_while(|word| *word != "{").collect();
                let is_rare = match opcode {
                    "cmp" => operands.iter().any(|word| constant(word).is_some_and(|value| RARE.contains(&value))),
                    "or" => operands.iter().all(|word| rare.contains(register(word))),
                    _ => false,
                };
                for name in target.into_iter().chain(flag(first)) {
                    if is_rare {
                        rare.insert(name)
                    } else {
                        rare.remove(name)
                    };
                }
            }
            costs.push(cycles(if is_function { "math" } else { opcode }, lanes, line));
        }
    }
    let branches = jumps.into_iter().filter_map(|(at, label)| Some((at, *labels.get(label)?)));
    let Cost { cycles, loops } = cost::weighted(&costs, &branches.collect(), &tests, unrolled)?;
    Some(Cost { cycles: cycles * 32 / u64::from(subgroup.max(1)), loops })
}

/// An instruction's name without modifiers, and its lanes.
fn instruction(word: &str) -> Option<(&str, u64)> {
    let (name, lanes) = word.strip_suffix(')')?.split_once('(')?;
    Some((name.split('.').next()?, lanes.parse().ok()?))
}

/// The flag that an instruction sets, which its name ends with: `f0.0` of `cmp.ge.f0.0(16)`.
fn flag(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('(')?;
    name.find(".f").and_then(|at| name.get(at + 1..))
}

/// The register of an operand.
fn register(word: &str) -> &str {
    word.split('<').next().unwrap_or_default()
}

/// An operand that is an integer.
fn constant(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(['U', 'D']);
    match digits.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => digits.parse::<i32>().ok().map(|value| value as u32),
    }
}

/// Issue cycles of an instruction.
fn cycles(opcode: &str, lanes: u64, line: &str) -> u64 {
    let has = |types: &[&str]| line.split_whitespace().any(|word| types.iter().any(|ending| word.ends_with(ending)));
    let rate = match opcode {
        "nop" | "sync" => return 0,
        "if" | "else" | "endif" | "while" | "do" | "break" | "cont" | "halt" | "jmpi" => return 1,
        "send" | "sends" | "sendc" | "sendsc" | "math" => 4,
        _ if has(&[":DF", ":Q", ":UQ", ">DF", ">Q", ">UQ"]) => 4,
        _ => 1,
    };
    lanes.div_ceil(LANES) * rate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_lanes_count() {
        let code = "mov(16)         g12<1>D         8D                              { align1 1H };\n\nLABEL1:\n\
            mad(16)         g94<1>F         g93.0<0,1,0>F   g27<8,8,1>F     g27<1,1,1>F { align1 1H compacted };\n\
            math rsq(16)    g33<1>F         g31<8,8,1>F     null<8,8,1>F    { align1 1H @1 $7 };\n\
            sync nop(1)                     null<0,1,0>UB                   { align1 WE_all 1N @1 };\n\
            (+f0.0) while(16) JIP:  LABEL1                                  { align1 1H };\n";
        assert_eq!(cost(code, 16, 1), Some(Cost { cycles: 2 * (2 + 10 * (2 + 8 + 1)), loops: 1 }));
    }

    #[test]
    fn what_extreme_operands_take_is_rare() {
        let code = "cmp.ge.f0.0(8) null<1>UD       g21<8,8,1>UD    0x50000000UD    { align1 1Q };\n\
            (+f0.0) if(8)   JIP:  LABEL1          UIP:  LABEL0              { align1 1Q };\n\
            mov(8)          g1<1>F          g2<8,8,1>F                      { align1 1Q };\nLABEL1:\n\
            endif(8)        JIP:  LABEL2                                    { align1 1Q };\n";
        assert_eq!(cost(code, 32, 1), Some(Cost { cycles: 3, loops: 0 }));
    }

    #[test]
    fn the_last_test_of_a_flag_decides() {
        let code = |between: &str| {
            format!(
                "cmp.ge.f0.0(8) g3<1>UD         g21<8,8,1>UD    0x50000000UD    {{ align1 1Q }};\n\
                cmp.ge.f0.0(8)  g4<1>UD         g22<8,8,1>UD    0x72800000UD    {{ align1 1Q }};\n{between}\
                (+f0.0) if(8)   JIP:  LABEL1          UIP:  LABEL0              {{ align1 1Q }};\n\
                mov(8)          g1<1>F          g2<8,8,1>F                      {{ align1 1Q }};\nLABEL1:\n\
                endif(8)        JIP:  LABEL2                                    {{ align1 1Q }};\n"
            )
        };
        let cycles = |between| cost(&code(between), 32, 1).map(|cost| cost.cycles);
        assert_eq!(cycles("or.nz.f0.0(8)  null<1>UD       g3<8,8,1>UD     g4<8,8,1>UD     { align1 1Q };\n"), Some(5));
        assert_eq!(cycles("or.nz.f0.0(8)  null<1>UD       g3<8,8,1>UD     g5<8,8,1>UD     { align1 1Q };\n"), Some(6));
        assert_eq!(cycles("cmp.z.f0.0(8)  null<1>D        g3<8,8,1>D      1D              { align1 1Q };\n"), Some(6));
    }
}
