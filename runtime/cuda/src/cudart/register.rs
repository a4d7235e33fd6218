//! Functions that compiler-generated code calls: before `main`, at exit, and around launches.

use std::ffi::{CStr, c_char, c_int};

use crate::abi::code;
use crate::abi::raw::{Memory, Text};
use crate::abi::trace;
use crate::cudart::current;
use crate::cudart::error;
use crate::cudart::registry;

pub(crate) fn binary(image: Memory) -> Memory {
    registry::add(image)
}

/// Has nothing left to do once everything in the binary is registered.
pub(crate) fn binary_end(_binary: Memory) {}

pub(crate) fn unregister_binary(binary: Memory) {
    registry::remove(binary);
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn function(
    binary: Memory,
    host: Memory,
    _device: Memory,
    name: Text,
    _thread_limit: c_int,
    _thread: Memory,
    _block: Memory,
    _block_size: Memory,
    _grid_size: Memory,
    _warp: Memory,
) {
    registry::add_function(binary, host, name);
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn variable(
    binary: Memory,
    host: Memory,
    _device: Memory,
    name: Text,
    _is_external: c_int,
    size: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    registry::add_variable(binary, host, name, size as u64);
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn managed_variable(
    binary: Memory,
    pointer: Memory,
    _device: Memory,
    name: Text,
    _is_external: c_int,
    size: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    registry::add_managed(binary, pointer, name, size as u64);
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn texture(
    binary: Memory,
    host: Memory,
    _device: Memory,
    name: Text,
    _dimensions: c_int,
    is_normalized_float: c_int,
    _is_external: c_int,
) {
    registry::add_reference(binary, host, name, is_normalized_float != 0);
}

pub(crate) fn surface(
    binary: Memory,
    host: Memory,
    _device: Memory,
    name: Text,
    _dimensions: c_int,
    _is_external: c_int,
) {
    registry::add_reference(binary, host, name, false);
}

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
