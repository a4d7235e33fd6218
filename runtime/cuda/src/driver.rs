//! Initialisation, versions, errors, and looking up functions.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null;

use crate::api::FUNCTIONS;
use crate::code::{Code, INVALID_VALUE, NOT_FOUND};
use crate::raw::{In, Out, Text};
use crate::state;

/// CUDA 12.8: clients refuse older drivers than they were built for, and ask newer ones for functions that nobody has described
/// yet.
const VERSION: i32 = 12_080;

/// Sets the version that is answered.
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

/// Asks for functions with default streams per thread.
const PER_THREAD: u64 = 2;

/// Default streams per thread came with this version.
const PER_THREAD_SINCE: u32 = 7000;

/// What `cuGetProcAddress_v2` says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Yes(*const c_void),
    /// No version has the name.
    No,
    /// A later version has the name.
    Later,
}

/// The newest function of a base name that a version of CUDA has.
fn find(name: &str, version: u32, flags: u64) -> Found {
    let per_thread = flags & PER_THREAD != 0;
    let candidates = FUNCTIONS.iter().filter(|function| function.base() == name).map(|function| {
        match function.per_thread.filter(|_| per_thread) {
            Some(pointer) => (function.since.max(PER_THREAD_SINCE), pointer),
            None => (function.since, function.legacy),
        }
    });
    let all: Vec<_> = candidates.collect();
    match all.iter().filter(|(since, _)| *since <= version).max_by_key(|(since, _)| *since) {
        Some((_, pointer)) => Found::Yes(*pointer),
        None if all.is_empty() => Found::No,
        None => Found::Later,
    }
}

pub(crate) fn proc_address(name: Text, function: Out<*const c_void>, version: c_int, flags: u64) -> Result<(), Code> {
    let function = function.needed()?;
    match find(&name.get()?, version.try_into().map_err(|_| INVALID_VALUE)?, flags) {
        Found::Yes(pointer) => function.set(pointer),
        Found::No | Found::Later => {
            function.set(null())?;
            Err(NOT_FOUND)
        }
    }
}

pub(crate) fn proc_address_with_status(
    name: Text,
    function: Out<*const c_void>,
    version: c_int,
    flags: u64,
    status: Out<u32>,
) -> Result<(), Code> {
    let function = function.needed()?;
    let found = find(&name.get()?, version.try_into().map_err(|_| INVALID_VALUE)?, flags);
    let (pointer, number) = match found {
        Found::Yes(pointer) => (pointer, 0),
        Found::No => (null(), 1),
        Found::Later => (null(), 2),
    };
    function.set(pointer)?;
    status.set_if_any(number);
    // Only without a status it is the result that tells.
    if pointer.is_null() && status.is_null() { Err(NOT_FOUND) } else { Ok(()) }
}

/// Tables of functions between NVIDIA's own libraries, which this library doesn't have.
pub(crate) fn export_table(table: Out<*const c_void>, _id: In<[u8; 16]>) -> Result<(), Code> {
    table.set_if_any(null());
    Err(NOT_FOUND)
}

pub(crate) fn profiler() -> Result<(), Code> {
    crate::context::current().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str) -> *const c_void {
        let function = FUNCTIONS.iter().find(|function| function.name == name).unwrap();
        function.legacy
    }

    #[test]
    fn newest_function_of_a_version() {
        assert_eq!(find("cuMemAlloc", 2000, 0), Found::Yes(function("cuMemAlloc")));
        assert_eq!(find("cuMemAlloc", 12_000, 0), Found::Yes(function("cuMemAlloc_v2")));
        assert_eq!(find("cuLaunchKernelEx", 11_000, 0), Found::Later);
        assert_eq!(find("cuNothing", 12_000, 0), Found::No);
        assert_eq!(find("cuMemAlloc_v2", 12_000, 0), Found::No);
        let synchronize = FUNCTIONS.iter().find(|function| function.name == "cuStreamSynchronize").unwrap();
        assert_eq!(find("cuStreamSynchronize", 12_000, 2), Found::Yes(synchronize.per_thread.unwrap()));
        assert_eq!(find("cuStreamSynchronize", 12_000, 1), Found::Yes(synchronize.legacy));
    }
}
