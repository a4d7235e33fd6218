//! Looking up driver functions from programs of the runtime API.

use std::ffi::{c_int, c_uint, c_void};

use crate::abi::code::Code;
use crate::abi::exports;
use crate::abi::raw::{Out, Text};
use crate::api::FUNCTIONS;
use crate::cudart::version::{self, Version};

/// CUDA 11's function has no `status`.
pub(crate) fn point(name: Text, function: Out<*const c_void>, flags: u64, status: Out<c_uint>) -> Result<(), Code> {
    let version = version::of_program()?;
    let status = if version == Version::V11 { Out::null() } else { status };
    point_of_version(name, function, version.number(), flags, status)
}

pub(crate) fn point_of_version(
    name: Text,
    function: Out<*const c_void>,
    version: c_int,
    flags: u64,
    status: Out<c_uint>,
) -> Result<(), Code> {
    exports::proc_address_with_status(FUNCTIONS, name, function, version, flags, status)
}
