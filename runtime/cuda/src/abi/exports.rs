//! Looking up exported functions by name and version.

use std::ffi::{c_int, c_void};
use std::ptr::null;

use crate::abi::code::{Code, INVALID_VALUE, NOT_FOUND};
use crate::abi::raw::{Out, Text};

/// A function of the API.
pub(crate) struct Function {
    /// The exported name.
    pub name: &'static str,
    /// The CUDA version that added the function, encoded as `cuDriverGetVersion` does.
    pub since: u32,
    /// The variant with the legacy default stream.
    pub legacy: *const c_void,
    /// The variant with per-thread default streams, if it differs.
    pub per_thread: Option<*const c_void>,
}

// SAFETY: the pointers are addresses of functions, which are immutable.
unsafe impl Sync for Function {}

impl Function {
    /// The name without the version, as `cuGetProcAddress` takes it.
    pub fn base(&self) -> &'static str {
        match self.name.rsplit_once("_v") {
            Some((base, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => base,
            _ => self.name,
        }
    }
}

/// Flag for variants with per-thread default streams.
const PER_THREAD: u64 = 2;

/// The CUDA version that added per-thread default streams.
const PER_THREAD_SINCE: u32 = 7000;

/// The result of looking up a name for `cuGetProcAddress_v2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Yes(*const c_void),
    /// No version has the function.
    No,
    /// Only a later version has the function.
    Later,
}

/// The newest function with a base name that a CUDA version has.
pub(crate) fn find(functions: &[Function], name: &str, version: u32, flags: u64) -> Found {
    let per_thread = flags & PER_THREAD != 0;
    let candidates = functions.iter().filter(|function| function.base() == name).map(|function| {
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

pub(crate) fn proc_address(
    functions: &[Function],
    name: Text,
    function: Out<*const c_void>,
    version: c_int,
    flags: u64,
) -> Result<(), Code> {
    let function = function.needed()?;
    match find(functions, &name.get()?, version.try_into().map_err(|_| INVALID_VALUE)?, flags) {
        Found::Yes(pointer) => function.set(pointer),
        Found::No | Found::Later => {
            function.set(null())?;
            Err(NOT_FOUND)
        }
    }
}

pub(crate) fn proc_address_with_status(
    functions: &[Function],
    name: Text,
    function: Out<*const c_void>,
    version: c_int,
    flags: u64,
    status: Out<u32>,
) -> Result<(), Code> {
    let function = function.needed()?;
    let found = find(functions, &name.get()?, version.try_into().map_err(|_| INVALID_VALUE)?, flags);
    let (pointer, number) = match found {
        Found::Yes(pointer) => (pointer, 0),
        Found::No => (null(), 1),
        Found::Later => (null(), 2),
    };
    function.set(pointer)?;
    status.set_if_any(number);
    // With `status`, a missing function is not an error of the call.
    if pointer.is_null() && status.is_null() { Err(NOT_FOUND) } else { Ok(()) }
}
