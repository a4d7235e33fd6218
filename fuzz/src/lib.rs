//! Mutators of inputs that are texts, or a text and something else after a zero byte.

use libfuzzer_sys::fuzzer_mutate;
use ptx2spv_tests::fuzz::{parts, text};
use ptx2spv_tests::random::Random;

/// Mutates the first `size` bytes of `data`, which has room for more, and returns their new number. One of the two
/// parts is mutated word by word if it is text, else byte by byte.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random::new(seed.into());
    let input = &data[..size];
    let (first, second) = parts(input);
    let has_two = first.len() < size;
    let changes_second = has_two && random.chance(60);
    let part = if changes_second { second } else { first };
    let changed = match std::str::from_utf8(part) {
        Ok(text) if !text.is_empty() && random.chance(80) => text::mutate(text, &mut random).into_bytes(),
        _ => return fuzzer_mutate(data, size, max_size),
    };
    let parts: [&[u8]; 3] = match (has_two, changes_second) {
        (false, _) => [&changed, &[], &[]],
        (true, false) => [&changed, &[0], second],
        (true, true) => [first, &[0], &changed],
    };
    fill(data, &parts.concat(), max_size)
}

/// Inserts lines of another input into one, in the last part of each.
pub fn cross(one: &[u8], other: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut random = Random::new(seed.into());
    let (first, second) = parts(one);
    let (first_of_other, second_of_other) = parts(other);
    let lines = |one, other, random: &mut Random| {
        text::cross(&String::from_utf8_lossy(one), &String::from_utf8_lossy(other), random).into_bytes()
    };
    let room = out.len();
    if first.len() < one.len() {
        let crossed = lines(second, second_of_other, &mut random);
        fill(out, &[first, &[0], &crossed].concat(), room)
    } else {
        let crossed = lines(first, first_of_other, &mut random);
        fill(out, &crossed, room)
    }
}

fn fill(data: &mut [u8], bytes: &[u8], max_size: usize) -> usize {
    let size = bytes.len().min(max_size).min(data.len());
    data[..size].copy_from_slice(&bytes[..size]);
    size
}
