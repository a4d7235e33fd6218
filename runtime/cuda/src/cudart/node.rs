//! Graph nodes, with parameters in the runtime API's form.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::abi::code::Code;
use crate::abi::handle::Handle;
use crate::abi::raw::{In, Memory, Out};
use crate::context::ContextHandle;
use crate::cudart::copy::{self, Slices};
use crate::cudart::launch;
use crate::cudart::registry;
use crate::cudart::symbol;
use crate::graph::any_node::{self, BODY, COPY, COPY_KIND, KERNEL};
use crate::graph::graph_nodes::{self, SetParams};
use crate::graph::graph_params;
use crate::graph::{GraphHandle, NodeHandle};
use crate::launch::NodeParams;
use crate::memory::copy::Copy3D;
use crate::stream::command::SharedCommand;
use crate::stream::launch_order::ExecHandle;

/// The context argument of the driver's functions, which ignore it.
const NO_CONTEXT: ContextHandle = Handle::NULL;

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
    fn driver(self) -> Result<NodeParams, Code> {
        let Self { host, grid, block, shared_bytes, params, extra } = self;
        launch::check(grid, block)?;
        Ok(NodeParams { function: registry::kernel(host)?, grid, block, shared_bytes, params, extra })
    }

    fn of(driver: NodeParams) -> Result<Self, Code> {
        let NodeParams { function, grid, block, shared_bytes, params, extra } = driver;
        Ok(Self { host: registry::host_of(function)?, grid, block, shared_bytes, params, extra })
    }
}

pub(crate) fn kernel(node: NodeHandle, place: Out<KernelParams>) -> Result<(), Code> {
    let place = place.needed()?;
    place.set(KernelParams::of(graph_params::launch_of(node)?)?)
}

pub(crate) fn copy(node: NodeHandle, place: Out<Slices>) -> Result<(), Code> {
    let place = place.needed()?;
    place.set(Slices::of(&graph_params::copy_of(node)?)?)
}

/// The command that `cudaGraphNodeParams` describes, which has kernels and copies in the runtime API's form.
fn command(params: Memory) -> Result<SharedCommand, Code> {
    Ok(match params.as_in::<c_int>().get()? {
        KERNEL => params.offset(BODY).as_in::<KernelParams>().get()?.driver()?.command()?,
        COPY_KIND => Arc::new(params.offset(COPY).as_in::<Slices>().get()?.copy()?),
        _ => any_node::command(params)?,
    })
}

pub(crate) fn add_any(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    data: In<u64>,
    count: usize,
    params: Memory,
) -> Result<(), Code> {
    any_node::add_by(node, graph, after, data, count, params, command)
}

pub(crate) fn set_any(node: NodeHandle, params: Memory) -> Result<(), Code> {
    any_node::set_by(node, params, command)
}

pub(crate) fn set_exec_any(exec: ExecHandle, node: NodeHandle, params: Memory) -> Result<(), Code> {
    any_node::set_exec_by(exec, node, params, command)
}

pub(crate) fn any(node: NodeHandle, params: Memory) -> Result<(), Code> {
    any_node::get(node, params)?;
    match params.as_in::<c_int>().get()? {
        KERNEL => kernel(node, params.offset(BODY).as_out()),
        COPY_KIND => copy(node, params.offset(COPY).as_out()),
        _ => Ok(()),
    }
}

pub(crate) fn add_kernel(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    params: In<KernelParams>,
) -> Result<(), Code> {
    graph_nodes::add_kernel_v1(node, graph, after, count, In::from(&params.get()?.driver()?))
}

pub(crate) fn set_kernel(node: NodeHandle, params: In<KernelParams>) -> Result<(), Code> {
    graph_nodes::set_kernel_v1(node, In::from(&params.get()?.driver()?))
}

pub(crate) fn set_exec_kernel(exec: ExecHandle, node: NodeHandle, params: In<KernelParams>) -> Result<(), Code> {
    graph_nodes::set_exec_kernel_v1(exec, node, In::from(&params.get()?.driver()?))
}

fn add(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    copy: &Copy3D,
) -> Result<(), Code> {
    graph_nodes::add_copy(node, graph, after, count, In::from(copy), NO_CONTEXT)
}

