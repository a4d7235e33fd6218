//! The CUDA version that a program was built for, for functions that differ between versions.

use std::ffi::{CStr, c_int, c_uint, c_void};

use crate::abi::{NOT_SUPPORTED, Out, Result, Text, call};
use crate::api::FUNCTIONS;

/// Major versions, which are part of the name of `libcudart.so`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V11,
    V12,
    V13,
}

/// File names of the library, by version.
const NAMES: [(Version, &CStr); 3] =
    [(Version::V11, c"libcudart.so.11.0"), (Version::V12, c"libcudart.so.12"), (Version::V13, c"libcudart.so.13")];

/// Whether a library is loaded in this process.
#[cfg(target_os = "linux")]
fn is_loaded(name: &CStr) -> bool {
    // SAFETY: the name is a C string; `RTLD_NOLOAD` loads nothing new.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return false;
    }
    // SAFETY: the handle is from `dlopen` above. This releases the reference that it took.
    unsafe { libc::dlclose(handle) };
    true
}

#[cfg(not(target_os = "linux"))]
fn is_loaded(_name: &CStr) -> bool {
    false
}

/// The version of the program: that of the `libcudart.so` loaded with it. A process without one has this library under
/// another name, and counts as version 12.
pub(crate) fn of_program() -> Result<Version> {
    let mut loaded = NAMES.iter().filter(|(_, name)| is_loaded(name)).map(|(version, _)| *version);
    match (loaded.next(), loaded.next()) {
        (None, _) => Ok(Version::V12),
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(NOT_SUPPORTED
            .because("the process has loaded several versions of libcudart.so, where this function differs")),
    }
}

impl Version {
    /// The version as `cudaRuntimeGetVersion` encodes it.
    pub fn number(self) -> c_int {
        match self {
            Self::V11 => 11_080,
            Self::V12 => 12_080,
            Self::V13 => 13_000,
        }
    }
}

pub(crate) fn get() -> Result<c_int> {
    Ok(of_program()?.number())
}

/// Looks up a driver function. CUDA 11's function has no `status`.
pub(crate) fn point(name: Text, function: Out<*const c_void>, flags: u64, status: Out<c_uint>) -> Result {
    let version = of_program()?;
    let status = if version == Version::V11 { Out::null() } else { status };
    call::proc_address_with_status(FUNCTIONS, name, function, version.number(), flags, status)
}
