//! The host's clock.

#[cfg(not(target_family = "wasm"))]
pub(crate) use std::time::Instant;
#[cfg(target_family = "wasm")]
pub(crate) use still::Instant;

#[cfg(target_family = "wasm")]
mod still {
    use std::time::Duration;

    /// The only point in time: WebAssembly has no clock, and `std::time::Instant::now` panics there.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Instant;

    impl Instant {
        pub fn now() -> Self {
            Self
        }

        pub fn elapsed(self) -> Duration {
            Duration::ZERO
        }

        pub fn checked_add(self, _time: Duration) -> Option<Self> {
            Some(self)
        }

        pub fn duration_since(self, _earlier: Self) -> Duration {
            Duration::ZERO
        }

        pub fn saturating_duration_since(self, _earlier: Self) -> Duration {
            Duration::ZERO
        }
    }
}
