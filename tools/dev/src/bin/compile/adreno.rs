//! A model of the cost of Adreno's machine code, as Turnip shows the code.
//!
//! An instruction takes a cycle, and one more for each repetition and each idle cycle that it names. Functions such as square roots have a quarter
//! of the lanes (Mesa, `ir3_delay.c` and Freedreno's notes on the ISA). Memory instructions count as four.

use std::collections::BTreeMap;

use crate::cost::{self, Cost, RARE};

/// Elementary functions.
const FUNCTIONS: [&str; 9] = ["rcp", "rsq", "hrsq", "sqrt", "log2", "hlog2", "exp2", "hexp2", "sin"];
/// Instructions of memory begin so.
const MEMORY: [&str; 9] = ["ldg", "stg", "ldl", "stl", "ldp", "stp", "ldib", "stib", "atomic"];

/// The cost of a kernel, from the text that Turnip shows of it; `None` where that has none of Adreno's instructions.
pub fn cost(code: &str, unrolled: u64) -> Option<Cost> {
    let (mut costs, mut labels, mut jumps, mut tests) = (Vec::new(), BTreeMap::new(), Vec::new(), Vec::new());
    // Registers of constants with their bits.
    let mut constants = BTreeMap::new();
    let (_, code) = code.split_once("; num_ubos:")?.1.split_once('\n')?;
    for line in code.lines() {
        if let Some((first, values)) = line.strip_prefix("@const(c").and_then(|rest| rest.split_once(".x)")) {
            let values = values.split(',').zip(["x", "y", "z", "w"]);
            constants
                .extend(values.filter_map(|(value, part)| Some((format!("c{first}.{part}"), number(value.trim())?))));
            continue;
        }
        let (flags, rest) = flags(line.trim());
        let mut words = rest.split([' ', ',']).filter(|word| !word.is_empty());
        let Some(opcode) = words.next().filter(|word| !word.starts_with(['@', ';'])) else { continue };
        if let Some(label) = opcode.strip_suffix(':') {
            labels.insert(label, costs.len());
            continue;
        }
        let is_rare =
            |word: &str| constants.get(word).copied().or_else(|| number(word)).is_some_and(|bits| RARE.contains(&bits));
        match opcode.split('.').next().unwrap_or_default() {
            "br" | "jump" | "bany" | "ball" | "brao" | "braa" => {
                jumps.extend(words.find_map(|word| word.strip_prefix('#')).map(|label| (costs.len(), label)));
            }
            "cmps" if words.any(is_rare) => tests.push(costs.len()),
            _ => {}
        }
        costs.push(cycles(opcode) * (1 + flags.0) + flags.1);
    }
    let branches = jumps.into_iter().filter_map(|(at, label)| Some((at, *labels.get(label)?)));
    cost::weighted(&costs, &branches.collect(), &tests, unrolled)
}

/// The number of an instruction's repetitions, the number of idle cycles after it, and the rest of the line.
fn flags(mut line: &str) -> ((u64, u64), &str) {
    let mut counts = (0, 0);
    while let Some((flag, rest)) = line.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        let count = |name| flag.strip_prefix(name).and_then(|digits: &str| digits.parse().ok());
        counts.0 += count("rpt").unwrap_or(0);
        counts.1 += count("nop").unwrap_or(0);
        line = rest.trim_start();
    }
    (counts, line)
}

fn number(word: &str) -> Option<u32> {
    word.strip_prefix("0x").map_or_else(|| word.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok())
}

/// Issue cycles of an instruction.
fn cycles(opcode: &str) -> u64 {
    let is_memory = MEMORY.iter().any(|start| opcode.starts_with(start));
    if is_memory || FUNCTIONS.contains(&opcode) || opcode == "cos" { 4 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_repetitions_count() {
        let code = "; num_ubos:           0\n@const(c17.x)\t0x00000000, 0x50000000, 0x00000048, 0x00000001\n\
            l24:\n(rpt1)nop\n(ss)(nop3) mad.f32 r1.x, r2.x, r3.x, r1.x\nrsq r1.x, r2.x\nbr p0.x, #l24\n\
            cmps.u.ge p0.x, r0.w, c17.y\nbr !p0.x, #l30\nadd.f r0.x, r0.x, r0.x\nl30:\nend\n";
        assert_eq!(cost(code, 1), Some(Cost { cycles: 10 * (2 + 4 + 4 + 1) + 3, loops: 1 }));
    }
}
