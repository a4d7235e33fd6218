//! The time that stages take.

use std::time::Duration;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
use std::time::Instant;

/// Measures the time since its start. WebAssembly in a browser has no clock in Rust's library, where `Instant` panics: all times are
/// zero there.
pub(crate) struct Stopwatch {
    #[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
    start: Instant,
}

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "the one place where the clock is read")]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
impl Stopwatch {
    pub fn start() -> Self {
        Self {}
    }

    pub fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}
