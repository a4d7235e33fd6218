//! Streams as the back ends see them: which commands are in order, and how far the device has got.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// The stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKey {
    /// CUDA's legacy default stream, which is in order with every stream that blocks.
    Default,
    /// A stream that the program made.
    Made {
        /// What tells such streams apart.
        number: u64,
        /// Whether the stream is in order with the default stream.
        blocking: bool,
    },
    /// In order with all commands.
    Everything,
}

impl StreamKey {
    /// Whether the device must run commands of the two streams in the order of the calls.
    pub fn is_in_order_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Everything, _) | (_, Self::Everything) | (Self::Default, Self::Default) => true,
            (Self::Default, Self::Made { blocking, .. }) | (Self::Made { blocking, .. }, Self::Default) => blocking,
            (Self::Made { number, .. }, Self::Made { number: other, .. }) => number == other,
        }
    }
}

/// A point in a device's work: rises with each submission, and zero has passed from the beginning.
pub(crate) type Ticket = u64;

/// How far a stream has got.
#[derive(Default)]
pub(crate) struct Progress {
    /// The last command that was asked for.
    ticket: AtomicU64,
    /// The last host function.
    function: AtomicU64,
}

/// A point in a device's work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub ticket: Ticket,
    /// The number of a host function.
    pub function: u64,
}

/// A stream, apart from its device.
pub(crate) struct StreamState {
    key: StreamKey,
    pub progress: Progress,
}

impl StreamState {
    pub fn new(key: StreamKey) -> Self {
        Self { key, progress: Progress::default() }
    }

    pub fn key(&self) -> StreamKey {
        self.key
    }
}

impl Progress {
    pub fn position(&self) -> Position {
        Position { ticket: self.ticket.load(SeqCst), function: self.function.load(SeqCst) }
    }

    pub fn advance(&self, to: Position) {
        self.ticket.fetch_max(to.ticket, SeqCst);
        self.function.fetch_max(to.function, SeqCst);
    }
}

impl Position {
    pub fn max(self, other: Self) -> Self {
        Self { ticket: self.ticket.max(other.ticket), function: self.function.max(other.function) }
    }
}
