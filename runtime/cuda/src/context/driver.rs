//! Initialization, versions, errors, and looking up functions.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null;
use std::sync::Once;

use crate::abi::code::{Code, INVALID_VALUE, NOT_FOUND};
use crate::abi::raw::{In, Out};
use crate::abi::trace;
use crate::context::state;

/// CUDA 12.8. Programs refuse a driver older than their toolkit, and ask a newer one for functions that are not
/// documented yet.
const VERSION: i32 = 12_080;

/// Overrides the reported version.
const VERSION_VARIABLE: &str = "PTX2SPV_CUDA_VERSION";

pub(crate) fn init(flags: c_uint) -> Result<(), Code> {
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    state::open()
}

pub(crate) fn version(version: Out<c_int>) -> Result<(), Code> {
    let chosen = std::env::var(VERSION_VARIABLE).ok().and_then(|value| value.parse().ok());
    version.set(chosen.unwrap_or(VERSION))
}

pub(crate) fn error_name(error: u32, text: Out<*const c_char>) -> Result<(), Code> {
    answer(Code(error).name(), text)
}

pub(crate) fn error_text(error: u32, text: Out<*const c_char>) -> Result<(), Code> {
    answer(Code(error).text(), text)
}

fn answer(found: Option<&'static std::ffi::CStr>, text: Out<*const c_char>) -> Result<(), Code> {
    text.set(found.map_or(null(), std::ffi::CStr::as_ptr))?;
    found.map(|_| ()).ok_or(INVALID_VALUE)
}

/// Internal function tables of NVIDIA's libraries, which this library doesn't have. Only NVIDIA's runtime library asks
/// for one, and its own error message is misleading.
pub(crate) fn export_table(table: Out<*const c_void>, _id: In<[u8; 16]>) -> Result<(), Code> {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        trace::say(
            "NVIDIA's CUDA runtime library is linked into this program, or loaded by it, and works with NVIDIA's driver alone; build the \
             program with `nvcc -cudart shared`, and run it by `ptx2spv cuda`",
        );
    });
    table.set_if_any(null());
    Err(NOT_FOUND)
}

pub(crate) fn profiler() -> Result<(), Code> {
    crate::context::current().map(|_| ())
}