pub(crate) fn add_copy(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    slices: In<Slices>,
) -> Result<(), Code> {
    add(node, graph, after, count, &slices.get()?.copy()?)
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn add_copy_row(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    to: Memory,
    from: Memory,
    bytes: usize,
    kind: c_uint,
) -> Result<(), Code> {
    add(node, graph, after, count, &copy::row(to, from, bytes, kind)?)
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn add_copy_to_symbol(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    symbol: Memory,
    from: Memory,
    bytes: usize,
    offset: usize,
    kind: c_uint,
) -> Result<(), Code> {
    add(node, graph, after, count, &symbol::row_to(symbol, from, bytes, offset, kind)?)
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn add_copy_from_symbol(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    to: Memory,
    symbol: Memory,
    bytes: usize,
    offset: usize,
    kind: c_uint,
) -> Result<(), Code> {
    add(node, graph, after, count, &symbol::row_from(to, symbol, bytes, offset, kind)?)
}

pub(crate) fn set_copy(node: NodeHandle, slices: In<Slices>) -> Result<(), Code> {
    graph_nodes::set_copy(node, In::from(&slices.get()?.copy()?))
}

pub(crate) fn set_copy_row(node: NodeHandle, to: Memory, from: Memory, bytes: usize, kind: c_uint) -> Result<(), Code> {
    graph_nodes::set_copy(node, In::from(&copy::row(to, from, bytes, kind)?))
}

pub(crate) fn set_copy_to_symbol(
    node: NodeHandle,
    symbol: Memory,
    from: Memory,
    bytes: usize,
    offset: usize,
    kind: c_uint,
) -> Result<(), Code> {
    graph_nodes::set_copy(node, In::from(&symbol::row_to(symbol, from, bytes, offset, kind)?))
}

pub(crate) fn set_copy_from_symbol(
    node: NodeHandle,
    to: Memory,
    symbol: Memory,
    bytes: usize,
    offset: usize,
    kind: c_uint,
) -> Result<(), Code> {
    graph_nodes::set_copy(node, In::from(&symbol::row_from(to, symbol, bytes, offset, kind)?))
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn set_exec_copy_to_symbol(
    exec: ExecHandle,
    node: NodeHandle,
    symbol: Memory,
    from: Memory,
    bytes: usize,
    offset: usize,
    kind: c_uint,
) -> Result<(), Code> {
    graph_nodes::set_exec_copy(exec, node, In::from(&symbol::row_to(symbol, from, bytes, offset, kind)?), NO_CONTEXT)
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn set_exec_copy_from_symbol(
    exec: ExecHandle,
    node: NodeHandle,
    to: Memory,
    symbol: Memory,
    bytes: usize,
    offset: usize,
    kind: c_uint,
) -> Result<(), Code> {
    graph_nodes::set_exec_copy(exec, node, In::from(&symbol::row_from(to, symbol, bytes, offset, kind)?), NO_CONTEXT)
}

pub(crate) fn set_exec_copy(exec: ExecHandle, node: NodeHandle, slices: In<Slices>) -> Result<(), Code> {
    graph_nodes::set_exec_copy(exec, node, In::from(&slices.get()?.copy()?), NO_CONTEXT)
}

pub(crate) fn set_exec_copy_row(
    exec: ExecHandle,
    node: NodeHandle,
    to: Memory,
    from: Memory,
    bytes: usize,
    kind: c_uint,
) -> Result<(), Code> {
    graph_nodes::set_exec_copy(exec, node, In::from(&copy::row(to, from, bytes, kind)?), NO_CONTEXT)
}

pub(crate) fn add_set(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    count: usize,
    params: In<SetParams>,
) -> Result<(), Code> {
    graph_nodes::add_set(node, graph, after, count, params, NO_CONTEXT)
}

pub(crate) fn set_exec_set(exec: ExecHandle, node: NodeHandle, params: In<SetParams>) -> Result<(), Code> {
    graph_nodes::set_exec_set(exec, node, params, NO_CONTEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        assert_eq!(size_of::<KernelParams>(), size_of::<NodeParams>());
    }
}
