//! Dependencies of commands on other queues. Within a queue, barriers ensure the order: see [`CommandOrder`].

use crate::backend::order::{MAX_QUEUES, Point, StreamKey, Ticket};

/// The order of commands across queues.
#[derive(Default)]
pub(crate) struct Dependencies {
    /// The last commands of the default stream.
    default: Point,
    /// The last commands of streams that are ordered with the default stream.
    blocking: Point,
    /// The last commands that are ordered with all others.
    everything: Point,
    /// The last commands of all streams.
    all: Point,
    /// Points that streams were told to wait for, in addition to their usual order, and have not waited for yet.
    told: Vec<(StreamKey, Point)>,
    /// The point in other queues that each queue has waited for.
    waited: [Point; MAX_QUEUES],
}

impl Dependencies {
    /// Makes the stream's next command wait for a point. Points that the device has passed are dropped.
    pub fn follow(&mut self, stream: StreamKey, point: Point, passed: &Point) {
        self.told.retain(|(_, point)| !point.is_within(passed));
        match self.told.iter_mut().find(|(told, _)| *told == stream) {
            Some((_, earlier)) => *earlier = earlier.max(point),
            None => self.told.push((stream, point)),
        }
    }

    /// The point that a queue still has to wait for before a stream's next command there.
    pub fn needed(&self, stream: StreamKey, queue: usize) -> Point {
        let others = match stream {
            StreamKey::Default => self.blocking,
            StreamKey::Made { blocking: true, .. } => self.default,
            StreamKey::Made { blocking: false, .. } => Point::default(),
            StreamKey::Everything => self.all,
        };
        let told = self.told.iter().filter(|(told, _)| told.is_in_order_with(stream));
        let point = told.fold(self.everything.max(others), |point, (_, told)| point.max(*told));
        let is_open =
            |ticket: &Ticket| ticket.queue != queue && ticket.serial > self.waited[queue].serial(ticket.queue);
        let mut needed = Point::default();
        point.tickets().filter(is_open).for_each(|ticket| needed.add(ticket));
        needed
    }

    /// Records that a queue waits for a point.
    pub fn wait(&mut self, queue: usize, point: Point) {
        self.waited[queue] = self.waited[queue].max(point);
    }

    /// Adds a stream's command, after its queue has waited for the points that the command needs.
    pub fn add(&mut self, stream: StreamKey, ticket: Ticket) {
        self.told.retain(|(told, _)| *told != stream);
        self.all.add(ticket);
        match stream {
            StreamKey::Default => self.default.add(ticket),
            StreamKey::Made { blocking: true, .. } => self.blocking.add(ticket),
            StreamKey::Made { blocking: false, .. } => {}
            StreamKey::Everything => self.everything.add(ticket),
        }
    }
}

// Decides which commands need a barrier before them: those whose stream has commands since the last barrier, or has to
// wait for other streams.

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

    /// Adds a command, and returns the points that its queue waits for, as pairs of queue and serial.
    fn add(dependencies: &mut Dependencies, stream: StreamKey, queue: usize, serial: u64) -> Vec<(usize, u64)> {
        let needed = dependencies.needed(stream, queue);
        dependencies.wait(queue, needed);
        dependencies.add(stream, Ticket { queue, serial });
        needed.tickets().map(|ticket| (ticket.queue, ticket.serial)).collect()
    }

    #[test]
    fn default_stream_and_those_that_block() {
        let mut dependencies = Dependencies::default();
        let mut add = |stream, queue, serial| add(&mut dependencies, stream, queue, serial);
        let (a, b, free) = (made(1, true), made(2, true), made(3, false));
        assert_eq!(add(a, 1, 1), []);
        assert_eq!(add(b, 2, 1), []);
        assert_eq!(add(free, 3, 1), []);
        assert_eq!(add(StreamKey::Default, 0, 1), [(1, 1), (2, 1)]);
        // A queue doesn't wait for the same point twice.
        assert_eq!(add(StreamKey::Default, 0, 2), []);
        assert_eq!(add(a, 1, 2), [(0, 2)]);
        assert_eq!(add(a, 1, 3), []);
        assert_eq!(add(StreamKey::Default, 0, 3), [(1, 3)]);
        assert_eq!(add(free, 3, 2), []);
        assert_eq!(add(StreamKey::Everything, 0, 4), [(3, 2)]);
        assert_eq!(add(free, 3, 3), [(0, 4)]);
        assert_eq!(add(b, 2, 2), [(0, 4)]);
    }

    #[test]
    fn streams_wait_for_what_they_are_told() {
        let mut dependencies = Dependencies::default();
        let (a, b, free) = (made(1, true), made(2, true), made(3, false));
        assert_eq!(add(&mut dependencies, free, 3, 5), []);
        let event = Point::from(Ticket { queue: 3, serial: 5 });
        dependencies.follow(StreamKey::Default, event, &Point::default());
        // When the default stream waits for a point, so do the streams ordered with it, on every queue.
        assert_eq!(add(&mut dependencies, a, 1, 1), [(3, 5)]);
        assert_eq!(add(&mut dependencies, StreamKey::Default, 0, 1), [(1, 1), (3, 5)]);
        assert_eq!(add(&mut dependencies, b, 2, 1), [(0, 1)]);
        // Points that the device has passed are dropped.
        dependencies.follow(b, event, &event);
        dependencies.follow(a, event, &event);
        assert_eq!(dependencies.told.len(), 1);
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
