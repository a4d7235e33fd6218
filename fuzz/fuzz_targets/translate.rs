//! Any text, translated for any target with any options.

#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target};
use ptx2spv_fuzz::{cross, mutate};
use ptx2spv_tests::fuzz;

fuzz_target!(|data: &[u8]| fuzz::translate(data, 8));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_crossover!(|one: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
    cross(one, other, out, seed)
});
