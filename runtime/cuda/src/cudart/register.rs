//! The functions that compilers have programs call on their own: before `main`, at the end, and around launches.

use std::ffi::{CStr, c_char, c_int};

use crate::code;
use crate::cudart::current;
use crate::cudart::error;
use crate::cudart::registry;
use crate::raw::{Memory, Text};
use crate::trace;

pub(crate) fn binary(image: Memory) -> Memory {
    registry::add(image)
}

/// Everything in a binary has been registered by then.
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

/// References to textures and surfaces, to which nothing can be bound.
pub(crate) fn reference(_binary: Memory, _host: Memory, _device: Memory, _name: Text, _dimensions: c_int) {}

/// Has the host's pointers lead to managed variables, before the program's first access to one. The program doesn't look at what is
/// answered here, and would follow a NULL pointer: so it is told why.
pub(crate) fn init_module(binary: Memory) -> c_char {
    let loaded = current::enter().and_then(|()| registry::load(binary));
    match loaded {
        Ok(()) => 1,
        Err(code) => {
            let name = error::name_of(code).map_or_else(|| code.0.to_string().into(), CStr::to_string_lossy);
            let reason = code::take_reason().map_or_else(String::new, |reason| format!(": {reason}"));
            trace::say(&format!("managed variables are not there: {name}{reason}"));
            0
        }
    }
}
