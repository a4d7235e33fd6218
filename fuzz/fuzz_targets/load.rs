//! A description and a module, loaded and launched.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use ptx2spv_fuzz::mutate;
use ptx2spv_tests::fuzz;

fuzz_target!(|data: &[u8]| fuzz::load(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});
