//! Streams as the back ends see them: which commands are in order, and how far the device has got.

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
