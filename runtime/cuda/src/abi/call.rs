//! The frame around every exported function: it runs the body, catches panics, and writes a line of the trace.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ptx2spv_runtime::ProfileRange;

use crate::abi::code::{self, Code, INVALID_VALUE, NOT_FOUND, NOT_SUPPORTED, Result, SUCCESS, UNKNOWN};
use crate::abi::raw::{Out, Text};
use crate::abi::trace;

/// A call of an exported function.
pub(crate) struct Call<'a> {
    pub name: &'static str,
    /// Names and values of the arguments, for the trace.
    pub arguments: &'a [(&'static str, &'a dyn Debug)],
    /// Whether NULL means the thread's own default stream.
    pub per_thread: bool,
}

/// The calls of all threads that have not returned.
static IN_PROGRESS: AtomicUsize = AtomicUsize::new(0);

/// A call that has not returned.
struct InProgress;

impl InProgress {
    fn new() -> Self {
        OWN.set(OWN.get() + 1);
        IN_PROGRESS.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        IN_PROGRESS.fetch_sub(1, Ordering::SeqCst);
        OWN.set(OWN.get() - 1);
    }
}

/// Whether another thread is in a call.
pub(crate) fn are_in_progress() -> bool {
    IN_PROGRESS.load(Ordering::SeqCst) > OWN.get()
}

thread_local! {
    /// The calls of this thread that have not returned: more than one where a function that a call calls calls the library again.
    static OWN: Cell<usize> = const { Cell::new(0) };
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Whether NULL means the thread's own default stream in the current call.
pub(crate) fn is_per_thread() -> bool {
    PER_THREAD.get()
}

impl Call<'_> {
    /// Runs the body and returns the function's result code.
    pub fn run(&self, body: impl FnOnce() -> Result) -> u32 {
        self.run_with_names(Code::name, body).0
    }

    /// Like [`Call::run`], with a function that names result codes in the trace.
    pub fn run_with_names(&self, name: fn(Code) -> Option<&'static CStr>, body: impl FnOnce() -> Result) -> Code {
        let _in_progress = InProgress::new();
        let _range = ProfileRange::new(self.name);
        let start = trace::is_on().then(Instant::now);
        let outer = PER_THREAD.replace(self.per_thread);
        // Unwind safety: tables and objects are changed in one step, or not at all.
        let result =
            catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(UNKNOWN.because("a panic in the library")));
        PER_THREAD.set(outer);
        let code = result.err().unwrap_or(SUCCESS);
        let reason = code::take_reason().filter(|_| code != SUCCESS);
        if let Some(start) = start {
            let name = name(code).map_or_else(|| code.0.to_string().into(), CStr::to_string_lossy);
            trace::call(self.name, self.arguments, &name, start.elapsed(), reason.as_deref());
        }
        code
    }
}

/// The answer of a function that isn't implemented.
pub(crate) fn missing(name: &'static str) -> u32 {
    Call { name, arguments: &[], per_thread: false }.run(|| Err(NOT_SUPPORTED.because("not implemented")))
}

// Looking up exported functions by name and version.

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
const PER_THREAD_FLAG: u64 = 2;

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
    let per_thread = flags & PER_THREAD_FLAG != 0;
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
) -> Result {
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
) -> Result {
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
