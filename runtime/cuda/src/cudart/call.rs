//! The frame around every function of the runtime API. In addition to the driver API's frame, it makes sure of a device
//! and a context, and records the thread's last error.

use std::cell::Cell;
use std::ffi::{c_char, c_uint};
use std::ptr::null;

use crate::abi::call::Call;
use crate::abi::code::{Code, NOT_READY, NOT_SUPPORTED, SUCCESS};
use crate::abi::raw::Memory;
use crate::context;
use crate::cudart::current;
use crate::cudart::error;
use crate::cudart::types::ChannelFormat;

/// What a function needs before its body. Functions that need nothing don't set the thread's last error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The library's device.
    Device,
    /// A current context.
    Context,
}

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(SUCCESS) };
}

/// Runs a function's body and returns its result code.
pub(crate) fn run(call: &Call<'_>, needs: Needs, body: impl FnOnce() -> Result<(), Code>) -> u32 {
    let code = call.run_with_names(error::name_of, || {
        match needs {
            Needs::Nothing => {}
            Needs::Device => current::open()?,
            Needs::Context => current::enter()?,
        }
        body()
    });
    // "Not ready" is an answer, not an error.
    if needs != Needs::Nothing && code != SUCCESS && code != NOT_READY {
        LAST.set(code);
    }
    code.0
}

/// The result of a function that returns no code.
pub(crate) trait Answer {
    /// The result after a panic.
    const NONE: Self;
}

impl Answer for () {
    const NONE: Self = ();
}

impl Answer for c_char {
    const NONE: Self = 0;
}

impl Answer for c_uint {
    const NONE: Self = 1;
}

impl Answer for *const c_char {
    const NONE: Self = null();
}

impl Answer for Memory {
    const NONE: Self = Memory::NULL;
}

impl Answer for ChannelFormat {
    const NONE: Self = ChannelFormat { bits: [0; 4], kind: 0 };
}

/// Like [`run`], for functions that return no code.
pub(crate) fn answer<T: Answer>(call: &Call<'_>, body: impl FnOnce() -> T) -> T {
    let mut answer = T::NONE;
    call.run_with_names(error::name_of, || {
        answer = body();
        Ok(())
    });
    answer
}

/// The answer of a function that isn't implemented.
pub(crate) fn missing(name: &'static str) -> u32 {
    let call = Call { name, arguments: &[], per_thread: false };
    run(&call, Needs::Device, || Err(NOT_SUPPORTED.because("not implemented")))
}

/// The thread's last error, or else the error that made the context unusable.
fn last(code: Code) -> Result<(), Code> {
    if code != SUCCESS {
        return Err(code);
    }
    match context::current() {
        Err(code) if code.is_sticky() => Err(code),
        _ => Ok(()),
    }
}

pub(crate) fn get_last_error() -> Result<(), Code> {
    last(LAST.replace(SUCCESS))
}

pub(crate) fn peek_last_error() -> Result<(), Code> {
    last(LAST.get())
}
