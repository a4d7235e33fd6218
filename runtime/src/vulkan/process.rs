//! The process that a device belongs to. A child forked off from it has copies of its handles, but not of the driver's threads:
//! a call into the driver would wait for these for ever, at the latest when the device is closed.

use crate::error::Error;

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// The one that runs this.
    pub fn this() -> Self {
        Self(std::process::id())
    }

    /// Whether it is the one that runs this.
    pub fn is_this(self) -> bool {
        self == Self::this()
    }

    /// Fails in any other process.
    pub fn check(self) -> Result<(), Error> {
        if self.is_this() { Ok(()) } else { Err(Error::Forked) }
    }
}
