//! Launches. `<<<>>>` pushes the configuration on a stack of the thread, and the kernel's host stub pops it.

use std::ffi::c_uint;

use smallvec::SmallVec;

use crate::abi::code::{Code, INVALID_VALUE};
use crate::abi::raw::{In, Memory, Out};
use crate::abi::thread_list::ThreadList;
use crate::context;
use crate::context::attributes;
use crate::cudart::error::{INVALID_CONFIGURATION, MISSING_CONFIGURATION};
use crate::cudart::registry;
use crate::cudart::types::Dim3;
use crate::cudart::version::{self, Version};
use crate::launch;
use crate::module::function::FunctionHandle;
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
) -> Result<(), Code> {
    let popped = CONFIGURATIONS.with(|list| list.with(SmallVec::pop)).ok_or(MISSING_CONFIGURATION)?;
    grid.set(popped.grid)?;
    block.set(popped.block)?;
    shared_bytes.set(popped.shared_bytes)?;
    stream.set(popped.stream)
}

/// Fails if no kernel could be launched with these sizes.
pub(crate) fn check(grid: [c_uint; 3], block: [c_uint; 3]) -> Result<(), Code> {
    /// Attribute numbers: threads of a block, then the dimensions of blocks and of grids.
    const THREADS: c_uint = 1;
    const BLOCK: c_uint = 2;
    const GRID: c_uint = 5;
    let device = &context::current()?.device;
    let most = |attribute| attributes::value(device, attribute).map_or(0, i64::from);
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

fn shared(bytes: usize) -> Result<c_uint, Code> {
    c_uint::try_from(bytes).map_err(|_| INVALID_VALUE.because("shared memory of 4 GiB or more"))
}

pub(crate) fn kernel(
    host: Memory,
    grid: Dim3,
    block: Dim3,
    arguments: In<Memory>,
    shared_bytes: usize,
    stream: StreamHandle,
) -> Result<(), Code> {
    let function = registry::kernel(host)?;
    of_kernel(function, grid, block, arguments, shared_bytes, stream)
}

/// Implements `__cudaLaunchKernel`, which takes a kernel's handle.
pub(crate) fn of_kernel(
    function: FunctionHandle,
    grid: Dim3,
    block: Dim3,
    arguments: In<Memory>,
    shared_bytes: usize,
    stream: StreamHandle,
) -> Result<(), Code> {
    check(grid.list(), block.list())?;
    let shared_bytes = shared(shared_bytes)?;
    let none = Memory::NULL.as_in();
    launch::kernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, stream, arguments, none)
}

pub(crate) fn cooperative(
    host: Memory,
    grid: Dim3,
    block: Dim3,
    arguments: In<Memory>,
    shared_bytes: usize,
    stream: StreamHandle,
) -> Result<(), Code> {
    let function = registry::kernel(host)?;
    check(grid.list(), block.list())?;
    let shared_bytes = shared(shared_bytes)?;
    launch::cooperative(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, stream, arguments)
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
    pub fn driver(self) -> Result<launch::Config, Code> {
        let Self { grid, block, shared_bytes, stream, attributes, attribute_count } = self;
        let (grid, block, shared_bytes) = (grid.list(), block.list(), shared(shared_bytes)?);
        check(grid, block)?;
        Ok(launch::Config { grid, block, shared_bytes, stream, attributes, attribute_count })
    }
}

pub(crate) fn with_config(config: In<Config>, host: Memory, arguments: In<Memory>) -> Result<(), Code> {
    let function = registry::kernel(host)?;
    let config = config.get()?.driver()?;
    launch::with_config(In::from(&config), function, arguments, Memory::NULL.as_in())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!((size_of::<Config>(), std::mem::offset_of!(Config, attributes)), (56, 40));
    }
}
