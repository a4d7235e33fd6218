//! Host functions in stream order. They run one after another on a thread of the device.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::backend::Backend;
use crate::backend::deadline::Deadline;
use crate::backend::order::Point;
use crate::error::{Error, Result};
use crate::sync::{lock, wait_while};

/// The host functions of a device, numbered from 1.
#[derive(Default)]
pub(crate) struct HostFunctions {
    queue: Mutex<Queue>,
    progress: Arc<Progress>,
}

#[derive(Default)]
struct Queue {
    /// `None` until the first function is added.
    jobs: Option<Sender<Job>>,
    /// The number of the last function.
    last: u64,
}

/// A host function. Its argument says whether all that it waited for has ended well.
pub(crate) type HostFunction = Box<dyn FnOnce(bool) + Send>;

struct Job {
    backend: Arc<dyn Backend>,
    /// The point in the device's work that the function waits for.
    after: Point,
    function: HostFunction,
}

#[derive(Default)]
struct Progress {
    /// Number of functions that have returned.
    done: AtomicU64,
    waiters: Mutex<()>,
    changed: Condvar,
    /// The thread, once it runs.
    thread: OnceLock<ThreadId>,
}

impl HostFunctions {
    /// Runs a function after a point in the device's work, and returns the function's number.
    pub fn add(&self, backend: Arc<dyn Backend>, after: Point, function: HostFunction) -> Result<u64> {
        let ended = || Error::HostThread(io::Error::other("it has ended"));
        let mut queue = lock(&self.queue);
        if queue.jobs.is_none() {
            let (sender, receiver) = channel();
            let progress = self.progress.clone();
            thread::Builder::new()
                .name("ptx2spv host functions".to_owned())
                .spawn(move || run(&receiver, &progress))
                .map_err(Error::HostThread)?;
            queue.jobs = Some(sender);
        }
        let jobs = queue.jobs.as_ref().ok_or_else(ended)?;
        jobs.send(Job { backend, after, function }).map_err(|_| ended())?;
        queue.last += 1;
        Ok(queue.last)
    }

    /// The number of the last function that was added.
    pub fn last(&self) -> u64 {
        lock(&self.queue).last
    }

    /// Whether a function, by its number, has returned.
    pub fn is_done(&self, number: u64) -> bool {
        self.progress.done.load(Acquire) >= number
    }

    /// Waits until a function has returned.
    ///
    /// # Errors
    /// [`Error::Timeout`] after the limit, [`Error::HostThread`] in a host function, which would wait for itself.
    pub fn wait(&self, number: u64, limit: Duration) -> Result {
        if self.is_done(number) {
            return Ok(());
        }
        if self.progress.thread.get() == Some(&thread::current().id()) {
            return Err(Error::HostThread(io::Error::other("a host function waits for itself")));
        }
        let waiter = lock(&self.progress.waiters);
        let waiter = wait_while(&self.progress.changed, waiter, limit, |()| !self.is_done(number));
        waiter.map(drop).ok_or(Error::Timeout)
    }
}

fn run(jobs: &Receiver<Job>, progress: &Progress) {
    progress.thread.get_or_init(|| thread::current().id());
    for Job { backend, after, function } in jobs {
        // Limits apply to the program's own calls, not to this thread.
        let ended_well = backend.wait(after, Deadline::NEVER).is_ok() && !backend.was_stopped_before(after);
        // A thread that waits for the function may close the device next, so this thread must not hold it.
        drop(backend);
        // After a panic, whose message has been printed, later functions still run.
        let _ = catch_unwind(AssertUnwindSafe(|| function(ended_well)));
        let _waiters = lock(&progress.waiters);
        progress.done.fetch_add(1, Release);
        progress.changed.notify_all();
    }
}
