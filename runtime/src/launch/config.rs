//! The configuration of a launch.

/// The number of threads to launch, and the amount of dynamic shared memory.
///
/// ```
/// use ptx2spv_runtime::LaunchConfig;
///
/// // A thread for each of a thousand numbers, in blocks of 256.
/// assert_eq!(LaunchConfig::linear(1000, 256).grid, [4, 1, 1]);
/// // A thread for each pixel of a picture.
/// assert_eq!(LaunchConfig::covering([640, 480, 1], [16, 16, 1]).grid, [40, 30, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchConfig {
    /// Blocks (CTAs) in x, y and z: up to 2^31 - 1, 65,535 and 65,535 on every device.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic (`.extern .shared`) shared memory.
    pub dynamic_shared_bytes: u32,
}

impl LaunchConfig {
    /// A grid of blocks without dynamic shared memory.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared_bytes: 0 }
    }

    /// The smallest grid that covers this many threads in x, y and z.
    pub fn covering(threads: [u32; 3], block: [u32; 3]) -> Self {
        Self::new([0, 1, 2].map(|i| threads[i].div_ceil(block[i].max(1))), block)
    }

    /// Sets the bytes of dynamic shared memory.
    #[must_use]
    pub fn with_shared(self, dynamic_shared_bytes: u32) -> Self {
        Self { dynamic_shared_bytes, ..self }
    }

    /// The smallest grid of blocks of `block` threads that covers `threads` threads in x.
    pub fn linear(threads: u32, block: u32) -> Self {
        Self::new([threads.div_ceil(block.max(1)), 1, 1], [block, 1, 1])
    }
}
