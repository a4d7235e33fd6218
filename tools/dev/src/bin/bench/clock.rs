//! The time of one thread, in which other programs have no part.

use std::fs;
use std::time::{Duration, Instant};

/// Counts the time that a processor spends on this thread, or all time where the system doesn't tell.
pub struct Clock {
    start: Instant,
    busy: Option<Duration>,
}

impl Clock {
    pub fn start() -> Self {
        Self { start: Instant::now(), busy: processor_time() }
    }

    pub fn elapsed(&self) -> Duration {
        let busy = processor_time().zip(self.busy).map(|(end, start)| end.saturating_sub(start));
        busy.unwrap_or_else(|| self.start.elapsed())
    }
}

fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
