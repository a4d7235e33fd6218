//! The frame around every function of the runtime API. In addition to the driver API's frame, it makes sure of a device
//! and a context, and records the thread's last error.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint};
use std::ptr::null;

use crate::abi::call::Call;
use crate::abi::{Code, INVALID_VALUE, In, Memory, NOT_INITIALIZED, NOT_READY, NOT_SUPPORTED, Out, Result, SUCCESS};
use crate::context::{self, state};
use crate::cudart::error;
use crate::cudart::types::ChannelFormat;
use crate::module::lifetime;

/// The requirements of a function before its body. Functions that need nothing don't set the thread's last error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The library's devices.
    Device,
    /// A current context.
    Context,
}

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(SUCCESS) };
}

/// Runs a function's body and returns its result code.
pub(crate) fn run(call: &Call<'_>, needs: Needs, body: impl FnOnce() -> Result) -> u32 {
    let code = call.run_with_names(error::name_of, || {
        match needs {
            Needs::Nothing => {}
            Needs::Device => open()?,
            Needs::Context => enter()?,
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

macro_rules! answers {
    ($($answer:ty = $none:expr;)*) => {
        $(impl Answer for $answer {
            const NONE: Self = $none;
        })*
    };
}

answers! {
    () = ();
    c_char = 0;
    c_uint = 1;
    *const c_char = null();
    Memory = Memory::NULL;
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
fn last(code: Code) -> Result {
    if code != SUCCESS {
        return Err(code);
    }
    match context::current() {
        Err(code) if code.is_sticky() => Err(code),
        _ => Ok(()),
    }
}

pub(crate) fn get_last_error() -> Result {
    last(LAST.replace(SUCCESS))
}

pub(crate) fn peek_last_error() -> Result {
    last(LAST.get())
}

// A thread's current context: the primary one of its device, unless the program has made another one current through the
// driver API.

thread_local! {
    /// The device that the thread has chosen, by ordinal.
    static DEVICE: Cell<c_int> = const { Cell::new(0) };
}

/// Lists the devices on the process's first call.
pub(crate) fn open() -> Result {
    match state::check() {
        Err(NOT_INITIALIZED) => state::open(),
        checked => checked,
    }
}

/// Makes sure that the thread has a current context.
pub(crate) fn enter() -> Result {
    open()?;
    // After a reset, the previous context is gone.
    if context::get_current()?.get().is_ok() {
        Ok(())
    } else {
        context::set_current(lifetime::hold_primary(DEVICE.get())?)
    }
}

pub(crate) fn device(device: Out<c_int>) -> Result {
    device.set(current_device()?)
}

/// The device of the current context, or else the one that the thread has chosen.
pub(crate) fn current_device() -> Result<c_int> {
    Ok(context::get_current()?.get().map_or_else(|_| DEVICE.get(), |context| context.ordinal))
}

pub(crate) fn set_device(device: c_int) -> Result {
    context::set_current(lifetime::hold_primary(device)?)?;
    DEVICE.set(device);
    Ok(())
}

/// Implements `cudaInitDevice`, which makes no context current.
pub(crate) fn init_device(device: c_int, context_flags: c_uint, flags: c_uint) -> Result {
    /// The flags of the context are given.
    const HAS_FLAGS: c_uint = 1;
    if flags & !HAS_FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    if flags & HAS_FLAGS != 0 {
        lifetime::set_primary_flags(device, context_flags)?;
    }
    lifetime::hold_primary(device).map(|_| ())
}

/// All devices have the same abilities in CUDA's terms, so every request gets the first one.
pub(crate) fn choose_device(device: Out<c_int>, properties: Memory) -> Result {
    if properties.is_null() { Err(INVALID_VALUE) } else { device.set(0) }
}

pub(crate) fn set_valid_devices(devices: In<c_int>, count: c_int) -> Result {
    let known = state::devices()?.len();
    let count = usize::try_from(count).ok().filter(|&count| count <= known).ok_or(INVALID_VALUE)?;
    devices.list(count)?.into_iter().try_for_each(|device| state::entry(device).map(|_| ()))
}
