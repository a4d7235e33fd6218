//! The time that stages take.

use std::time::{Duration, Instant};

/// Measures the time since its start. WebAssembly in a browser has no clock in Rust's library, where [`Instant::now`] panics: all times are
/// zero there.
pub(crate) struct Stopwatch {
    start: Option<Instant>,
}

impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "the one place where the clock is read")]
    pub fn start() -> Self {
        let has_clock = !cfg!(all(target_arch = "wasm32", target_os = "unknown"));
        Self { start: has_clock.then(Instant::now) }
    }

    pub fn elapsed(&self) -> Duration {
        self.start.map_or(Duration::ZERO, |start| start.elapsed())
    }
}
