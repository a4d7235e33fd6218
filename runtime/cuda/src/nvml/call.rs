//! The frame around every function of NVML: that of the driver's functions, with NVML's result codes.

use std::ffi::CStr;

use crate::abi::call::Call;
use crate::abi::{
    Code, INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, NOT_FOUND, NOT_INITIALIZED, NOT_SUPPORTED, OUT_OF_MEMORY, Result,
    SUCCESS,
};
use crate::nvml;

/// A buffer for a text is too small. The driver has no code for that; this one stands above all of its codes.
pub(super) const TOO_SMALL: Code = Code(1 << 16);

/// NVML's code for errors of which the driver has none.
const UNKNOWN: u32 = 999;

/// NVML's code for one of the driver's.
fn number(code: Code) -> u32 {
    match code {
        SUCCESS => 0,
        NOT_INITIALIZED => 1,
        INVALID_VALUE | INVALID_DEVICE => 2,
        NOT_SUPPORTED => 3,
        NOT_FOUND => 6,
        TOO_SMALL => 7,
        NO_DEVICE => 9,
        OUT_OF_MEMORY => 20,
        _ => UNKNOWN,
    }
}

/// The message of a result code of NVML.
pub(super) fn text(result: u32) -> &'static CStr {
    match result {
        0 => c"success",
        1 => c"not initialised",
        2 => c"invalid argument",
        3 => c"not supported",
        6 => c"not found",
        7 => c"the buffer is too small",
        9 => c"no device",
        20 => c"out of memory",
        _ => c"unknown error",
    }
}

/// Runs a function's body and returns its result code.
pub(super) fn run(call: &Call<'_>, body: impl FnOnce() -> Result) -> u32 {
    number(call.run_with_names(|code| Some(text(number(code))), body))
}

/// The answer of a function that isn't implemented.
pub(super) fn missing(name: &'static str) -> u32 {
    let refuse = || nvml::check().and(Err(NOT_SUPPORTED.because("Vulkan has no such query")));
    run(&Call { name, arguments: &[], per_thread: false }, refuse)
}
