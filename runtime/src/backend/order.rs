//! Streams as the back ends see them: the order of commands, and the progress of the device.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// The stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamKey {
    /// CUDA's legacy default stream, which is ordered with every blocking stream.
    Default,
    /// A stream created by the program.
    Made {
        number: u64,
        /// Whether the stream is ordered with the default stream.
        blocking: bool,
        /// Whether the device should prefer this stream's commands.
        urgent: bool,
    },
    /// Ordered with all commands.
    Everything,
}

impl StreamKey {
    /// The stream's row in the profile.
    pub fn row(self) -> u64 {
        match self {
            Self::Default | Self::Everything => 0,
            Self::Made { number, .. } => number + 1,
        }
    }

    /// Whether the device must run commands of the two streams in the order of the calls.
    pub fn is_in_order_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Everything, _) | (_, Self::Everything) | (Self::Default, Self::Default) => true,
            (Self::Default, Self::Made { blocking, .. }) | (Self::Made { blocking, .. }, Self::Default) => blocking,
            (Self::Made { number, .. }, Self::Made { number: other, .. }) => number == other,
        }
    }
}

/// Maximum number of queues that streams are spread over.
pub(crate) const MAX_QUEUES: usize = 8;

/// A submission to a queue. The serial numbers of each queue rise from 1; number zero counts as finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// Below [`MAX_QUEUES`].
    pub queue: usize,
    pub serial: u64,
}

/// A point in a device's work: for each queue, the last submission before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point([u64; MAX_QUEUES]);

/// The progress of a stream.
#[derive(Default)]
pub(crate) struct Progress {
    /// The last submitted commands, by queue.
    serials: [AtomicU64; MAX_QUEUES],
    /// The last host function.
    function: AtomicU64,
}

/// A point in a device's work and in its host functions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    pub point: Point,
    /// The number of the last host function before it.
    pub function: u64,
}

/// A stream without its device.
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
        let serials = std::array::from_fn(|queue| self.serials[queue].load(SeqCst));
        Position { point: Point(serials), function: self.function() }
    }

    pub fn function(&self) -> u64 {
        self.function.load(SeqCst)
    }

    pub fn advance(&self, to: Position) {
        for Ticket { queue, serial } in to.point.tickets() {
            self.serials[queue].fetch_max(serial, SeqCst);
        }
        if to.function > 0 {
            self.function.fetch_max(to.function, SeqCst);
        }
    }
}

impl From<Ticket> for Point {
    fn from(ticket: Ticket) -> Self {
        let mut point = Self::default();
        point.add(ticket);
        point
    }
}

impl Point {
    /// The last submission to a queue.
    pub fn serial(&self, queue: usize) -> u64 {
        self.0[queue]
    }

    /// The submissions that have to finish before the point.
    pub fn tickets(self) -> impl Iterator<Item = Ticket> {
        self.0.into_iter().enumerate().filter(|(_, serial)| *serial > 0).map(|(queue, serial)| Ticket { queue, serial })
    }

    /// Adds a submission before the point.
    pub fn add(&mut self, Ticket { queue, serial }: Ticket) {
        self.0[queue] = self.0[queue].max(serial);
    }

    /// The earliest point that is not before either of the two.
    pub fn max(mut self, other: Self) -> Self {
        other.tickets().for_each(|ticket| self.add(ticket));
        self
    }

    /// Whether the point is at or before another point on each queue.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own <= other)
    }
}

impl Position {
    pub fn max(self, other: Self) -> Self {
        Self { point: self.point.max(other.point), function: self.function.max(other.function) }
    }
}
