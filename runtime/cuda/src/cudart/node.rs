//! Graph nodes, with parameters in the runtime API's form.

use std::ffi::{c_int, c_uint};

use crate::abi::{In, Memory, Result};
use crate::cudart::copy::{self, Slices};
use crate::cudart::launch::check;
use crate::cudart::registry;
use crate::graph::NodeHandle;
use crate::graph::command::{Description, SharedCommand};
use crate::launch::NodeParams;
use crate::nodes::{self, BODY, COPY, COPY_KIND, KERNEL};

/// `cudaKernelNodeParams`, which has a kernel's host stub where the driver has the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct KernelParams {
    host: Memory,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    params: In<Memory>,
    extra: In<Memory>,
}

impl KernelParams {
    fn driver(self) -> Result<NodeParams> {
        let Self { host, grid, block, shared_bytes, params, extra } = self;
        check(grid, block)?;
        Ok(NodeParams { function: registry::kernel(host)?, grid, block, shared_bytes, params, extra })
    }

    fn of(driver: NodeParams) -> Result<Self> {
        let NodeParams { function, grid, block, shared_bytes, params, extra } = driver;
        Ok(Self { host: registry::host_of(function)?, grid, block, shared_bytes, params, extra })
    }
}

pub(crate) fn kernel(node: NodeHandle) -> Result<KernelParams> {
    KernelParams::of(nodes::params_of(node)?)
}

pub(crate) fn copy(node: NodeHandle) -> Result<Slices> {
    Slices::of(&nodes::params_of(node)?)
}

/// The command that `cudaGraphNodeParams` describes, which has kernels and copies in the runtime API's form.
pub(crate) fn command(params: Memory) -> Result<SharedCommand> {
    Ok(match params.as_in::<c_int>().get()? {
        KERNEL => launch(params.offset(BODY).as_in())?.command()?,
        COPY_KIND => copy::slices(params.offset(COPY).as_in())?.command()?,
        _ => nodes::any_command(params)?,
    })
}

pub(crate) fn any(node: NodeHandle, params: Memory) -> Result {
    nodes::get_any(node, params)?;
    match params.as_in::<c_int>().get()? {
        KERNEL => params.offset(BODY).as_out().set(kernel(node)?),
        COPY_KIND => params.offset(COPY).as_out().set(copy(node)?),
        _ => Ok(()),
    }
}

/// A launch in the driver's form.
pub(crate) fn launch(params: In<KernelParams>) -> Result<NodeParams> {
    params.get()?.driver()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!(size_of::<KernelParams>(), size_of::<NodeParams>());
    }
}
