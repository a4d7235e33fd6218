//! The exported functions, generated from `nvml.in` by the build script.

#![allow(non_snake_case, missing_docs, reason = "the names are NVML's, and NVML's manual documents them")]

use std::ffi::{c_char, c_int, c_uint};

use crate::abi::call::Call;
use crate::abi::{Memory, Out, Text};
use crate::nvml::{self, call};

include!(concat!(env!("OUT_DIR"), "/nvml.rs"));

/// The text of a result code, in NVML's numbering.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(result: u32) -> *const c_char {
    call::text(result).as_ptr()
}
