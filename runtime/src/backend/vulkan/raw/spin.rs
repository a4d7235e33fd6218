//! Spinning: a wait polls for a while before its thread sleeps, since a sleeping thread is woken tens of microseconds after
//! the device has finished.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::info::DeviceKind;

/// The longest time for which a wait polls. After it, the time to wake up matters little.
const LONGEST: Duration = Duration::from_millis(1);

/// Polls made without a look at the clock in between.
const POLLS: u32 = 16;

/// The waits of a device that poll.
pub(crate) struct Spin {
    /// Maximum number of threads that poll at the same time. The others sleep.
    most: usize,
    threads: AtomicUsize,
}

impl Spin {
    /// Lets half of the processors poll. None do for a CPU device, whose kernels need the processors.
    pub fn new(kind: DeviceKind) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with(if kind == DeviceKind::Cpu { 0 } else { processors.div_ceil(2) })
    }

    fn with(most: usize) -> Self {
        Self { most, threads: AtomicUsize::new(0) }
    }

    /// Whether waits may poll.
    pub fn is_used(&self) -> bool {
        self.most > 0
    }

    /// Polls until something is done, no longer than `limit`, and returns whether it is.
    pub fn until(&self, limit: Option<Duration>, mut is_done: impl FnMut() -> Result<bool>) -> Result<bool> {
        let Some(_entered) = self.enter() else { return Ok(false) };
        let (start, limit) = (Instant::now(), limit.map_or(LONGEST, |limit| limit.min(LONGEST)));
        loop {
            for _ in 0..POLLS {
                if is_done()? {
                    return Ok(true);
                }
                std::hint::spin_loop();
            }
            if start.elapsed() >= limit {
                return Ok(false);
            }
        }
    }

    /// Counts the thread among those that poll; `None` if there are enough.
    fn enter(&self) -> Option<Entered<'_>> {
        let more = |threads| (threads < self.most).then_some(threads + 1);
        self.threads.fetch_update(Relaxed, Relaxed, more).ok()?;
        Some(Entered(self))
    }
}

/// A thread that polls.
struct Entered<'s>(&'s Spin);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.threads.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn polls_until_done() {
        let (spin, mut polls) = (Spin::with(1), 0);
        let done = spin.until(None, || {
            polls += 1;
            Ok(polls == 3)
        });
        assert!(matches!(done, Ok(true)));
        assert_eq!(polls, 3);
    }

    #[test]
    fn gives_up() {
        let spin = Spin::with(1);
        assert!(matches!(spin.until(None, || Ok(false)), Ok(false)));
        assert!(matches!(spin.until(Some(Duration::ZERO), || Ok(false)), Ok(false)));
        assert!(matches!(spin.until(None, || Err(Error::Timeout)), Err(Error::Timeout)));
        // No thread is left that polls.
        assert!(matches!(spin.until(None, || Ok(true)), Ok(true)));
    }

    #[test]
    fn only_so_many_threads_poll() {
        let spin = Spin::with(1);
        let inner = spin.until(None, || {
            assert!(matches!(spin.until(None, || Ok(true)), Ok(false)));
            Ok(true)
        });
        assert!(matches!(inner, Ok(true)));
        assert!(matches!(Spin::new(DeviceKind::Cpu).until(None, || Ok(true)), Ok(false)));
    }
}
