//! The process that a device belongs to. A forked child has copies of its handles, but not of the driver's threads. A
//! call into the driver would wait for these threads for ever, at the latest when the device is closed.

use crate::error::Error;

/// A process id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// The current process.
    pub fn this() -> Self {
        Self(std::process::id())
    }

    /// Whether this is the current process.
    pub fn is_this(self) -> bool {
        self == Self::this()
    }

    /// Fails in any other process.
    pub fn check(self) -> Result<(), Error> {
        if self.is_this() { Ok(()) } else { Err(Error::Forked) }
    }
}
