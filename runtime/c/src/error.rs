//! Status codes and error messages.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ptx2spv_runtime::{Error, ErrorGroup};

/// The result of a function.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// An argument or a setting is wrong: null, not UTF-8, an unknown name, an address that isn't allocated, an impossible launch.
    InvalidArgument = 1,
    /// A module can't be read, is wrong or can't be translated. The message names the line of PTX.
    Translation = 2,
    /// The device or the driver lacks a feature, or there is no such device.
    Unsupported = 3,
    /// The device or the host is out of memory.
    OutOfMemory = 4,
    /// A kernel ended itself or was stopped: a trap, a failed assertion, or an illegal access that the kernel's own checks or the
    /// reference device found.
    Kernel = 5,
    /// The device didn't answer in time.
    Timeout = 6,
    /// The device is lost: every later call on it fails.
    DeviceLost = 7,
    /// Any other error; see the message.
    Other = 8,
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// The message of the calling thread's last failed call, or an empty text if none failed. It stays valid until the
/// thread's next call.
#[unsafe(no_mangle)]
pub extern "C" fn ptx2spv_error() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn ptx2spv_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Why a call fails.
pub(crate) struct Failure {
    status: Status,
    message: String,
}

impl Failure {
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self { status: Status::InvalidArgument, message: message.into() }
    }

    pub(crate) fn translation(message: impl Into<String>) -> Self {
        Self { status: Status::Translation, message: message.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.group() {
            ErrorGroup::Setting | ErrorGroup::Argument => Status::InvalidArgument,
            ErrorGroup::Module => Status::Translation,
            ErrorGroup::Device | ErrorGroup::Unsupported => Status::Unsupported,
            ErrorGroup::OutOfMemory => Status::OutOfMemory,
            ErrorGroup::Kernel => Status::Kernel,
            ErrorGroup::Timeout => Status::Timeout,
            ErrorGroup::Lost => Status::DeviceLost,
            _ => Status::Other,
        };
        Self { status, message: error.to_string() }
    }
}

/// Runs the body of a function, and returns the function's status.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let panicked = || Failure { status: Status::Other, message: "internal error: a panic".to_owned() };
    // Unwind safe: a panic leaves no incomplete object behind.
    match catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(panicked())) {
        Ok(()) => Status::Ok,
        Err(Failure { status, message }) => {
            let message = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
            MESSAGE.set(message);
            status
        }
    }
}
