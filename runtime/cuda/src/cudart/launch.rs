//! Launches. `<<<>>>` pushes the configuration on a stack of the thread, and the kernel's host stub pops it.

use std::ffi::{c_int, c_uint};

use ptx2spv_runtime::LaunchConfig;
use smallvec::SmallVec;

use crate::abi::{Code, INVALID_VALUE, In, Memory, Out, Result, ThreadList};
use crate::context::{self, device};
use crate::cudart::error::{INVALID_CONFIGURATION, MISSING_CONFIGURATION};
use crate::cudart::registry;
use crate::cudart::types::Dim3;
use crate::cudart::version::{self, Version};
use crate::launch::{self, occupancy};
use crate::stream::StreamHandle;

/// The arguments of `<<<>>>`.
#[derive(Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: StreamHandle,
}

thread_local! {
    /// The last entry belongs to the innermost launch.
    static CONFIGURATIONS: ThreadList<Configuration> = ThreadList::new();
}

/// Returns 0: the launch should go ahead.
pub(crate) fn push_configuration(grid: Dim3, block: Dim3, shared_bytes: usize, stream: StreamHandle) -> c_uint {
    let configuration = Configuration { grid, block, shared_bytes, stream };
    CONFIGURATIONS.with(|list| list.with(|list| list.push(configuration)));
    0
}

pub(crate) fn pop_configuration(
    grid: Out<Dim3>,
    block: Out<Dim3>,
    shared_bytes: Out<usize>,
    stream: Out<StreamHandle>,
) -> Result {
    let popped = CONFIGURATIONS.with(|list| list.with(SmallVec::pop)).ok_or(MISSING_CONFIGURATION)?;
    grid.set(popped.grid)?;
    block.set(popped.block)?;
    shared_bytes.set(popped.shared_bytes)?;
    stream.set(popped.stream)
}

/// Fails if no kernel could be launched with these sizes.
pub(crate) fn check(grid: [c_uint; 3], block: [c_uint; 3]) -> Result {
    /// Attribute numbers: threads of a block, then the dimensions of blocks and of grids.
    const THREADS: c_uint = 1;
    const BLOCK: c_uint = 2;
    const GRID: c_uint = 5;
    let device = &context::current()?.device;
    let most = |attribute| device::attribute_value(device, attribute).map_or(0, i64::from);
    let fits = |sizes: [c_uint; 3], first: c_uint| {
        sizes.into_iter().zip(first..).all(|(size, attribute)| size > 0 && i64::from(size) <= most(attribute))
    };
    let threads: i64 = block.into_iter().map(i64::from).fold(1, i64::saturating_mul);
    if fits(grid, GRID) && fits(block, BLOCK) && threads <= most(THREADS) {
        return Ok(());
    }
    // Since CUDA 13 the driver's code is passed on unchanged.
    let code = if version::of_program() == Ok(Version::V13) { INVALID_VALUE } else { INVALID_CONFIGURATION };
    Err(code.because(format!("a grid of {grid:?} blocks of {block:?} threads")))
}

fn shared(bytes: usize) -> Result<c_uint> {
    c_uint::try_from(bytes).map_err(|_| INVALID_VALUE.because("shared memory of 4 GiB or more"))
}

pub(crate) fn config(grid: Dim3, block: Dim3, shared_bytes: usize) -> Result<LaunchConfig> {
    let (grid, block) = (grid.list(), block.list());
    check(grid, block)?;
    Ok(launch::config(grid, block, shared(shared_bytes)?))
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Config {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: StreamHandle,
    attributes: In<launch::Attribute>,
    attribute_count: c_uint,
}

impl Config {
    /// The configuration as the driver API has it.
    pub fn driver(self) -> Result<launch::Config> {
        let Self { grid, block, shared_bytes, stream, attributes, attribute_count } = self;
        let (grid, block, shared_bytes) = (grid.list(), block.list(), shared(shared_bytes)?);
        check(grid, block)?;
        Ok(launch::Config { grid, block, shared_bytes, stream, attributes, attribute_count })
    }
}

pub(crate) fn with_config(config: In<Config>, host: Memory, arguments: In<Memory>) -> Result {
    let function = registry::kernel(host)?;
    let config = config.get()?.driver()?;
    launch::with_config(In::from(&config), function, arguments, Memory::NULL.as_in())
}

// Attributes of kernels, and their occupancy.

/// `cudaFuncAttributes` of CUDA 11.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Attributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    max_threads: c_int,
    registers: c_int,
    ptx_version: c_int,
    binary_version: c_int,
    caches: c_int,
    max_dynamic_shared_bytes: c_int,
    carveout: c_int,
}

/// Fields that later versions append: whether a cluster size is required, that size, the scheduling of clusters,
/// whether unusual sizes are allowed, and sixteen reserved numbers.
type Clusters = [c_int; 22];

pub(crate) fn attributes(attributes: Out<Attributes>, host: Memory) -> Result {
    let place = attributes.needed()?;
    let version = version::of_program()?;
    let function = registry::kernel(host)?.get()?;
    let value = |number: c_uint| function.attribute(number).ok_or(INVALID_VALUE);
    let bytes = |number| Ok::<_, Code>(usize::try_from(value(number)?).unwrap_or(0));
    place.set(Attributes {
        shared_bytes: bytes(1)?,
        constant_bytes: bytes(2)?,
        local_bytes: bytes(3)?,
        max_threads: value(0)?,
        registers: value(4)?,
        ptx_version: value(5)?,
        binary_version: value(6)?,
        caches: value(7)?,
        max_dynamic_shared_bytes: value(8)?,
        carveout: value(9)?,
    })?;
    if version == Version::V11 {
        return Ok(());
    }
    let mut clusters: Clusters = [0; 22];
    for (place, number) in clusters.iter_mut().zip([10, 11, 12, 13, 15, 14]) {
        *place = value(number)?;
    }
    const OFFSET: u64 = std::mem::offset_of!(Attributes, carveout) as u64 + 4;
    Memory::from(place).offset(OFFSET).as_out().set(clusters)
}

pub(crate) fn parameter_count(host: Memory) -> Result<usize> {
    Ok(registry::kernel(host)?.get()?.kernel.params().len())
}

pub(crate) fn active_clusters(host: Memory, config: In<Config>) -> Result<c_int> {
    occupancy::clusters(registry::kernel(host)?, In::from(&config.get()?.driver()?))
}

pub(crate) fn cluster_size(host: Memory, config: In<Config>) -> Result<c_int> {
    occupancy::cluster_size(registry::kernel(host)?, In::from(&config.get()?.driver()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!((size_of::<Config>(), std::mem::offset_of!(Config, attributes)), (56, 40));
        let clusters = std::mem::offset_of!(Attributes, carveout) + 4;
        // CUDA 11 has seven numbers after the sizes; later versions have 144 bytes in all.
        assert_eq!((clusters, (clusters + size_of::<Clusters>()).next_multiple_of(8)), (52, 144));
    }
}
