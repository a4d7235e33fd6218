//! A binary, perhaps with PTX.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ptx2spv_tests::fuzz;

fuzz_target!(|data: &[u8]| fuzz::binary(data));
