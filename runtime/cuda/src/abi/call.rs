//! The frame around every exported function: it runs the body, catches panics, and writes a line of the trace.

use std::cell::Cell;
use std::ffi::CStr;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use ptx2spv_runtime::ProfileRange;

use crate::abi::code::{self, Code, NOT_SUPPORTED, SUCCESS, UNKNOWN};
use crate::abi::trace;

/// A call of an exported function.
pub(crate) struct Call<'a> {
    pub name: &'static str,
    /// Names and values of the arguments, for the trace.
    pub arguments: &'a [(&'static str, &'a dyn Debug)],
    /// Whether NULL means the thread's own default stream.
    pub per_thread: bool,
}

thread_local! {
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Whether NULL means the thread's own default stream in the current call.
pub(crate) fn is_per_thread() -> bool {
    PER_THREAD.get()
}

impl Call<'_> {
    /// Runs the body and returns the function's result code.
    pub fn run(&self, body: impl FnOnce() -> Result<(), Code>) -> u32 {
        self.run_with_names(Code::name, body).0
    }

    /// Like [`Call::run`], with a function that names result codes in the trace.
    pub fn run_with_names(
        &self,
        name: fn(Code) -> Option<&'static CStr>,
        body: impl FnOnce() -> Result<(), Code>,
    ) -> Code {
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
