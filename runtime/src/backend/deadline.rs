//! Limits for waiting.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::clock::Instant;

/// The time at which waiting fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub const NEVER: Self = Self(None);

    /// The time `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Self(Instant::now().checked_add(limit))
    }

    /// The remaining time; `None` without limit.
    pub fn left(self) -> Option<Duration> {
        Some(self.0?.saturating_duration_since(Instant::now()))
    }
}

/// An optional time limit that threads read and change without a lock. The default is none.
#[derive(Debug)]
pub(crate) struct TimeLimit(AtomicU64);

/// No limit.
const NONE: u64 = u64::MAX;

impl Default for TimeLimit {
    fn default() -> Self {
        Self(NONE.into())
    }
}

impl TimeLimit {
    /// Sets the limit in whole nanoseconds. One that doesn't fit a u64 is none.
    pub fn set(&self, limit: Option<Duration>) {
        self.0.store(limit.map_or(NONE, |limit| u64::try_from(limit.as_nanos()).unwrap_or(NONE)), Relaxed);
    }

    pub fn get(&self) -> Option<Duration> {
        Some(self.0.load(Relaxed)).filter(|&limit| limit != NONE).map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_deadlines() {
        assert_eq!(Deadline::NEVER.left(), None);
        assert_eq!(Deadline::after(Duration::MAX).left(), None);
        assert_eq!(Deadline::after(Duration::ZERO).left(), Some(Duration::ZERO));
        let limit = TimeLimit::default();
        assert_eq!(limit.get(), None);
        for time in [Duration::ZERO, Duration::from_micros(7)] {
            limit.set(Some(time));
            assert_eq!(limit.get(), Some(time));
        }
        limit.set(Some(Duration::MAX));
        assert_eq!(limit.get(), None);
    }
}
