//! The version of CUDA that a program was built for, where functions of one name differ.

use std::ffi::{CStr, c_int};

use crate::code::{Code, NOT_SUPPORTED};
use crate::raw::Out;

/// Main versions, by which `libcudart.so` is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V11,
    V12,
    V13,
}

/// The names of the library in programs.
const NAMES: [(Version, &CStr); 3] =
    [(Version::V11, c"libcudart.so.11.0"), (Version::V12, c"libcudart.so.12"), (Version::V13, c"libcudart.so.13")];

/// Whether a library is loaded.
#[cfg(target_os = "linux")]
fn is_loaded(name: &CStr) -> bool {
    // SAFETY: the name is a string; nothing is loaded that isn't yet.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return false;
    }
    // SAFETY: the handle is that of the call before, whose count is taken back.
    unsafe { libc::dlclose(handle) };
    true
}

#[cfg(not(target_os = "linux"))]
fn is_loaded(_name: &CStr) -> bool {
    false
}

/// The version of the program, which is that of the `libcudart.so` that was loaded for it. Without any, a program has this library
/// by another name, and means version 12.
pub(crate) fn of_program() -> Result<Version, Code> {
    let mut loaded = NAMES.iter().filter(|(_, name)| is_loaded(name)).map(|(version, _)| *version);
    match (loaded.next(), loaded.next()) {
        (None, _) => Ok(Version::V12),
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            Err(NOT_SUPPORTED.because("the process has libcudart.so of several versions, where the function differs"))
        }
    }
}

impl Version {
    /// As `cudaRuntimeGetVersion` counts.
    pub fn number(self) -> c_int {
        match self {
            Self::V11 => 11_080,
            Self::V12 => 12_080,
            Self::V13 => 13_000,
        }
    }
}

pub(crate) fn get(version: Out<c_int>) -> Result<(), Code> {
    version.needed()?.set(of_program()?.number())
}
