//! Functions that compiler-generated code calls: before `main`, at exit, and around launches.

use std::ffi::{CStr, c_char};

use crate::abi::code;
use crate::abi::raw::Memory;
use crate::abi::trace;
use crate::cudart::current;
use crate::cudart::error;
use crate::cudart::registry;

/// Has nothing left to do once everything in the binary is registered.
pub(crate) fn binary_end(_binary: Memory) {}

/// Sets the host's pointers to managed variables, before the program's first access to one. Programs ignore the result
/// and would follow a NULL pointer, so that an error is also written to the standard error.
pub(crate) fn init_module(binary: Memory) -> c_char {
    let loaded = current::enter().and_then(|()| registry::load(binary));
    match loaded {
        Ok(()) => 1,
        Err(code) => {
            let name = error::name_of(code).map_or_else(|| code.0.to_string().into(), CStr::to_string_lossy);
            let reason = code::take_reason().map_or_else(String::new, |reason| format!(": {reason}"));
            trace::say(&format!("managed variables are not available: {name}{reason}"));
            0
        }
    }
}
