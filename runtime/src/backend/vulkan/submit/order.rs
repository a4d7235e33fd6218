//! Decides which commands need a barrier before them: those whose stream has commands since the last barrier, or has to
//! wait for other streams.

use crate::backend::order::StreamKey;

/// The order of commands on a queue.
#[derive(Default)]
pub(crate) struct CommandOrder {
    /// Streams with commands since the last barrier.
    running: Vec<StreamKey>,
    /// Streams that have been told to wait for everything recorded before.
    waiting: Vec<StreamKey>,
}

impl CommandOrder {
    /// Adds a command of a stream, and returns whether a barrier must precede it.
    pub fn add(&mut self, stream: StreamKey) -> bool {
        let mut others = self.running.iter().chain(&self.waiting);
        let barrier = others.any(|other| other.is_in_order_with(stream));
        if barrier {
            self.separate();
        }
        // Without a barrier, the stream is not ordered with any other command, not even its own.
        self.running.push(stream);
        barrier
    }

    /// Notes a barrier between everything added so far and all later commands.
    pub fn separate(&mut self) {
        self.running.clear();
        self.waiting.clear();
    }

    /// Makes the stream's next command wait for everything added so far.
    pub fn wait(&mut self, stream: StreamKey) {
        if !self.running.is_empty() && !self.waiting.contains(&stream) {
            self.waiting.push(stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn made(number: u64, blocking: bool) -> StreamKey {
        StreamKey::Made { number, blocking, urgent: false }
    }

    #[test]
    fn barriers_where_the_order_asks_for_them() {
        let (a, b, free) = (made(1, true), made(2, true), made(3, false));
        let mut order = CommandOrder::default();
        let mut add = |stream| order.add(stream);
        assert_eq!([a, b, free].map(&mut add), [false; 3]);
        // The barrier before the second command of `a` also orders `b`.
        assert_eq!([a, b, b].map(&mut add), [true, false, true]);
        assert_eq!([free, StreamKey::Default, free, a].map(&mut add), [false, true, false, true]);
        assert_eq!([StreamKey::Everything, free].map(&mut add), [true, true]);
    }

    #[test]
    fn waiting_is_for_what_was_before() {
        let (a, b) = (made(1, true), made(2, true));
        let mut order = CommandOrder::default();
        order.wait(a);
        assert!(!order.add(a));
        order.wait(b);
        assert!(order.add(b));
        // The wait is over.
        order.add(a);
        assert!(order.add(b));
        // A barrier for other reasons does for these too.
        order.wait(b);
        order.separate();
        assert!(!order.add(b));
        order.add(a);
        // When the default stream waits, so do the streams ordered with it.
        order.wait(StreamKey::Default);
        assert!(order.add(a));
    }
}
