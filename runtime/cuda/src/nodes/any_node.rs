//! Graph nodes of any kind, with parameters in one structure.

use std::ffi::{c_int, c_uint};

use crate::abi::code::{Code, INVALID_VALUE, NOT_SUPPORTED};
use crate::abi::raw::{In, Memory, Out};
use crate::context::state;
use crate::graph::command::{self, Maker, NodeKind, SharedCommand};
use crate::graph::edges;
use crate::graph::launch_order::{self, ExecHandle};
use crate::graph::{GraphHandle, NodeHandle};
use crate::launch::NodeParamsV2;
use crate::memory::copy::Copy3D;
use crate::memory::graph_memory;
use crate::memory::memory_operation;
use crate::nodes::params;
use crate::nodes::{self, CallParams, SetParams};
use crate::stream::event;

/// `CUgraphNodeParams`: the kind, a gap, and a union of the parameters.
pub(crate) const BODY: u64 = 16;

/// `CUDA_MEMCPY_NODE_PARAMS`: flags and a context, then the copy.
pub(crate) const COPY: u64 = BODY + 16;

pub(crate) const KERNEL: c_int = NodeKind::Kernel as c_int;
pub(crate) const COPY_KIND: c_int = NodeKind::Copy as c_int;
const SET: c_int = NodeKind::Set as c_int;
const CALL: c_int = NodeKind::Call as c_int;
const GRAPH: c_int = NodeKind::Graph as c_int;
const EMPTY: c_int = NodeKind::Empty as c_int;
const WAIT: c_int = NodeKind::Wait as c_int;
const RECORD: c_int = NodeKind::Record as c_int;
const ALLOCATE: c_int = NodeKind::Allocate as c_int;
const FREE: c_int = NodeKind::Free as c_int;
const OPERATIONS: c_int = NodeKind::MemoryOperations as c_int;

/// The command that the parameters describe.
pub(crate) fn command(params: Memory) -> Result<SharedCommand, Code> {
    let kind = params.as_in::<c_int>().get()?;
    let body = params.offset(BODY);
    Ok(match kind {
        KERNEL => body.as_in::<NodeParamsV2>().make()?,
        COPY_KIND => params.offset(COPY).as_in::<Copy3D>().make()?,
        SET => body.as_in::<SetParams>().make()?,
        CALL => body.as_in::<CallParams>().make()?,
        GRAPH => launch_order::child(body.as_in().get()?)?,
        EMPTY => command::empty()?,
        WAIT => event::wait_command(body.as_in().get()?)?,
        RECORD => event::record_command(body.as_in().get()?)?,
        ALLOCATE => graph_memory::allocate_command(body.as_out())?,
        FREE => graph_memory::free_command(body.as_in().get()?)?,
        OPERATIONS => body.as_in::<memory_operation::NodeParams>().make()?,
        8 | 9 => return Err(NOT_SUPPORTED.because("external semaphores")),
        13 => return Err(NOT_SUPPORTED.because("conditional nodes")),
        _ => return Err(INVALID_VALUE),
    })
}

/// Makes a command of a node's parameters: the driver's, or the runtime API's.
type Make = fn(Memory) -> Result<SharedCommand, Code>;

/// Adds a node after others; each edge may have data.
pub(crate) fn add(
    node: Out<NodeHandle>,
    graph: GraphHandle,
    after: In<NodeHandle>,
    data: In<u64>,
    count: usize,
    params: Memory,
    make: Make,
) -> Result<(), Code> {
    edges::check_data(data, count)?;
    nodes::add(node, graph, after, count, || make(params))
}

/// Fails if the parameters of a node of this kind can't be replaced.
fn check(params: Memory) -> Result<(), Code> {
    match params.as_in::<c_int>().get()? {
        GRAPH | ALLOCATE | FREE | EMPTY => Err(NOT_SUPPORTED.because("nodes whose parameters are fixed")),
        _ => Ok(()),
    }
}

pub(crate) fn set(node: NodeHandle, params: Memory, make: Make) -> Result<(), Code> {
    check(params)?;
    nodes::set(node, || make(params))
}

pub(crate) fn set_exec(exec: ExecHandle, node: NodeHandle, params: Memory, make: Make) -> Result<(), Code> {
    state::device()?;
    if params.as_in::<c_int>().get()? == GRAPH {
        return nodes::set_exec_graph(exec, node, params.offset(BODY).as_in().get()?);
    }
    check(params)?;
    exec.get()?.set(node, make(params)?)
}

/// Writes the kind and the parameters of a node.
pub(crate) fn get(node: NodeHandle, params: Memory) -> Result<(), Code> {
    /// The structure as zeros.
    const ZEROS: [u64; 32] = [0; 32];
    let place = params.as_out::<[u64; 32]>().needed()?;
    let kind = params::command_of(node)?.kind();
    place.set(ZEROS)?;
    params.as_out().set(kind as c_uint)?;
    let body = params.offset(BODY);
    match kind {
        NodeKind::Kernel => params::get(node, body.as_out::<NodeParamsV2>()),
        NodeKind::Copy => params::get(node, params.offset(COPY).as_out::<Copy3D>()),
        NodeKind::Set => params::get(node, body.as_out::<SetParams>()),
        NodeKind::Call => params::get(node, body.as_out::<CallParams>()),
        NodeKind::Graph => params::graph(node, body.as_out()),
        NodeKind::Empty => Ok(()),
        NodeKind::Wait => params::wait(node, body.as_out()),
        NodeKind::Record => params::record(node, body.as_out()),
        NodeKind::Allocate => params::allocation(node, body.as_out()),
        NodeKind::Free => params::free(node, body.as_out()),
        NodeKind::MemoryOperations => params::get(node, body.as_out::<memory_operation::NodeParams>()),
    }
}
