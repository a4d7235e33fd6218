//! Submission of copies and fills: complete when the call returns, as far as CUDA promises that, or in stream order.

use crate::abi::Result;
use crate::stream::StreamHandle;

/// A copy or a fill that a caller asks for.
pub(crate) trait Transfer {
    /// Runs in the default stream, which must not be captured.
    fn now(self) -> Result;

    /// Runs in stream order, or becomes a graph node if the stream is being captured.
    fn in_stream(self, stream: StreamHandle) -> Result;
}

impl<T: Transfer> Transfer for Result<T> {
    fn now(self) -> Result {
        self?.now()
    }

    fn in_stream(self, stream: StreamHandle) -> Result {
        self?.in_stream(stream)
    }
}

impl<T: Transfer> Transfer for Vec<T> {
    fn now(self) -> Result {
        self.into_iter().try_for_each(T::now)
    }

    fn in_stream(self, stream: StreamHandle) -> Result {
        self.into_iter().try_for_each(|transfer| transfer.in_stream(stream))
    }
}

pub(crate) fn now(transfer: impl Transfer) -> Result {
    transfer.now()
}

pub(crate) fn in_stream(transfer: impl Transfer, stream: StreamHandle) -> Result {
    transfer.in_stream(stream)
}
