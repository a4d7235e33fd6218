//! Locks of streams, by which launches of several dispatches stay whole: no thread's command that is ordered with the launch comes between
//! two of them.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::backend::deadline::Deadline;
use crate::backend::order::StreamKey;
use crate::error::{Error, Result};
use crate::sync::{lock, wait_while};

/// The locks that are held or waited for.
#[derive(Default)]
pub(crate) struct StreamLocks {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// In the order of the requests.
    requests: Vec<Request>,
    /// The number of the last request.
    last: u64,
}

#[derive(Clone, Copy)]
struct Request {
    number: u64,
    stream: StreamKey,
    exclusive: bool,
}

/// A lock, which is held until this is dropped.
pub(crate) struct StreamLock<'l> {
    locks: &'l StreamLocks,
    number: u64,
}

impl StreamLocks {
    /// Locks a stream while a command is recorded.
    ///
    /// # Errors
    /// [`Error::Timeout`]
    pub fn shared(&self, stream: StreamKey, deadline: Deadline) -> Result<StreamLock<'_>> {
        self.lock(stream, false, deadline)
    }

    /// Locks a stream, and all that is ordered with it, from the first command of a launch to the last.
    ///
    /// # Errors
    /// [`Error::Timeout`]
    pub fn exclusive(&self, stream: StreamKey, deadline: Deadline) -> Result<StreamLock<'_>> {
        self.lock(stream, true, deadline)
    }

    /// Waits for earlier requests, so that none has to wait for ever.
    fn lock(&self, stream: StreamKey, exclusive: bool, deadline: Deadline) -> Result<StreamLock<'_>> {
        let mut state = lock(&self.state);
        state.last += 1;
        let request = Request { number: state.last, stream, exclusive };
        state.requests.push(request);
        // Dropped on an error too, after the lock of the state.
        let held = StreamLock { locks: self, number: request.number };
        let limit = deadline.left().unwrap_or(Duration::MAX);
        let state = wait_while(&self.changed, state, limit, |state| state.must_wait(&request)).ok_or(Error::Timeout)?;
        drop(state);
        Ok(held)
    }
}

impl State {
    fn must_wait(&self, request: &Request) -> bool {
        self.requests
            .iter()
            .take_while(|earlier| earlier.number < request.number)
            .any(|earlier| (earlier.exclusive || request.exclusive) && earlier.stream.is_in_order_with(request.stream))
    }
}

impl Drop for StreamLock<'_> {
    fn drop(&mut self) {
        lock(&self.locks.state).requests.retain(|request| request.number != self.number);
        self.locks.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(number: u64, blocking: bool) -> StreamKey {
        StreamKey::Made { number, blocking, urgent: false }
    }

    #[test]
    fn exclusive_locks_keep_out_what_is_in_order() {
        let locks = StreamLocks::default();
        let now = || Deadline::after(Duration::ZERO);
        let first = locks.shared(stream(0, true), Deadline::NEVER).unwrap();
        let second = locks.shared(stream(0, true), now()).unwrap();
        assert!(matches!(locks.exclusive(stream(0, true), now()), Err(Error::Timeout)));
        assert!(matches!(locks.exclusive(StreamKey::Default, now()), Err(Error::Timeout)));
        drop((first, second));
        let whole = locks.exclusive(stream(0, true), now()).unwrap();
        assert!(matches!(locks.shared(stream(0, true), now()), Err(Error::Timeout)));
        assert!(matches!(locks.shared(StreamKey::Default, now()), Err(Error::Timeout)));
        locks.shared(stream(1, true), now()).unwrap();
        locks.exclusive(stream(2, false), now()).unwrap();
        drop(whole);
        locks.exclusive(StreamKey::Everything, now()).unwrap();
    }
}
