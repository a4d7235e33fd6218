//! Modules with a few random changes of words. They are refused or compiled, without panics, hangs or huge allocations.

use std::fs;
use std::time::{Duration, Instant};

use ptx2spv_translator::{Options, Program, Source};

use super::{assemble, compile_words, device, ptx_files, shapes};
use crate::config::{Choice, Seeded};

const ROUNDS: u32 = 3000;

/// Modules to start from, with the names of their entry points.
fn seeds() -> Vec<(Vec<u32>, Vec<String>)> {
    let target = device();
    let mut seeds = Vec::new();
    for file in ptx_files().iter().step_by(7) {
        let source = Source::new(file.display().to_string(), fs::read_to_string(file).expect("it can be read"));
        let Ok(program) = Program::new(&source) else { continue };
        let options = Options::new(&target).keep_going(true).line_info(true);
        let Ok(translation) = program.translate(&options) else { continue };
        let entries = translation.interface.entries.iter().map(|entry| entry.name.clone()).collect();
        seeds.push((translation.spirv, entries));
    }
    for text in shapes::ALL {
        seeds.push((assemble(text), vec!["main".into()]));
    }
    seeds
}

/// A number below `count`, which is not 0.
fn below(choice: &mut Seeded, count: usize) -> usize {
    choice.pick(count as u32) as usize
}

/// The positions of a module's instructions.
fn starts(words: &[u32]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 5;
    while let Some(&word) = words.get(at) {
        starts.push(at);
        at += ((word >> 16) as usize).max(1);
    }
    starts
}

fn mutate(words: &mut Vec<u32>, choice: &mut Seeded) {
    let starts = starts(words);
    let start = starts[below(choice, starts.len())];
    let end = starts.iter().copied().find(|&next| next > start).unwrap_or(words.len()).min(words.len());
    let inside = start + below(choice, end - start);
    match choice.pick(9) {
        0 => words[inside] = words[below(choice, words.len())],
        1 => words[inside] = choice.pick(words[3].max(1)),
        2 => words[inside] ^= 1 << choice.pick(32),
        3 => words[inside] = words[inside].wrapping_add(choice.pick(5)).wrapping_sub(2),
        4 => words[inside] = [0, 1, 2, 32, 64, 0x7fff_ffff, u32::MAX][below(choice, 7)],
        5 => drop(words.drain(start..end)),
        6 => {
            let copy = words[start..end].to_vec();
            let to = starts[below(choice, starts.len())];
            words.splice(to..to, copy);
        }
        7 => words.truncate(inside),
        // Another operation with the same number of operands.
        _ => words[start] = words[start] & 0xffff_0000 | choice.pick(450),
    }
}

#[test]
fn mutated_modules_do_no_harm() {
    let seeds = seeds();
    let target = device();
    let mut choice = Seeded::new(1);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let (words, entries) = &seeds[below(&mut choice, seeds.len())];
        let mut words = words.clone();
        for _ in 0..1 + choice.pick(3) {
            if words.len() > 6 {
                mutate(&mut words, &mut choice);
            }
        }
        let begin = Instant::now();
        match compile_words(&words, &entries[below(&mut choice, entries.len())], &target) {
            Ok(code) => {
                // Refusals and code need an origin for every instruction.
                assert_eq!(code.insts.len(), code.places.len(), "round {round}");
                accepted += 1;
            }
            Err(refusal) => {
                assert!(!refusal.rule.is_empty() && !refusal.message.is_empty(), "round {round}");
                refused += 1;
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(5), "round {round} takes too long");
    }
    // Both outcomes must occur, or the mutations test nothing.
    assert!(accepted > ROUNDS / 20 && refused > ROUNDS / 20, "{accepted} accepted, {refused} refused");
}
