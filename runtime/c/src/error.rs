//! What functions answer, and what went wrong in words.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ptx2spv_runtime::Error;

/// What a function answers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All went well.
    Ok = 0,
    /// An argument is wrong: null, not UTF-8, an unknown name, an address that isn't allocated, a launch that can't be.
    InvalidArgument = 1,
    /// The PTX is wrong or can't be translated; the message names the line.
    Translation = 2,
    /// The device, or the driver, lacks something, or there is no such device.
    Unsupported = 3,
    /// The device or the host has no memory left.
    OutOfMemory = 4,
    /// A kernel ended by itself or was stopped: a trap, a failed assertion, or an illegal access on the reference device.
    Kernel = 5,
    /// The device didn't answer in time.
    Timeout = 6,
    /// The device is lost: everything on it fails from now on.
    DeviceLost = 7,
    /// Something else, which the message says.
    Other = 8,
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// What went wrong in the calling thread's last call that failed; an empty text if none did. It stays valid until the thread's next
/// call.
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
        let status = match &error {
            Error::Translation(_) | Error::Interface(_) | Error::Binary { .. } => Status::Translation,
            Error::NoLoader { .. }
            | Error::NoDevice { .. }
            | Error::NoMatchingDevice { .. }
            | Error::NoReference
            | Error::NoValidation(_)
            | Error::UnusableDevice { .. }
            | Error::MissingFeatures { .. }
            | Error::SpirvVersion { .. }
            | Error::MadeForOthers { .. }
            | Error::NoVariant { .. } => Status::Unsupported,
            Error::OutOfMemory(_) | Error::BufferTooLarge { .. } => Status::OutOfMemory,
            Error::Aborted { .. } | Error::Fault { .. } => Status::Kernel,
            Error::Timeout => Status::Timeout,
            Error::DeviceLost { .. } => Status::DeviceLost,
            Error::BadSelector(_)
            | Error::BadReferenceOptions(_)
            | Error::Environment { .. }
            | Error::NoKernel { .. }
            | Error::NoVariable(_)
            | Error::ArgumentCount { .. }
            | Error::ArgumentSize { .. }
            | Error::ArgumentKind { .. }
            | Error::ArgumentPointer { .. }
            | Error::TooFar(_)
            | Error::ForeignBuffer(_)
            | Error::Block { .. }
            | Error::Grid { .. }
            | Error::SharedMemory { .. }
            | Error::NotAllocated { .. }
            | Error::Misaligned { .. }
            | Error::OutOfRange { .. } => Status::InvalidArgument,
            _ => Status::Other,
        };
        Self { status, message: error.to_string() }
    }
}

/// Runs the body of a function, and gives what the function answers.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let panicked = || Failure { status: Status::Other, message: "internal error: a panic".to_owned() };
    // Objects are made whole or not at all.
    match catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(panicked())) {
        Ok(()) => Status::Ok,
        Err(Failure { status, message }) => {
            let message = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
            MESSAGE.set(message);
            status
        }
    }
}
