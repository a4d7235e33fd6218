//! The process that a device belongs to. A forked child has copies of its handles, but not of the driver's threads. A
//! call into the driver would wait for these threads for ever, at the latest when the device is closed.

use crate::error::Error;

/// The process that something was made in. A forked child is another one.
///
/// ```
/// use ptx2spv_runtime::Process;
///
/// let process = Process::this();
/// assert!(process.is_this());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// The current process.
    pub fn this() -> Self {
        Self(forks().unwrap_or_else(std::process::id))
    }

    /// Whether this is the current process.
    pub fn is_this(self) -> bool {
        self == Self::this()
    }

    /// Fails in any other process.
    pub(crate) fn check(self) -> Result<(), Error> {
        if self.is_this() { Ok(()) } else { Err(Error::Forked) }
    }
}

/// How many forks lie between the first process that asked and this one. To ask the system for the process's id would take
/// a good part of a launch's time. `None` if forks can't be counted.
#[cfg(unix)]
fn forks() -> Option<u32> {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    static FORKS: AtomicU32 = AtomicU32::new(0);
    static IS_COUNTED: OnceLock<bool> = OnceLock::new();

    extern "C" fn count() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    // SAFETY: `count` may be called in a child after a fork, since it only adds to a number. When a library is unloaded, its
    // handlers are unregistered with it.
    let is_counted = IS_COUNTED.get_or_init(|| unsafe { libc::pthread_atfork(None, None, Some(count)) } == 0);
    is_counted.then(|| FORKS.load(Ordering::Relaxed))
}

#[cfg(not(unix))]
fn forks() -> Option<u32> {
    None
}
